"""Emits torchgen_out/kernels/: scalar formulas, and the same over public operators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import isinf

from .. import formula as formulas
from ..formula.primitives import CONSTANTS, PRIMITIVES
from ..model.formula import Argument, Formula
from ..model.index import Answers
from ..model.loops import LoopProgram
from ..model.operator import Operator, Reduction
from ..model.plan import CasePlan, IndexPlan, LoweredProgram, ProgramPlan
from ..model.roles import Role
from ..record import record
from ..write import File
from . import draw_kernels, index_kernels, layout, naming, references
from .environment import render, render_pieces
from .index_sharing import Functions

INDEX_SUMMARY = """The loops of index programs, a module each, loaded when its operator is called.

A kernel compiles their text for a dtype, `T`, and for dense strides. `x_at` is where a tensor
begins in its memory, `x_row` where its strides along the dims of `...` are in `batch`, `x_s0` the
stride of its first place; `n_i` is the extent of `i`. A device's functions are of one item, and
count in the type `I`.
"""
PRIMITIVE_NAMES = sorted({*PRIMITIVES, *CONSTANTS, "T"})


@record
class Fold:
    """The functions of one reduction, and the tuple that holds them."""

    name: str
    functions: tuple[str, ...]
    parts: str


def emit(program: LoweredProgram) -> Iterable[File]:
    """Emit formulas, backward formulas, reductions' parts and differentiable gradients."""
    kinds = naming.modules(program, ("pointwise", "reduction"))
    if "pointwise" in kinds:
        yield render_pieces(
            "kernels/pointwise.py",
            "kernels_pointwise.py.jinja",
            [_formulas(program, each) for each in naming.of_kind(program, "pointwise")],
            primitives=PRIMITIVE_NAMES,
        )
    if "reduction" in kinds:
        yield render(
            "kernels/reduction.py",
            "kernels_reduction.py.jinja",
            folds=[_fold(operator) for operator in naming.of_kind(program, "reduction")],
            primitives=PRIMITIVE_NAMES,
        )
    if program.indexed:
        kinds.append("index")
        yield from _index_modules(program)
    if program.drawn:
        kinds.append("draw")
        yield render(
            "kernels/draw.py",
            "kernels_draw.py.jinja",
            draws=list(_draws(program)),
            primitives=PRIMITIVE_NAMES,
            library=program.library,
        )
    if kinds:
        summary = "Scalar formulas of kernels."
        yield render("kernels/__init__.py", "package.py.jinja", summary=summary)
    gradients = [_gradients(program, each) for each in naming.of_kind(program, "pointwise")]
    if any(gradients) or program.is_library:
        yield render_pieces("gradients.py", "gradients.py.jinja", gradients)


def _index_modules(program: LoweredProgram) -> Iterator[File]:
    """A module for each index operator, which is loaded when it is first called."""
    yield render("kernels/index/__init__.py", "package.py.jinja", summary=INDEX_SUMMARY)
    for name in program.indexed:
        operator = program.operator(name)
        assert operator is not None
        make = partial(_index_module, program, operator)
        path = f"kernels/index/{operator.identifier}.py"
        yield File(path, program.texts.of("index", name, make))


def _index_module(program: LoweredProgram, operator: Operator) -> str:
    plan = program.indexed[operator.name]
    return render(
        "kernels/index.py",
        "kernels_index.py.jinja",
        name=operator.name,
        programs=list(index_kernels.shared(list(_index(plan, operator)))),
        primitives=PRIMITIVE_NAMES,
        library=program.library,
        references=references.geometry_imports([plan.geometry] if plan.geometry else ()),
    ).text


def _index(plan: IndexPlan, operator: Operator) -> Iterator[index_kernels.ProgramText]:
    further: dict[str, str] = {}
    known = Functions()
    if plan.geometry is not None:
        further["geometry"] = references.spelled(plan.geometry, "geometry")
    yield from _narrower(operator, plan.program, further, known)
    if (choice := plan.choice) is not None:
        names = list(map(_spelled, choice.others))
        for own, each in zip(names, choice.others, strict=True):
            yield from _case(operator, own, each, further, known, plan.is_on_host)
        named = zip(names, choice.others, strict=True)
        rows = [f"{_values(values)}: {own}" for own, each in named for values in each.values]
        further["asked"] = _asked(choice.asked)
        further["others"] = f"{{{', '.join(rows)}}}"
    loops = plan.program.loops, plan.program.on_device
    yield index_kernels.program_text(
        *(operator, operator.identifier, *loops, further, known),
        on_long_rows=plan.program.on_long_rows,
        is_on_host=plan.is_on_host,
    )


NARROWER = ("single", "repeated")
"""The programs beside another, for views that are narrower: fields of both records."""


def _narrower(
    operator: Operator,
    plan: ProgramPlan,
    further: dict[str, str],
    known: Functions,
    prefix: str = "",
) -> Iterator[index_kernels.ProgramText]:
    """What runs in place of a program for narrower views, which `further` is told of."""
    for key in NARROWER:
        loops: LoopProgram | None = getattr(plan, key)
        if loops is not None:
            further[key] = variable = f"{prefix}{key}"
            own = f"{operator.identifier}_{variable}"
            yield index_kernels.program_text(operator, own, loops, None, {}, known, variable)


def _draws(program: LoweredProgram) -> Iterator[draw_kernels.DrawText]:
    for name, plan in program.drawn.items():
        operator = program.operator(name)
        assert operator is not None
        yield draw_kernels.draw_text(operator, plan)


def _case(
    operator: Operator,
    name: str,
    case: CasePlan,
    further: dict[str, str],
    known: Functions,
    is_on_host: bool,
) -> Iterator[index_kernels.ProgramText]:
    """One of several programs."""
    further = {key: text for key, text in further.items() if key not in NARROWER}
    yield from _narrower(operator, case.program, further, known, f"{name}_")
    own = f"{operator.identifier}_{name}"
    plans, long = (case.program.loops, case.program.on_device), case.program.on_long_rows
    yield index_kernels.program_text(operator, own, *plans, further, known, name, long, is_on_host)


def _asked(asked: Sequence[tuple[str, Answers]]) -> str:
    """The arguments that settle a case, and the values that are told apart, as a mapping."""
    rows = [f'"{name}": {_values(told)}' for name, told in asked]
    return f"{{{', '.join(rows)}}}"


def _values(values: Answers) -> str:
    """A tuple of them, as text."""
    texts = [f'"{each}"' if isinstance(each, str) else _literal(each) for each in values]
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


def _spelled(case: CasePlan) -> str:
    """A name for a case: `with_amax_true`, and `with_none_other` where the first is missing."""
    words = {"None": "other", "False": "none"}
    texts = map(str, case.values[0])
    text = "_".join(words.get(each, each.lower()) for each in texts)
    return "with_" + text.replace("-", "minus_").removesuffix(".0").replace(".", "_")


def _literal(value: float | bool | None) -> str:
    """A number, a truth value or None, as Python spells it."""
    is_infinite = isinstance(value, float) and isinf(value)
    return f'float("{value}")' if is_infinite else str(value)


def _formulas(program: LoweredProgram, operator: Operator) -> str:
    """The functions of an operator, and of its fused gradients."""
    make = partial(_definitions, _pointwise(program, operator))
    return program.texts.of("kernels", operator.name, make)


def _gradients(program: LoweredProgram, operator: Operator) -> str:
    """The fused gradients of an operator over public ones; empty if it has none."""

    def made() -> Iterator[str]:
        for case in program.backward_cases(operator):
            yield formulas.tensor_function(case.formula, case.name)

    return program.texts.of("gradients", operator.name, partial(_definitions, made()))


def _definitions(functions: Iterable[str]) -> str:
    found = list(functions)
    return layout.fit("\n\n\n".join(found)) if found else ""


def _pointwise(program: LoweredProgram, operator: Operator) -> Iterator[str]:
    plan = program.pointwise[operator.name]
    for absent, formula in plan.forms:
        yield _with_all_parameters(
            operator,
            formulas.python_function(formula, naming.kernel_name(operator, absent)),
            absent,
        )
    if plan.at_defaults is not None:
        name = f"{operator.identifier}_at_defaults"
        yield formulas.python_function(plan.at_defaults, name)
    for case in program.backward_cases(operator):
        yield formulas.python_function(case.formula, case.name)


def _with_all_parameters(operator: Operator, source: str, absent: tuple[str, ...]) -> str:
    """Put absent operands back into the signature, where the caller passes None."""
    if not absent:
        return source
    names = ", ".join(formulas.parameter_name(a.name) for a in operator.arguments)
    return re.sub(r"\(.*?\):", f"({names}):", source, count=1)


def _with_parameters(operator: Operator, formula: Formula, part: str) -> Formula:
    """A part with the parameters that the loops pass: `reduce(acc, self, *scalars)`."""
    tensor = operator.arguments[0].name
    scalars = [a.name for a in operator.arguments if operator.role(a) is Role.SCALAR]
    wanted = {
        "identity": [],
        "reduce": ["acc", tensor, *scalars],
        "combine": ["acc", "other"],
        "project": ["acc", "count"],
    }[part]
    known = {a.name: a for a in formula.arguments}
    return replace(formula, arguments=tuple(known.get(n, Argument(n)) for n in wanted))


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
        source = formulas.python_function(_with_parameters(operator, formula, part), name)
        functions.append(source)
        names.append(name)
    return Fold(naming.kernel_name(operator), tuple(functions), f"({', '.join(names)})")
