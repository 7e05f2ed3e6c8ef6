"""Emits torchgen_out/kernels/: scalar formulas, and the same over public operators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codegen import formula as formulas
from codegen.emit import automatic, naming
from codegen.emit.environment import render
from codegen.formula.primitives import CONSTANTS, PRIMITIVES
from codegen.model.operator import Operator, Pointwise, Reduction
from codegen.model.program import Program
from codegen.write import File


@dataclass(frozen=True, slots=True)
class Fold:
    """The functions of one reduction, and the tuple that holds them."""

    name: str
    functions: tuple[str, ...]
    parts: str


def emit(program: Program) -> Iterable[File]:
    """Emit formulas, backward formulas, reductions' parts and differentiable gradients."""
    sources = list(_pointwise(program))
    yield render(
        "kernels/pointwise.py",
        "kernels_pointwise.py.jinja",
        functions=sources,
        primitives=_used("\n".join(sources)),
    )
    folds = [_fold(operator) for operator in naming.of_kind(program, "reduction")]
    text = "\n".join(source for fold in folds for source in fold.functions)
    yield render(
        "kernels/reduction.py", "kernels_reduction.py.jinja", folds=folds, primitives=_used(text)
    )
    gradients = [
        formulas.tensor_function(case.formula, case.name)
        for operator in naming.of_kind(program, "pointwise")
        for case in automatic.backward_cases(program, operator)
    ]
    text = "\n".join(gradients)
    yield render(
        "gradients.py",
        "gradients.py.jinja",
        functions=gradients,
        uses_math=bool(re.search(r"\bmath\.", text)),
        uses_ops=bool(re.search(r"\bops\.", text)),
        uses_finfo=bool(re.search(r"\bfinfo\(", text)),
    )
    yield render("kernels/__init__.py", "package.py.jinja", summary="Scalar formulas of kernels.")


def _pointwise(program: Program) -> Iterator[str]:
    for operator in naming.of_kind(program, "pointwise"):
        assert isinstance(operator.kind, Pointwise)
        for absent in automatic.absent_sets(operator):
            formula = operator.kind.formula
            if automatic.optional_operands(operator):
                formula = formulas.specialize(formula, absent)
            yield _with_all_parameters(operator, formulas.python_function(
                formula, naming.kernel_name(operator, absent)
            ), absent)
        for case in automatic.backward_cases(program, operator):
            yield formulas.python_function(case.formula, case.name)


def _with_all_parameters(operator: Operator, source: str, absent: tuple[str, ...]) -> str:
    """Put absent operands back into the signature, where the caller passes None."""
    if not absent:
        return source
    names = ", ".join(formulas.parameter_name(a.name) for a in operator.arguments)
    return re.sub(r"\(.*?\):", f"({names}):", source, count=1)


def _fold(operator: Operator) -> Fold:
    kind = operator.kind
    assert isinstance(kind, Reduction)
    functions, names = [], []
    for part in ("identity", "reduce", "combine", "project"):
        formula = getattr(kind, part)
        if formula is None:
            names.append("None")
            continue
        name = f"{operator.identifier}_{part}"
        source = formulas.python_function(formula, name)
        if part == "identity":
            source = re.sub(r"\(.*?\):", "():", source, count=1)
        functions.append(source)
        names.append(name)
    return Fold(operator.identifier, tuple(functions), f"({', '.join(names)})")


def _used(text: str) -> list[str]:
    """Names of primitives and constants in kernel text, and T."""
    words = set(re.findall(r"\b[a-zA-Z_]\w*\b", text))
    return sorted(({*PRIMITIVES, *CONSTANTS, "T"}) & words)
