"""A pointwise formula for one signature, as the loops of every backend take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes

INPUT_NAMES = "abcdefgh"


SCALAR_TYPES = {"b": bool, "i": int, "f": float, "c": complex}


@dataclass(frozen=True)
class PointwiseSpec:
    """One formula for one signature.

    formula: the scalar function. arguments: what each of its arguments is, in order: 'tensor',
    'scalar' (converted to the compute type), 'raw' (left as it is) or 'absent' (None).
    inputs, outputs: the dtypes of the tensors read and written. compute: the type the formula
    computes in; for half types their opmath type.
    """

    formula: Any
    arguments: tuple[str, ...]
    inputs: tuple[dtypes.dtype, ...]
    outputs: tuple[dtypes.dtype, ...]
    compute: dtypes.dtype

    @property
    def name(self) -> str:
        """The formula's name."""
        return str(self.formula.__name__)

    def result(self, value: str, output: dtypes.dtype) -> str:
        """The expression of a result as an element of the type it was computed in.

        Short integers, and bools, of which the compiler makes longer ones, wrap around before they
        become elements of another type.
        """
        is_wrapped = self.compute.kind == "b" or (
            self.compute.kind == "i" and self.compute is not dtypes.int64
        )
        is_other = output is not self.compute and output.kind != "b"
        return f"T({value})" if is_wrapped and is_other else value

    @property
    def scalar_type(self) -> type:
        """The Python type that a 'scalar' has in the call of a kernel."""
        return SCALAR_TYPES[self.compute.kind]
