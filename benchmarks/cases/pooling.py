"""Pooling and resizing of images, forward and training."""

from __future__ import annotations

from benchmarks.case import Case, normal, statement


def _both(text: str, *sizes: int) -> list[Case]:
    """The forward pass, and the forward and backward pass."""
    return [statement(text, x=normal(*sizes)), statement(text, x=normal(*sizes), train="x")]


CASES = [
    *_both("F.max_pool2d(x, 2)", 32, 6, 28, 28),
    *_both("F.max_pool2d(x, 2)", 8, 64, 56, 56),
    *_both("F.max_pool2d(x, 3, 2, 1)", 8, 64, 56, 56),
    *_both("F.max_pool1d(x, 2)", 8, 64, 256),
    *_both("F.avg_pool2d(x, 2)", 32, 64, 28, 28),
    *_both("F.avg_pool2d(x, 3, 1, 1)", 8, 64, 28, 28),
    *_both("F.adaptive_avg_pool2d(x, 1)", 32, 256, 7, 7),
    *_both("F.adaptive_avg_pool2d(x, 4)", 32, 64, 14, 14),
    *_both("F.adaptive_max_pool2d(x, 4)", 32, 64, 14, 14),
    *_both("F.interpolate(x, scale_factor=2)", 8, 64, 14, 14),
    *_both("F.interpolate(x, scale_factor=2, mode='bilinear')", 8, 64, 14, 14),
]
