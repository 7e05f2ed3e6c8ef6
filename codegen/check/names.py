"""Rules about hand-written code: what entries name of it exists, and they hide none of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .. import library
from ..errors import did_you_mean
from ..model.operator import NamedFunction, Operator
from ..model.vocabulary import FUNCTION_FOLDERS
from ..parse.definitions import definitions, files_of, imported
from .rules import Context, Problem, operator_rule

_OWN_FUNCTION = (
    "a function of your own is package.module:function; "
    "or give --implementations FOLDER, which module.function is then in"
)


@operator_rule("E324", on_files=True)
def functions_exist(operator: Operator, context: Context) -> Iterator[Problem]:
    """Every hand-written function that an entry names is defined in a file below the roots."""
    for function in operator.functions:
        yield from _missing(operator, function, context)


def _missing(operator: Operator, function: NamedFunction, context: Context) -> Iterator[Problem]:
    name = function.reference.name
    module = function.reference.full_module(function.what)
    files = files_of(module, context.roots)
    if files is None or any(name in definitions(file) for file in files):
        return
    if function.what not in FUNCTION_FOLDERS and not function.reference.is_absolute:
        return  # an unknown backend, which is reported
    if any(name in imported(file) for file in files):
        return
    message = f"{module} has no function '{name}'" if files else f"there is no module {module}"
    if not context.program.is_library and not function.reference.is_absolute:
        hint: str | None = _OWN_FUNCTION
    elif files:
        close = did_you_mean(name, [known for file in files for known in definitions(file)])
        hint = close or f"define it in {files[0].name}"
    else:
        hint = f"it would be {_shown_file(module)}"
    keys = function.keys if operator.places.has(function.keys[0]) else ("dispatch",)
    where, width = operator.places.value(*keys), len(str(function.reference))
    yield Problem(where, f"{operator.name}: {message}", hint, width=width)


def _shown_file(module: str) -> str:
    """The file that a module would be, in a checkout."""
    return module.replace(library.RUNTIME, "runtime", 1).replace(".", "/") + ".py"


@operator_rule("E506")
def members_of_tensors_stay(operator: Operator, context: Context) -> Iterator[Problem]:
    """No method outside the tree takes the place of what the library's tensors have by hand."""
    base = context.program.base
    for name in _methods(operator) if base else ():
        if base and name in members(base.surface.classes.get("Tensor", ())):
            message = f"{operator.name}: Tensor.{name} is the library's own"
            hint = "choose another name, or write 'variants: function'"
            yield Problem(operator.where, message, hint, width=len(operator.name))


@cache
def members(files: tuple[Path, ...]) -> frozenset[str]:
    """What the classes in some files define, by name."""
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    return frozenset(name for tree in trees for each in tree.body for name in _defined(each))


def _defined(statement: ast.stmt) -> Iterator[str]:
    """What a class defines, or an assignment `Tensor.name = ...`."""
    if isinstance(statement, ast.ClassDef):
        for each in statement.body:
            if isinstance(each, ast.FunctionDef):
                yield each.name
            elif isinstance(each, ast.Assign | ast.AnnAssign):
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                yield from (target.id for target in targets if isinstance(target, ast.Name))
    elif isinstance(statement, ast.Assign):
        yield from (
            target.attr for target in statement.targets if isinstance(target, ast.Attribute)
        )


def _methods(operator: Operator) -> Iterator[str]:
    """The names under which an operator is put on the class of tensors."""
    for name in (operator.base_name, *operator.aliases):
        if operator.has_method:
            yield name
        if operator.has_inplace:
            yield f"{name}_"
