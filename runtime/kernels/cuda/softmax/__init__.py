"""Softmax and its kin over a dim."""
