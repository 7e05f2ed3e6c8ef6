"""Convolutions on an emulated device against the CPU, their kernel compiled, and its launches."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from tests import harness
from tests.cuda.compiling import check, needs_extra
from tests.cuda.test_operators import OURS, compare, on_device
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.conv import convolution, lattice_product
from torchgen_out._runtime.kernels.cuda.conv.lattice_product import Form

NAMES = ("convolution", "_convolution_grad_input", "_convolution_grad_weight")
F = torch.nn.functional


def _operators() -> list[Any]:
    return [each for each in harness.program().operators if each.name in NAMES]


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("dtype", ["complex64"])
@pytest.mark.parametrize("operator", _operators(), ids=lambda each: each.name)
def test_values(operator, dtype):
    for case in harness.cases(operator):
        if not case.raises:
            call = OURS.arguments(case, dtype)
            compare(on_device(call)(), call(), str(case))


def randn(*sizes: int) -> Any:
    """Random numbers that need a gradient."""
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(sum(sizes)))


GEOMETRIES = {
    "plain": ((2, 3, 6, 5), (4, 3, 3, 3), {}),
    "strides and padding": ((2, 2, 7, 6), (3, 2, 3, 2), {"stride": (2, 3), "padding": (2, 1)}),
    "dilation": ((1, 2, 9, 8), (2, 2, 3, 2), {"dilation": (2, 3), "padding": 1}),
    "groups": ((2, 4, 5, 5), (6, 2, 2, 2), {"groups": 2}),
    "every channel alone": ((1, 3, 5, 4), (3, 1, 3, 3), {"groups": 3, "padding": 1}),
    "many channels": ((1, 2, 3, 3), (18, 2, 2, 2), {"stride": 2, "padding": 1}),
    "one tap": ((2, 3, 3, 4), (5, 3, 1, 1), {}),
    "one tap with strides": ((1, 3, 5, 4), (2, 3, 1, 1), {"stride": 2}),
    "line": ((2, 3, 9), (4, 3, 3), {"stride": 2}),
    "volume": ((1, 2, 3, 3, 4), (2, 2, 2, 2, 3), {"padding": (1, 0, 1)}),
}


def _directions() -> list[Any]:
    """Every geometry forwards, and some of them backwards; the others with `-m full`."""
    usual = ("strides and padding", "groups", "one tap")
    return [
        pytest.param(name, is_back, marks=() if name in usual or not is_back else pytest.mark.full)
        for name in GEOMETRIES
        for is_back in (False, True)
    ]


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize(("name", "transposed"), _directions())
def test_gradients(name, transposed):
    x_sizes, w_sizes, options = GEOMETRIES[name]
    if transposed:  # the same geometry backwards: its input is the result of the plain one
        x_sizes = (*x_sizes[:1], w_sizes[0], *x_sizes[2:])
    outputs = w_sizes[1] * options.get("groups", 1) if transposed else w_sizes[0]
    ndim = len(x_sizes) - 2
    function = getattr(F, f"conv_transpose{ndim}d" if transposed else f"conv{ndim}d")
    if transposed and options.get("stride"):
        options = options | {"output_padding": 1}
    leaves = [randn(*x_sizes), randn(*w_sizes), randn(outputs)]
    twins = [each.cuda().requires_grad_() for each in leaves]
    leaves = [each.requires_grad_() for each in leaves]
    expected, got = function(*leaves, **options), function(*twins, **options)
    assert got.is_cuda and torch.allclose(got.cpu(), expected, rtol=1e-4, atol=1e-4)
    weights = randn(*expected.shape)
    expected.backward(weights)
    got.backward(weights.cuda())
    for ours, theirs in zip(twins, leaves, strict=True):
        assert torch.allclose(ours.grad.cpu(), theirs.grad, rtol=1e-4, atol=1e-4)


def test_one_tap_is_a_matrix_product(libraries, emulated):
    x, w = randn(2, 3, 4, 4).cuda(), randn(5, 3, 1, 1).cuda()
    before = len(emulated.named("launch"))
    F.conv2d(x, w)
    assert len(emulated.named("launch")) == before
    assert [call[0] for call in libraries["cublasLt"].calls] == ["heuristic", "matmul"]


def test_long_sums_are_cut_into_slices(emulated, monkeypatch):
    monkeypatch.setattr(convolution, "LEAST_OF_SLICE", 16)
    x, y = randn(1, 1, 7, 7), randn(1, 1, 6, 6)
    w = randn(1, 1, 2, 2).requires_grad_()
    twin = w.detach().cuda().requires_grad_()
    F.conv2d(x, w).backward(y)
    F.conv2d(x.cuda(), twin).backward(y.cuda())
    assert torch.allclose(twin.grad.cpu(), w.grad, rtol=1e-4, atol=1e-4)
    launched = {call[1]: call[2] for call in emulated.named("launch")}
    assert launched["convolution_float32"] == (2, 1)  # 36 places: two slices of at least 16
    assert "convolution_sum_float32" in launched


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("function", [F.conv2d, F.conv_transpose2d])
@pytest.mark.parametrize("taps", [1, 2])
def test_any_memory_layout(function, taps):
    x, w, b = randn(2, 4, 5, 3), randn(3, 3, taps, taps), randn(6)
    leaves = x.permute(0, 3, 1, 2), w.transpose(2, 3), b[::2]
    on_cuda = x.cuda().permute(0, 3, 1, 2), w.cuda().transpose(2, 3), b.cuda()[::2]
    for each in (*leaves, *on_cuda):
        each.requires_grad_()
    got, expected = function(*on_cuda), function(*leaves)
    assert torch.allclose(got.cpu(), expected, atol=1e-5)
    weights = randn(*expected.permute(0, 2, 3, 1).shape)
    ours = torch.autograd.grad(got, on_cuda, weights.cuda().permute(0, 3, 1, 2))
    theirs = torch.autograd.grad(expected, leaves, weights.permute(0, 3, 1, 2))
    for mine, wanted in zip(ours, theirs, strict=True):
        assert torch.allclose(mine.cpu(), wanted, rtol=1e-4, atol=1e-4)


def test_one_tap_reads_channels_that_come_last(emulated):
    x, w = randn(2, 4, 4, 3).cuda().permute(0, 3, 1, 2), randn(5, 3, 1, 1).cuda()
    before = len(emulated.named("launch"))
    F.conv2d(x, w)
    assert len(emulated.named("launch")) == before + 1  # the result is laid out as the input


# -- compiled ------------------------------------------------------------------------------------


def _forms() -> list[Any]:
    """Every form in float32, and one of every dtype."""
    single = dtypes.float32
    variants = ((False, False, False), (True, True, False), (True, False, True))
    forms = [Form(single, single, rows, *each) for rows in (1, 4) for each in variants]
    others = (dtypes.float16, dtypes.bfloat16, dtypes.float64, dtypes.complex64, dtypes.int32)
    return forms + [Form(each, each, 4, True, True, False) for each in others]


def _name(form: Form) -> str:
    return "-".join(str(getattr(each, "name", each)) for each in form)


@needs_extra
@pytest.mark.parametrize("form", _forms(), ids=_name)
def test_the_kernel_compiles(form):
    is_double = form.dtype is dtypes.float64
    code = check(lattice_product.product_kernel(form), is_double, form.dtype.is_complex)
    assert code.count("bar.sync") >= 2
    if form.dtype is dtypes.float32:
        assert code.count("fma.rn.f32") >= 4 * form.rows


@needs_extra
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_addition_of_slices_compiles(dtype):
    check(lattice_product.sum_kernel(dtypes.by_name(dtype), False), False)
