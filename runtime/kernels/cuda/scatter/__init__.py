"""Writing to positions given by index tensors."""
