"""Tensors that lie channels-last: values, gradients and the order of results, beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch as reference

import torchgen_out as torch
from torchgen_out._runtime.dispatch.operator import Dispatch, operators

FORMATS = {4: "channels_last", 5: "channels_last_3d"}


class Side:
    """One of the two libraries, with inputs drawn in the same order."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.functional = library.nn.functional
        self.numbers = np.random.default_rng(7)
        self.inputs: list[Any] = []

    def dense(self, *sizes: int) -> Any:
        """A contiguous tensor that wants a gradient."""
        values = self.numbers.normal(size=sizes)
        self.inputs.append(self.library.tensor(values, requires_grad=True))
        return self.inputs[-1]

    def last(self, *sizes: int) -> Any:
        """The same, channels-last."""
        wanted = getattr(self.library, FORMATS[len(sizes)])
        made = self.dense(*sizes).detach().contiguous(memory_format=wanted).requires_grad_()
        self.inputs[-1] = made
        return made


Case = Callable[[Side, Any], Any]

CASES: dict[str, Case] = {
    "conv2d": lambda s, F: F.conv2d(s.last(2, 3, 4, 5), s.dense(4, 3, 3, 3), s.dense(4)),
    "conv2d, weight last": lambda s, F: F.conv2d(s.dense(2, 3, 4, 5), s.last(4, 3, 3, 3)),
    "conv2d, both last": lambda s, F: F.conv2d(s.last(2, 3, 4, 5), s.last(4, 3, 3, 3), padding=1),
    "conv2d, 1 x 1": lambda s, F: F.conv2d(s.last(2, 3, 4, 5), s.dense(4, 3, 1, 1)),
    "conv2d, depthwise": lambda s, F: F.conv2d(s.last(2, 3, 4, 5), s.dense(3, 1, 3, 3), groups=3),
    "conv_transpose2d": lambda s, F: F.conv_transpose2d(s.last(2, 3, 4, 5), s.dense(3, 4, 3, 3)),
    "conv3d": lambda s, F: F.conv3d(s.last(2, 3, 4, 5, 3).float(), s.dense(4, 3, 2, 2, 2).float()),
    "max_pool2d": lambda s, F: F.max_pool2d(s.last(2, 3, 4, 5), 2),
    "max_pool3d": lambda s, F: F.max_pool3d(s.last(2, 3, 4, 5, 3), 2),
    "avg_pool2d": lambda s, F: F.avg_pool2d(s.last(2, 3, 4, 5), 2),
    "adaptive_avg_pool2d": lambda s, F: F.adaptive_avg_pool2d(s.last(2, 3, 4, 5), 2),
    "adaptive_max_pool2d": lambda s, F: F.adaptive_max_pool2d(s.last(2, 3, 4, 5), 2),
    "max_unpool2d": lambda s, F: F.max_unpool2d(
        *F.max_pool2d(s.last(2, 3, 4, 4), 2, return_indices=True), 2
    ),
    "batch_norm": lambda s, F: F.batch_norm(
        s.last(2, 3, 4, 5), None, None, s.dense(3), s.dense(3), True
    ),
    "group_norm": lambda s, F: F.group_norm(s.last(2, 4, 4, 5), 2, s.dense(4), s.dense(4)),
    "interpolate, nearest": lambda s, F: F.interpolate(s.last(2, 4, 4, 5), scale_factor=2),
    "interpolate, bilinear": lambda s, F: F.interpolate(
        s.last(2, 4, 4, 5), scale_factor=2, mode="bilinear"
    ),
    "pixel_shuffle": lambda s, F: F.pixel_shuffle(s.last(2, 8, 4, 5), 2),
    "pad": lambda s, F: F.pad(s.last(2, 3, 4, 5), (1, 1)),
    "pad, reflected": lambda s, F: F.pad(s.last(2, 3, 4, 5), (1, 1, 1, 1), mode="reflect"),
    "cat": lambda s, F: s.library.cat([s.last(2, 3, 4, 5), s.last(2, 2, 4, 5)], 1),
    "cat of both orders": lambda s, F: s.library.cat([s.last(2, 3, 4, 5), s.dense(2, 2, 4, 5)], 1),
    "flip": lambda s, F: s.last(2, 3, 4, 5).flip(1),
    "roll": lambda s, F: s.last(2, 3, 4, 5).roll(1, 2),
    "relu": lambda s, F: s.last(2, 3, 4, 5).relu(),
    "sum of both orders": lambda s, F: s.last(2, 3, 4, 5) + s.dense(2, 3, 4, 5),
    "times a number a channel": lambda s, F: s.dense(1, 3, 1, 1) * s.last(2, 3, 4, 5),
    "float": lambda s, F: s.last(2, 3, 4, 5).float(),
    "a residual block": lambda s, F: _residual_block(s, F),
}


def _residual_block(side: Side, F: Any) -> Any:
    x = F.conv2d(side.last(2, 3, 4, 4), side.last(3, 3, 3, 3), padding=1)
    x = F.batch_norm(x, None, None, training=True).relu()
    return F.max_pool2d(x + side.last(2, 3, 4, 4), 2)


def order_of(tensor: Any) -> tuple[bool, bool]:
    """Whether a tensor is contiguous, and whether it is channels-last."""
    library = torch if isinstance(tensor, torch.Tensor) else reference
    wanted = getattr(library, FORMATS[tensor.dim()])
    return tensor.is_contiguous(), tensor.is_contiguous(memory_format=wanted)


@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients_lie_as_in_pytorch(name: str) -> None:
    found = []
    for library in (torch, reference):
        side = Side(library)
        result = CASES[name](side, side.functional)
        (result * result).sum().backward()
        found.append([result, *[each.grad for each in side.inputs]])
    tolerance = 1e-10 if found[0][0].dtype is torch.float64 else 1e-4
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(
            ours.detach().numpy(), theirs.detach().numpy(), rtol=tolerance, atol=tolerance
        )
    assert order_of(found[0][0]) == order_of(found[1][0])
    for ours, theirs in zip(found[0][1:], found[1][1:], strict=True):
        if ours.dim() in FORMATS:
            assert order_of(ours) == order_of(theirs)


@pytest.mark.parametrize("strides", [(60, 1, 15, 3), (60, 20, 5, 1), (1, 1, 1, 1), (3, 1, 3, 3)])
@pytest.mark.parametrize(
    "sizes", [(2, 3, 4, 5), (2, 3, 1, 1), (1, 3, 4, 5), (2, 1, 4, 5), (1, 1, 1, 1)]
)
def test_orders_that_sizes_of_one_leave_open_are_read_as_pytorch_reads_them(
    sizes: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    ours = torch.empty(60 * 2).as_strided(sizes, strides)
    theirs = reference.empty(60 * 2).as_strided(sizes, strides)
    ours, theirs = torch.constant_pad_nd(ours, [1, 1]), reference.constant_pad_nd(theirs, [1, 1])
    assert order_of(ours) == order_of(theirs)


def test_meta_tensors_lie_as_those_with_data() -> None:
    named = [
        each for each in operators.values() if isinstance(each, Dispatch) and each.keeps_format
    ]
    assert len(named) > 20
    real = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    abstract = real.to("meta", memory_format=torch.channels_last)
    for function in (torch.relu, torch.clone, lambda x: torch.constant_pad_nd(x, [1, 1])):
        assert function(abstract).stride() == function(real).stride()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_floats_keep_the_order(dtype: str) -> None:
    x = torch.randn(2, 3, 4, 5).to(getattr(torch, dtype)).to(memory_format=torch.channels_last)
    weight = torch.randn(4, 3, 3, 3).to(x.dtype)
    result = torch.conv2d(x, weight)
    assert result.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(result, torch.conv2d(x.contiguous(), weight))


def test_modules_and_their_results_take_a_format() -> None:
    layer = torch.nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)
    assert layer.weight.is_contiguous(memory_format=torch.channels_last)
    assert layer(torch.randn(2, 3, 5, 5)).is_contiguous(memory_format=torch.channels_last)


POOLED: dict[str, Callable[[Any, Any], Any]] = {
    "pooled": lambda t, x: x,
    "in a batch of one": lambda t, x: x[:1],
    "with a number": lambda t, x: x + 1,
    "copied": lambda t, x: x.clone(),
    "in float64": lambda t, x: x.double(),
    "convolved": lambda t, x: t.nn.functional.conv2d(x, t.ones(4, 8, 1, 1)),
    "resized": lambda t, x: t.nn.functional.interpolate(x, size=(4, 4)),
    "resized, linear": lambda t, x: t.nn.functional.interpolate(x, size=(4, 4), mode="bilinear"),
    "resized to one": lambda t, x: t.nn.functional.interpolate(x, size=(1, 1)),
    "brought into the format": lambda t, x: t.ones(2, 8, 1, 1).to(memory_format=t.channels_last),
    "asked for in the format": lambda t, x: t.ones(2, 8, 1, 1).contiguous(
        memory_format=t.channels_last
    ),
    "one channel": lambda t, x: t.ones(2, 1, 3, 3).to(memory_format=t.channels_last),
    "weight": lambda t, x: t.nn.Conv2d(3, 4, 1).to(memory_format=t.channels_last).weight,
}


@pytest.mark.parametrize("name", POOLED)
def test_maps_of_one_pixel_are_channels_last_by_their_strides(name: str) -> None:
    found = []
    for library in (torch, reference):
        x = library.ones(2, 8, 6, 6).to(memory_format=library.channels_last)
        pooled = library.nn.functional.adaptive_avg_pool2d(x, 1)
        found.append(tuple(POOLED[name](library, pooled).stride()))
    assert found[0] == found[1]


ORDERED: dict[str, Callable[[Any, Any], Any]] = {
    "sort": lambda t, x: x.sort(0)[0],
    "sort, places": lambda t, x: x.sort(-1, descending=True)[1],
    "argsort": lambda t, x: x.argsort(1),
    "msort": lambda t, x: x.msort(),
    "complex": lambda t, x: t.complex(x, x * 2),
    "complex of both orders": lambda t, x: t.complex(x, x.contiguous()),
    "polar": lambda t, x: t.polar(x.abs(), x),
    "frexp": lambda t, x: t.frexp(x)[0],
    "frexp, exponents": lambda t, x: t.frexp(x)[1],
    "flip": lambda t, x: x.flip(0),
    "to": lambda t, x: x.to(memory_format=t.contiguous_format),
    "index_fill": lambda t, x: x.index_fill(0, t.tensor([1]), 5.0),
    "index_copy": lambda t, x: x.index_copy(0, t.tensor([1]), x[:1]),
    "put": lambda t, x: x.put(t.tensor([1, 3]), t.tensor([5.0, 6.0], dtype=x.dtype)),
    "index_put": lambda t, x: x.index_put((t.tensor([1]),), t.tensor(1.0, dtype=x.dtype)),
    "dropout": lambda t, x: t.nn.functional.dropout(x, 0.0) + t.nn.functional.dropout(x, 1.0),
    "native_dropout": lambda t, x: t.native_dropout(x, 0.0, True)[1],
    "an index": lambda t, x: x[t.tensor([1, 0, 1])],
    "an index, second dim": lambda t, x: x[:, t.tensor([1, 0, 1])],
    "an index, last dim": lambda t, x: x[..., t.tensor([1, 0, 1])],
    "an index of two dims": lambda t, x: x[:, t.tensor([[1, 0], [1, 1], [0, 0]])],
    "a transposed index": lambda t, x: x[t.tensor([[1, 0, 1], [1, 1, 0]]).t()],
    "indices": lambda t, x: x[t.tensor([1, 0]), t.tensor([0, 0])],
    "indices apart": lambda t, x: x[t.tensor([1, 0]), ..., t.tensor([0, 0])],
    "a mask": lambda t, x: x[x[..., 0].reshape(len(x), -1)[:, 0] > 0],
    "a mask, last dim": lambda t, x: x[..., t.arange(x.shape[-1]) != 1],
    "a mask of all": lambda t, x: x[x > 0],
    "gradient of mean": lambda t, x: _gradient(t, x, lambda y: y.mean()),
    "gradient of mean, a dim": lambda t, x: _gradient(t, x, lambda y: y.mean(1).sum()),
    "gradient of sum": lambda t, x: _gradient(t, x, lambda y: y.sum()),
}


def _gradient(library: Any, x: Any, function: Any) -> Any:
    x = x.detach().requires_grad_()
    return library.autograd.grad(function(x), x)[0]


@pytest.mark.parametrize("name", ORDERED)
def test_results_keep_the_order_of_dims(name: str) -> None:
    numbers = np.random.default_rng(3)
    for sizes, dims in (((3, 4), (1, 0)), ((2, 3, 4), (1, 2, 0)), ((2, 3, 3, 4), (0, 3, 1, 2))):
        values = numbers.normal(size=sizes)
        ours, theirs = (
            ORDERED[name](each, each.tensor(values).permute(dims)) for each in (torch, reference)
        )
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12)
        assert ours.stride() == theirs.stride()


# -- strides of new results -----------------------------------------------------------------------


def drawn_operands(library: Any, seed: int) -> list[Any]:
    """One to three operands that broadcast, each with its dims in some order in memory."""
    numbers = np.random.default_rng(seed)
    sizes = numbers.integers(1, 4, numbers.integers(2, 5))
    made = []
    for _ in range(numbers.integers(1, 4)):
        own = np.where(numbers.random(len(sizes)) < 0.7, sizes, 1)
        own = own[numbers.integers(0, len(own)) if numbers.random() < 0.3 else 0 :]
        order = numbers.permutation(len(own))
        dense = library.ones(tuple(own[order].tolist()))
        tensor = dense.permute(*np.argsort(order).tolist())
        way = numbers.random()
        if way < 0.15:
            tensor = library.ones((*own.tolist(), 2))[..., 0]
        elif way < 0.3:
            tensor = tensor.expand(tuple(sizes[len(sizes) - len(own) :].tolist()))
        made.append(tensor)
    return made


def test_elements_lie_in_the_order_that_pytorch_chooses() -> None:
    for seed in range(1000):
        results = []
        for library in (torch, reference):
            operands = drawn_operands(library, seed)
            made = (library.exp, library.add, library.addcmul)[len(operands) - 1](*operands)
            results.append(
                [step for step, n in zip(made.stride(), made.shape, strict=True) if n > 1]
            )
        assert results[0] == results[1], seed


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda L: [L.randn(2, 3, 5, 8) for _ in range(3)],
    "time first": lambda L: [L.randn(2, 5, 3, 8).transpose(1, 2) for _ in range(3)],
    "packed": lambda L: [
        x.unflatten(-1, (3, 8)).transpose(1, 2) for x in L.randn(2, 5, 72).chunk(3, -1)
    ],
    "packed, heads first": lambda L: list(L.randn(2, 3, 5, 24).chunk(3, -1)),
    "batch inside": lambda L: [L.randn(5, 2, 3, 8).permute(1, 2, 0, 3) for _ in range(3)],
    "keys time first": lambda L: [
        L.randn(2, 3, 5, 8),
        *(L.randn(2, 5, 3, 8).transpose(1, 2) for _ in range(2)),
    ],
    "crosswise": lambda L: [L.randn(2, 3, 8, 5).transpose(2, 3) for _ in range(3)],
    "wide values": lambda L: [L.randn(2, 3, 5, 8), L.randn(2, 3, 4, 8), L.randn(2, 3, 4, 6)],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_attention_lies_as_its_queries(name: str) -> None:
    results = []
    for library in (torch, reference):
        operands = [x.detach().requires_grad_() for x in LAYOUTS[name](library)]
        made = library.nn.functional.scaled_dot_product_attention(*operands)
        results.append(tuple(made.stride()))
    assert results[0] == results[1]


PRODUCTS = (
    *("ij,jk->ik", "ij,jk->ki", "ik,jk->ij", "ik,jk->ji", "ki,kj->ij", "ki,jk->ij", "i,j->ji"),
    *("bij,bjk->bik", "bij,bkj->bki", "abc,cd->abd", "abc,cd->dab", "bhqd,bhkd->bhqk"),
    *("bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "nchw,oc->nohw", "bld,ed->ble", "ij,jk,kl->il"),
)


@pytest.mark.parametrize("equation", PRODUCTS)
def test_products_lie_in_the_order_of_the_output(equation: str) -> None:
    shapes = [[2 + ord(x) % 7 for x in part] for part in equation.split("->")[0].split(",")]
    results = [
        tuple(library.einsum(equation, *map(library.ones, shapes)).stride())
        for library in (torch, reference)
    ]
    assert results[0] == results[1]


def test_a_raveled_tensor_is_contiguous() -> None:
    for library in (torch, reference):
        strided = library.arange(24).reshape(4, 3, 2)[:, :, 0]
        assert tuple(strided.ravel().stride()) == (1,)
        assert library.arange(6).ravel()._is_view()
