"""Tensors put together, repeated, turned and cut to blocks."""
