"""Batch, layer and group normalisation against NumPy; gradients against finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels.cpu.normalization import batch_norm as batch_normalization

EPS = 1e-3
SHAPES = [(6, 4), (3, 4, 5), (2, 4, 3, 3)]


def along_channels(vector: np.ndarray, ndim: int) -> np.ndarray:
    """A number per channel, broadcast against the input."""
    return vector.reshape(-1, *[1] * (ndim - 2))


def difference(function: Callable[[np.ndarray], float], x: np.ndarray, step: np.ndarray) -> float:
    """The derivative of a function along `step`."""
    return (function(x + 1e-6 * step) - function(x - 1e-6 * step)) / 2e-6


def tensor(array: np.ndarray | None) -> Any:
    """A tensor of an array, if there is one."""
    return None if array is None else torch.from_numpy(np.ascontiguousarray(array))


def arrays(tensors: Any) -> list[np.ndarray]:
    """Tensors as arrays."""
    return [each.numpy() for each in tensors]


def batch_norm(x, weight, bias, running=(None, None), training=True):
    """Result, statistics and what the kernel was given."""
    out = np.empty_like(x)
    saved = np.empty((2, x.shape[1] if training else 0))
    batch_normalization.native_batch_norm(
        out, *saved, x, weight, bias, *running, training, 0.3, EPS
    )
    return out, saved


@pytest.mark.parametrize("shape", SHAPES)
def test_batch_norm_in_training(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x = 3 * rng.standard_normal(shape) + 5
    weight, bias, mean, var = rng.random((4, 4)) + 0.5
    axes = (0, *range(2, len(shape)))
    center, spread = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    expected = (x - center) / np.sqrt(spread + EPS) * along_channels(weight, x.ndim)
    followed = 0.7 * mean + 0.3 * center.reshape(-1)
    count = x.size // 4
    followed_var = 0.7 * var + 0.3 * spread.reshape(-1) * count / (count - 1)
    out, saved = batch_norm(x, weight, bias, (mean, var))
    np.testing.assert_allclose(out, expected + along_channels(bias, x.ndim))
    np.testing.assert_allclose(mean, followed)
    np.testing.assert_allclose(var, followed_var)
    np.testing.assert_allclose(saved[1], 1 / np.sqrt(spread.reshape(-1) + EPS))


@pytest.mark.parametrize("shape", SHAPES)
def test_batch_norm_in_evaluation(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape)
    mean, var = rng.random((2, 4)) + 0.5
    before = mean.copy()
    out, _ = batch_norm(x, None, None, (mean, var), training=False)
    expected = (x - along_channels(mean, x.ndim)) / np.sqrt(along_channels(var, x.ndim) + EPS)
    np.testing.assert_allclose(out, expected)
    np.testing.assert_array_equal(mean, before)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("training", [True, False])
def test_gradient_of_batch_norm(shape: tuple[int, ...], training: bool) -> None:
    rng = np.random.default_rng(2)
    x, grad, step = rng.standard_normal((3, *shape))
    weight, bias, mean, var = rng.random((4, 4)) + 0.5
    statistics = (mean, var) if not training else (None, None)
    _, saved = batch_norm(x, weight, bias, statistics, training)
    dx, dw, db = np.empty_like(x), np.empty(4), np.empty(4)
    kept = saved if training else statistics
    batch_normalization.batch_norm_backward(
        dx, dw, db, grad, x, weight, *kept, training, EPS, (True, True, True)
    )

    def loss(values, scale=weight):
        return (batch_norm(values, scale, bias, statistics, training)[0] * grad).sum()

    np.testing.assert_allclose((dx * step).sum(), difference(loss, x, step), rtol=1e-5)
    slope = difference(lambda scale: loss(x, scale), weight, np.ones(4))
    np.testing.assert_allclose(dw.sum(), slope, rtol=1e-5)
    np.testing.assert_allclose(db, grad.sum((0, *range(2, len(shape)))))


@pytest.mark.parametrize("dims", [1, 2])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(dims: int, affine: bool) -> None:
    rng = np.random.default_rng(3)
    x, grad, step = rng.standard_normal((3, 70, 4, 5))
    inner = x.shape[-dims:]
    weight, bias = rng.standard_normal((2, *inner)) if affine else (None, None)
    axes = tuple(range(3 - dims, 3))

    def run(values):
        given = tensor(values), inner, tensor(weight), tensor(bias)
        out, *saved = arrays(ops.native_layer_norm(*given, EPS))
        return out, saved

    out, saved = run(x)
    normal = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + EPS)
    np.testing.assert_allclose(out, normal * weight + bias if affine else normal)
    given = (*map(tensor, saved), tensor(weight), tensor(bias), (True, True, True))
    dx, dw, db = arrays(ops.native_layer_norm_backward(tensor(grad), tensor(x), inner, *given))
    slope = difference(lambda values: (run(values)[0] * grad).sum(), x, step)
    np.testing.assert_allclose((dx * step).sum(), slope, rtol=1e-5)
    lead = tuple(range(3 - dims))
    np.testing.assert_allclose(dw, (grad * normal).sum(lead))
    np.testing.assert_allclose(db, grad.sum(lead))


@pytest.mark.parametrize("affine", [True, False])
def test_group_norm(affine: bool) -> None:
    rng = np.random.default_rng(4)
    x, grad, step = rng.standard_normal((3, 2, 6, 5))
    weight, bias = rng.standard_normal((2, 6)) if affine else (None, None)
    numbers = (2, 6, 5, 3)

    def run(values):
        given = map(tensor, (values, weight, bias))
        out, *saved = arrays(ops.native_group_norm(*given, *numbers, EPS))
        return out, saved

    out, saved = run(x)
    groups = x.reshape(2, 3, 10)
    normal = (groups - groups.mean(2, keepdims=True)) / np.sqrt(groups.var(2, keepdims=True) + EPS)
    normal = normal.reshape(x.shape)
    np.testing.assert_allclose(out, normal * weight[:, None] + bias[:, None] if affine else normal)
    given = map(tensor, (grad, x, *saved, weight))
    dx, dw, db = arrays(ops.native_group_norm_backward(*given, *numbers, (True, True, True)))
    slope = difference(lambda values: (run(values)[0] * grad).sum(), x, step)
    np.testing.assert_allclose((dx * step).sum(), slope, rtol=1e-5)
    np.testing.assert_allclose(dw, (grad * normal).sum((0, 2)))
    np.testing.assert_allclose(db, grad.sum((0, 2)))


def test_variance_far_from_zero() -> None:
    x = (np.random.default_rng(5).standard_normal((50, 3, 40)) + 1e4).astype(np.float32)
    out = np.empty_like(x)
    saved = np.empty((2, 3), np.float32)
    batch_normalization.native_batch_norm(out, *saved, x, None, None, None, None, True, 0.1, 0.0)
    wide = x.astype(np.float64)
    expected = 1 / np.sqrt(wide.var((0, 2)))
    np.testing.assert_allclose(saved[1], expected, rtol=1e-5)
