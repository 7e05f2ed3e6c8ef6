"""What the generated package `torchgen_out` stands on, and what stands on it."""
