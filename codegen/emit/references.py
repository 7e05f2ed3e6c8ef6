"""Hand-written functions that generated code names: where they are imported from, and as what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codegen.model.operator import Composite, Dispatch, FunctionReference, Operator, View

FOLDERS = {
    "bodies": "runtime.ops.composite",
    "shapes": "runtime.ops.shapes",
    "views": "runtime.ops.views",
    "CPU": "runtime.kernels.cpu",
    "CUDA": "runtime.kernels.cuda",
}
"""Where a name without a package is looked up, by the word for what is there; backends too."""


def spelled(reference: FunctionReference, what: str) -> str:
    """The function as generated code writes it: `losses_bodies.mse_loss`."""
    return f"{_alias(module_of(reference, what), what)}.{reference.name}"


def imports(operators: Iterable[Operator]) -> list[str]:
    """The statements that import what the operators name, sorted."""
    return sorted(
        {
            statement(module, _alias(module, what))
            for operator in operators
            for what, reference in _named_by(operator)
            for module in [module_of(reference, what)]
        }
    )


def statement(module: str, alias: str) -> str:
    """The import of a module under another name."""
    package, _, name = module.rpartition(".")
    if not package:
        return f"import {name} as {alias}"
    return f"from {package} import {name}" + ("" if name == alias else f" as {alias}")


def _named_by(operator: Operator) -> Iterator[tuple[str, FunctionReference]]:
    match operator.kind:
        case Composite(function=FunctionReference() as function):
            yield "bodies", function
        case Dispatch(meta=FunctionReference() as meta):
            yield "shapes", meta
        case View(function=function):
            yield "views", function


def module_of(reference: FunctionReference, what: str) -> str:
    """The full name of a function's module; what: a key of FOLDERS."""
    if reference.is_absolute:
        return reference.module
    return ".".join(part for part in (FOLDERS[what], reference.module) if part)


def _alias(module: str, what: str) -> str:
    """What a module is called: below `runtime` its last name tells enough."""
    if module == FOLDERS[what]:
        return what
    own = module.startswith("runtime.")
    return f"{module.rpartition('.')[2] if own else module.replace('.', '_')}_{what}"
