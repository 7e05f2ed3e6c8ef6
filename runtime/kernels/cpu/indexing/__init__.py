"""Kernels that read and write at places that index tensors or masks name."""
