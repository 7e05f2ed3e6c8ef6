"""Spells formulas over a stream: the function of an element, that of a call, and their program."""

from __future__ import annotations

from .. import formula as formulas
from ..model.operator import Operator
from ..model.stream import REAL_PART, DrawPlan
from ..record import record
from . import translate


@record
class DrawText:
    """One operator that draws."""

    name: str
    full_name: str
    """That of the operator."""
    formula: str
    """The function of an element."""
    numbers: str
    """Parameters of the function of a call's numbers."""
    values: str
    """What that returns."""
    fields: tuple[tuple[str, str], ...]
    """Keywords of its program."""


def draw_text(operator: Operator, plan: DrawPlan) -> DrawText:
    """The text of an operator that draws."""
    name = operator.identifier
    expressions = formulas.number_expressions(plan.numbers)
    scalars = [formulas.parameter_name(a.name) for a in plan.numbers.arguments]
    fields = {
        "formula": f"{name}_formula",
        "numbers": f"{name}_numbers",
        "word": f'"{plan.formula.arguments[0].name}"',
        "arguments": translate.names_tuple(a.name for a in operator.arguments),
        "scalars": translate.names_tuple(a.name for a in plan.numbers.arguments),
        "inputs": translate.names_tuple(plan.inputs),
    }
    generator = next((a.name for a in operator.arguments if a.type.base == "Generator"), None)
    if generator is not None:
        fields["generator"] = f'"{generator}"'
    if plan.probability is not None:
        fields["probability"] = f'"{plan.probability}"'
    if operator.is_inplace:
        fields["is_inplace"] = "True"
    if len(operator.schema.returns) != 1:
        fields["results"] = str(len(operator.schema.returns))
    if REAL_PART in plan.formula.arguments:
        fields["asks_part"] = "True"
    if operator.has_tag("computes_in_double"):
        fields["is_wide"] = "True"
    return DrawText(
        name,
        operator.name,
        formulas.python_function(plan.formula, f"{name}_formula"),
        ", ".join(scalars),
        ", ".join(expressions) if len(expressions) > 1 else f"({expressions[0]},)",
        tuple(fields.items()),
    )
