"""Convolutions against their definition: every algorithm, and the choice among them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.guarded_memory import guarded, guarded_copy
from tests.index_programs import cpu_kernel
from tests.runtime.conv import launched
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels import scratch, threads
from torchgen_out._runtime.kernels.cpu.conv import columns as column_convolution
from torchgen_out._runtime.kernels.cpu.conv import convolution, planes
from torchgen_out._runtime.kernels.cpu.conv import direct as direct_convolution
from torchgen_out._runtime.kernels.cpu.conv import flat as flat_convolution
from torchgen_out._runtime.kernels.cpu.conv import implicit as implicit_convolution

LAYERS = [
    ((64, 33, (17, 29)), (3, 3), {"padding": 1}),
    ((33, 64, (17, 29)), (3, 3), {"padding": 1}),
    ((64, 64, (9, 11)), (3, 3), {"padding": 2, "stride": 2}),
    ((3, 7, (19, 23)), (5, 5), {"padding": 2}),
    ((3, 32, (31, 33)), (7, 7), {"padding": 3, "stride": 2}),
    ((48, 40, (13, 15)), (1, 1), {}),
    ((16, 24, (21, 22)), (3, 5), {"dilation": 2}),
    ((1, 6, (28, 28)), (5, 5), {}),
]
"""(channels, outputs, size), kernel, options: each goes its own way."""


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
    ((1, 13, 16), (1, 4, 4), (1, 4, 4), (0, 0, 0), (1, 1, 1), 1),
    ((4, 7, 3), (2, 3, 3), (2, 3, 9), (0, 0, 0), (1, 1, 1), 2),
]


class Case:
    """Arrays of one geometry, with the expected result."""

    def __init__(self, numbers: Any, dtype: str = "float64", images: int = 5) -> None:
        size, kernel, self.stride, self.padding, self.dilation, self.groups = numbers
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((images, 4, *size)).astype(dtype)
        self.w = rng.standard_normal((6, 4 // self.groups, *kernel)).astype(dtype)
        self.bias = rng.standard_normal(6).astype(dtype)
        places = tuple(
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(
                size, kernel, self.stride, self.padding, self.dilation, strict=True
            )
        )
        self.sliding = (self.stride, self.padding, self.dilation)
        self.plan = planes.lay_out(size, kernel, places, *self.sliding)
        self.y = reference(self.x, self.w, places, *self.sliding, self.groups)
        self.grad = rng.standard_normal(self.y.shape).astype(dtype)


ALGORITHMS = [direct_convolution, column_convolution, launched]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("numbers", CASES)
def test_algorithms(algorithm: Any, numbers: Any) -> None:
    case = Case(numbers)
    how = case.sliding if algorithm is launched else case.plan
    y = np.empty_like(case.y)
    algorithm.convolve(y, case.x, case.w, case.bias, how, case.groups)
    np.testing.assert_allclose(y, case.y + case.bias.reshape(-1, 1, 1, 1), atol=1e-12)
    w = np.empty_like(case.w)
    algorithm.correlate(w, case.grad, case.x, how, case.groups)
    direction = np.random.default_rng(1).standard_normal(w.shape)
    along = reference(
        case.x, direction, y.shape[2:], case.stride, case.padding, case.dilation, case.groups
    )
    np.testing.assert_allclose((w * direction).sum(), (along * case.grad).sum())


@pytest.mark.parametrize("numbers", CASES)
def test_gradient_of_the_input_is_the_transpose(numbers: Any) -> None:
    case = Case(numbers)
    x, columns, implicit = (np.empty_like(case.x) for _ in range(3))
    arguments = case.w, None, *case.sliding, True, 0, case.groups
    convolution.convolution(x, case.grad, *arguments)
    np.testing.assert_allclose((x * case.x).sum(), (case.grad * case.y).sum())
    column_convolution.convolve_transposed(columns, case.grad, case.w, case.plan, case.groups)
    np.testing.assert_allclose(x, columns, atol=1e-12)
    launched.convolve_transposed(implicit, case.grad, case.w, None, case.sliding, case.groups)
    np.testing.assert_allclose(implicit, columns, atol=1e-12)


@pytest.mark.parametrize("images", [1, 2, 13])
@pytest.mark.parametrize("cached", [1, 500, 1 << 20])
@pytest.mark.parametrize("numbers", CASES)
def test_images_shared_among_threads(
    numbers: Any, cached: int, images: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Framed beforehand, one by one, or several at a time; the sums shared, or a part's own."""
    monkeypatch.setattr(implicit_convolution, "CACHED", cached)
    monkeypatch.setattr(threads, "GRAIN", 16)
    case = Case(numbers, images=images)
    expected = np.empty_like(case.x), np.empty_like(case.w)
    arguments = case.plan, case.groups
    column_convolution.convolve_transposed(expected[0], case.grad, case.w, *arguments)
    direct_convolution.correlate(expected[1], case.grad, case.x, *arguments)
    how = case.sliding, case.groups
    suits_flat = flat_convolution.suits(case.y, case.x, case.w, *how)
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "_threads", count)
        y, flat, x, w = map(np.empty_like, (case.y, case.y, *expected))
        launched.convolve(y, case.x, case.w, None, *how)
        launched.convolve_transposed(x, case.grad, case.w, None, *how)
        launched.correlate(w, case.grad, case.x, *how)
        for value, exact in ((y, case.y), (x, expected[0]), (w, expected[1])):
            np.testing.assert_allclose(value, exact, atol=1e-11)
        if suits_flat:
            launched.convolve_flat(flat, case.x, case.w, None, *how)
            np.testing.assert_allclose(flat, case.y, atol=1e-12)


@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("chunk", [1, implicit_convolution.CHUNK])
def test_implicit_products_in_blocks_are_accurate(
    stride: int, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several images, panels, blocks of rows and blocks of steps, on two threads."""
    monkeypatch.setattr(implicit_convolution, "CHUNK", chunk)
    rng = np.random.default_rng(2)
    x = rng.standard_normal((3, 40, 1, 28, 31)).astype(np.float32)
    w = rng.standard_normal((70, 40, 1, 3, 3)).astype(np.float32)
    strides, padding = (1, stride, stride), (0, 1, 2)
    places = 1, 27 // stride + 1, 32 // stride + 1
    wide = x.astype(np.float64), w.astype(np.float64)
    expected = reference(*wide, places, strides, padding, (1, 1, 1), 1)
    grad = rng.standard_normal(expected.shape).astype(np.float32)
    y, dx, dw = np.empty_like(grad), np.empty_like(x), np.empty_like(w)
    exact_dx, exact_dw = np.empty(x.shape), np.empty(w.shape)
    how = strides, padding, (1, 1, 1)
    plan = planes.lay_out(x.shape[2:], (1, 3, 3), places, *how)
    launched.convolve(y, x, w, None, how, 1)
    launched.convolve_transposed(dx, grad, w, None, how, 1)
    launched.correlate(dw, grad, x, how, 1)
    column_convolution.convolve_transposed(exact_dx, grad.astype(np.float64), wide[1], plan, 1)
    column_convolution.correlate(exact_dw, grad.astype(np.float64), wide[0], plan, 1)
    for value, exact in ((y, expected), (dx, exact_dx), (dw, exact_dw)):
        assert np.abs(value - exact).max() < 1e-6 * np.abs(exact).max()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "size, kernel, padding, dilation",
    [
        ((1, 58, 61), (1, 3, 3), (0, 1, 2), (1, 1, 1)),
        ((1, 1, 70), (1, 1, 5), (0, 0, 0), (1, 1, 3)),
        ((5, 6, 9), (2, 3, 1), (1, 0, 0), (2, 1, 1)),
    ],
)
def test_flat_convolutions(size: Any, kernel: Any, padding: Any, dilation: Any, dtype: str) -> None:
    """Groups, several blocks of places, tiles that overlap."""
    rng = np.random.default_rng(8)
    stride, groups = (1, 1, 1), 2
    x = rng.standard_normal((3, 6, *size)).astype(dtype)
    w = rng.standard_normal((2 * 9, 3, *kernel)).astype(dtype)
    bias = rng.standard_normal(18).astype(dtype)
    places = tuple(
        n + 2 * p - d * (k - 1) for n, p, d, k in zip(size, padding, dilation, kernel, strict=True)
    )
    wide = x.astype(np.float64), w.astype(np.float64)
    expected = reference(*wide, places, stride, padding, dilation, groups)
    expected += bias.reshape(-1, 1, 1, 1)
    im2col = stride, padding, dilation
    y = np.full(expected.shape, 7, dtype)
    assert flat_convolution.suits(y, x, w, im2col, groups)
    launched.convolve_flat(y, x, w, bias, im2col, groups)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    np.testing.assert_allclose(y, expected, tolerance, tolerance)


def test_results_may_have_gaps() -> None:
    case = Case(CASES[0])
    y = np.empty((*case.y.shape[:-1], 2 * case.y.shape[-1]))[..., ::2]
    convolution.convolution(y, case.x, case.w, None, *case.sliding, False, 0, 1)
    np.testing.assert_allclose(y, case.y, atol=1e-12)
    w = np.empty((*case.w.shape[:-1], 2 * case.w.shape[-1]))[..., ::2]
    dense = np.empty_like(case.w)
    convolution.convolution_grad_weight(w, case.grad, case.x, w.shape, *case.sliding, False, 1)
    direct_convolution.correlate(dense, case.grad, case.x, case.plan, 1)
    np.testing.assert_allclose(w, dense, atol=1e-12)


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


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("stride, is_dense", [(1, True), (2, True), (1, False)])
def test_kernel_of_one_tap(stride: int, is_dense: bool, dtype: str) -> None:
    rng = np.random.default_rng(6)
    sizes = (2, 4, 5, 9), (6, 2, 1, 1), (6,)
    x, w, bias = (rng.standard_normal(size).astype(dtype) for size in sizes)
    seen = x[:, :, ::stride, ::stride]
    pairs = [
        np.einsum("oc,nchw->nohw", w[3 * g : 3 * g + 3, :, 0, 0], seen[:, 2 * g : 2 * g + 2])
        for g in (0, 1)
    ]
    expected = np.concatenate(pairs, axis=1)
    grad = rng.standard_normal(expected.shape).astype(dtype)
    y, dx, dw = (
        np.full_like(each if is_dense else each.repeat(2, -1), 7)[..., :: 1 + (not is_dense)]
        for each in (expected, x, w)
    )
    numbers = ((stride, stride), (0, 0), (1, 1), False)
    convolution.convolution(y, x, w, bias, *numbers, (0, 0), 2)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(y, expected + bias.reshape(-1, 1, 1), tolerance, tolerance)
    convolution.convolution(dx, grad, w, None, *numbers[:3], True, (0, 0), 2)
    convolution.convolution_grad_weight(dw, grad, x, w.shape, *numbers, 2)
    for gradient, value in ((dx, x), (dw, w)):
        np.testing.assert_allclose(
            (gradient * value).sum(), (grad * expected).sum(), 10 * tolerance
        )


def test_unfold_and_fold() -> None:
    rng = np.random.default_rng(7)
    x = rng.standard_normal((2, 3, 6, 5))
    numbers = ((3, 2), (1, 1), (1, 0), (2, 1))
    columns = np.empty((2, 18, 12))
    unfold = cpu_kernel("im2col")
    unfold(columns, x, *numbers)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (0, 0)])
    patch = padded[1, :, 2:5, 1:3].reshape(-1)
    np.testing.assert_array_equal(columns[1, :, 5], patch)
    back = np.empty_like(x)
    fold = cpu_kernel("col2im")
    fold(back, columns, (6, 5), *numbers)
    np.testing.assert_allclose((back * x).sum(), (columns * columns).sum())


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("number", range(len(LAYERS)))
def test_nothing_outside_of_arrays_is_read(
    monkeypatch: pytest.MonkeyPatch, number: int, dtype: str, at_end: bool
) -> None:
    """Working memory included: what a tile reads too much must be there."""
    monkeypatch.setattr(scratch, "take", lambda name, shape, dtype: guarded(shape, dtype, at_end))
    (channels, outputs, size), kernel, options = LAYERS[number]
    rng = np.random.default_rng(5)
    x = guarded_copy(rng.standard_normal((2, channels, *size)).astype(dtype), at_end)
    w = guarded_copy(rng.standard_normal((outputs, channels, *kernel)).astype(dtype), at_end)
    image, weight = (torch.from_numpy(each).requires_grad_() for each in (x, w))
    forward = torch.nn.functional.conv2d(image, weight, **options)
    forward.sum().backward()
    back = torch.nn.functional.conv_transpose2d(forward.detach(), weight.detach(), **options)
    assert back.isfinite().all() and image.grad.isfinite().all() and weight.grad.isfinite().all()


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_few_elements_are_convolved_as_many(dims: int) -> None:
    rng = np.random.default_rng(dims)
    met = 0
    for stride, padding, dilation, groups, size in product((1, 3), (0, 4), (1, 2), (1, 2), (1, 3)):
        x = rng.standard_normal((2, 4, *(9, 5, 6)[:dims])).astype(np.float32)
        w = rng.standard_normal((4, 4 // groups, *(size,) * dims)).astype(np.float32)
        if any(n + 2 * padding <= dilation * (size - 1) for n in x.shape[2:]):
            continue
        geometry = [stride] * dims, [padding] * dims, [dilation] * dims
        numbers = *geometry, False, [0] * dims, groups
        function = getattr(torch, f"conv{dims}d")
        found = function(torch.from_numpy(x), torch.from_numpy(w), None, *geometry, groups).numpy()
        expected = np.empty_like(found)
        convolution.convolution(expected, x, w, None, *numbers)
        np.testing.assert_allclose(found, expected, atol=1e-4)
        grad = rng.standard_normal(found.shape).astype(np.float32)
        dx, dw = np.empty_like(x), np.empty_like(w)
        convolution.convolution(dx, grad, w, None, *geometry, True, [0] * dims, groups)
        convolution.convolution_grad_weight(dw, grad, x, w.shape, *geometry, False, groups)
        y, image, weight = map(torch.from_numpy, (grad, x, w))
        sliding = *geometry, False, groups
        made = ops._convolution_grad_input(y, weight, x.shape, *sliding).numpy()
        np.testing.assert_allclose(made, dx, atol=1e-4)
        made = ops._convolution_grad_weight(y, image, w.shape, *sliding).numpy()
        np.testing.assert_allclose(made, dw, atol=1e-3)
        met += 1
    assert met > 20


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("outputs", "kernel"), [(4, 1), (3, 1), (2, 3)])
def test_operands_inside_larger_memory_go_to_few_outputs(
    outputs: int, kernel: int, bias: bool
) -> None:
    images = torch.randn(3, 16, 16, 16)
    weights = torch.randn(2 * outputs, 16, kernel, kernel)
    added = torch.randn(2 * outputs)
    parts = images[1:], weights[outputs:], added[outputs:] if bias else None
    whole = [each if each is None else each.clone() for each in parts]
    found = torch.nn.functional.conv2d(*parts)
    assert torch.equal(found, torch.nn.functional.conv2d(*whole))
    wide = [each if each is None else each.double() for each in whole]
    torch.testing.assert_close(found, torch.nn.functional.conv2d(*wide).float())


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("channels", [(1, 1), (2, 3), (16, 16)])
def test_what_is_sent_back_is_the_transpose(ndim: int, channels: tuple[int, int]) -> None:
    """conv(x) * y and x * conv_transpose(y) have one sum, whatever steps, taps and gaps."""
    rng = np.random.default_rng(8)
    forward = getattr(torch.nn.functional, f"conv{ndim}d")
    back = getattr(torch.nn.functional, f"conv_transpose{ndim}d")
    inputs, outputs = channels
    for kernel, stride, dilation, padding, behind in product(
        (1, 2, 3), (1, 2, 3), (1, 2), (0, 1), (0, 1)
    ):
        if padding > dilation * (kernel - 1) or behind >= max(stride, dilation):
            continue
        windows, reach = 3, dilation * (kernel - 1) + 1
        size = (windows - 1) * stride + reach - 2 * padding + behind
        x = torch.from_numpy(rng.standard_normal((2, inputs, *[size] * ndim)))
        w = torch.from_numpy(rng.standard_normal((outputs, inputs, *[kernel] * ndim)))
        y = torch.from_numpy(rng.standard_normal((2, outputs, *[windows] * ndim)))
        seen = forward(x, w, None, stride, padding, dilation)
        seen = seen[(..., *[slice(windows)] * ndim)]  # what is behind may make more
        y.requires_grad_()
        sent = back(y, w, None, stride, padding, behind, 1, dilation)
        assert seen.shape == y.shape and sent.shape == x.shape
        (sent * x).sum().backward()
        np.testing.assert_allclose(y.grad.numpy(), seen.numpy(), rtol=1e-9, atol=1e-9)
        expected = (x.numpy() * sent.detach().numpy()).sum()
        found = (seen.numpy() * y.detach().numpy()).sum()
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("channels", [1, 2])
def test_kernels_turned_round_lie_densely(channels: int) -> None:
    """Those of one channel, all of whose dims are reversed, would be seen backwards as they are."""
    rng = np.random.default_rng(3)
    y = torch.from_numpy(rng.standard_normal((1, channels, 8, 8, 8)))
    w = torch.from_numpy(rng.standard_normal((channels, channels, 2, 3, 5)))
    bias = torch.from_numpy(rng.standard_normal(channels))
    found = torch.nn.functional.conv_transpose3d(y, w, bias, padding=(1, 1, 0))
    turned = w.flip((2, 3, 4)).transpose(0, 1)
    expected = torch.nn.functional.conv3d(y, turned, bias, padding=(0, 1, 4))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-12)
