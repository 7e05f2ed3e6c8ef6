"""Calls of reductions on the CPU: which dims lie where, and which loop folds them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.backends.common.given_results import make_reduction_out_call
from torchgen_out._runtime.backends.common.reduction_plan import (
    DimPlan,
    last_run,
    plan_dims,
    plan_memory,
    plan_strided,
    reduction_spec,
    reduction_types,
)
from torchgen_out._runtime.backends.cpu.memory import memory_of, typed_buffer
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor, alias, build
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.launch_cache import LAUNCHES_KEPT
from torchgen_out._runtime.dispatch.operator import OUT, Call, Reduction
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.aligned import empty_of
from torchgen_out._runtime.kernels.cpu.copy.casting import find_copier
from torchgen_out._runtime.kernels.cpu.folding import contiguous, copy_parts
from torchgen_out._runtime.kernels.cpu.loops.pointwise_launches import Run
from torchgen_out._runtime.kernels.cpu.loops.reduction import (
    column_type,
    columns_kernel,
    columns_module,
    columns_partial,
    partial_kernel,
    rows_kernel,
    rows_module,
    strided_kernel,
)

NO_SIZES = Size(())
USUAL_ARGUMENTS = ("self", "dim", "keepdim", "dtype")
_new = object.__new__
POOLED = pool.LEAST_BYTES // 16
"""Elements of a result, whatever their size, whose memory may be one that is kept."""
READING = 4
"""Elements that are read in the time that it takes to read one and write another."""
PARTS = 2048
"""Complex numbers side by side from which on their parts are worth being folded as real numbers:
rows of 1,000 take 0.3 ns a number as they are and 1.2 ns as parts, of 2,000 0.3 and 0.2 ns."""
FEW = 16
"""How much less there must be of partial results than of elements."""


def make_call(operator: Reduction, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of a reduction for CPU tensors of one signature."""
    folds: dict[Any, Fold] = {}
    own = signatures.dtype_of(signature[0])
    names = tuple(operator.arguments)

    def fold_for(dtype: dtypes.dtype | None, scalars: int) -> Fold:
        found = folds.get(dtype)
        if found is None:
            found = folds[dtype] = make_fold(operator, _folded_as(own, dtype), dtype, scalars)
        return found

    dim_at = names.index("dim") if "dim" in names else None
    keep_at = names.index("keepdim") if "keepdim" in names else None
    dtype_at = names.index("dtype") if "dtype" in names else None
    scalar_at = [i for i, name in enumerate(names) if operator.arguments[name] == "scalar"]
    usual = fold_for(None, len(scalar_at)) if _accepts(operator, own) else None

    def call_any(*args: Any) -> Tensor:
        dtype = None if dtype_at is None else args[dtype_at]
        fold = usual if dtype is None and usual else fold_for(dtype, len(scalar_at))
        if dtype is not None:
            args = (_converted(args[0], _folded_as(own, dtype)), *args[1:])
        dim = None if dim_at is None else args[dim_at]
        keepdim = keep_at is not None and args[keep_at]
        return fold.run(args[0], dim, keepdim, [args[i] for i in scalar_at])

    def call_usual(
        self: Tensor, dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> Tensor:
        fold = usual if dtype is None and usual else fold_for(dtype, 0)
        if dtype is not None:
            self = _converted(self, _folded_as(own, dtype))
        if dim is None and not keepdim:
            return fold.run_all(self)
        return fold.run(self, dim, keepdim, ())

    call = call_usual if names == USUAL_ARGUMENTS[: len(names)] else call_any

    return make_reduction_out_call(operator, call) if variant == OUT else call


def _folded_as(own: dtypes.dtype, dtype: dtypes.dtype | None) -> dtypes.dtype:
    """The dtype that elements are converted to before they are folded to one of `dtype`: as bool
    what is not zero is true, as real numbers the real parts of complex ones count."""
    if dtype is dtypes.bool or (dtype is not None and own.is_complex and not dtype.is_complex):
        return dtype
    return own


def _converted(x: Tensor, dtype: dtypes.dtype) -> Tensor:
    if x.dtype is dtype:
        return x
    return ops.ne(x, 0) if dtype is dtypes.bool else ops._to_copy(x, dtype=dtype)


def _accepts(operator: Reduction, own: dtypes.dtype) -> bool:
    compute, _ = reduction_types(operator.promotion, own, None)
    return compute.name in operator.dtypes


PLANS_KEPT = 1024
"""Geometries that a reduction remembers before it begins anew."""


class StridedLoop(NamedTuple):
    """A loop over memory with gaps, which makes so many results.

    in_steps: whether these are folded to one afterwards, as elements are.
    """

    kernel: Any
    results: int
    numbers: tuple[int, ...]
    work: int
    in_steps: bool = False


class Fold:
    """One reduction for one input dtype and one requested dtype."""

    def __init__(
        self, operator: Reduction, own: dtypes.dtype, requested: dtypes.dtype | None, scalars: int
    ) -> None:
        self.name = operator.base_name
        self.has_identity = operator.parts[0] is not None
        self.spec = reduction_spec(operator, own, requested, scalars)
        self.result = result = self.spec.output
        self.rows = rows_module(self.spec)
        self.kernel: Any = self._load_kernel if not scalars else self.rows.kernel
        self.columns: Any = None
        self.folds_in_steps = self.spec.folds_results
        self.storage_dtype = result.numpy
        self.empty = empty_of(result.numpy)
        self.serial_below = 2 * READING * threads.GRAIN
        """Elements that are not worth a second thread."""
        self.plans: dict[Any, DimPlan] = {}
        self.strided: dict[Any, StridedLoop | None] = {}
        self.copiers: dict[Any, tuple[Run, int | None] | None] = {}
        self.key = keys.pack(result.index, 0, 0, False)
        self.scalar_key = keys.pack(result.index, 0, 0, True)

    def _load_kernel(self, *args: Any) -> None:
        """`kernel` until its first call."""
        self.kernel = rows_kernel(self.spec)
        self.kernel(*args)

    def run_all(self, x: Tensor) -> Tensor:
        """Fold all elements of x into a zero-dimensional result."""
        flat = x._flat
        if flat is None:
            flat = x._dense()
        if flat is None or not 0 < (size := flat.size) < self.serial_below:
            return self.run(x, None, False, ())
        buffer = self.empty(1)
        self.kernel(buffer, flat, size)
        result = _new(Tensor)
        result._key = self.scalar_key
        result._sizes = NO_SIZES
        result._strides = ()
        result._offset = 0
        result._shared = None
        result._flat = buffer
        result._base = None
        result._edge = None
        result._meta = None
        return result

    def run(self, x: Tensor, dim: Any, keepdim: bool, scalars: Sequence[Any]) -> Tensor:
        """Fold `dim` (None: all dims) of x."""
        geometry = (x._sizes, dim if dim.__class__ is not list else tuple(dim), keepdim)
        plan = self.plans.get(geometry)
        if plan is None:
            if len(self.plans) >= PLANS_KEPT:
                self.plans.clear()
            plan = self.plans[geometry] = plan_dims(*geometry)
        if not self.has_identity:
            plan.check_not_empty(self.name, dim)
        if plan.numel < POOLED:
            buffer = self.empty(plan.numel)
        else:
            buffer = pool.empty(plan.numel, self.storage_dtype)
        flat, walk = x._flat, plan
        strided = None
        if flat is None:
            place = x._strides, geometry
            strided = self.strided.get(place)
            if strided is None:
                flat, walk = dense_memory(x, plan, geometry[1])
                if flat is None and place not in self.strided:
                    if len(self.strided) >= PLANS_KEPT:
                        self.strided.clear()
                    found = self._strided_loop(x, plan) if lies_in_order(x) else None
                    strided = self.strided[place] = found
        if strided is not None:
            self._run_strided(buffer, x, strided, scalars)
        elif flat is not None and 0 < plan.effort < self.serial_below and walk.width:
            if walk.width == 1:
                self.kernel(buffer, flat, walk.count, *scalars)
            else:
                kernel = self.columns = self.columns or columns_kernel(self.spec)
                kernel(0, plan.numel, buffer, flat, walk.count, walk.width, *scalars)
        elif plan.numel:
            self._fold(buffer, x, flat, walk, scalars)
        result = _new(Tensor)
        result._key = self.scalar_key if plan.is_scalar else self.key
        result._sizes = plan.sizes
        result._strides = plan.strides
        result._offset = 0
        result._shared = None
        result._flat = buffer
        result._base = None
        result._edge = None
        result._meta = None
        return result

    def _fold(
        self, buffer: Any, x: Tensor, flat: Any, plan: DimPlan, scalars: Sequence[Any]
    ) -> None:
        """Fold what is large, scattered, or not dense. flat, plan: as `dense_memory` gives them."""
        if (flat is None or not plan.width) and 0 < plan.work < threads.GRAIN:
            gathered = self._gather(x, plan.order)
            if gathered is not None:
                self.kernel(buffer, gathered, plan.count, *scalars)
                return
        if flat is None and (
            self._fold_expanded(buffer, x, plan, scalars)
            or self._fold_in_memory_order(buffer, x, plan, scalars)
            or self._fold_strided(buffer, x, plan, scalars)
        ):
            return
        if flat is None and (plan.width or self.folds_in_steps):
            flat = self._gather(x, tuple(range(len(x._sizes))))
            x = x if flat is None else self._dense(flat, x._sizes)
        if flat is not None and plan.width > 1 and plan.count:
            self._fold_columns(buffer, flat, plan, scalars)
            return
        if flat is not None and plan.width == 0 and self.folds_in_steps:
            self._fold_in_steps(buffer, x, plan)
            return
        if flat is None or plan.width == 0:
            flat = contiguous(x._array().transpose(plan.order)).reshape(-1)
        work = plan.effort // READING
        if plan.numel == 1 and threads.part_count(flat.size, work) > 1:
            self._fold_parallel(buffer, flat, scalars)
        else:
            arrays = (buffer, flat)
            threads.run_items(self.kernel, arrays, plan.numel, plan.count, *scalars, work=work)

    def _gather(self, x: Tensor, order: tuple[int, ...]) -> Any:
        """The elements with the dims in an order; None if that is left to NumPy."""
        geometry = (x._sizes, x._strides, order)
        try:
            copier = self.copiers[geometry]
        except KeyError:
            sizes = tuple([x._sizes[dim] for dim in order])
            ordered = sizes, tuple([x._strides[dim] for dim in order])
            dense = sizes, shapes.contiguous_strides(sizes)
            copier = find_copier(x.dtype, x.dtype, ordered, dense)
            if len(self.copiers) < LAUNCHES_KEPT:
                self.copiers[geometry] = copier
        if copier is None:
            return None
        gathered = pool.empty(x.numel(), x.dtype.numpy)
        (run, numel), (flat, at) = copier, memory_of(x, False)
        run(0, at, gathered, flat) if numel is None else run(gathered, flat[at:])
        return gathered

    def _fold_in_steps(self, buffer: Any, x: Tensor, plan: DimPlan) -> None:
        """Fold dims that do not follow each other: the last that do first, then the others.

        It is for what `folds_results`: all parts are of one size.
        """
        last = [plan.reduced[-1]]
        while last[0] - 1 in plan.reduced and len(last) + 1 < len(plan.reduced):
            last.insert(0, last[0] - 1)
        partial = self.run(x, tuple(last), True, ())
        others = tuple([dim for dim in plan.reduced if dim not in last])
        buffer[...] = self.run(partial, others, True, ())._flat

    def _fold_columns(self, buffer: Any, flat: Any, plan: DimPlan, scalars: Sequence[Any]) -> None:
        """Fold dims with dense columns behind them.

        Threads take results; or rows, if there is one block and many rows: neighbours in memory.
        """
        width, work = plan.width, flat.size // READING
        parts = threads.part_count(plan.count, work)
        if parts == 1 or plan.numel > width or width * parts * FEW > flat.size:
            kernel = columns_kernel(self.spec)
            threads.run_ranges(kernel, plan.numel, work, buffer, flat, plan.count, width, *scalars)
            return
        loops = columns_module(self.spec)
        shares = np.empty(width * parts, column_type(self.spec).numpy)
        partial = loops.partial if scalars else columns_partial(self.spec)
        threads.run_ranges(partial, plan.count, work, shares, flat, width, *scalars, parts=parts)
        loops.finish(buffer, shares, plan.count, parts)

    def _fold_expanded(self, buffer: Any, x: Tensor, plan: DimPlan, scalars: Sequence[Any]) -> bool:
        """Fold once what all places of an expanded dim have in common; False if there is none."""
        shared = [
            stride == 0 and size > 1 and dim not in plan.reduced
            for dim, (size, stride) in enumerate(zip(x._sizes, x._strides, strict=True))
        ]
        if not any(shared):
            return False
        sizes = [1 if own else size for own, size in zip(shared, x._sizes, strict=True)]
        folded = self.run(alias(x, sizes, x._strides, x._offset), plan.reduced, True, scalars)
        kept = [1 if dim in plan.reduced else size for dim, size in enumerate(x._sizes)]
        buffer.reshape(kept)[...] = folded._array()
        return True

    def _fold_in_memory_order(
        self, buffer: Any, x: Tensor, plan: DimPlan, scalars: Sequence[Any]
    ) -> bool:
        """Fold memory whose dims lie in another order in that order; False if they do not."""
        sizes, strides = x._sizes, x._strides
        order = sorted(range(len(strides)), key=lambda dim: -strides[dim])
        if order == list(range(len(order))):
            return False
        turned = alias(
            x, [sizes[dim] for dim in order], tuple([strides[dim] for dim in order]), x._offset
        )
        reduced = tuple([place for place, dim in enumerate(order) if dim in plan.reduced])
        inner = plan_dims(turned._sizes, reduced, False)
        kept = [dim for dim in order if dim not in plan.reduced]
        is_alike = kept == sorted(kept)
        folded = buffer if is_alike else np.empty(plan.numel, self.storage_dtype)
        self._fold(folded, turned, turned._dense(), inner, scalars)
        if not is_alike:
            shape = [sizes[dim] for dim in sorted(kept)]
            made = folded.reshape(inner.sizes).transpose(np.argsort(kept))
            copy_parts((buffer.reshape(shape), made))
        return True

    def _dense(self, flat: Any, sizes: Size) -> Tensor:
        """The tensor of dense memory."""
        strides = shapes.contiguous_strides(sizes)
        return build(keys.pack(self.spec.input.index, 0, 0, False), sizes, strides, 0, None, flat)

    def _fold_strided(self, buffer: Any, x: Tensor, plan: DimPlan, scalars: Sequence[Any]) -> bool:
        """Fold memory that is dense along a dim, without a copy; else False."""
        found = self._strided_loop(x, plan)
        if found is not None:
            self._run_strided(buffer, x, found, scalars)
            return True
        last = plan.reduced[-1:]
        if not self.folds_in_steps or last == plan.reduced:
            return False
        if plan_strided(x._sizes, x._strides, last) is None:
            return False
        self._fold_in_steps(buffer, x, plan)
        return True

    def _strided_loop(self, x: Tensor, plan: DimPlan) -> StridedLoop | None:
        sizes, strides, work = x._sizes, x._strides, plan.effort // READING
        walk = plan_strided(sizes, strides, plan.reduced)
        is_large = plan.effort >= self.serial_below and threads.get_num_threads() > 1
        if walk is not None and plan.numel == 1 and is_large:
            return None  # threads share what is copied side by side
        if walk is not None:
            return StridedLoop(
                strided_kernel(self.spec, walk.over_rows), plan.numel, walk.numbers, work
            )
        if plan.numel != 1 or not plan.count or not self.folds_in_steps:
            return None
        inner = plan_dims(sizes, last_run(sizes, strides), False)
        walk = plan_strided(sizes, strides, inner.reduced)
        if walk is None or walk.over_rows:
            return None
        return StridedLoop(strided_kernel(self.spec, False), inner.numel, walk.numbers, work, True)

    def _run_strided(
        self, buffer: Any, x: Tensor, loop: StridedLoop, scalars: Sequence[Any]
    ) -> None:
        kernel, count, numbers, work, in_steps = loop
        memory = typed_buffer(x)[x._offset :]
        made = np.empty(count, self.storage_dtype) if in_steps else buffer
        if work < 2 * threads.GRAIN:
            kernel(0, count, made, memory, *numbers, *scalars)
        else:
            threads.run_ranges(kernel, count, work, made, memory, *numbers, *scalars)
        if in_steps:
            self.kernel(buffer, made, count)

    def _fold_parallel(self, buffer: Any, flat: Any, scalars: Sequence[Any]) -> None:
        """Each thread folds its part; the parts are combined at the end."""
        kernel = self.rows.partial if scalars else partial_kernel(self.spec)
        work = flat.size // READING
        parts = threads.part_count(flat.size, work)
        shares = np.empty(parts, self.spec.acc.numpy)
        threads.run_ranges(kernel, flat.size, work, shares, flat, *scalars, parts=parts)
        self.rows.finish(buffer, shares, flat.size)


class FoldOfParts(Fold):
    """A reduction of complex numbers, many of which it folds as real ones, the parts of each as a
    last dim: so LLVM takes them in vectors."""

    def __init__(
        self, operator: Reduction, own: dtypes.dtype, requested: dtypes.dtype | None
    ) -> None:
        super().__init__(operator, own, requested, 0)
        self.of_parts = Fold(operator, own.to_real(), requested and requested.to_real(), 0)

    def run(self, x: Tensor, dim: Any, keepdim: bool, scalars: Sequence[Any]) -> Tensor:
        """Fold `dim` (None: all dims) of x."""
        if x.numel() < PARTS:
            return super().run(x, dim, keepdim, scalars)
        plan = plan_dims(x._sizes, dim if dim.__class__ is not list else tuple(dim), keepdim)
        if plan.width != 1 or plan.count < PARTS:
            return super().run(x, dim, keepdim, scalars)
        folded = self.of_parts.run(_with_parts(x), plan.reduced, keepdim, ())
        flat = folded._flat.view(self.storage_dtype)
        key = self.scalar_key if plan.is_scalar else self.key
        return build(key, plan.sizes, plan.strides, 0, None, flat)

    def run_all(self, x: Tensor) -> Tensor:
        """Fold all elements of x into a zero-dimensional result."""
        return super().run_all(x) if x.numel() < PARTS else self.run(x, None, False, ())


def _with_parts(x: Tensor) -> Tensor:
    """The real and imaginary parts of complex elements as a last dim, outside autograd."""
    own = x.dtype.to_real()
    sizes, strides = Size((*x._sizes, 2)), (*[2 * step for step in x._strides], 1)
    key = keys.pack(own.index, 0, 0, False)
    if x._flat is not None:
        return build(key, sizes, strides, 0, None, x._flat.view(own.numpy))
    return build(key, sizes, strides, 2 * x._offset, x._storage)


def make_fold(
    operator: Reduction, own: dtypes.dtype, requested: dtypes.dtype | None, scalars: int
) -> Fold:
    """The reduction for one input dtype and one requested dtype."""
    fold = Fold(operator, own, requested, scalars)
    return FoldOfParts(operator, own, requested) if fold.spec.folds_parts else fold


def lies_in_order(x: Tensor) -> bool:
    """Whether the dims lie in memory one within the other, none of them repeated."""
    strides = x._strides
    return 0 not in strides and all(a >= b for a, b in pairwise(strides))


def dense_memory(x: Tensor, plan: DimPlan, dim: Any) -> tuple[Any, DimPlan]:
    """The elements as one flat array, and how to walk it; (None, plan) if they are not dense."""
    walk = plan_memory(x._sizes, x._strides, dim)
    if walk is None:
        return x._dense(), plan
    return typed_buffer(x)[x._offset : x._offset + plan.work], walk
