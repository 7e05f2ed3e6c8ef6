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
class Case:
    """Which inputs need a gradient, as a tuple of flags, and the kernel that gives them."""

    needs: str
    kernel: str


@dataclass(frozen=True, slots=True)
class FusedItem:
    """A node whose gradients come from fused kernels."""

    node: str
    title: str
    formulas: tuple[str, ...]
    arguments: str
    inputs: str
    cases: tuple[Case, ...]
    is_fused: bool = True


@dataclass(frozen=True, slots=True)
class Item:
    """A node whose gradients come from formulas, and the maker of its recording calls."""

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
    reads_edges: bool
    loads: tuple[str, ...]
    """What every gradient reads from the node."""
    release: tuple[str, ...]
    needs: str
    """Parameters of the record maker."""
    parameters: str
    edges: str
    style: str
    """single, several, view or views."""
    attach: str
    """The statement that makes the node the history of the result."""
    sees_missing: bool
    variant: str
    """function, inplace or both."""
    first: str
    saves_first: bool
    is_fused: bool = False


def emit(program: Program) -> Iterable[File]:
    """Emit one module per kind that has tables."""
    kinds = naming.modules(program, naming.TABLED)
    for kind in kinds:
        items: list[FusedItem | Item] = []
        for operator in naming.of_kind(program, kind):
            derivative = program.derivative(operator)
            if derivative is None or not derivative.is_differentiable:
                continue
            make = _fused_item if derivative.is_auto else _item
            items.append(make(program, operator, derivative))
        yield render(
            f"nodes/{kind}.py",
            "nodes.py.jinja",
            package=program.package,
            own_formulas=_own_formulas(program),
            kind=kind,
            items=items,
            has_kernels=any(item.is_fused for item in items),
        )
    if kinds:
        yield render("nodes/__init__.py", "package.py.jinja", summary="The graph's nodes.")


def _own_formulas(program: Program) -> str:
    module = program.formulas_module
    return references.statement(module, "own_formulas") if module else ""


def _differentiable(operator: Operator, derivative: Derivative) -> list[Argument]:
    return [a for a in operator.arguments if a.name in derivative.differentiable_inputs]


def _fused_item(program: Program, operator: Operator, derivative: Derivative) -> FusedItem:
    cases = automatic.backward_cases(program, operator)
    inputs = [a.name for a in _differentiable(operator, derivative)]
    return FusedItem(
        node=derivative.node,
        title=operator.name,
        formulas=tuple(_documented(derivative, cases)),
        arguments=_quoted([a.name for a in operator.arguments]),
        inputs=_quoted(inputs),
        cases=tuple(Case(_needs(case, inputs), case.name) for case in cases),
    )


def _needs(case: automatic.BackwardCase, inputs: list[str]) -> str:
    flags = ["None" if name in case.absent else str(name in case.needs) for name in inputs]
    return f"({', '.join(flags)}{',' if len(flags) == 1 else ''})"


def _item(program: Program, operator: Operator, derivative: Derivative) -> Item:
    inputs = _differentiable(operator, derivative)
    saved = tuple(saved_values.saved_values(operator, derivative))
    multi = len(operator.schema.returns) > 1
    is_view = naming.kind_of(operator) == "view"
    is_list = operator.schema.returns[0].type.is_list
    style = ("views" if is_list else "view") if is_view else ("several" if multi else "single")
    steps = tuple(node_gradients.steps(program, operator, derivative, inputs, saved))
    variant = "inplace" if operator.is_inplace else "both" if operator.has_inplace else "function"
    return Item(
        node=derivative.node,
        base="MultiOutputNode" if style in ("several", "views") else "Node",
        record=naming.record_name(program, operator),
        title=operator.name,
        formulas=tuple(_documented(derivative, ())),
        slots=_quoted(sorted(s.slot for s in saved)),
        grad_parameters="*grads" if style in ("several", "views") else "grad",
        grad_lines=tuple(_grad_lines(derivative, style)),
        saved=saved,
        steps=steps,
        initial=tuple(f"grad_{a.name}" for a in inputs),
        returns=_returns(inputs),
        reads_edges=any(step.condition or step.needs_mask for step in steps),
        loads=tuple(
            f"{translate.local(operator, s.local)} = {s.load}" for s in saved if not s.condition
        ),
        release=tuple(f"node.{s.slot}" for s in saved if s.is_tensor),
        needs=", ".join(f"needs_{a.name}" for a in inputs),
        parameters=", ".join(translate.local(operator, a.name) for a in operator.arguments),
        edges=_edges(operator, inputs),
        style=style,
        attach=_attach(operator, derivative, style, variant),
        sees_missing=derivative.sees_missing,
        variant=variant,
        first=translate.local(operator, operator.arguments[0].name),
        saves_first=variant == "both" and any(s.save.startswith("keep(") for s in saved),
    )


def _quoted(names: list[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in names)
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


def _attach(operator: Operator, derivative: Derivative, style: str, variant: str) -> str:
    first = translate.local(operator, operator.arguments[0].name)
    if variant != "function":
        return f"{'rebase_history' if variant == 'inplace' else 'finish'}(result, node)"
    if style == "single":
        return "attach(result, node)"
    if style == "several":
        return f"attach_outputs(result, node{_differentiability(derivative)})"
    return f"attach_{style}(result, {first}, node)"


def _differentiability(derivative: Derivative) -> str:
    if derivative.output_differentiability is None:
        return ""
    inner = ", ".join(str(flag) for flag in derivative.output_differentiability)
    return f", ({inner})"
