"""Emits the operator reference: one Markdown page per namespace, and the table of test samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codegen import formula as formulas
from codegen.emit import naming, translate
from codegen.emit.environment import render
from codegen.model.derivative import Gradient, GradientKind
from codegen.model.operator import Operator, Pointwise, Samples
from codegen.model.program import Program
from codegen.model.vocabulary import NAMESPACES
from codegen.write import File

PAGES = ("torch", "Tensor", "nn.functional", *NAMESPACES)


@dataclass(frozen=True, slots=True)
class Section:
    """One operator family on a page."""

    name: str
    schemas: tuple[str, ...]
    doc: str
    facts: tuple[str, ...]
    latex: str
    derivatives: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """The test inputs of one operator, as Python literals."""

    name: str
    domains: str
    choices: str
    calls: tuple[str, ...]


def emit(program: Program) -> Iterable[File]:
    """Emit `reference/*.md` and `testing/samples.py`."""
    for page in PAGES:
        sections = list(_sections(program, page))
        if sections:
            yield render(f"reference/{page}.md", "reference.md.jinja", page=page, sections=sections)
    samples = [
        _sample(operator.name, operator.samples)
        for operator in program.operators
        if operator.samples is not None
    ]
    yield render("testing/samples.py", "samples.py.jinja", samples=samples)
    if not program.is_library:  # the library's is a facade
        yield render("testing/__init__.py", "package.py.jinja", summary="Inputs of the tests.")


def _page_of(operator: Operator) -> str:
    return operator.python_module if operator.has_function else "Tensor"


def _sections(program: Program, page: str) -> Iterator[Section]:
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
            tuple(_facts(first)),
            formulas.latex(kind.formula) if is_formula and isinstance(kind, Pointwise) else "",
            tuple(line for o in shown for line in _derivatives(program, o)),
        )


def _schemas(operator: Operator) -> Iterator[object]:
    yield operator.schema
    if operator.inplace_schema is not None:
        yield operator.inplace_schema
    if operator.out_schema is not None:
        yield operator.out_schema


def _facts(operator: Operator) -> Iterator[str]:
    yield f"Kind: {naming.kind_of(operator)}."
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
        yield f"{', '.join(gradient.inputs)}: {_gradient_text(gradient)}"


def _gradient_text(gradient: Gradient) -> str:
    if gradient.kind is GradientKind.AUTO:
        return "the symbolic derivative of the formula"
    if gradient.expression is None:
        return str(gradient.kind.value).replace("_", " ")
    return "`" + " ".join(gradient.expression.text.split()) + "`"


def _sample(name: str, samples: Samples) -> Sample:
    domains = ", ".join(f'"{d.argument}": ({d.low!r}, {d.high!r})' for d in samples.domains)
    choices = ", ".join(
        f'"{c.argument}": [{", ".join(translate.literal(v) for v in c.values)}]'
        for c in samples.choices
    )
    calls = tuple(
        "({"
        + ", ".join(
            f'"{argument}": {translate.literal(text.text)}' for argument, text in call.arguments
        )
        + f"}}, {translate.literal(call.raises)})"
        for call in samples.calls
    )
    return Sample(name, "{" + domains + "}", "{" + choices + "}", calls)
