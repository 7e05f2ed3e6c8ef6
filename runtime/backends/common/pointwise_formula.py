"""The formula of a pointwise operator for one signature, of which backends make their loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any

from torchgen_out._runtime.backends.common import pointwise_signature
from torchgen_out._runtime.backends.common.pointwise_signature import PointwiseSignature
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec


class PointwiseFormula:
    """The formula that a signature chose, for known dtypes of the results, and its arguments.

    spec: what loops are made of. at_defaults: the spec of a simpler formula, for when all scalars
    have the values in `defaults`; None where there is none.
    """

    def __init__(self, special: PointwiseSignature, outputs: tuple[dtypes.dtype, ...]) -> None:
        self.operator = special.operator
        self.arguments = special.arguments
        self.outputs = outputs
        self.compute = special.compute
        self.converters = pointwise_signature.scalar_converters(special)
        kinds = list(enumerate(special.arguments))
        self._tensor_places = [place for place, kind in kinds if kind == "tensor"]
        converters = iter(self.converters)
        self._scalar_places = [
            (place, next(converters) if kind == "scalar" else None)
            for place, kind in kinds
            if kind in ("scalar", "raw")
        ]
        self.defaults, self.at_defaults = self._simpler(special)
        self.spec = PointwiseSpec(
            special.formula, special.arguments, special.inputs, outputs, special.compute.opmath
        )

    def _simpler(self, special: PointwiseSignature) -> tuple[tuple[Any, ...], Any]:
        """The default values of the scalars, and the spec of the formula with these put in.

        ((), None) where the formula gains nothing from it.
        """
        operator = special.operator
        if special.formula is not operator.formulas.get(()) or operator.at_defaults is None:
            return (), None  # a formula without scalars, too, has nothing to gain
        arguments = tuple(
            kind
            for name, kind in zip(operator.arguments, special.arguments, strict=True)
            if name not in operator.defaults
        )
        spec = PointwiseSpec(
            operator.at_defaults,
            arguments,
            special.inputs,
            self.outputs,
            special.compute.opmath,
        )
        return tuple(operator.defaults.values()), spec

    def split(self, args: tuple[Any, ...]) -> tuple[list[Tensor], list[Any]]:
        """The tensors among a call's arguments, and its scalars, converted."""
        tensors = [args[place] for place in self._tensor_places]
        if not self._scalar_places:
            return tensors, []
        return tensors, [
            args[place] if convert is None else convert(args[place])
            for place, convert in self._scalar_places
        ]

    def value(self, elements: Sequence[Any], scalars: Sequence[Any]) -> Any:
        """What the formula, as a Python function, makes of an element of each tensor."""
        given = {"tensor": iter(elements), "absent": repeat(None)}
        rest = iter(scalars)
        return self.spec.formula(*[next(given.get(kind, rest)) for kind in self.arguments])
