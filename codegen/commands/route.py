"""How a call of an operator reaches its kernel, step by step, and where each step is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .. import library, lower
from ..emit import namespaces, naming
from ..model.operator import (
    PROGRAM,
    Case,
    Composite,
    Dispatch,
    Index,
    NamedFunction,
    Operator,
    Pointwise,
    Reduction,
    View,
)
from ..model.program import Program
from ..model.stream import Draw
from ..project import Project
from . import definitions
from .text import columns

_STANDARD_BACKENDS = ("CPU", "CUDA")
_ALL_BACKENDS = "CompositeExplicitAutograd"


def steps(program: Program, operator: Operator, chosen: Project) -> list[str]:
    """One line per stage: binding, autograd, shapes, kernels."""
    rows = [("binding", _binding(program, operator))]
    kind = operator.kind
    named = {function.what: _named(function, chosen) for function in operator.functions}
    if isinstance(kind, Composite):
        return columns([*rows, *_composite(kind, named)])
    rows.append(("look-up", "one table, by the keys of the operands (backend, dtype, autograd)"))
    rows.append(("autograd", _autograd(program, operator)))
    match kind:
        case Dispatch():
            rows += _dispatch(kind, named)
        case Case():
            given = ", ".join(f"{name}={each}" if name else str(each) for name, each in kind.given)
            rows.append(("shapes", named.get("shapes", f"those of {kind.target}")))
            rows.append(("every backend", f"the kernel of {kind.target}({given})"))
        case View():
            rows.append(("every backend", f"sizes, strides and offset from {named['views']}"))
        case Pointwise():
            cpu = "flat loop, or strided after collapsing dims"
            rows += _loops("the formula", cpu, "grid-stride loop, of vectors or strided")
        case Draw():
            loop = "loop over blocks of the generator's stream"
            rows += _loops("the formula", loop, f"{loop}, one of a thread")
        case Index():
            loops = _loops("statements", "loop over items, a dense dim innermost", "loop of items")
            rows += [(where, named.get(where, loop)) for where, loop in loops]
        case Reduction():
            cpu, cuda = "loop over inner or outer dims", "fold of rows or columns by a block"
            rows += _loops("identity, reduce, combine, project", cpu, cuda)
    return columns(rows)


def _named(function: NamedFunction, chosen: Project) -> str:
    place = definitions.place_of_function(function, [*chosen.import_folders(), library.ROOT])
    return f"{function.reference}: {place}"


def _binding(program: Program, operator: Operator) -> str:
    name = naming.function_name(program, operator)
    home = f"functions/{naming.kind_of(operator)}.py: {name}"
    if naming.is_overloaded(program, operator):
        return f"functions/overloads.py: {operator.base_name} chooses; then {home}"
    return home


def _autograd(program: Program, operator: Operator) -> str:
    derivative = program.derivative(operator)
    if derivative is None or not derivative.is_differentiable:
        return "none: no input is differentiable"
    inputs = ", ".join(derivative.differentiable_inputs)
    return f"if recording, and one of {inputs} requires grad: {derivative.node}"


def _loops(what: str, cpu: str, cuda: str) -> Iterator[tuple[str, str]]:
    yield "CPU", f"{what}, compiled by Numba into a {cpu}; parallel when large"
    yield "CUDA", f"{what}, compiled by numba-cuda into a {cuda}"


def _dispatch(kind: Dispatch, named: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield "shapes", named.get("shapes", "depend on the data: the kernel allocates")
    backends = [backend for backend, _ in kind.backends]
    standard = () if _ALL_BACKENDS in backends else _STANDARD_BACKENDS
    for backend in dict.fromkeys((*backends, *standard)):
        yield backend, named.get(backend, "no kernel; add one to the entry's dispatch")
    yield "16-bit floats", "as they are stored" if kind.half_as_stored else "through float32"


def _composite(kind: Composite, named: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    if kind.body is None:
        yield "body", named["bodies"]
    else:
        yield "body", " ".join(kind.body.text.split())
        yield "calls", ", ".join(dict.fromkeys(call.name for call in kind.body.calls)) or "nothing"
    yield "autograd", "by the operators that the body calls"


def generated(program: Program, operator: Operator, chosen: Project) -> list[str]:
    """Where the operator stands in each artifact: what, file:line."""
    rows = []
    for what, file, name in _definitions(program, operator):
        place = definitions.place(chosen.out / file, name)
        if place:
            rows.append((what, name, place))
    return columns(rows) if rows else [f"not generated yet: run {library.COMMAND}"]


def _definitions(program: Program, operator: Operator) -> Iterator[tuple[str, str, str]]:
    """Yield (what, file, name) of everything that may be defined for an operator."""
    kind = naming.kind_of(operator)
    bindings = f"functions/{kind}.py"
    yield "binding", bindings, naming.function_name(program, operator)
    if naming.is_overloaded(program, operator):
        yield "choice of overload", "functions/overloads.py", operator.base_name
    if operator.has_inplace:
        yield "in place", bindings, naming.inplace_name(program, operator)
    for dunder in operator.dunders:
        yield "Python operator", bindings, dunder
    yield "tables", f"operators/{kind}.py", operator.identifier
    yield "formula", f"kernels/{kind}.py", naming.kernel_name(operator)
    yield "loops", f"kernels/index/{operator.identifier}.py", PROGRAM
    if isinstance(operator.kind, Draw):
        yield "formula", "kernels/draw.py", operator.identifier
    plan = lower.node_of(program, operator)
    if plan is not None:
        yield "node", f"nodes/{kind}.py", plan.derivative.node
        yield "recording", f"nodes/{kind}.py", naming.record_name(plan)
    for case in plan.cases if plan else ():
        yield "backward kernel", "kernels/pointwise.py", case.name
        yield "differentiable again", "gradients.py", case.name
    yield "method", "methods.py", f"Tensor.{operator.base_name}"
    for module in ("torch", *namespaces.modules(program)):
        file = "functions/torch.py" if module == "torch" else f"{module.replace('.', '/')}.py"
        if operator.python_module == module:
            yield "public name", file, operator.public_name
    yield "for other operators", "registrations.py", f"ops.{operator.base_name}"
