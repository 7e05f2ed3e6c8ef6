"""What plans share: dtypes, words for what is only moved, and compiled loops.

`is_small` is what planners ask beside a library: its calls begin with microseconds of Python, in
which a loop of our own goes over a thousand elements.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import TypedKernel

Array = Any
SMALL = 1 << 14
DTYPES = frozenset(map(np.dtype, ("float32", "float64", "int64")))
INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)


def is_small(out: TensorSpec, *operands: TensorSpec) -> bool:
    """Whether dense operands of the usual dtypes give few elements, but some."""
    return is_dense(out, *operands) and all(prod(each.sizes) <= SMALL for each in (out, *operands))


def is_dense(out: TensorSpec, *operands: TensorSpec) -> bool:
    """Whether operands are dense, and the result is of a usual dtype; none without elements."""
    return (
        out.dtype in DTYPES
        and prod(out.sizes) > 0
        and all(each.is_contiguous and prod(each.sizes) for each in operands)
    )


WORDS = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: INT64}


def as_words(spec: TensorSpec) -> TensorSpec:
    """What is only moved: usual dtypes as they are, others as integers of their width."""
    own = spec.dtype
    return spec if own in DTYPES else spec._replace(dtype=WORDS.get(own.itemsize, own))


def over_words(plan: LaunchPlan, spec: TensorSpec, count: int = 2) -> LaunchPlan:
    """The plan of a kernel that moves elements, made for words. count: how many first arrays."""
    words = as_words(spec).dtype
    if words == spec.dtype:
        return plan

    def run(*args: Any) -> Any:
        return plan.run(*[each.view(words) for each in args[:count]], *args[count:])

    return LaunchPlan(run, plan.params)


def entry_for(kernel: TypedKernel, dtype: Any, *arguments: Any) -> Callable[..., Any]:
    """The compiled loop for elements of a dtype."""
    return kernel.entry_point(dtype, arguments)


def are_dense_alike(dtype: Any, *operands: TensorSpec | None) -> bool:
    """Whether all operands that are given are dense floats of one dtype, and not empty."""
    return dtype.name in ("float32", "float64") and all(
        each.dtype == dtype and each.is_contiguous and prod(each.sizes)
        for each in operands
        if each is not None
    )
