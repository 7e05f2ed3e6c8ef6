"""The numbers of `grid_sample`'s modes, and of its taps."""

from __future__ import annotations

NEAREST, BICUBIC = 1, 2
"""`interpolation_mode` besides 0, bilinear."""


BORDER, REFLECTION = 1, 2
"""`padding_mode` besides 0, zeros."""


SHARPNESS = -0.75
"""The parameter of the cubic convolution."""


def taps_per_dim(interpolation_mode: int) -> int:
    """How many elements take part along every dim."""
    return {NEAREST: 1, BICUBIC: 4}.get(interpolation_mode, 2)
