"""A reduction's four parts for one signature, as the loops of every backend take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes


@dataclass(frozen=True)
class ReductionSpec:
    """The four parts for one signature.

    name: the operator's. parts: functions (identity or None, reduce, combine, project or None).
    input, output: dtypes read and written. compute: the type elements are read as. acc: the type
    of the accumulator. scalars: how many scalar arguments the parts take.
    """

    name: str
    parts: tuple[Any, Any, Any, Any]
    input: dtypes.dtype
    output: dtypes.dtype
    compute: dtypes.dtype
    acc: dtypes.dtype
    scalars: int = 0
