"""Pooling against a loop over windows."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops

F = torch.nn.functional
SIZES = [((2, 2), (2, 2), (0, 0)), ((3, 2), (2, 1), (1, 1)), ((5, 5), (3, 2), (2, 2))]


def windows(x: np.ndarray, size: Any, step: Any, pad: Any, spread: Any = (1, 1)) -> Any:
    """For each place of the result, the places of its window inside x (rows, columns)."""
    counts = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(x.shape[-2:], size, step, pad, spread, strict=True)
    ]
    for place in np.ndindex(*counts):
        seen = [
            [i for i in (o * s - p + k * d for k in range(n)) if 0 <= i < length]
            for o, s, p, n, d, length in zip(
                place, step, pad, size, spread, x.shape[-2:], strict=True
            )
        ]
        yield counts, place, list(product(*seen))


def chosen(x: Any, size: Any, step: Any = None, pad: Any = 0, spread: Any = 1) -> Any:
    """The largest elements, and where they are."""
    given = torch.from_numpy(x), size, step, pad, spread
    return [each.numpy() for each in F.max_pool2d(*given, return_indices=True)]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("size, step, pad", SIZES)
@pytest.mark.parametrize("spread", [(1, 1), (1, 2)])
def test_maximum(size: Any, step: Any, pad: Any, spread: Any, dtype: str) -> None:
    x = np.random.default_rng(0).permutation(2 * 3 * 11 * 12).reshape(2, 3, 11, 12).astype(dtype)
    found = list(windows(x, size, step, pad, spread))
    out, indices = chosen(x, size, step, pad, spread)
    for _, (i, j), places in found:
        values = np.stack([x[:, :, h, w] for h, w in places], axis=-1)
        np.testing.assert_array_equal(out[:, :, i, j], values.max(axis=-1))
        flat = np.array([h * 12 + w for h, w in places])
        np.testing.assert_array_equal(indices[:, :, i, j], flat[values.argmax(axis=-1)])
    if dtype != "int64":
        given = torch.from_numpy(out), torch.from_numpy(indices), x.shape, 2
        grad = np.zeros((6, 11 * 12))
        rows = np.arange(6)[:, None]
        np.add.at(grad, (rows, indices.reshape(6, -1)), out.reshape(6, -1))
        for gathers in (False, True):
            added = ops._max_pool_backward(*given, size, step, pad, spread, gathers).numpy()
            np.testing.assert_allclose(added, grad.reshape(x.shape), rtol=1e-6)


@pytest.mark.parametrize("size, step, pad", SIZES)
@pytest.mark.parametrize("spread", [(1, 1), (1, 2)])
def test_maximum_without_places(size: Any, step: Any, pad: Any, spread: Any) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 11, 12)).astype(np.float32)
    out, _ = chosen(x, size, step, pad, spread)
    alone = F.max_pool2d(torch.from_numpy(x), size, step, pad, spread)
    np.testing.assert_array_equal(alone.numpy(), out)


def test_nan_wins() -> None:
    x = np.zeros((1, 1, 4, 40))
    x[0, 0, 1, 3] = np.nan
    out, indices = chosen(x, (2, 2))
    assert np.isnan(out[0, 0, 0, 1]) and indices[0, 0, 0, 1] == 43
    assert np.isnan(out).sum() == 1
    np.testing.assert_array_equal(F.max_pool2d(torch.from_numpy(x), 2).numpy(), out)


def test_windows_of_minus_infinity_have_a_place() -> None:
    out, indices = chosen(np.full((1, 1, 2, 2), -np.inf), (2, 2))
    assert out == -np.inf and indices == 0
    out, indices = chosen(np.full((1, 3, 3), -np.inf), (2, 2), (2, 2), (1, 1))
    np.testing.assert_array_equal(indices, [[[0, 1], [3, 4]]])


@pytest.mark.parametrize("size, step, pad", SIZES)
@pytest.mark.parametrize("include_pad", [True, False])
@pytest.mark.parametrize("divisor", [None, 3])
def test_mean(size: Any, step: Any, pad: Any, include_pad: bool, divisor: int | None) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 11, 12))
    found = list(windows(x, size, step, pad))
    tensor = torch.from_numpy(x)
    out = F.avg_pool2d(tensor, size, step, pad, False, include_pad, divisor).numpy()
    for _, (i, j), places in found:
        count = len(places)
        if include_pad:
            count = np.prod(
                [
                    min(o * s - p + k, n + p) - (o * s - p)
                    for o, s, p, k, n in zip((i, j), step, pad, size, (11, 12), strict=True)
                ]
            )
        total = sum(x[:, :, h, w] for h, w in places)
        np.testing.assert_allclose(out[:, :, i, j], total / (divisor or count))
    tensor.requires_grad_()
    F.avg_pool2d(tensor, size, step, pad, False, include_pad, divisor).backward(
        torch.from_numpy(out)
    )
    np.testing.assert_allclose((tensor.grad.numpy() * x).sum(), (out * out).sum())


def test_integers_are_divided_towards_zero() -> None:
    x = torch.tensor([[[[-3, 0], [0, 0]]]])
    assert F.avg_pool2d(x, (2, 2), divisor_override=2).item() == -1
    high = torch.full((1, 2, 2), 200, dtype=torch.uint8)
    assert F.avg_pool2d(high, 2).item() == 200


@pytest.mark.parametrize("size", [(3, 2), (1, 1), (7, 9), (11, 12)])
def test_adaptive(size: tuple[int, int]) -> None:
    x = np.random.default_rng(3).standard_normal((2, 3, 11, 12))
    mean = F.adaptive_avg_pool2d(torch.from_numpy(x), size).numpy()
    found = F.adaptive_max_pool2d(torch.from_numpy(x), size, return_indices=True)
    top, indices = (each.numpy() for each in found)
    for i, j in np.ndindex(*size):
        rows = slice(i * 11 // size[0], -(-(i + 1) * 11 // size[0]))
        columns = slice(j * 12 // size[1], -(-(j + 1) * 12 // size[1]))
        window = x[:, :, rows, columns]
        np.testing.assert_allclose(mean[:, :, i, j], window.mean(axis=(2, 3)))
        np.testing.assert_array_equal(top[:, :, i, j], window.max(axis=(2, 3)))
    np.testing.assert_array_equal(
        np.take_along_axis(x.reshape(2, 3, -1), indices.reshape(2, 3, -1), 2), top.reshape(2, 3, -1)
    )
    grad = ops._adaptive_avg_pool_backward(torch.from_numpy(mean), x.shape, 2).numpy()
    np.testing.assert_allclose((grad * x).sum(), (mean * mean).sum())
