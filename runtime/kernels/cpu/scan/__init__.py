"""Sums, products and extremes along a dim, so far."""
