"""Kernels of matrices, layers and losses against PyTorch's, on the same arrays."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import torchgen_out as ours
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels.cpu.conv import convolution
from torchgen_out._runtime.kernels.cpu.loss import nll_loss as losses
from torchgen_out._runtime.kernels.cpu.normalization import batch_norm as batch_normalization

torch = pytest.importorskip("torch")
F = torch.nn.functional
GEOMETRIES = list(product((1, 2, 3), (1, 2), (0, 1), (1, 2), (1, 2), (False, True)))


def random(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape)


def tensors(*arrays: np.ndarray | None) -> list[Any]:
    """Leaves over copies of the arrays."""
    return [None if a is None else torch.tensor(a, requires_grad=True) for a in arrays]


@pytest.mark.parametrize("ndim, stride, padding, dilation, groups, transposed", GEOMETRIES)
def test_convolution(
    ndim: int, stride: int, padding: int, dilation: int, groups: int, transposed: bool
) -> None:
    sizes, kernel = (7, 8, 6)[:ndim], (3, 2, 3)[:ndim]
    x, bias = random(3, 4, *sizes), random(6)
    w = random(*((4, 6 // groups) if transposed else (6, 4 // groups)), *kernel, seed=1)
    leaves = tensors(x, w, bias)
    extra = int(transposed and stride > 1)
    if transposed:
        function = getattr(F, f"conv_transpose{ndim}d")
        expected = function(*leaves, stride, padding, extra, groups, dilation)
    else:
        function = getattr(F, f"conv{ndim}d")
        expected = function(*leaves, stride, padding, dilation, groups)
    out = np.empty(tuple(expected.shape))
    steps = ([stride] * ndim, [padding] * ndim, [dilation] * ndim, transposed)
    convolution.convolution(out, x, w, bias, *steps, [extra] * ndim, groups)
    np.testing.assert_allclose(out, expected.detach().numpy(), atol=1e-12)
    grad = random(*out.shape, seed=2)
    expected.backward(torch.tensor(grad))
    dx, dw = np.empty_like(x), np.empty_like(w)
    back = *steps[:3], not transposed, [0] * ndim
    convolution.convolution(dx, grad, w, None, *back, groups)
    convolution.convolution_grad_weight(dw, grad, x, w.shape, *steps, groups)
    np.testing.assert_allclose(dx, leaves[0].grad.numpy(), atol=1e-12)
    np.testing.assert_allclose(dw, leaves[1].grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("channels, size", [((3, 8), 40), ((64, 64), 20), ((64, 200), 9)])
def test_convolution_in_single_precision(channels: tuple[int, int], size: int) -> None:
    x = random(2, channels[0], size, size).astype(np.float32)
    w = random(channels[1], channels[0], 3, 3).astype(np.float32)
    expected = F.conv2d(torch.tensor(x), torch.tensor(w), padding=1).numpy()
    out = np.empty_like(expected)
    convolution.convolution(out, x, w, None, 1, 1, 1, False, 0, 1)
    np.testing.assert_allclose(out, expected, atol=2e-6 * np.abs(expected).max(), rtol=1e-5)


@pytest.mark.parametrize(
    "size, stride, padding, ceil", list(product((2, 3), (1, 2), (0, 1), (0, 1)))
)
def test_pooling(size: int, stride: int, padding: int, ceil: int) -> None:
    x = random(2, 3, 9, 8)
    top, places = F.max_pool2d(
        torch.tensor(x), size, stride, padding, ceil_mode=bool(ceil), return_indices=True
    )
    found = ours.nn.functional.max_pool2d(
        ours.from_numpy(x), size, stride, padding, ceil_mode=bool(ceil), return_indices=True
    )
    np.testing.assert_array_equal(found[0].numpy(), top.numpy())
    np.testing.assert_array_equal(found[1].numpy(), places.numpy())
    for include_pad, divisor in product((True, False), (None, 5)):
        numbers = (size, stride, padding, bool(ceil), include_pad, divisor)
        (leaf,) = tensors(x)
        mean = F.avg_pool2d(leaf, *numbers)
        own = ours.from_numpy(x).requires_grad_()
        found = ours.nn.functional.avg_pool2d(own, *numbers)
        np.testing.assert_allclose(found.detach().numpy(), mean.detach().numpy(), atol=1e-14)
        mean.backward(mean.detach())
        found.backward(found.detach())
        np.testing.assert_allclose(own.grad.numpy(), leaf.grad.numpy(), atol=1e-14)


@pytest.mark.parametrize("shape", [(6, 4), (3, 4, 5), (2, 4, 3, 3)])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(shape: tuple[int, ...], training: bool) -> None:
    x, grad = random(*shape), random(*shape, seed=1)
    weight, bias, mean, var = np.random.default_rng(2).random((4, 4)) + 0.5
    leaves = tensors(x, weight, bias)
    running = [torch.tensor(mean), torch.tensor(var)]
    expected = F.batch_norm(leaves[0], *running, *leaves[1:], training, 0.3, 1e-3)
    expected.backward(torch.tensor(grad))
    out, saved = np.empty_like(x), np.empty((2, 4 if training else 0))
    arguments = (weight, bias, mean, var, training, 0.3, 1e-3)
    batch_normalization.native_batch_norm(out, *saved, x, *arguments)
    np.testing.assert_allclose(out, expected.detach().numpy())
    np.testing.assert_allclose([mean, var], [each.numpy() for each in running])
    results = [np.empty_like(each) for each in (x, weight, bias)]
    kept = saved if training else (mean, var)
    batch_normalization.batch_norm_backward(
        *results, grad, x, weight, *kept, training, 1e-3, (True, True, True)
    )
    for result, leaf in zip(results, leaves, strict=True):
        np.testing.assert_allclose(result, leaf.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("dims", [1, 2])
def test_layer_norm(dims: int) -> None:
    x, grad = random(5, 4, 6), random(5, 4, 6, seed=1)
    inner = x.shape[-dims:]
    leaves = tensors(x, random(*inner, seed=2), random(*inner, seed=3))
    expected = F.layer_norm(leaves[0], inner, *leaves[1:], 1e-3)
    expected.backward(torch.tensor(grad))
    weight, bias = (leaf.detach().numpy() for leaf in leaves[1:])
    own = [ours.from_numpy(each).requires_grad_() for each in (x, weight, bias)]
    found = ours.nn.functional.layer_norm(own[0], inner, *own[1:], 1e-3)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy())
    found.backward(ours.from_numpy(grad))
    for each, leaf in zip(own, leaves, strict=True):
        np.testing.assert_allclose(each.grad.numpy(), leaf.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("reduction, name", list(enumerate(("none", "mean", "sum"))))
def test_nll_loss(reduction: int, name: str) -> None:
    scores, weight = random(5, 4, 3), np.random.default_rng(1).random(4)
    target = np.random.default_rng(2).integers(0, 4, (5, 3))
    (leaf,) = tensors(scores)
    given = (torch.tensor(target), torch.tensor(weight))
    expected = F.nll_loss(leaf, *given, ignore_index=2, reduction=name)
    out, total = np.empty(tuple(expected.shape)), np.empty(())
    losses.nll_loss_forward(out, total, scores, target, weight, reduction, 2)
    np.testing.assert_allclose(out, expected.detach().numpy())
    grad = random(*out.shape, seed=3) if out.ndim else np.array(2.0)
    expected.backward(torch.tensor(grad))
    own = [ours.from_numpy(np.asarray(each)) for each in (grad, target, weight, total)]
    result = ops._nll_loss_backward(*own, scores.shape, reduction, 2)
    np.testing.assert_allclose(result.numpy(), leaf.grad.numpy())
