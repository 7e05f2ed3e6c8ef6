"""Reads the names and arities of a Python file's functions as data, without importing it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

from ..model.signature import Signature


def read_functions(path: str | os.PathLike[str] | None) -> dict[str, Signature]:
    """Return the public functions that a file defines or imports from a sibling; {} for None.

    A package folder stands for all its modules.
    """
    if path is None or not Path(path).exists():
        return {}
    root = Path(path)
    files = sorted(root.rglob("*.py")) if root.is_dir() else [root]
    return {
        name: signature
        for file in files
        for name, signature in _functions(ast.parse(file.read_text(encoding="utf-8")), file)
    }


def _functions(tree: ast.Module, file: Path) -> Iterator[tuple[str, Signature]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield node.name, _signature(node.args)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from _imported(node, file)


def _imported(node: ast.ImportFrom, file: Path) -> Iterator[tuple[str, Signature]]:
    """Follow `from package.x import f` to x.py beside the file."""
    sibling = file.parent / f"{(node.module or '').rpartition('.')[2]}.py"
    wanted = {alias.name: alias.asname or alias.name for alias in node.names}
    if sibling == file or not sibling.is_file():
        return
    for definition in ast.parse(sibling.read_text(encoding="utf-8")).body:
        if isinstance(definition, ast.FunctionDef) and definition.name in wanted:
            yield wanted[definition.name], _signature(definition.args)


def _signature(args: ast.arguments) -> Signature:
    ordered = [*args.posonlyargs, *args.args]
    positional = tuple(argument.arg for argument in ordered)
    required = set(positional[: len(positional) - len(args.defaults)])
    required |= {
        argument.arg
        for argument, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
        if default is None
    }
    keywords = {argument.arg for argument in [*args.args, *args.kwonlyargs]}
    return Signature(
        positional,
        frozenset(required),
        frozenset(keywords),
        args.vararg is not None,
        args.kwarg is not None,
    )
