"""Fourier transforms, of whole signals and of windows that slide over them."""
