"""Lowers a checked program: turns operators and derivatives into plans, which emit/ spells.

What is saved, which edges there are, which kernels a node has: all of it is decided here, from the
model alone and without a word of the emitted language.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import partial

from ..index.single import of_repeated_places, without_last
from ..model.index import IndexProgram
from ..model.operator import (
    PROGRAM,
    Case,
    Dispatch,
    FunctionReference,
    Given,
    Index,
    Operator,
    Pointwise,
)
from ..model.plan import (
    CasePlan,
    ChoicePlan,
    IndexPlan,
    LoweredProgram,
    NodePlan,
    Plans,
    ProgramPlan,
    Texts,
)
from ..model.program import Program
from ..model.stream import Draw
from . import draw, index, index_device, nodes, pointwise, reduction


def lower(program: Program, texts: Texts | None = None) -> LoweredProgram:
    """Return the program with plans of nodes, formulas and loops, made as they are asked for.

    texts: what was emitted before and is still right; nobody asks for a plan of it.
    """
    indexed = {each.name: each.kind for each in program.operators if isinstance(each.kind, Index)}
    given = {each.name: getattr(program, each.name) for each in fields(Program) if each.init}
    given["operators"] = tuple(
        reduction.without_branches(_dispatched(each, program)) for each in program.operators
    )
    return LoweredProgram(
        **given,
        pointwise=Plans(
            {
                operator.name: partial(pointwise.plan, operator)
                for operator in program.operators
                if isinstance(operator.kind, Pointwise)
            }
        ),
        indexed=Plans({name: partial(_index_plan, kind) for name, kind in indexed.items()}),
        statements={name: kind.program.text for name, kind in indexed.items()},
        drawn={
            operator.name: draw.plan(operator)
            for operator in program.operators
            if isinstance(operator.kind, Draw)
        },
        nodes=Plans(
            {
                operator.name: partial(nodes.plan, operator, derivative)
                for operator in given["operators"]
                if (derivative := program.derivative(operator)) and derivative.is_differentiable
            }
        ),
        texts=texts or Texts(),
    )


def _index_plan(kind: Index) -> IndexPlan:
    others = (CasePlan(values, _program_plan(kind, each)) for values, each in kind.cases[1:])
    return IndexPlan(
        _program_plan(kind, kind.program),
        "CPU" not in dict(kind.faster),
        ChoicePlan(kind.asked, tuple(others)) if kind.asked else None,
        kind.geometry,
    )


def _program_plan(kind: Index, program: IndexProgram) -> ProgramPlan:
    """The plans of one program. Of backends that run a kernel written by hand there are no others
    than the first."""
    backends = {"CPU", "CUDA"} - dict(kind.faster).keys()
    has_views, is_on_device = kind.geometry is not None and "CPU" in backends, "CUDA" in backends
    narrower = (make(program) if has_views else None for make in (without_last, of_repeated_places))
    single, repeated = (None if each is None else index.plan(each) for each in narrower)
    return ProgramPlan(
        index.plan(program),
        index_device.device_plan(program) if is_on_device else None,
        index_device.long_rows_plan(program) if is_on_device else None,
        single,
        repeated,
    )


def _dispatched(operator: Operator, program: Program) -> Operator:
    """An operator of a text, or a case of another, as one with a kernel per backend."""
    package = program.package
    if isinstance(operator.kind, Draw):
        return _dispatched_draw(operator, operator.kind, package)
    if isinstance(operator.kind, Case):
        return _dispatched_case(operator, operator.kind, program)
    if not isinstance(operator.kind, Index):
        return operator
    module = f"{package}.kernels.index.{operator.identifier}"
    kernel = FunctionReference(module, PROGRAM, is_absolute=True)
    kind = operator.kind
    backends = {"CPU": kernel, "CUDA": kernel} | dict(kind.faster)
    made = Dispatch(
        tuple(backends.items()),
        kind.meta,
        shapes_of=None if kind.meta else kernel,
        half_as_stored=all(each.moves and not each.is_given_numbers for each in kind.programs),
        aliasing=kind.aliasing,
        memory_format=kind.memory_format,
    )
    return replace(operator, kind=made)


def _dispatched_draw(operator: Operator, kind: Draw, package: str) -> Operator:
    kernel = FunctionReference(f"{package}.kernels.draw", operator.identifier, is_absolute=True)
    made = Dispatch(
        (("CPU", kernel), ("CUDA", kernel)),
        kind.meta,
        shapes_of=None if kind.meta else kernel,
        memory_format=kind.memory_format,
    )
    return replace(operator, kind=made)


def _dispatched_case(operator: Operator, kind: Case, program: Program) -> Operator:
    target = program.known_operator(kind.target)
    assert target is not None
    known = _dispatched(target, program).kind
    assert isinstance(known, Dispatch)
    given = kind.by_name(target.schema)
    made = replace(
        known,
        meta=kind.meta or known.meta,
        shapes_of=None,
        is_dynamic=known.is_dynamic and not kind.meta,
        aliasing=_own_names(known.aliasing, given),
        memory_format=_own_names(known.memory_format, given),
        case=tuple((each.name, given[each.name]) for each in target.arguments),
        has_shapes_of_case=kind.meta is None,
        unasked=len(target.schema.returns) - len(operator.schema.returns),
    )
    return replace(operator, kind=made)


def _own_names(names: tuple[str, ...], given: dict[str, Given]) -> tuple[str, ...]:
    """What a case gives arguments of the other operator, if these are arguments of its own."""
    return tuple(given[name].text for name in names if given[name].is_argument)


def node_of(program: Program, operator: Operator) -> NodePlan | None:
    """The plan of one operator's node; None if nothing gives a gradient."""
    derivative = program.derivative(operator)
    if derivative is None or not derivative.is_differentiable:
        return None
    return nodes.plan(operator, derivative)
