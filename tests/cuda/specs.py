"""Every pointwise formula of the library in every dtype of its operator, as kernels see it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import torchgen_out  # noqa: F401 - registers the operators
from torchgen_out._runtime.backends.common import pointwise_signature
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.dispatch.operator import Pointwise, operators
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec


def pointwise_operators() -> list[Pointwise]:
    """All of the library's, those of the automatic gradients included."""
    return [
        each
        for each in operators.values()
        if isinstance(each, Pointwise)
        and next(iter(each.formulas.values())).__module__.startswith("torchgen_out.")
    ]


def specs_of(operator: Pointwise, dtype: dtypes.dtype) -> Iterator[PointwiseSpec]:
    """The specs of one operator for operands of one dtype: for each set of absent operands, and
    without its scalars where they have a simpler formula."""
    for absent, formula in operator.formulas.items():
        signature = tuple(
            None if name in absent else _entry(operator, name, dtype) for name in operator.operands
        )
        special = pointwise_signature.specialise(operator, signature)
        compute = special.compute.opmath
        outputs = (special.result,) * operator.outputs
        yield PointwiseSpec(formula, special.arguments, special.inputs, outputs, compute)
        if not absent and operator.at_defaults is not None:
            rest = tuple(
                kind
                for name, kind in zip(operator.arguments, special.arguments, strict=True)
                if name not in operator.defaults
            )
            yield PointwiseSpec(operator.at_defaults, rest, special.inputs, outputs, compute)


def _entry(operator: Pointwise, name: str, dtype: dtypes.dtype) -> int:
    is_number = operator.operands[name] == "number" and name not in operator.promoted
    own = dtype if name in operator.promoted or is_number else dtypes.bool
    return keys.pack(own.index, 0, 0, is_number)


@cache
def cases() -> list[tuple[str, str]]:
    """(operator, dtype) of all; of a gradient, the dtypes that its operator takes."""
    by_identifier = {each.name.replace(".", "_"): each for each in pointwise_operators()}
    return [
        (operator.name, dtype.name)
        for operator in pointwise_operators()
        for dtype in dtypes.ALL
        if dtype.name in operator.dtypes
        and dtype.name
        in by_identifier[operator.name.replace(".", "_").split("_backward_")[0]].dtypes
    ]
