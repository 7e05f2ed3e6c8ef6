"""Reducing arrays of two ranks: NumPy's functions, or operators for narrow floats."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import make_tensor
from torchgen_out._runtime.library.distributed.reduce_op import RedOpType

Reducer = Callable[[Any, Any, Any], Any]
"""(one, other, out): flat arrays of equal length; `out` may be one of them."""

_NUMPY: dict[RedOpType, Any] = {
    RedOpType.SUM: np.add,
    RedOpType.AVG: np.add,
    RedOpType.PREMUL_SUM: np.add,
    RedOpType.PRODUCT: np.multiply,
    RedOpType.MIN: np.minimum,
    RedOpType.MAX: np.maximum,
    RedOpType.BAND: np.bitwise_and,
    RedOpType.BOR: np.bitwise_or,
    RedOpType.BXOR: np.bitwise_xor,
}
_OPERATORS = {
    RedOpType.SUM: "add",
    RedOpType.AVG: "add",
    RedOpType.PREMUL_SUM: "add",
    RedOpType.PRODUCT: "mul",
    RedOpType.MIN: "minimum",
    RedOpType.MAX: "maximum",
}


@cache
def reducer(op: RedOpType, dtype: dtypes.dtype) -> Reducer:
    """What reduces two arrays of a dtype, in its storage's NumPy dtype."""
    if dtype.opmath is dtype:
        return _quiet(_NUMPY[op])
    parts = dtype.to_real() if dtype.is_complex else dtype
    operator = getattr(torch, _OPERATORS[op])

    def reduce(one: Any, other: Any, out: Any) -> None:
        with torch.no_grad():
            operator(_tensor(one, parts), _tensor(other, parts), out=_tensor(out, parts))

    return reduce


def _quiet(function: Reducer) -> Reducer:
    """What overflows or is no number is no warning, as of any operator."""

    def reduce(one: Any, other: Any, out: Any) -> None:
        with np.errstate(all="ignore"):
            function(one, other, out)

    return reduce


def _tensor(array: Any, dtype: dtypes.dtype) -> Any:
    flat = array.view(dtype.numpy)
    return make_tensor(flat, (flat.size,), dtype)


def scale(array: Any, dtype: dtypes.dtype, factor: float, inverse: bool = False) -> None:
    """Multiply, or divide, a flat array by a number in place."""
    if dtype.opmath is dtype:
        _quiet(np.divide if inverse else np.multiply)(array, array.dtype.type(factor), array)
        return
    tensor = _tensor(array, dtype.to_real() if dtype.is_complex else dtype)
    with torch.no_grad():
        tensor.div_(factor) if inverse else tensor.mul_(factor)
