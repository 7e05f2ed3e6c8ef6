"""Arrays that kernels know by their addresses live until the kernel returns.

Numba frees an array after the last statement that names it, whoever knows its address.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import torchgen_out._runtime.kernels.cpu

FILES = sorted(Path(torchgen_out._runtime.kernels.cpu.__path__[0]).glob("*.py"))
MAKERS = ("empty", "zeros")


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def made_here(function: ast.FunctionDef) -> set[str]:
    """The names of arrays that a function makes."""
    return {
        node.targets[0].id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr in MAKERS
    }


def addressed(function: ast.FunctionDef) -> set[str]:
    """The names x of `x.ctypes.data`."""
    return {
        node.value.id
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute)
        and node.attr == "ctypes"
        and isinstance(node.value, ast.Name)
    }


def returned(function: ast.FunctionDef) -> set[str]:
    """The names in the last statement, if that returns."""
    last = function.body[-1]
    if not isinstance(last, ast.Return):
        return set()
    return {node.id for node in ast.walk(last) if isinstance(node, ast.Name)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_arrays_whose_address_is_taken_are_returned(path: Path) -> None:
    for function in functions(path):
        lost = (made_here(function) & addressed(function)) - returned(function)
        assert not lost, f"{path.name}: {function.name} may use {lost} after it was freed"
