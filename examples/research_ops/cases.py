"""Arguments of the operators, small ones for tests and large ones for timing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Maker = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """The arguments of one operator.

    make(torch, normal, *sizes): the arguments; `normal(*sizes)` draws float tensors. small, large:
    the sizes. repeats: at small sizes it gives the same value each time; draws do not. compiles:
    `torch.compile` takes its composition; one with a loop over elements it takes minutes for.
    """

    make: Callable[..., tuple[Any, ...]]
    small: tuple[int, ...]
    large: tuple[int, ...]
    repeats: bool = True
    compiles: bool = True


def _labels(torch: Any, count: int, kinds: int) -> Any:
    """Labels in no order, each kind about as often."""
    return (torch.arange(count) * 7 % count) % kinds


def _rms_norm_gated(torch: Any, normal: Maker, rows: int, width: int) -> tuple[Any, ...]:
    return normal(rows, width), normal(rows, width), normal(width)


def _rotary(torch: Any, normal: Maker, batch: int, length: int, width: int) -> tuple[Any, ...]:
    return (normal(batch, length, width),)


def _alibi(torch: Any, normal: Maker, heads: int, length: int, width: int) -> tuple[Any, ...]:
    shape = (2, heads, length, width)
    return normal(*shape), normal(*shape), normal(heads).abs()


def _window(
    torch: Any, normal: Maker, heads: int, length: int, width: int, window: int
) -> tuple[Any, ...]:
    shape = (2, heads, length, width)
    return normal(*shape), normal(*shape), window


def _rows(torch: Any, normal: Maker, rows: int, width: int) -> tuple[Any, ...]:
    return (normal(rows, width),)


def _correlation(
    torch: Any, normal: Maker, channels: int, height: int, width: int, radius: int
) -> tuple[Any, ...]:
    shape = (2, channels, height, width)
    return normal(*shape), normal(*shape), radius


def _bilateral(
    torch: Any, normal: Maker, channels: int, height: int, width: int, radius: int
) -> tuple[Any, ...]:
    return normal(2, channels, height, width), radius, 1.5, 0.5


def _deformable(
    torch: Any, normal: Maker, channels: int, height: int, width: int
) -> tuple[Any, ...]:
    return normal(2, channels, height, width), 1.3 * normal(2, 2, height, width)


def _causal(
    torch: Any, normal: Maker, channels: int, length: int, taps: int, dilation: int
) -> tuple[Any, ...]:
    weight = normal(channels, channels, taps)
    return normal(2, channels, length), weight, normal(channels), dilation


def _scan(torch: Any, normal: Maker, length: int, width: int, states: int) -> tuple[Any, ...]:
    u, delta = normal(2, length, width), (normal(2, length, width) - 1).exp()
    return (
        u,
        delta,
        -normal(width, states).exp(),
        normal(2, length, states),
        normal(2, length, states),
    )


def _decayed(torch: Any, normal: Maker, rows: int, length: int) -> tuple[Any, ...]:
    return normal(rows, length), -0.01 * normal(rows, length).abs()


def _segments(torch: Any, normal: Maker, count: int, segments: int) -> tuple[Any, ...]:
    return normal(count), _labels(torch, count, segments), segments


def _triplets(torch: Any, normal: Maker, count: int, width: int) -> tuple[Any, ...]:
    return normal(count, width), _labels(torch, count, 4)


def _costs(torch: Any, normal: Maker, batch: int, rows: int, columns: int) -> tuple[Any, ...]:
    return (normal(batch, rows, columns) ** 2,)


def _logits(torch: Any, normal: Maker, rows: int, width: int) -> tuple[Any, ...]:
    return normal(rows, width), (normal(rows, width) > 0).to(normal(1).dtype)


def _values(torch: Any, normal: Maker, count: int, bins: int) -> tuple[Any, ...]:
    return normal(count), bins, -3.0, 3.0


def _residual(torch: Any, normal: Maker, rows: int, width: int) -> tuple[Any, ...]:
    return normal(rows, width), normal(width), normal(rows, width), 0.1


def _images(torch: Any, normal: Maker, channels: int, height: int, width: int) -> tuple[Any, ...]:
    return (normal(4, channels, height, width),)


def _quantised(torch: Any, normal: Maker, rows: int, width: int) -> tuple[Any, ...]:
    return normal(rows, width), 0.03, -64, 63


CASES = {
    "rms_norm_gated": Case(_rms_norm_gated, (2, 5), (512, 1024)),
    "rotary_embedding": Case(_rotary, (2, 3, 4), (16, 512, 64)),
    "alibi_scores": Case(_alibi, (2, 4, 3), (8, 256, 64)),
    "window_scores": Case(_window, (2, 5, 3, 3), (8, 512, 64, 32)),
    "sparsemax": Case(_rows, (3, 5), (512, 1024)),
    "entmax15": Case(_rows, (3, 5), (512, 1024)),
    "local_correlation": Case(_correlation, (2, 3, 5, 2), (32, 64, 96, 8)),
    "bilateral_filter": Case(_bilateral, (1, 4, 5, 1), (3, 128, 128, 3)),
    "deformable_sample": Case(_deformable, (2, 4, 5), (32, 64, 64)),
    "causal_conv1d": Case(_causal, (2, 7, 3, 2), (64, 1024, 3, 4)),
    "selective_scan": Case(_scan, (4, 3, 2), (256, 64, 16), compiles=False),
    "decayed_logcumsumexp": Case(_decayed, (2, 5), (256, 1024)),
    "segment_softmax": Case(_segments, (9, 3), (200_000, 5_000)),
    "triplet_hinge": Case(_triplets, (6, 3), (128, 64)),
    "soft_dtw": Case(_costs, (2, 3, 4), (16, 96, 96), compiles=False),
    "gumbel_sigmoid": Case(_rows, (3, 5), (512, 1024), repeats=False),
    "focal_loss": Case(_logits, (3, 5), (512, 1024)),
    "lovasz_hinge": Case(_logits, (2, 6), (32, 4096)),
    "soft_histogram": Case(_values, (7, 4), (100_000, 64)),
    "bias_gelu_dropout_residual": Case(_residual, (3, 5), (512, 1024), repeats=False),
    "total_variation": Case(_images, (2, 3, 4), (3, 256, 256)),
    "quantise": Case(_quantised, (3, 5), (512, 1024)),
}
