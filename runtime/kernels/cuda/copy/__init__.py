"""Kernels that move elements and leave their values alone."""
