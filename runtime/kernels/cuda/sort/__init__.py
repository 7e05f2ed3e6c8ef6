"""Kernels that compare elements with each other: sorting, searching, telling distinct ones."""
