"""Pooling and resizing of images, forward and training."""

from __future__ import annotations

from benchmarks.case import Case, Input, normal, photos, pixels, statement, uniform


def _both(text: str, *sizes: int) -> list[Case]:
    """The forward pass, and the forward and backward pass."""
    return _of(text, normal(*sizes))


def _of(text: str, x: Input) -> list[Case]:
    return [statement(text, x=x), statement(text, x=x, train="x")]


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
    *_of("F.max_pool2d(x, 3, 2, 1)", pixels(8, 64, 56, 56)),
    *_of("F.avg_pool2d(x, 2)", pixels(32, 64, 28, 28)),
    *_of("F.adaptive_avg_pool2d(x, 4)", pixels(32, 64, 14, 14)),
    *_of("F.interpolate(x, scale_factor=2, mode='bilinear')", pixels(8, 64, 14, 14)),
    *_of("F.batch_norm(x, None, None, training=True)", pixels(8, 64, 56, 56)),
    *(
        statement(
            f"F.grid_sample(x, g, align_corners=True, mode='{mode}')",
            x=normal(2, 16, 64, 64),
            g=uniform(-1.1, 1.1, 2, 64, 64, 2),
        )
        for mode in ("bilinear", "nearest")
    ),
    *_of("F.pixel_shuffle(x, 2)", normal(8, 64, 28, 28)),
    *(
        statement(
            f"F.interpolate(x, (224, 224), mode='{mode}', antialias={antialias})",
            x=photos(1, 3, 480, 640),
            note="bytes",
        )
        for mode, antialias in (("bilinear", True), ("bicubic", False))
    ),
]
