"""Images whose channels lie side by side give what others do, forwards and backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels import threads

F = torch.nn.functional
RNG = np.random.default_rng(5)
NUMBERS = torch.from_numpy(RNG.random((4, 64)).astype(np.float32) + 0.5)


def _batch_norm(training: bool) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        mean, variance, weight, bias = NUMBERS[:, : x.size(1)].clone()
        result = F.batch_norm(x, mean, variance, weight, bias, training)
        return result, mean, variance

    return run


def _conv(outputs: int, **options: Any) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        weight = torch.linspace(-1, 1, outputs * x.size(1)).reshape(outputs, x.size(1), 1, 1)
        return F.conv2d(x, weight, **options)

    return run


def _of_each(size: int, **options: Any) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        channels = x.size(1)
        weight = torch.linspace(-1, 1, channels * size * size).reshape(channels, 1, size, size)
        return F.conv2d(x, weight, torch.arange(float(channels)), groups=channels, **options)

    return run


IMAGES: dict[str, Callable[[Any], Any]] = {
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "max_pool2d over edges": lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "max_pool2d, apart": lambda x: F.max_pool2d(x, 2, dilation=2),
    "max_pool2d and where": lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
    "max_pool2d, large, and where": lambda x: F.max_pool2d(x, 6, 1, 2, return_indices=True),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "avg_pool2d over edges": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "avg_pool2d by a number": lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (3, 4)),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (3, 4)),
    "adaptive_max_pool2d and where": lambda x: F.adaptive_max_pool2d(x, 5, return_indices=True),
    "batch_norm": _batch_norm(False),
    "batch_norm in training": _batch_norm(True),
    "nearest": lambda x: F.interpolate(x, scale_factor=2),
    "bilinear, larger": lambda x: F.interpolate(x, size=(19, 25), mode="bilinear"),
    "bilinear, smaller": lambda x: F.interpolate(x, size=(5, 30), mode="bilinear"),
    "bicubic": lambda x: F.interpolate(x, size=(9, 20), mode="bicubic", align_corners=True),
    "antialias": lambda x: F.interpolate(x, size=(4, 5), mode="bilinear", antialias=True),
    "reflect": lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"),
    "replicate": lambda x: F.pad(x, (0, 2, 3, 1), mode="replicate"),
    "circular": lambda x: F.pad(x, (1, 1, 2, 2), mode="circular"),
    "cat of channels": lambda x: torch.cat([x, x.flip(2)], 1),
    "cat of rows": lambda x: torch.cat([x, x[:, :, :3], x], 2),
    "cat of images": lambda x: torch.cat([x, x]),
    "cat of both": lambda x: torch.cat([x, x.contiguous()], 1),
    "one tap": _conv(9),
    "one tap, bias": _conv(8, bias=torch.arange(8.0)),
    "one tap, step": _conv(6, stride=2),
    "one tap, edges": _conv(6, padding=1),
    "each channel": _of_each(3),
    "each channel, edges": _of_each(3, padding=1, stride=2),
    "each channel, apart": _of_each(2, padding=1, dilation=3),
}
VOLUMES: dict[str, Callable[[Any], Any]] = {
    "max_pool3d": lambda x: F.max_pool3d(x, 2),
    "max_pool3d and where": lambda x: F.max_pool3d(x, 3, 2, 1, return_indices=True),
    "avg_pool3d": lambda x: F.avg_pool3d(x, 3, 2, 1),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x, (2, 3, 4)),
    "adaptive_max_pool3d": lambda x: F.adaptive_max_pool3d(x, 2, return_indices=True),
    "batch_norm": _batch_norm(True),
    "cat": lambda x: torch.cat([x, x], 1),
}
LAID_OUT = (torch.channels_last, torch.channels_last_3d)
CASES = [(IMAGES, name) for name in IMAGES] + [(VOLUMES, name) for name in VOLUMES]


@pytest.fixture(params=[1, 2])
def threading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On one thread, and on two that share the smallest work."""
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    monkeypatch.setattr(threads, "GRAIN", 64)
    yield
    torch.set_num_threads(before)


def _results(function: Callable[[Any], Any], x: Any) -> list[Any]:
    """What a function makes, and the gradient of x."""
    x = x.detach().requires_grad_()
    found = function(x)
    results = list(found) if isinstance(found, tuple) else [found]
    weights = torch.linspace(0.5, 2, results[0].numel()).reshape(results[0].shape)
    (results[0] * weights).sum().backward()
    return [*(each.detach() for each in results), x.grad]


@pytest.mark.usefixtures("threading")
@pytest.mark.parametrize("channels", [3, 8, 32, 33])
@pytest.mark.parametrize("table, name", CASES, ids=[name for _, name in CASES])
def test_values_are_the_same(
    table: dict[str, Callable[[Any], Any]], name: str, channels: int
) -> None:
    is_volume = table is VOLUMES
    shape = (2, channels, 6, 7, 8) if is_volume else (2, channels, 16, 13)
    x = torch.from_numpy(RNG.standard_normal(shape).astype(np.float32))
    laid_out = x.contiguous(memory_format=LAID_OUT[is_volume])
    assert laid_out.stride(1) == 1
    for found, expected in zip(
        _results(table[name], laid_out), _results(table[name], x), strict=True
    ):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=2e-5, atol=2e-5)


def test_nan_and_first_of_equals() -> None:
    """Of equal elements the first is told, and NaN is the largest."""
    x = torch.zeros(2, 16, 6, 6)
    x[:, ::2, 3, 4] = float("nan")
    laid_out = x.contiguous(memory_format=torch.channels_last)
    for size in (2, 6):
        for pool in (F.max_pool2d, F.adaptive_max_pool2d):
            pairs = (pool(each, size, return_indices=True) for each in (laid_out, x))
            for found, expected in zip(*pairs, strict=True):
                np.testing.assert_array_equal(found.numpy(), expected.numpy())
