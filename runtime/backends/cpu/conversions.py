"""Operands and results that a kernel sees in another dtype or order than tensors have them.

A kernel computes in an `opmath`, in the dtype in which its operands meet, and mostly on contiguous
memory. A launch that takes tensors' memory as it is converts it on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu import narrow_arrays, pool
from torchgen_out._runtime.kernels.cpu.copy.copy import cast_into, fill
from torchgen_out._runtime.kernels.cpu.folding import copy_parts
from torchgen_out._runtime.kernels.cpu.planned import viewer
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec


class Operand(NamedTuple):
    """A tensor's memory, and as what the kernel takes it: `wanted`, contiguous if it is converted.

    is_dense: whether it is converted in any case, for a kernel that walks no strides. keeps_order:
    whether what is converted may lie in the memory's order of dims, which is no transposition.
    """

    own: dtype
    wanted: dtype
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    is_dense: bool = False
    keeps_order: bool = False

    @property
    def is_converted(self) -> bool:
        """Whether the kernel sees other memory."""
        return self.own is not self.wanted or self.is_dense

    @property
    def is_half(self) -> bool:
        """Whether numbers of 16 bits are computed with in float32."""
        is_wider = self.own.opmath is self.wanted is not self.own
        return is_wider and self.own.itemsize == 2

    @property
    def spec(self) -> TensorSpec:
        """What the kernel sees."""
        if not self.is_converted:
            return self.own_spec
        sizes = tuple(self.sizes)
        if self.keeps_order:
            strides = shapes.dense_strides(sizes, self.strides)
        else:
            strides = shapes.contiguous_strides(sizes)
        return TensorSpec(self.wanted.numpy, sizes, strides)

    @property
    def own_spec(self) -> TensorSpec:
        """The memory."""
        return TensorSpec(self.own.numpy, self.sizes, self.strides)

    @property
    def memory(self) -> TensorSpec:
        """The memory, its dims in the order in which the kernel sees them lie."""
        if not self.keeps_order:
            return self.own_spec
        return self.own_spec.permuted(self.spec.memory_order)

    def loader(self) -> Callable[[Any, int], Any]:
        """load(flat, at): the elements for the kernel, flat and without gaps."""
        memory, own, wanted = self.memory, self.own, self.wanted
        if self.is_half and memory.is_contiguous:
            return _widener(memory.numel, narrow_arrays.casts(own, wanted))
        view_at, empty, numel = viewer(memory), _maker(memory), memory.numel

        def load(flat: Any, at: int) -> Any:
            view = view_at(flat, at)
            if own is wanted:
                dense = empty(numel)
                copy_parts((dense.reshape(view.shape), view))
                return dense
            return _converted(view, own, wanted).reshape(-1)

        return load

    def storer(self) -> Callable[[Any, Any], None]:
        """store(flat, stage): what the kernel has computed, to where the tensor's memory begins."""
        own, wanted, memory = self.own, self.wanted, self.memory
        if self.is_half and memory.is_contiguous:
            return _rounder(memory.numel, narrow_arrays.casts(wanted, own))
        target_at, sizes = viewer(memory), memory.sizes

        def store(flat: Any, stage: Any) -> None:
            target, values = target_at(flat, 0), stage.reshape(sizes)
            if own is not wanted:
                narrow_arrays.narrow(values, own, target)
            else:
                copy_parts((target, values))

        return store


_SINGLE = np.dtype(np.float32)


def _maker(spec: TensorSpec) -> Callable[[int], Any]:
    """make(numel): what makes memory for these elements; much of it is lent, not new."""
    return pool.maker(spec.numel * spec.dtype.itemsize, spec.dtype)


def _widener(numel: int, casts: Any) -> Callable[[Any, int], Any]:
    """The load of so many numbers of 16 bits that lie together."""
    empty, run = pool.maker(4 * numel, _SINGLE), _runner(numel, casts)

    def load(flat: Any, at: int) -> Any:
        wide = empty(numel)
        run(wide, flat if flat.size == numel else flat[at : at + numel])
        return wide

    return load


def _rounder(numel: int, casts: Any) -> Callable[[Any, Any], None]:
    """The store of so many."""
    run = _runner(numel, casts)

    def store(flat: Any, stage: Any) -> None:
        run(flat if flat.size == numel else flat[:numel], stage)

    return store


def _runner(numel: int, casts: Any) -> Callable[[Any, Any], Any]:
    """A loop of casts over so many numbers, by threads where that is worth it."""
    if numel < 2 * threads.GRAIN:
        return casts  # type: ignore[no-any-return]
    return lambda out, x: threads.run_flat(casts, (out, x))


def _converted(view: Any, own: dtype, wanted: dtype) -> Any:
    """The elements of an array in another dtype, C-contiguous."""
    if own.opmath is not own:
        view, own = narrow_arrays.widen(view, own), own.opmath
    if own is wanted:
        return view
    cast = np.empty(view.shape, wanted.opmath.numpy)
    cast_into(cast, view)
    return cast if wanted.opmath is wanted else narrow_arrays.narrow(cast, wanted)


def with_conversions(
    plan: LaunchPlan, results: Sequence[Operand], operands: Sequence[Operand], is_given: bool
) -> LaunchPlan:
    """The plan over tensors' memory. is_given: whether the kernel may leave results in part."""
    count, first = len(operands), len(results)
    outs = [
        (i, out.spec.numel, _maker(out.spec), out.loader(), out.storer())
        for i, out in enumerate(results)
        if out.is_converted
    ]
    loads = [(i, each.loader()) for i, each in enumerate(operands, first) if each.is_converted]
    if not outs and not loads:
        return plan

    def run(*args: Any) -> Any:
        given = list(args)
        for i, load in loads:
            given[i], given[i + count] = load(args[i], args[i + count]), 0
        for i, numel, empty, load, _ in outs:
            given[i] = load(args[i], 0) if is_given else empty(numel)
        found = plan.run(*given)
        for i, *_, store in outs:
            store(args[i], given[i])
        return found

    return LaunchPlan(run, plan.params)


def plan_filling(few: Callable[..., Any], result: Operand) -> LaunchPlan:
    """Set numbers of 16 bits to one: that of one element, converted. few: sets float32 memory."""
    view_at, casts = viewer(result.own_spec), narrow_arrays.casts(result.wanted, result.own)
    empty, single, stored = np.empty, np.float32, result.own.numpy

    def run(flat: Any, params: None, *values: Any) -> None:
        one, bits = empty(1, single), empty(1, stored)
        few(one, *values)
        casts(bits, one)
        fill(view_at(flat, 0), bits[0])

    return LaunchPlan(run, None)
