"""Emits the operator reference: one Markdown page per namespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import formula as formulas
from ..model.derivative import Gradient, GradientKind
from ..model.operator import Operator, Pointwise, adjoint_name, text_names
from ..model.plan import LoweredProgram
from ..model.program import Program
from ..model.vocabulary import NAMESPACES
from ..record import record
from ..write import File
from . import naming
from .environment import render

PAGES = ("torch", "Tensor", "nn.functional", *NAMESPACES)


@record
class Section:
    """One operator family on a page."""

    name: str
    schemas: tuple[str, ...]
    doc: str
    facts: tuple[str, ...]
    latex: str
    statements: str
    """The text of an index program."""
    derivatives: tuple[str, ...]


def emit(program: LoweredProgram) -> Iterable[File]:
    """Emit `reference/*.md`."""
    for page in PAGES:
        sections = list(_sections(program, page))
        if sections:
            yield render(f"reference/{page}.md", "reference.md.jinja", page=page, sections=sections)


def _page_of(operator: Operator) -> str:
    return operator.python_module if operator.has_function else "Tensor"


def _sections(program: LoweredProgram, page: str) -> Iterator[Section]:
    for operators in program.families.values():
        shown = [o for o in operators if not o.is_internal and _page_of(o) == page]
        if not shown:
            continue
        first = shown[0]
        kind = first.kind
        is_formula = isinstance(kind, Pointwise) and len(shown) == 1
        yield Section(
            first.public_name,
            tuple(str(s) for o in shown for s in _schemas(o)),
            "\n\n".join(dict.fromkeys((o.doc or "").strip() for o in shown)),
            tuple(_facts(program, first)),
            formulas.latex(kind.formula) if is_formula and isinstance(kind, Pointwise) else "",
            _statements(program, first),
            tuple(line for o in shown for line in _derivatives(program, o)),
        )


def _statements(program: LoweredProgram, operator: Operator) -> str:
    """The text of an operator, or of those that it has been split into: they share one."""
    for name in text_names(operator):
        if name in program.statements:
            return program.statements[name]
    drawn = program.drawn.get(operator.name)
    return drawn.formula.text if drawn else ""


def _schemas(operator: Operator) -> Iterator[object]:
    yield operator.schema
    if operator.inplace_schema is not None:
        yield operator.inplace_schema
    if operator.out_schema is not None:
        yield operator.out_schema


def _facts(program: LoweredProgram, operator: Operator) -> Iterator[str]:
    written = "draw" if operator.name in program.drawn else "index"
    kind = written if _statements(program, operator) else naming.kind_of(operator)
    yield f"Kind: {kind}."
    if naming.kind_of(operator) not in ("view", "composite"):
        yield f"dtypes: {', '.join(operator.dtype_names)}."
    if operator.promotion.rule not in ("none",):
        yield f"Type promotion: {operator.promotion.rule}."
    if operator.dunders:
        yield "Python operators: " + ", ".join(f"`{name}`" for name in operator.dunders) + "."
    if operator.aliases:
        yield "Also called: " + ", ".join(f"`{name}`" for name in operator.aliases) + "."


def _derivatives(program: Program, operator: Operator) -> Iterator[str]:
    derivative = program.derivative(operator)
    if derivative is None:
        return
    for gradient in derivative.gradients:
        if adjoint_name(operator.base_name) in _called(gradient):
            yield f"{', '.join(gradient.inputs)}: derived from the statements"
            continue
        yield f"{', '.join(gradient.inputs)}: {_gradient_text(gradient)}"


def _called(gradient: Gradient) -> tuple[str, ...]:
    return gradient.expression.operators if gradient.expression else ()


def _gradient_text(gradient: Gradient) -> str:
    if gradient.kind is GradientKind.AUTO:
        return "the symbolic derivative of the formula"
    if gradient.expression is None:
        return str(gradient.kind.value).replace("_", " ")
    return "`" + " ".join(gradient.expression.text.split()) + "`"
