"""Convolutions without cuDNN on an emulated device against the CPU, their texts compiled, and what
is launched."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from tests import harness
from tests.cuda.compiling import check, needs_extra
from tests.cuda.test_operators import OURS, compare, on_device
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels.cuda import recorded
from torchgen_out._runtime.kernels.cuda.loops import index
from torchgen_out._runtime.ops.composite.conv import products

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


WAYS = {
    "taps": {},
    "windows": {"FEW_OUTPUTS": 0},
    "in blocks": {"FEW_OUTPUTS": 0, "WORKSPACE": 1, "LARGEST": 1 << 40},
    "in parts": {"FEW_OUTPUTS": 0, "WORKSPACE": 400, "LARGEST": 0},
}
"""Few outputs are sums over taps; all else is products: of all images, of each, or of parts."""


def _directions() -> list[Any]:
    """Every geometry forwards, some of them backwards and in blocks; the rest with `-m full`."""
    usual = ("strides and padding", "groups", "one tap")
    made = []
    for name in GEOMETRIES:
        for is_back in (False, True):
            for way in WAYS:
                is_usual = name in usual or not (is_back or way.startswith("in "))
                marks = () if is_usual else pytest.mark.full
                made.append(pytest.param(name, is_back, way, marks=marks))
    return made


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize(("name", "transposed", "way"), _directions())
def test_gradients(monkeypatch, name, transposed, way):
    for each, value in WAYS[way].items():
        monkeypatch.setattr(products, each, value)
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


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "complex64", "int32"])
def test_dtypes(monkeypatch, dtype, way):
    for each, value in WAYS[way].items():
        monkeypatch.setattr(products, each, value)
    x_sizes, w_sizes, y_sizes = (3, 4, 5, 4), (6, 2, 3, 2), (3, 6, 5, 3)
    x, w, y = ((3 * randn(*each)).to(getattr(torch, dtype)) for each in (x_sizes, w_sizes, y_sizes))
    steps = [1], [1, 0], [1], False
    directions = {
        "convolution": (x, w, None, *steps, [0], 2),
        "_convolution_grad_input": (y, w, x_sizes, *steps, 2),
        "_convolution_grad_weight": (y, x, w_sizes, *steps, 2),
    }
    for name, given in directions.items():
        there = [each.cuda() if isinstance(each, torch.Tensor) else each for each in given]
        compare(getattr(ops, name)(*there), getattr(ops, name)(*given), name, of_sums=True)


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("dtype", ["complex32", "float8_e4m3fn", "uint64"])
def test_dtypes_without_products_of_their_own(dtype):
    """By windows, by taps, and of one tap: small whole numbers are exact."""
    kind = getattr(torch, dtype)
    for sizes, groups in (((8, 2, 3, 3), 1), ((2, 1, 3, 3), 2), ((8, 2, 1, 1), 1)):
        x, w = (torch.randint(0, 3, each).float().to(kind) for each in ((2, 2, 5, 4), sizes))
        given = None, [1], [0], [1], False, [0], groups
        got, expected = ops.convolution(x.cuda(), w.cuda(), *given), ops.convolution(x, w, *given)
        assert got.dtype is kind and torch.equal(got.cpu(), expected)


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("few", [0, 4])
def test_second_derivatives(monkeypatch, few):
    monkeypatch.setattr(products, "FEW_OUTPUTS", few)
    found = []
    for device in ("cuda", "cpu"):
        x, w = (randn(*sizes).to(device) for sizes in ((2, 2, 4, 3), (3, 2, 2, 2)))
        x.requires_grad_(), w.requires_grad_()
        y = F.conv2d(x, w, stride=(2, 1), padding=1)
        gradients = torch.autograd.grad(y.square().sum(), [x, w], create_graph=True)
        total = sum(each.square().sum() for each in gradients)
        found.append([each.cpu() for each in torch.autograd.grad(total, [x, w])])
    for ours, theirs in zip(*found, strict=True):
        assert torch.allclose(ours, theirs, rtol=1e-4, atol=1e-3)


def test_one_tap_is_a_matrix_product(libraries, emulated):
    x, w = randn(2, 3, 4, 4).cuda(), randn(5, 3, 1, 1).cuda()
    before = len(emulated.named("launch"))
    F.conv2d(x, w)
    assert len(emulated.named("launch")) == before
    assert [call[0] for call in libraries["cublasLt"].calls] == ["heuristic", "matmul"]


def test_windows_are_laid_out_for_some_images_at_a_time(libraries, emulated, monkeypatch):
    """Blocks are as large as they may be, and their results stay where they are written."""
    x, w, b = randn(5, 2, 4, 4), randn(8, 2, 3, 3), randn(8)
    monkeypatch.setattr(products, "WORKSPACE", 2 * 4 * 18 * 4)  # of two images
    there = [each.cuda() for each in (x, w, b)]
    before = len(emulated.named("launch"))
    got = F.conv2d(*there)
    launched = [call[1] for call in emulated.named("launch")[before:]]
    assert launched[1:] == ["_convolution_windows_device_0"] * 3
    assert [call[0] for call in libraries["cublasLt"].calls].count("matmul") == 3
    assert torch.allclose(got.cpu(), F.conv2d(x, w, b), atol=1e-5)


def test_a_graph_replays_products(emulated):
    """Nobody waits, and the windows lie in the graph's memory."""
    x, w = randn(2, 2, 4, 4).cuda(), randn(8, 2, 3, 3).cuda()
    F.conv2d(x, w)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = F.conv2d(x, w)
    x.fill_(2)
    graph.replay()
    assert torch.allclose(y.cpu(), F.conv2d(x.cpu(), w.cpu()), atol=1e-5)


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


@pytest.mark.parametrize("with_bias", [False, True])
def test_one_tap_reads_and_writes_channels_that_come_last(emulated, with_bias):
    x, w, b = randn(2, 4, 4, 3).permute(0, 3, 1, 2), randn(5, 3, 1, 1), randn(5)
    there = [each.cuda() for each in (x, w, b)[: 2 + with_bias]]
    before = len(emulated.named("launch"))
    got = F.conv2d(*there)
    assert len(emulated.named("launch")) == before + with_bias  # the bias is there first
    assert got.is_contiguous(memory_format=torch.channels_last)
    assert torch.allclose(got.cpu(), F.conv2d(x, *(w, b)[: 1 + with_bias]), atol=1e-5)


# -- compiled ------------------------------------------------------------------------------------

NAMED = ("_convolution_windows", "_convolution_fold", "_convolution_taps")
TEXTS = [each for each in harness.program().operators if each.name.startswith(NAMED)]


@needs_extra
@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("operator", TEXTS, ids=lambda each: each.name)
def test_texts_compile(monkeypatch, operator, dtype):
    """All launches of a text."""
    sources: list[Any] = []
    make = index.index_kernel
    monkeypatch.setattr(
        index, "index_kernel", lambda form: sources.append(make(form)) or make(form)
    )
    recorded.forget()
    for case in harness.cases(operator):
        on_device(OURS.arguments(case, dtype))()
    assert sources
    for source in set(sources):
        check(source, False)
