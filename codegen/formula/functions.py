"""Operators as functions of formulas: `silu(x)` stands for the formula of the operator `silu`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..model.formula import Argument, Constant, Expression, Formula
from ..model.operator import Operator, Pointwise
from ..model.schema import Schema
from ..record import record
from .expressions import ZERO, call, substitute
from .primitives import FUNCTIONS
from .specialize import specialize


@record
class Function:
    """A pointwise operator as other formulas call it, with operands in the order of its schema."""

    formula: Formula
    required: int
    defaults: tuple[bool | int | float | complex | None, ...]
    """What the parameters behind the required ones are if they are not given."""

    @property
    def is_wrong(self) -> bool:
        """Whether its own formula could not be read: who calls it is told nothing."""
        return not self.formula.outputs

    def takes(self, count: int) -> bool:
        """Whether it can be called with so many operands."""
        return self.is_wrong or self.required <= count <= len(self.formula.arguments)

    @property
    def arity(self) -> str:
        """How many operands it takes, as messages say it."""
        most = len(self.formula.arguments)
        count = f"{most}" if most == self.required else f"{self.required} to {most}"
        return f"{count} argument" + ("s" if most > 1 else "")

    def __call__(self, operands: Sequence[Expression]) -> Expression:
        """Its formula with operands, and the defaults of those that are not given."""
        if self.is_wrong:
            result: Expression = ZERO
            for operand in operands:
                result = call("add", result, operand)
            return result
        parameters = self.formula.arguments
        rest = self.defaults[len(operands) - self.required :]
        left = parameters[len(operands) :]
        absent = {each.name for each, value in zip(left, rest, strict=True) if value is None}
        numbers = [Constant(value) for value in rest if value is not None]
        formula = specialize(self.formula, absent)
        values = zip(formula.arguments, [*operands, *numbers], strict=True)
        return substitute(formula.outputs[0], dict(values))


Functions = Mapping[str, Function]
UNREADABLE = Function(Formula((), ()), 0, ())
"""What an entry is that could not be read at all."""


def functions_of(operators: Iterable[Operator]) -> dict[str, Function]:
    """The pointwise operators that formulas may call, by their names."""
    found = {}
    for operator in operators:
        kind = operator.kind
        if not isinstance(kind, Pointwise) or operator.is_internal or operator.name in FUNCTIONS:
            continue
        function = _function(operator.schema, kind.formula)
        if function:
            found[operator.name] = function
    return found


def _function(schema: Schema, formula: Formula) -> Function | None:
    """None for what takes anything else than elements and numbers, or gives several results."""
    if not formula.outputs:
        return UNREADABLE
    if len(formula.outputs) != 1 or len(formula.arguments) != len(schema.arguments):
        return None
    if not all(_is_number(argument) for argument in formula.arguments):
        return None
    defaults = [each.default for each in schema.arguments if each.default is not None]
    values = tuple(each.value for each in defaults)
    if not all(value is None or isinstance(value, bool | int | float) for value in values):
        return None
    return Function(formula, len(schema.arguments) - len(values), values)  # type: ignore[arg-type]


def _is_number(argument: Argument) -> bool:
    return argument.kind in ("tensor", "scalar")
