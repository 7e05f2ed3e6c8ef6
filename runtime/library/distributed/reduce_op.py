"""`ReduceOp`: how the elements of several ranks become one."""

from __future__ import annotations

import enum
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public


class RedOpType(enum.IntEnum):
    """Names of the operations, by PyTorch's numbers."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8

    def __repr__(self) -> str:
        return f"<RedOpType.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"RedOpType.{self.name}"


class ReduceOp:
    """An operation and, for PREMUL_SUM, the factor of this rank."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = RedOpType
    RedOpType = RedOpType

    def __init__(self, op: Any, factor: Any = None) -> None:
        known = isinstance(op, ReduceOp)
        self.op: RedOpType = op.op if known else RedOpType(op)
        self.factor: Any = op.factor if known else factor

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ReduceOp):
            return self.op is other.op and self.factor is other.factor
        return self.op == other

    def __hash__(self) -> int:
        return hash(self.op)

    def __repr__(self) -> str:
        return f"ReduceOp({self.op!r})"


def kind_of(op: Any) -> RedOpType:
    """The operation that a user has given. **Raises** ValueError if it is none."""
    if op.__class__ is RedOpType:
        found: RedOpType = op
        return found
    if isinstance(op, ReduceOp):
        return op.op
    raise ValueError(f"Invalid ReduceOp: {op!r}; expected one such as ReduceOp.SUM")


def premultiplied_sum(factor: Any) -> ReduceOp:
    """Return the sum of the ranks' elements, each multiplied by its rank's factor before."""
    return ReduceOp(RedOpType.PREMUL_SUM, factor)


_NO_COMPLEX = {RedOpType.MAX, RedOpType.MIN, RedOpType.PRODUCT}
_BITS = {RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR}


def supports_complex(reduceOp: Any) -> bool:
    """Return whether an operation can be carried out on complex numbers part by part."""
    return kind_of(reduceOp) not in _NO_COMPLEX | _BITS


def check(op: Any, dtype: Any, doing: str) -> RedOpType:
    """Return the operation. **Raises** ValueError or RuntimeError if the dtype has not got it."""
    kind = kind_of(op)
    if dtype.is_complex and not supports_complex(kind):
        raise ValueError(f"{doing} does not support {kind} on complex tensors")
    if kind in _BITS and dtype.is_floating_point:
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with non-integral dtype")
    if kind in (RedOpType.AVG, RedOpType.PREMUL_SUM) and not (
        dtype.is_floating_point or dtype.is_complex
    ):
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with {dtype}: it is not floating")
    if dtype.itemsize == 1 and dtype.is_floating_point:
        raise RuntimeError(f"{doing} does not support {torch.dtype.__name__} {dtype}")
    return kind


public.place("distributed", RedOpType, ReduceOp)
RedOpType.__qualname__ = "ReduceOp.RedOpType"
