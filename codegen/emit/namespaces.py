"""Emits where users find functions: torch, nn.functional, linalg, masked ...; and `ops`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .. import library
from ..model.operator import Operator, public_name
from ..model.program import Program
from ..model.vocabulary import AUTOCAST_RULES, NAMESPACES
from ..record import record
from ..write import File
from . import functions, naming, translate
from .environment import render
from .imports import member_order

MODULES = ("torch", "nn.functional", *NAMESPACES)

CLASSES: dict[str, tuple[tuple[str, str], ...]] = {"linalg": (("LinAlgError", "errors"),)}
"""Hand-written classes that users of the library find beside the operators of a module."""


@record
class Export:
    """A public name and the function behind it."""

    name: str
    module: str
    """Module below torchgen_out.functions."""
    function: str


@record
class Flagged:
    """A function of nn.functional with a last parameter `inplace`."""

    name: str
    module: str
    function: str
    parameters: str
    arguments: str
    doc: str


def emit(program: Program) -> Iterable[File]:
    """Emit the namespaces and the table of operators."""
    exports = {module: list(_exports(program, module)) for module in MODULES}
    present = modules(program)
    if "nn.functional" in present:
        flagged = list(_flagged(program))
        flagged_names = {item.name for item in flagged}
        yield render(
            "nn/functional.py",
            "functional.py.jinja",
            package=program.package,
            is_library=program.is_library,
            exports=[e for e in exports["nn.functional"] if e.name not in flagged_names],
            flagged=flagged,
        )
    for module in NAMESPACES:
        if module in present:
            classes = CLASSES.get(module, ()) if program.is_library else ()
            names = [*(name for name, _ in classes), *(e.name for e in exports[module])]
            yield render(
                f"{module.replace('.', '/')}.py",
                "namespace.py.jinja",
                package=program.package,
                module=module,
                classes=[(name, f"{library.RUNTIME}.{module}") for name, module in classes],
                exports=exports[module],
                names=sorted(names, key=member_order),
            )
            parent, _, child = module.rpartition(".")
            if parent:
                yield render(
                    f"{parent}/__init__.py",
                    "parent.py.jinja",
                    package=f"{program.package}.{parent}",
                    child=child,
                )
    table = list(_table(program))
    yield render(
        "registrations.py",
        "registrations.py.jinja",
        package=program.package,
        exports=table,
        is_library=program.is_library,
        dtype_errors=[
            (each.base_name, translate.literal(each.dtype_error))
            for each in program.operators
            if each.dtype_error
        ],
        precisions=list(_precisions(program)),
    )
    yield render(
        "functions/torch.py",
        "namespace.py.jinja",
        package=program.package,
        module="torch",
        classes=(),
        exports=exports["torch"],
        names=sorted((export.name for export in exports["torch"]), key=member_order),
    )


def _precisions(program: Program) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The rules of autocast, and the operators that follow each."""
    for rule in AUTOCAST_RULES:
        names = [o.name for o in program.operators if o.has_tag(f"autocast_{rule}")]
        if names:
            yield rule, tuple(names)


def modules(program: Program) -> list[str]:
    """The submodules in which users find functions: outside the tree, those that hold some."""
    return [
        module
        for module in MODULES[1:]
        if program.is_library or any(True for _ in _exports(program, module))
    ]


def home(program: Program, operator: Operator) -> str:
    """The functions module in which users' calls of the operator begin."""
    return "overloads" if naming.is_overloaded(program, operator) else naming.kind_of(operator)


def _exports(program: Program, module: str) -> Iterator[Export]:
    seen = set()
    for operator in program.operators:
        if not operator.has_function or operator.has_tag("internal"):
            continue
        source = home(program, operator)
        for name in _public_names(operator, module):
            if name not in seen:
                seen.add(name)
                yield Export(name, source, operator.base_name)
        if operator.has_inplace:
            for name in _public_names(operator, module):
                if (
                    "." not in name
                    and f"{name}_" not in seen
                    and module in ("torch", "nn.functional")
                ):
                    seen.add(f"{name}_")
                    yield Export(f"{name}_", source, f"{operator.base_name}_")


def _public_names(operator: Operator, module: str) -> Iterator[str]:
    if operator.python_module == module:
        yield operator.public_name
        for alias in operator.aliases:
            if "." not in alias:
                yield public_name(alias, module)
    for alias in operator.aliases:
        place, _, name = alias.rpartition(".")
        if place == module:
            yield name


def _flagged(program: Program) -> Iterator[Flagged]:
    for operator in program.operators:
        if not operator.has_tag("inplace_flag"):
            continue
        names = [*_public_names(operator, "nn.functional")] or [operator.base_name]
        parameters = functions.parameters(
            operator, {a.name: _name(a.name) for a in operator.arguments}, "", False
        )
        arguments = ", ".join(_name(a.name) for a in operator.arguments)
        for name in names:
            yield Flagged(
                name,
                home(program, operator),
                operator.base_name,
                parameters,
                arguments,
                (operator.doc or "").split("\n")[0],
            )


def _name(name: str) -> str:
    return "input" if name == "self" else name


def _table(program: Program) -> Iterator[Export]:
    seen = set()
    for operator in program.operators:
        source = home(program, operator)
        if operator.base_name not in seen:
            seen.add(operator.base_name)
            yield Export(operator.base_name, source, operator.base_name)
        inplace = f"{operator.base_name}_"
        if operator.has_inplace and inplace not in seen:
            seen.add(inplace)
            yield Export(inplace, source, inplace)
