"""Sizes, strides, offsets and counts that no memory has: refused before anything is made of them.

Compiled loops count in 64 bits: what does not fit there must never reach them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out.nn import functional

ones = torch.ones
storage = torch.arange(6.0).untyped_storage
REFUSED: dict[str, Callable[[], Any]] = {
    "empty": lambda: torch.empty(2**62, 2**62),
    "empty beside a size of 0": lambda: torch.zeros(2**62, 4, 0),
    "empty_strided": lambda: torch.empty_strided((2**40, 2), (2**40, 1)),
    "empty_strided backwards": lambda: torch.empty_strided((2, 2), (-1, 1)),
    "eye": lambda: torch.eye(2**40),
    "arange": lambda: torch.arange(0, 2**62),
    "arange of floats": lambda: torch.arange(0, 1e30),
    "linspace": lambda: torch.linspace(0, 1, 2**62),
    "tril_indices": lambda: torch.tril_indices(2**40, 2**40),
    "randperm": lambda: torch.randperm(2**62),
    "window": lambda: torch.hann_window(2**62),
    "fftfreq": lambda: torch.fft.fftfreq(2**62),
    "fftfreq of less than nothing": lambda: torch.fft.fftfreq(-1),
    "resize_": lambda: ones(3).resize_(2**62),
    "resize_ to less than nothing": lambda: ones(3).resize_(-1),
    "expand": lambda: ones(1).expand(2**40, 2**40),
    "expand of nothing": lambda: ones(0).expand(2**40, 2**40, 0),
    "reshape of nothing": lambda: ones(0).reshape(2**40, 2**40, 0),
    "unflatten": lambda: ones(0).unflatten(0, (2**62, 4, 0)),
    "as_strided": lambda: ones(3).as_strided((2**62,), (2**62,)),
    "set_ beyond everything": lambda: ones(3).set_(storage(), 0, (2**62,), (2**62,)),
    "set_ before the beginning": lambda: ones(3).set_(storage(), -1, (2,), (1,)),
    "set_ backwards": lambda: ones(3).set_(storage(), 0, (2,), (-1,)),
    "set_ to less than nothing": lambda: ones(3).set_(storage(), 0, (-2,), (1,)),
    "set_ with too few strides": lambda: ones(3).set_(storage(), 0, (2, 2), (1,)),
    "repeat": lambda: ones(3).repeat(2**62),
    "repeat_interleave": lambda: ones(3).repeat_interleave(2**62),
    "repeat_interleave, wrapping": lambda: torch.repeat_interleave(torch.tensor([2**62] * 4)),
    "repeat_interleave, given": lambda: torch.repeat_interleave(
        torch.tensor([2**62] * 4), output_size=0
    ),
    "one_hot": lambda: functional.one_hot(torch.tensor([2**62])),
    "one_hot of many": lambda: functional.one_hot(torch.tensor([1]), 2**62),
    "one_hot of none": lambda: functional.one_hot(torch.zeros(0, dtype=torch.int64), 2**62),
    "bincount": lambda: torch.bincount(torch.tensor([2**62])),
    "bincount of a few": lambda: torch.bincount(torch.tensor([1]), minlength=2**62),
    "bincount of none": lambda: torch.bincount(torch.zeros(0, dtype=torch.int64), minlength=2**62),
    "histc": lambda: torch.histc(ones(3), bins=2**62),
    "multinomial": lambda: torch.multinomial(ones(3), 2**62, replacement=True),
    "pad": lambda: functional.pad(ones(3), (2**62, 2**62)),
    "outer": lambda: torch.outer(ones(1).expand(2**32), ones(1).expand(2**33)),
    "kron": lambda: torch.kron(ones(1).expand(2**32), ones(1).expand(2**33)),
    "combinations": lambda: torch.combinations(ones(200_000), 3),
    "fft": lambda: torch.fft.fft(ones(3), 2**62),
    "interpolate": lambda: functional.interpolate(ones(1, 1, 2), size=2**62),
    "interpolate by inf": lambda: functional.interpolate(ones(1, 1, 2), scale_factor=float("inf")),
    "interpolate backwards": lambda: functional.interpolate(ones(1, 1, 2), scale_factor=-1.0),
    "pooling": lambda: functional.adaptive_avg_pool2d(ones(1, 2, 2), 2**40),
    "convolution": lambda: functional.conv1d(ones(1, 1, 2), ones(1, 1, 1), padding=2**62),
    "transposed convolution": lambda: functional.conv_transpose1d(
        ones(1, 1, 2), ones(1, 1, 2), stride=2**62
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    with pytest.raises((RuntimeError, MemoryError)):
        REFUSED[name]()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x.triu(2**63 - 1), 0),
        (lambda x: x.tril(-(2**63)), 0),
        (lambda x: x.tril(2**63 - 1), 9),
        (lambda x: x.triu(-(2**63)), 9),
        (lambda x: x.roll(2**62, 0), 9),
        (lambda x: x[2**63 :], 0),
        (lambda x: x[-(2**70) :], 9),
    ],
)
def test_places_far_outside(call: Callable[[Any], Any], expected: int) -> None:
    """A diagonal, a shift or a bound may be any number."""
    assert call(ones(3, 3)).sum().item() == expected
    assert call(ones(3, 3).t()).sum().item() == expected


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_a_stride_without_a_second_window(count: int, transposed: bool) -> None:
    """May be any number, in gradients as well."""
    name = f"conv_transpose{count}d" if transposed else f"conv{count}d"
    found = []
    for stride in (2**62, 100):
        x = ones(1, 2, *(1 if transposed else 5,) * count).requires_grad_()
        weight = ones(2, 2, *(2,) * count).requires_grad_()
        result = getattr(functional, name)(x, weight, stride=stride)
        found.append([result, *torch.autograd.grad(result.square().sum(), (x, weight))])
    assert all(map(torch.equal, *found))


@pytest.mark.parametrize("count", [2**31, 2**40])
def test_numbers_of_threads_that_cannot_be(count: int) -> None:
    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="32 bits"):
        torch.set_num_threads(count)
    assert torch.get_num_threads() == before


# -- memory of somebody else -------------------------------------------------------------------


def test_arrays_are_not_replaced_by_larger_memory() -> None:
    array = np.ones(3, np.float32)
    x = torch.from_numpy(array)
    for larger in (
        lambda: x.resize_(5),
        lambda: torch.add(ones(5), 1, out=torch.from_numpy(array[:0])),
        lambda: ones(1).set_(x, 0, (5,)),
        lambda: ones(1).set_(x.untyped_storage(), 1, (3,)),
        lambda: torch.as_tensor(array).resize_(5),
        lambda: torch.frombuffer(bytearray(8), dtype=torch.float32).resize_(5),
        lambda: torch.from_dlpack(array).resize_(5),
    ):
        with pytest.raises(RuntimeError, match="not resizable"):
            larger()
    assert x.resize_(2).tolist() == [1, 1]
    assert torch.tensor(array).resize_(5)[:3].tolist() == [1, 1, 1]


def test_a_storage_grows_for_set() -> None:
    own = torch.arange(6.0)
    x = ones(1).set_(own.untyped_storage(), 4, (2,), (3,))
    assert own.untyped_storage().nbytes() >= 32
    x.fill_(9)
    assert own.tolist() == [0, 1, 2, 3, 9, 5]


def test_set_of_another_dtype() -> None:
    with pytest.raises(RuntimeError, match="Could not set tensor"):
        ones(3).set_(torch.ones(2, dtype=torch.int64))


# -- saved tensors that are replaced -----------------------------------------------------------


@pytest.mark.parametrize(
    "replace",
    [
        lambda w: w.set_(torch.tensor([9.0])),
        lambda w: w.set_(),
        lambda w: w.set_(torch.zeros(3).untyped_storage(), 0, (3,)),
        lambda w: w[:2].set_(torch.ones(2)),
        lambda w: w.resize_(5),
        lambda w: w.resize_(2),
        lambda w: w.resize_as_(torch.ones(2, 2)),
        lambda w: w.detach().resize_(1),
    ],
)
def test_backward_notices_a_saved_tensor_that_was_replaced(replace: Callable[[Any], Any]) -> None:
    x, w = torch.ones(3, requires_grad=True), torch.tensor([2.0, 3.0, 4.0])
    y = x * w
    replace(w)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_backward_notices_a_saved_result_that_was_replaced() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    with torch.no_grad():
        y.set_(torch.ones(3))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_what_stays_may_be_resized_to_itself() -> None:
    x, w = torch.ones(3, requires_grad=True), torch.tensor([2.0, 3.0, 4.0])
    y = x * w
    w.resize_(3)
    y.sum().backward()
    assert x.grad.tolist() == [2, 3, 4]


# -- numbers and dims that do not fit --------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: functional.avg_pool2d(ones(1, 2, 2), 1, divisor_override=2**64),
        lambda: ones(3).cumsum(2**64),
        lambda: ones(3).roll(2**64),
        lambda: ones(3, 3).tril(-(2**64)),
        lambda: functional.pad(ones(3), (2**64, 1)),
        lambda: ones(3).topk(2**64),
    ],
)
def test_whole_numbers_of_more_than_64_bits(call: Callable[[], Any]) -> None:
    with pytest.raises((RuntimeError, IndexError)):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.trapezoid(x, dim=3),
        lambda x: torch.cumulative_trapezoid(x, dim=3),
        lambda x: torch.linalg.cross(x, x, dim=-3),
        lambda x: torch.diff(x, dim=4),
        lambda x: x.repeat_interleave(torch.tensor([1, 2, 1]), dim=2),
        lambda x: torch.trapezoid(x[0, 0], x[0]),
        lambda x: torch.fft.fft(x, dim=2),
        lambda x: torch.gradient(x, dim=2),
        lambda x: torch.take_along_dim(x, torch.zeros(1, 1, dtype=torch.int64), 2),
        lambda x: torch.lstm_cell(x[0], [x, x], ones(12, 3), ones(12, 3)),
        lambda x: functional.grid_sample(x, x, align_corners=True),
        lambda x: torch.native_group_norm(x, None, None, 3, 3, 2, 1, 1e-5),
    ],
)
def test_dims_that_are_not_there(call: Callable[[Any], Any]) -> None:
    """The message says so in the words of dims and sizes, not of tuples."""
    with pytest.raises((RuntimeError, IndexError)) as refused:
        call(ones(3, 3))
    assert "tuple" not in str(refused.value)
    assert "reshape" not in str(refused.value)


def test_operands_that_broadcast_by_dims_of_size_one() -> None:
    """They are as good as others: read-only arrays are another type to compiled loops."""
    A, B = torch.eye(3) + torch.ones(3, 3).triu(1), torch.ones(1, 3, 2)
    expected = torch.linalg.solve(A, B[0])
    for solution in (
        torch.triangular_solve(B, A).solution,
        torch.linalg.solve_triangular(A, B, upper=True),
        torch.linalg.lu_solve(*torch.linalg.lu_factor(A), B),
        torch.linalg.solve(A, B),
    ):
        assert torch.allclose(solution, expected.unsqueeze(0))
