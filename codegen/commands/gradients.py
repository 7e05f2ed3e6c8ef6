"""What a derivative says: the formula of each input, and what is kept for it."""

from __future__ import annotations

from collections.abc import Iterator

from .. import formula as formulas
from .. import lower
from ..model.derivative import WITHOUT, Derivative, Gradient, GradientKind, TangentKind
from ..model.expression import Save, SavedValue
from ..model.operator import Composite, Operator
from ..model.plan import BackwardCase
from ..model.program import Program
from . import definitions
from .text import Section, columns

_WHAT = {
    Save.TENSOR: "the tensor",
    Save.TENSORS: "the tensors",
    Save.VALUE: "the value",
    Save.SIZES: "its sizes only",
}


def sections(program: Program, operator: Operator) -> Iterator[Section]:
    """Gradients, what is saved for them, and forward mode."""
    derivative = program.derivative(operator)
    if derivative is None:
        why = "those of the operators in its body" if _is_composite(operator) else "none"
        yield Section("Gradients", (why,))
        return
    plan = lower.node_of(program, operator)
    cases = plan.cases if plan else ()
    place = definitions.shown_location(derivative.where)
    yield Section(f"Gradients ({derivative.node}, {place})", _formulas(derivative, cases))
    yield Section("What is saved, for which gradient", _saved(operator, derivative, cases))
    if derivative.tangents:
        yield Section("Forward mode", _tangents(derivative))


def _is_composite(operator: Operator) -> bool:
    return isinstance(operator.kind, Composite)


def _formulas(derivative: Derivative, cases: tuple[BackwardCase, ...]) -> Iterator[str]:
    for gradient in derivative.gradients:
        yield f"{', '.join(gradient.inputs)}: {_spelled(gradient)}"
        if gradient.kind is GradientKind.AUTO:
            for case in _alone(cases, gradient.inputs):
                yield from _printed(case)
    fused = [case for case in cases if len(case.needs) > 1]
    if fused:
        yield "one kernel for several inputs at once: " + ", ".join(case.name for case in fused)


def _spelled(gradient: Gradient) -> str:
    match gradient.kind:
        case GradientKind.FORMULA if gradient.expression is not None:
            return " ".join(gradient.expression.text.split())
        case GradientKind.AUTO:
            return "auto, the derivative of the formula"
        case GradientKind.NOT_IMPLEMENTED:
            return f"not implemented ({gradient.message}): backward raises"
    return "not differentiable"


def _alone(cases: tuple[BackwardCase, ...], inputs: tuple[str, ...]) -> list[BackwardCase]:
    """The cases of these inputs alone; if there are none, the first that has them."""
    exact = [case for case in cases if case.needs == inputs]
    return exact or [case for case in cases if set(inputs) <= set(case.needs)][:1]


def _printed(case: BackwardCase) -> Iterator[str]:
    """The kernel that `auto` made, as Python and as LaTeX."""
    source = formulas.python_function(case.formula, case.name).rstrip().split("\n")
    quotes = [i for i, line in enumerate(source) if '"""' in line]
    body = source[quotes[-1] + 1 :] if quotes else source[1:]
    absent = f"  (without {', '.join(case.absent)})" if case.absent else ""
    yield f"    {source[0]}{absent}"
    yield from (f"    {line}" for line in body)
    yield f"    LaTeX: {formulas.latex(case.formula)}"


def _saved(
    operator: Operator, derivative: Derivative, cases: tuple[BackwardCase, ...]
) -> list[str]:
    rows = []
    for gradient in derivative.gradients:
        if gradient.kind in WITHOUT:
            continue
        if gradient.kind is GradientKind.AUTO:
            for case in _alone(cases, gradient.inputs)[:1]:
                kept = [_kept_by_kernel(operator, name) for name in case.reads]
                rows.append((f"{', '.join(gradient.inputs)} reads", ", ".join(kept) or "nothing"))
        else:
            kept = [_kept(value) for value in gradient.saved]
            rows.append((f"{', '.join(gradient.inputs)} reads", ", ".join(kept) or "nothing"))
    return columns(rows) if rows else []


def _kept(value: SavedValue) -> str:
    what = _WHAT.get(value.what, f"its {value.what.value} only")
    return f"{value.name} ({what}{', a result' if value.is_result else ''})"


def _kept_by_kernel(operator: Operator, name: str) -> str:
    argument = operator.schema.argument(name)
    if argument is None:
        return f"{name} (the tensor, a result)"
    return f"{name} ({'the tensor' if argument.type.holds_tensors else 'the value'})"


def _tangents(derivative: Derivative) -> Iterator[str]:
    for tangent in derivative.tangents:
        text = tangent.kind.value
        if tangent.kind is TangentKind.FORMULA and tangent.expression is not None:
            text = " ".join(tangent.expression.text.split())
        yield f"{', '.join(tangent.results)}: {text}"
