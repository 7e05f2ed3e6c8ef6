"""Hand-written functions that generated code names: where they are imported from, and as what."""

from __future__ import annotations

from collections.abc import Iterable

from .. import library
from ..model.operator import FunctionReference, Operator
from ..model.vocabulary import FUNCTION_FOLDERS

IMPORTED = ("bodies", "shapes", "views")
"""Kernels are not: the backend finds them by name when a call first needs them."""


def spelled(reference: FunctionReference, what: str) -> str:
    """The function as generated code writes it: `losses_bodies.mse_loss`."""
    return f"{_alias(reference.full_module(what), what)}.{reference.name}"


def imports(operators: Iterable[Operator]) -> list[str]:
    """The statements that import what the operators name, sorted."""
    modules = {
        (function.reference.full_module(function.what), function.what)
        for operator in operators
        for function in operator.functions
        if function.what in IMPORTED
    }
    return sorted(statement(module, _alias(module, what)) for module, what in modules)


def geometry_imports(given: Iterable[FunctionReference]) -> list[str]:
    """The statements that import the geometries of index programs, sorted."""
    modules = {each.full_module("geometry") for each in given}
    return sorted(statement(module, _alias(module, "geometry")) for module in modules)


def statement(module: str, alias: str) -> str:
    """The import of a module under another name."""
    package, _, name = module.rpartition(".")
    if not package:
        return f"import {name} as {alias}"
    return f"from {package} import {name}" + ("" if name == alias else f" as {alias}")


def _alias(module: str, what: str) -> str:
    """What a module is called: below the runtime its last name tells enough."""
    if module == FUNCTION_FOLDERS[what]:
        return what
    own = module.startswith(f"{library.RUNTIME}.")
    return f"{module.rpartition('.')[2] if own else module.replace('.', '_')}_{what}"
