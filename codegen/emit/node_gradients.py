"""How a node computes its gradients by the formulas of derivatives.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..model.derivative import WITHOUT, Derivative, Gradient, GradientKind
from ..model.operator import Operator
from ..model.program import Program
from ..model.schema import Argument
from . import expressions, translate
from .saved_values import Saved


@dataclass(frozen=True, slots=True)
class Step:
    """One gradient, or several at once: `if condition: targets = value`."""

    condition: str
    targets: str
    value: str
    loads: tuple[str, ...]
    """What only this step reads from the node."""
    needs_mask: bool = False


def steps(
    program: Program,
    operator: Operator,
    derivative: Derivative,
    inputs: list[Argument],
    saved: tuple[Saved, ...],
) -> Iterator[Step]:
    """The gradients of `inputs`, each computed if its edge is there."""
    positions = {a.name: i for i, a in enumerate(inputs)}
    locals_ = {a.name: translate.local(operator, a.name) for a in operator.arguments}
    lists = {a.name for a in inputs if a.type.is_tensor_list}
    for gradient in derivative.gradients:
        names = [name for name in gradient.inputs if name in positions]
        if gradient.kind in WITHOUT or not names:
            continue
        alone = len(inputs) == len(names) or lists & set(names)
        tests = [] if alone else [f"edges[{positions[name]}] is not None" for name in names]
        own = {value.local for value in gradient.saved}
        loads = tuple(
            f"{locals_.get(s.local, s.local)} = {s.load}"
            for s in saved
            if s.condition and s.local in own
        )
        mask = gradient.expression is not None and gradient.expression.uses("grad_input_mask")
        targets = ", ".join(f"grad_{name}" for name in names)
        value = _value(gradient, _homes(program), locals_)
        yield Step(" or ".join(tests), targets, value, loads, mask)


def _homes(program: Program) -> dict[str, str]:
    """The module, as imported, of every function for derivative formulas."""
    library = dict.fromkeys(program.formulas, "formulas")
    return library | dict.fromkeys(program.own_formulas, "own_formulas")


def _value(gradient: Gradient, homes: Mapping[str, str], names: Mapping[str, str]) -> str:
    if gradient.kind is GradientKind.NOT_IMPLEMENTED:
        return f'errors.raise_not_differentiable("{gradient.message}")'
    assert gradient.expression is not None
    return expressions.spelled(gradient.expression, homes=homes, names=names)
