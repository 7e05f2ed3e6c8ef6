"""The loops of pointwise kernels, run as text: every element once, none besides, right places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cuda.emulated_memory import OutOfBounds, Pointer
from tests.cuda.emulator import run
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cuda.compiling import vectors
from torchgen_out._runtime.kernels.cuda.loops import pointwise


def weighted(a, b):
    """Differs if the operands are exchanged."""
    return a + T(3) * b  # noqa: F821 - the compute type of the text


def copied(a):
    """The element itself."""
    return a


def spec(dtype: str, operands: int = 2) -> PointwiseSpec:
    own = dtypes.by_name(dtype)
    formula = weighted if operands == 2 else copied
    return PointwiseSpec(formula, ("tensor",) * operands, (own,) * operands, (own,), own.opmath)


def aligned(values: Any, dtype: str) -> np.ndarray:
    """An array that starts at a multiple of 16 bytes."""
    values = np.asarray(values).astype(dtype)
    room = np.zeros(values.nbytes + vectors.BYTES, np.uint8)
    start = -room.ctypes.data % vectors.BYTES
    array = room[start : start + values.nbytes].view(dtype)
    array[...] = values
    return array


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "complex64"])
@pytest.mark.parametrize("numel", [1, 3, 4, 16, 31, 64, 1000])
@pytest.mark.parametrize("grid", [1, 3])
def test_contiguous(dtype, numel, grid):
    a, b = aligned(np.arange(numel) % 50, dtype), aligned(np.arange(numel)[::-1] % 40, dtype)
    out = aligned(np.full(numel, 77), dtype)
    source = pointwise.contiguous_kernel(spec(dtype), (), False)
    run(source, (grid, 1), (32, 1), [Pointer(out), Pointer(a), Pointer(b), numel])
    assert (out == a + 3 * b).all()


@pytest.mark.parametrize("form", [(0, 1), (1, 0)])
def test_one_element_repeated(form):
    a, b = (aligned(np.arange(50 if each else 1) + 5, "float32") for each in form)
    out = aligned(np.zeros(50), "float32")
    source = pointwise.contiguous_kernel(spec("float32"), form, False)
    run(source, (1, 1), (32, 1), [Pointer(out), Pointer(a), Pointer(b), 50])
    assert (out == a + 3 * b).all()


def test_in_place():
    a, b = aligned(np.arange(50), "float32"), aligned(np.arange(50), "float32")
    source = pointwise.contiguous_kernel(spec("float32"), (), False)
    run(source, (2, 1), (32, 1), [Pointer(a), Pointer(a), Pointer(b), 50])
    assert (a == 4 * np.arange(50)).all()


def test_memory_outside_is_noticed():
    source = pointwise.contiguous_kernel(spec("float32"), (), False)
    short, long = aligned(np.zeros(7), "float32"), aligned(np.zeros(8), "float32")
    with pytest.raises(OutOfBounds):
        run(source, (1, 1), (32, 1), [Pointer(long), Pointer(short), Pointer(long), 8])


@given(st.integers(1, 2**31 - 1), st.integers(0, 2**31 - 1))
def test_division_by_multiplication(size, number):
    _, multiplier, shift = pointwise.divisor(size)
    assert multiplier < 2**32 and shift < 32
    assert ((number * multiplier >> 32) + number) >> shift == number // size
    assert (number * multiplier >> 32) + number < 2**32


@given(st.data())
def test_strided(data):
    """Operands permuted, sliced and broadcast, with 32 and with 64 bits."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    memories, operands = zip(*[_operand(data, sizes) for _ in range(2)], strict=True)
    plan = plans.plan_pointwise(tuple([(each.shape, _element_strides(each)) for each in operands]))
    out = np.full(plan.numel, np.nan, np.float32)
    ndim = len(plan.loop_sizes)
    for wide in (False, True):
        source = pointwise.strided_kernel(spec("float32"), ndim, wide)
        divisors = [
            part for size in plan.loop_sizes[:0:-1] for part in pointwise.divisor(int(size))
        ]
        pointers = [Pointer(out), *map(Pointer, memories)]
        strides = plan.loop_strides.reshape(-1).tolist()
        run(source, (2, 1), (32, 1), [*pointers, plan.numel, *divisors, *strides])
        expected = operands[0] + 3 * operands[1]
        got = np.lib.stride_tricks.as_strided(out, plan.sizes, [4 * s for s in plan.strides])
        assert np.array_equal(got, expected)


def _operand(data: Any, sizes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Memory and a view of it: dims permuted, every other element, or repeated."""
    order = data.draw(st.permutations(range(len(sizes))))
    kinds = [data.draw(st.sampled_from(["dense", "gaps", "repeated"])) for _ in sizes]
    stored = [1 if kinds[d] == "repeated" else sizes[d] * (1 + (kinds[d] == "gaps")) for d in order]
    base = np.arange(np.prod(stored), dtype=np.float32).reshape(stored)
    view = base.transpose(np.argsort(order))
    view = view[tuple(slice(None, None, 2) if kind == "gaps" else slice(None) for kind in kinds)]
    return base.reshape(-1), np.broadcast_to(view, sizes)


def _element_strides(array: np.ndarray) -> tuple[int, ...]:
    return tuple([step // array.itemsize for step in array.strides])
