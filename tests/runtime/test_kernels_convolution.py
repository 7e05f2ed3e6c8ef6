"""Convolutions against their definition: every algorithm, and the choice among them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from runtime.kernels.cpu import (
    column_convolution,
    convolution,
    direct_convolution,
    planes,
    sliding,
    winograd,
)


def reference(
    x: np.ndarray, w: np.ndarray, sizes: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> np.ndarray:
    """The convolution, one tap after the other; three spatial dims."""
    y = np.zeros((x.shape[0], w.shape[0], *sizes), x.dtype)
    padded = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    outputs = w.shape[0] // groups
    for g, tap in product(range(groups), np.ndindex(*w.shape[2:])):
        window = tuple(
            slice(k * d, k * d + (n - 1) * s + 1, s)
            for k, d, n, s in zip(tap, dilation, sizes, stride, strict=True)
        )
        seen = padded[(slice(None), slice(g * w.shape[1], (g + 1) * w.shape[1]), *window)]
        own = w[(slice(g * outputs, (g + 1) * outputs), slice(None), *tap)]
        y[:, g * outputs : (g + 1) * outputs] += np.einsum("oc,ncdhw->nodhw", own, seen)
    return y


CASES = [
    ((1, 7, 6), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1), 1),
    ((1, 9, 8), (1, 3, 2), (1, 2, 1), (0, 1, 0), (1, 1, 2), 2),
    ((5, 6, 7), (2, 3, 3), (2, 1, 2), (1, 0, 1), (1, 1, 1), 1),
    ((1, 1, 20), (1, 1, 5), (1, 1, 3), (0, 0, 2), (1, 1, 1), 2),
    ((1, 12, 11), (1, 5, 5), (1, 1, 1), (0, 2, 2), (1, 1, 1), 1),
]


class Case:
    """Arrays of one geometry, with the expected result."""

    def __init__(self, numbers: Any, dtype: str = "float64") -> None:
        size, kernel, self.stride, self.padding, self.dilation, self.groups = numbers
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((5, 4, *size)).astype(dtype)
        self.w = rng.standard_normal((6, 4 // self.groups, *kernel)).astype(dtype)
        self.bias = rng.standard_normal(6).astype(dtype)
        places = tuple(
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(
                size, kernel, self.stride, self.padding, self.dilation, strict=True
            )
        )
        steps = (self.stride, self.padding, self.dilation)
        self.plan = planes.lay_out(size, kernel, places, *steps)
        self.y = reference(self.x, self.w, places, *steps, self.groups)
        self.grad = rng.standard_normal(self.y.shape).astype(dtype)


@pytest.mark.parametrize("algorithm", [direct_convolution, column_convolution])
@pytest.mark.parametrize("numbers", CASES)
def test_algorithms(algorithm: Any, numbers: Any) -> None:
    case = Case(numbers)
    y = np.empty_like(case.y)
    algorithm.convolve(y, case.x, case.w, case.bias, case.plan, case.groups)
    np.testing.assert_allclose(y, case.y + case.bias.reshape(-1, 1, 1, 1), atol=1e-12)
    w = np.empty_like(case.w)
    algorithm.correlate(w, case.grad, case.x, case.plan, case.groups)
    direction = np.random.default_rng(1).standard_normal(w.shape)
    along = reference(
        case.x, direction, y.shape[2:], case.stride, case.padding, case.dilation, case.groups
    )
    np.testing.assert_allclose((w * direction).sum(), (along * case.grad).sum())


@pytest.mark.parametrize("numbers", CASES)
def test_gradient_of_the_input_is_the_transpose(numbers: Any) -> None:
    case = Case(numbers)
    steps = (case.stride, case.padding, case.dilation)
    x = np.empty_like(case.x)
    convolution.convolution_grad_input(x, case.grad, case.w, x.shape, *steps, False, case.groups)
    np.testing.assert_allclose((x * case.x).sum(), (case.grad * case.y).sum())
    columns = np.empty_like(case.x)
    column_convolution.convolve_transposed(columns, case.grad, case.w, case.plan, case.groups)
    np.testing.assert_allclose(x, columns, atol=1e-12)


@pytest.mark.parametrize("size", [(7, 6), (8, 9), (2, 2), (13, 1)])
@pytest.mark.parametrize("padding", [(1, 1), (0, 2)])
@pytest.mark.parametrize("elements", [1 << 19, 1 << 10])
def test_winograd(size: Any, padding: Any, elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(winograd, "TILE_ELEMENTS", elements)
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((3, 5, 1, *size)), rng.standard_normal((4, 5, 1, 3, 3))
    places = (1, *(n + 2 * p - 2 for n, p in zip(size, padding, strict=True)))
    if min(places) < 1:
        pytest.skip("the kernel is larger than the image")
    expected = reference(x, w, places, (1, 1, 1), (0, *padding), (1, 1, 1), 1)
    y = np.empty_like(expected)
    winograd.convolve(y, x, w, None, padding)
    np.testing.assert_allclose(y, expected, atol=1e-12)


def test_winograd_is_accurate_in_single_precision() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 128, 1, 12, 12)).astype(np.float32)
    w = rng.standard_normal((16, 128, 1, 3, 3)).astype(np.float32)
    wide = (x.astype(np.float64), w.astype(np.float64))
    expected = reference(*wide, (1, 12, 12), (1, 1, 1), (0, 1, 1), (1, 1, 1), 1)
    y = np.empty(expected.shape, np.float32)
    winograd.convolve(y, x, w, None, (1, 1))
    assert np.abs(y - expected).max() < 3e-6 * np.abs(expected).max()


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_other_dtypes(dtype: str) -> None:
    rng = np.random.default_rng(4)
    x = (10 * rng.standard_normal((2, 3, 6, 5))).astype(dtype)
    w = (10 * rng.standard_normal((4, 3, 3, 3))).astype(dtype)
    three = (x[:, :, None], w[:, :, None])
    expected = reference(*three, (1, 6, 5), (1, 1, 1), (0, 1, 1), (1, 1, 1), 1)[:, :, 0]
    y = np.empty_like(expected)
    convolution.convolution(y, x, w, None, (1, 1), (1, 1), (1, 1), False, (0, 0), 1)
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("channels", [(64, 64), (4, 64), (64, 4), (64, 1)])
def test_the_choice_does_not_change_the_result(channels: tuple[int, int]) -> None:
    inputs, outputs = channels
    rng = np.random.default_rng(5)
    x, w = rng.standard_normal((2, inputs, 16, 15)), rng.standard_normal((outputs, inputs, 3, 3))
    three = (x[:, :, None], w[:, :, None])
    expected = reference(*three, (1, 16, 15), (1, 1, 1), (0, 1, 1), (1, 1, 1), 1)[:, :, 0]
    y = np.empty_like(expected)
    convolution.convolution(y, x, w, None, 1, 1, 1, False, 0, 1)
    np.testing.assert_allclose(y, expected, atol=1e-10)


@pytest.mark.parametrize("stride", [1, 2])
def test_kernel_of_one_tap(stride: int) -> None:
    rng = np.random.default_rng(6)
    x, w = rng.standard_normal((2, 4, 5, 6)), rng.standard_normal((6, 2, 1, 1))
    seen = x[:, :, ::stride, ::stride]
    pairs = [
        np.einsum("oc,nchw->nohw", w[3 * g : 3 * g + 3, :, 0, 0], seen[:, 2 * g : 2 * g + 2])
        for g in (0, 1)
    ]
    expected = np.concatenate(pairs, axis=1)
    y = np.empty_like(expected)
    numbers = ((stride, stride), (0, 0), (1, 1), False)
    convolution.convolution(y, x, w, None, *numbers, (0, 0), 2)
    np.testing.assert_allclose(y, expected)
    grad = rng.standard_normal(y.shape)
    dx, dw = np.empty_like(x), np.empty_like(w)
    convolution.convolution_grad_input(dx, grad, w, x.shape, *numbers, 2)
    convolution.convolution_grad_weight(dw, grad, x, w.shape, *numbers, 2)
    np.testing.assert_allclose((dx * x).sum(), (grad * y).sum())
    np.testing.assert_allclose((dw * w).sum(), (grad * y).sum())


def test_unfold_and_fold() -> None:
    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, 3, 6, 5))
    numbers = ((3, 2), (1, 1), (1, 0), (2, 1))
    columns = np.empty((2, 18, 12))
    sliding.im2col(columns, x, *numbers)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    patch = padded[1, :, 2:5, 1:3].reshape(-1)
    np.testing.assert_array_equal(columns[1, :, 5], patch)
    back = np.empty_like(x)
    sliding.col2im(back, columns, (6, 5), *numbers)
    np.testing.assert_allclose((back * x).sum(), (columns * columns).sum())
