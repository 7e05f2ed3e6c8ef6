"""Emits torchgen_out/nodes/: a node per derivative, and the wrapper that records it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .. import formula as formulas
from ..model.derivative import Derivative, GradientKind
from ..model.formula import written_size
from ..model.operator import Operator
from ..model.program import Program
from ..model.schema import Argument
from ..write import File
from . import automatic, naming, node_gradients, references, saved_values, translate
from .environment import render

LONGEST_FORMULA = 70
"""Characters of a symbolic gradient that still explain something in a docstring."""


@dataclass(frozen=True, slots=True)
class Item:
    """One node class with its wrappers."""

    node: str
    base: str
    record: str
    title: str
    formulas: tuple[str, ...]
    slots: str
    grad_parameters: str
    grad_lines: tuple[str, ...]
    saved: tuple[saved_values.Saved, ...]
    steps: tuple[node_gradients.Step, ...]
    initial: tuple[str, ...]
    returns: str
    cases: tuple[node_gradients.Case, ...]
    flags: tuple[node_gradients.Flag, ...]
    has_needs: bool
    reads_edges: bool
    loads: tuple[str, ...]
    """What every gradient reads from the node."""
    release: tuple[str, ...]
    needs: str
    """Parameters of the record maker."""
    needs_tuple: str
    parameters: str
    edges: str
    style: str
    """single, several, view or views."""
    differentiability: str
    sees_missing: bool
    has_function: bool
    has_inplace: bool
    first: str


def emit(program: Program) -> Iterable[File]:
    """Emit one module per kind that has tables."""
    kinds = naming.modules(program, naming.TABLED)
    for kind in kinds:
        items = []
        for operator in naming.of_kind(program, kind):
            derivative = program.derivative(operator)
            if derivative is not None and derivative.is_differentiable:
                items.append(_item(program, operator, derivative))
        yield render(
            f"nodes/{kind}.py",
            "nodes.py.jinja",
            package=program.package,
            own_formulas=_own_formulas(program),
            kind=kind,
            items=items,
            has_kernels=any(item.cases for item in items),
        )
    if kinds:
        yield render("nodes/__init__.py", "package.py.jinja", summary="The graph's nodes.")


def _own_formulas(program: Program) -> str:
    module = program.formulas_module
    return references.statement(module, "own_formulas") if module else ""


def _item(program: Program, operator: Operator, derivative: Derivative) -> Item:
    inputs = [a for a in operator.arguments if a.name in derivative.differentiable_inputs]
    cases = automatic.backward_cases(program, operator)
    flags = tuple(node_gradients.flags(operator, cases, inputs))
    saved = tuple(saved_values.saved_values(operator, derivative, cases))
    multi = len(operator.schema.returns) > 1
    is_view = naming.kind_of(operator) == "view"
    is_list = operator.schema.returns[0].type.is_list
    style = ("views" if is_list else "view") if is_view else ("several" if multi else "single")
    needs = [f"needs_{a.name}" for a in inputs]
    steps = (
        () if cases else tuple(node_gradients.steps(program, operator, derivative, inputs, saved))
    )
    slots = [s.slot for s in saved] + (["needs"] if len(cases) > 1 else [])
    return Item(
        node=derivative.node,
        base="MultiOutputNode" if style in ("several", "views") else "Node",
        record=naming.record_name(operator),
        title=operator.name,
        formulas=tuple(_documented(derivative, cases)),
        slots=_slots(slots),
        grad_parameters="*grads" if style in ("several", "views") else "grad",
        grad_lines=tuple(_grad_lines(derivative, style)),
        saved=saved,
        steps=steps,
        initial=tuple(f"grad_{a.name}" for a in inputs),
        returns=_returns(inputs),
        cases=tuple(
            node_gradients.fused_case(operator, case, [a.name for a in inputs], saved)
            for case in cases
        ),
        flags=flags,
        has_needs=len(cases) > 1,
        reads_edges=any(step.condition or step.needs_mask for step in steps),
        loads=()
        if cases
        else tuple(
            f"{translate.local(operator, s.local)} = {s.load}" for s in saved if not s.condition
        ),
        release=tuple(f"node.{s.slot}" for s in saved if s.is_tensor),
        needs=", ".join(needs),
        needs_tuple=f"({', '.join(needs)}{',' if len(needs) == 1 else ''})",
        parameters=", ".join(translate.local(operator, a.name) for a in operator.arguments),
        edges=_edges(operator, inputs),
        style=style,
        differentiability=_differentiability(derivative),
        sees_missing=derivative.sees_missing,
        has_function=not operator.is_inplace,
        has_inplace=operator.is_inplace or operator.has_inplace,
        first=translate.local(operator, operator.arguments[0].name),
    )


def _slots(names: list[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in sorted(names))
    return f"({quoted},)" if len(names) == 1 else f"({quoted})"


def _documented(derivative: Derivative, cases: tuple[automatic.BackwardCase, ...]) -> Iterator[str]:
    """The mathematics of each gradient; of an automatic one the symbolic result, if it is short."""
    for gradient in derivative.gradients:
        name = ", ".join(gradient.inputs)
        if gradient.kind is GradientKind.FORMULA:
            assert gradient.expression is not None
            text = translate.docstring(" ".join(gradient.expression.text.split()))
        elif gradient.kind is GradientKind.AUTO:
            text = _symbolic(gradient.inputs, cases)
        else:
            text = gradient.kind.value
        yield f"{name}: {text}"


def _symbolic(inputs: tuple[str, ...], cases: tuple[automatic.BackwardCase, ...]) -> str:
    """The automatic gradient of one input over public operators."""
    case = next((c for c in cases if c.needs == inputs and not c.absent), None)
    if case is None or written_size(case.formula.outputs[0]) > LONGEST_FORMULA:
        return "auto"
    (text,) = formulas.tensor_expressions(case.formula)
    return f"{translate.docstring(text)} (auto)" if len(text) <= LONGEST_FORMULA else "auto"


def _grad_lines(derivative: Derivative, style: str) -> Iterator[str]:
    """How `grad` and `grads[i]` come from what the engine passes."""
    if style not in ("several", "views"):
        return
    first = 0
    if derivative.output_differentiability:
        first = derivative.output_differentiability.index(True)
    expressions = [g.expression for g in derivative.gradients if g.expression]
    if any(e.uses("grad") for e in expressions):
        yield f"grad = grads[{first}]"


def _returns(inputs: list[Argument]) -> str:
    parts = [
        f"*(grad_{a.name} or ())" if a.type.is_tensor_list else f"grad_{a.name}" for a in inputs
    ]
    if len(inputs) == 1 and inputs[0].type.is_tensor_list:
        return f"tuple(grad_{inputs[0].name})"
    if len(parts) == 1:
        return f"({parts[0]},)"
    return f"({', '.join(parts)})" if len(parts) > 5 else ", ".join(parts)


def _edges(operator: Operator, inputs: list[Argument]) -> str:
    parts = []
    for argument in inputs:
        name = translate.local(operator, argument.name)
        if argument.type.is_tensor_list:
            parts.append(f"*gradient_edges({name})")
        elif argument.type.is_optional or len(inputs) > 1 or "Scalar" in argument.type.names:
            parts.append(f"gradient_edge({name}) if needs_{argument.name} else None")
        else:
            parts.append(f"gradient_edge({name})")
    if len(inputs) == 1 and inputs[0].type.is_tensor_list:
        return parts[0].removeprefix("*")
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _differentiability(derivative: Derivative) -> str:
    if derivative.output_differentiability is None:
        return ""
    inner = ", ".join(str(flag) for flag in derivative.output_differentiability)
    return f", ({inner})"
