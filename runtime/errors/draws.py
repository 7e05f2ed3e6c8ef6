"""Errors of draws of random numbers."""

from __future__ import annotations


def no_weight() -> RuntimeError:
    """A weight to draw with is none."""
    return RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")


def no_weight_above_zero() -> RuntimeError:
    """There is nothing to draw from."""
    return RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
