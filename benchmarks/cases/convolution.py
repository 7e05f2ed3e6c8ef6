"""Convolutions, forward and training."""

from __future__ import annotations

from benchmarks.case import Case, normal, pixels, statement

Sizes = tuple[int, ...]


def _both(
    images: Sizes, weight: Sizes, text: str = "F.conv2d(x, w, b)", channels_last: bool = False
) -> list[Case]:
    """The forward pass, and the forward and backward pass with all gradients."""
    outputs = weight[1] if "transpose" in text else weight[0]
    x = pixels(*images) if channels_last else normal(*images)
    inputs = {"x": x, "w": normal(*weight), "b": normal(outputs)}
    return [statement(text, inputs), statement(text, inputs, train="x w b")]


PADDED = "F.conv2d(x, w, b, padding=1)"

CASES = [
    *_both((8, 64, 56, 56), (64, 64, 1, 1)),
    *_both((8, 256, 14, 14), (64, 256, 1, 1)),
    *_both((8, 64, 56, 56), (64, 64, 3, 3), PADDED),
    *_both((8, 256, 14, 14), (256, 256, 3, 3), PADDED),
    *_both((8, 512, 7, 7), (512, 512, 3, 3), PADDED),
    *_both((8, 3, 64, 64), (32, 3, 3, 3), PADDED),
    *_both((8, 64, 56, 56), (128, 64, 3, 3), "F.conv2d(x, w, b, stride=2, padding=1)"),
    *_both((32, 1, 28, 28), (6, 1, 5, 5), "F.conv2d(x, w, b, padding=2)"),
    *_both((32, 6, 14, 14), (16, 6, 5, 5)),
    *_both((8, 64, 28, 28), (64, 64, 5, 5), "F.conv2d(x, w, b, padding=2)"),
    *_both((8, 3, 112, 112), (64, 3, 7, 7), "F.conv2d(x, w, b, stride=2, padding=3)"),
    *_both((8, 3, 224, 224), (96, 3, 4, 4), "F.conv2d(x, w, b, stride=4)"),
    *_both((8, 64, 56, 56), (64, 1, 3, 3), "F.conv2d(x, w, b, padding=1, groups=64)"),
    *_both((8, 64, 56, 56), (64, 1, 3, 3), "F.conv2d(x, w, b, stride=2, padding=1, groups=64)"),
    *_both((8, 256, 14, 14), (256, 1, 3, 3), "F.conv2d(x, w, b, padding=1, groups=256)"),
    *_both((8, 64, 28, 28), (64, 1, 7, 7), "F.conv2d(x, w, b, padding=3, groups=64)"),
    *_both((8, 64, 28, 28), (64, 8, 3, 3), "F.conv2d(x, w, b, padding=1, groups=8)"),
    *_both((8, 64, 28, 28), (64, 64, 3, 3), "F.conv2d(x, w, b, padding=2, dilation=2)"),
    *_both((1, 64, 56, 56), (64, 64, 3, 3), PADDED),
    *_both((8, 64, 56, 56), (64, 64, 1, 1), channels_last=True),
    *_both((8, 64, 56, 56), (64, 64, 3, 3), PADDED, channels_last=True),
    *_both((8, 64, 256), (64, 64, 3), "F.conv1d(x, w, b, padding=1)"),
    *_both((2, 16, 16, 32, 32), (16, 16, 3, 3, 3), "F.conv3d(x, w, b, padding=1)"),
    *_both((8, 64, 14, 14), (64, 32, 2, 2), "F.conv_transpose2d(x, w, b, stride=2)"),
    *_both((2, 32, 8, 8), (32, 32, 1, 1)),
    *_both((1, 16, 8, 8), (16, 16, 3, 3), PADDED),
    *_both((1, 16, 8, 8), (16, 8, 4, 4), "F.conv_transpose2d(x, w, b, stride=2, padding=1)"),
    *_both((2, 16, 128), (24, 16, 1), "F.conv1d(x, w, b)"),
    *_both((8, 32, 16, 16), (8, 32, 7, 7), "F.conv2d(x, w, b, stride=2, padding=3)"),
    *_both((1, 256, 1, 1), (64, 256, 1, 1)),
]
