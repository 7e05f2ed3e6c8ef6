"""python -m codegen explain OP: all that is known of an operator, and where its code is."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Iterable, Iterator

from .. import library, project
from ..emit import functions, translate
from ..errors import CodegenError
from ..formula import latex
from ..index.text import program_text, statement_text
from ..lower.index import plan
from ..model import vocabulary
from ..model.operator import (
    Composite,
    Index,
    Operator,
    Pointwise,
    View,
    adjoint_name,
    text_names,
)
from ..model.program import Program
from ..model.stream import CALLED, NAMED, Draw
from ..project import Project
from . import definitions, gradients, lookup, route
from .text import Section, render


def main(arguments: list[str]) -> int:
    """Explain the operators of these names."""
    parser = argparse.ArgumentParser(prog=f"{library.COMMAND} explain", description=__doc__)
    parser.add_argument(
        "operator", nargs="+", help="add, add.Tensor, nn.functional.relu, __mul__ ..."
    )
    project.add_arguments(parser)
    options = parser.parse_args(arguments)
    chosen = project.chosen(options, parser)
    try:
        program = chosen.read()
        operators = [o for name in options.operator for o in lookup.find(program, name)]
    except (CodegenError, lookup.UnknownOperator) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n\n".join(render(explain(program, operator, chosen)) for operator in operators))
    return 0


def explain(program: Program, operator: Operator, chosen: Project) -> Iterator[Section]:
    """All sections about one operator."""
    yield Section(str(operator.schema), (definitions.shown_location(operator.where),))
    yield Section("What it does", _paragraphs(operator.doc or "Not documented."))
    library = "torch" if program.is_library else program.package
    yield Section("How it is called", _calls(operator, library))
    family = program.families[operator.base_name]
    if len(family) > 1:
        yield Section("Overloads, in the order of trial", _overloads(family, operator))
    if not isinstance(operator.kind, Composite):
        yield Section("Dtypes", _dtypes(operator))
    if isinstance(operator.kind, Pointwise):
        yield Section("Formula", _formula(operator.kind))
    if isinstance(operator.kind, Draw):
        yield Section("Formula, of a number of the stream", _drawn(operator.kind))
    named = map(program.operator, text_names(operator))
    written = next((each for each in named if each and isinstance(each.kind, Index)), None)
    if written is not None and isinstance(written.kind, Index):
        title = "Statements, with folds by themselves"
        if written.kind.geometry is not None:
            title += f", over the views of {written.kind.geometry}"
        yield Section(title, program_text(written.kind.program))
        adjoint = program.operator(adjoint_name(written.base_name))
        if adjoint is not None and isinstance(adjoint.kind, Index):
            name = f"Gradients, derived from them: {adjoint.schema}"
            yield Section(name, program_text(adjoint.kind.program))
        products = [*_products(operator), *(_products(adjoint) if adjoint else ())]
        if products:
            yield Section("Products of matrices, which libraries do", products)
    yield Section("From the call to the kernel", route.steps(program, operator, chosen))
    yield from gradients.sections(program, operator)
    yield Section("In the generated package", route.generated(program, operator, chosen))


def _products(operator: Operator) -> Iterator[str]:
    """The statements of an operator that are contractions."""
    if isinstance(operator.kind, Index):
        for phase in plan(operator.kind.program).phases:
            if phase.product is not None:
                yield statement_text(phase.nests[0].statements[0])


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        yield from textwrap.wrap(paragraph, 96) if "```" not in paragraph else paragraph.split("\n")


def _calls(operator: Operator, library: str) -> Iterator[str]:
    names = {a.name: translate.parameter(a) for a in operator.arguments}
    names["self"] = translate.first_parameter(operator)
    varargs = functions.varargs_parameter(operator)
    parameters = functions.parameters(operator, names, varargs, operator.has_out)
    if operator.has_function:
        yield f"{library}.{operator.public_path}({parameters})"
    if operator.has_tag("property"):
        yield f"x.{operator.base_name}"
    elif operator.has_method:
        yield f"x.{operator.base_name}({parameters.partition(', ')[2]})"
    if operator.inplace_schema is not None:
        yield f"in place: {operator.inplace_schema}"
    if operator.out_schema is not None:
        yield f"out=: {operator.out_schema}"
    if operator.dunders:
        yield f"Python operators: {', '.join(operator.dunders)}"
    if operator.aliases:
        yield f"also called: {', '.join(operator.aliases)}"
    for tag in operator.tags:
        yield f"{tag}: {vocabulary.TAGS.get(tag, '')}"


def _overloads(family: Iterable[Operator], operator: Operator) -> Iterator[str]:
    for number, each in enumerate(family, 1):
        mark = "  <- this one" if each is operator else ""
        yield f"{number}. {each.schema}{mark}"


def _dtypes(operator: Operator) -> Iterator[str]:
    if not isinstance(operator.kind, View):
        yield f"{operator.dtypes}: {', '.join(operator.dtype_names)}"
    promotion = operator.promotion
    who = f" (of {', '.join(promotion.arguments)})" if promotion.arguments else ""
    yield f"{promotion.rule}{who}: {vocabulary.PROMOTIONS[promotion.rule]}"


def _drawn(kind: Draw) -> Iterator[str]:
    yield from kind.formula.text.strip().split("\n")
    yield f"{kind.word}: {({**NAMED, **CALLED})[kind.word]}"


def _formula(kind: Pointwise) -> Iterator[str]:
    yield from kind.formula.text.strip().split("\n")
    yield f"LaTeX: {latex(kind.formula)}"
