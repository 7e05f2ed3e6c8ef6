"""Kernels that read at places that index tensors name, and read or write under masks."""
