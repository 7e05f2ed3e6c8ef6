"""The versions of a formula whose primitives have a cheaper one for arguments near 0.

A primitive `f` may come with `f_near` and `f_is_far`: the first is right wherever the second is
false. So it is for sine, cosine and tangent, where taking away multiples of pi costs more than
everything else unless the argument is known to be small. A choice per element would keep the loop
from vectorising; a choice by the tensor's values would not do for a formula that takes the sine of
something else. So the loop tests a block of elements (`kernels.cpu.loops.runs`) by a function
that is derived from the formula, and takes the version that serves them all.

Where a part of these is easier still there is a third version, `f_nearest`, right where neither
`f_is_far` nor `f_is_beyond`: below 8 a Bessel function needs no sine at all.

What the last argument alone decides is told once in front of the loop where that argument is the
same for all elements: a primitive `f(x, y)` may come with `f_known(x, y)` and `f_is_known(y)`.

All versions keep to the errors that they name, and may differ in the last place: the result for a
number may depend, so far, on whether there is a large one beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from torchgen_out._runtime.kernels.vecmath import compose

TESTS = {"near": "is_far", "nearest": "is_beyond"}
"""For each version the test of arguments that it is not for."""


def versions(source: str, defined: Collection[str], version: str = "near") -> str:
    """Return the sources of `f_near` and `f_is_far` for the formula `f` of some source.

    defined: the names of all primitives of the compute type. version: or "nearest", for
    `f_nearest` and `f_is_beyond`.
    Empty if the formula names no primitive that has the version, or is not straight-line code.
    """
    if not any(f"{name}_{version}" in defined for name in compose.names_in(source)):
        return ""  # most formulas, which need not be parsed
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    *steps, last = function.body
    if not isinstance(last, ast.Return) or not all(map(_is_step, steps)):
        return ""
    change = _ToVersion(defined, version)
    function = change.visit(function)
    if not change.tests:
        return ""
    name = function.name
    function.name = f"{name}_{version}"
    near = ast.unparse(function)
    function.name = f"{name}_{TESTS[version]}"
    function.body[-1] = ast.parse(f"return {' | '.join(change.tests)}").body[0]
    return f"\n\n{near}\n\n\n{ast.unparse(function)}\n"


def known_version(source: str, defined: Collection[str], kinds: Sequence[str]) -> str:
    """Return the sources of `f_known` and of `f_is_known`, which takes the constants alone, for the
    formula `f` of some source.

    kinds: of each parameter, "scalar" for one that is the same for all elements.
    Empty if the formula is no single expression, or calls nothing that has the version.
    """
    if not any(f"{name}_known" in defined for name in compose.names_in(source)):
        return ""
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    *docstring, last = function.body
    if not isinstance(last, ast.Return) or not all(
        isinstance(each, ast.Expr) for each in docstring
    ):
        return ""
    parameters = zip(function.args.args, kinds, strict=True)
    constants = [each.arg for each, kind in parameters if kind == "scalar"]
    change = _ToKnown(defined, constants)
    function = change.visit(function)
    if not change.tests:
        return ""
    name = function.name
    function.name = f"{name}_known"
    test = f"def {name}_is_known({', '.join(constants)}):\n    return {' & '.join(change.tests)}"
    return f"\n\n{ast.unparse(function)}\n\n\n{test}\n"


def _is_step(statement: ast.stmt) -> bool:
    """Whether a statement is run once whatever the values are."""
    return isinstance(statement, (ast.Assign, ast.Expr))


class _ToVersion(ast.NodeTransformer):
    """Puts a version in place, where there is only the one before that one. tests: an expression
    per call of a function that has it, true if it must not be so."""

    def __init__(self, defined: Collection[str], version: str) -> None:
        self.tests: list[str] = []
        self._defined = defined
        self._version = version

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace the function, after those in its arguments."""
        self.generic_visit(node)
        match node.func:
            case ast.Name(id=name) if f"{name}_{self._version}" in self._defined:
                arguments = ", ".join(map(ast.unparse, node.args))
                self.tests.append(f"{name}_{TESTS[self._version]}({arguments})")
                node.func.id = f"{name}_{self._version}"
            case ast.Name(id=name) if f"{name}_near" in self._defined:
                node.func.id = f"{name}_near"
        return node


class _ToKnown(ast.NodeTransformer):
    """Puts known versions in place. tests: an expression per call, true if it may be so."""

    def __init__(self, defined: Collection[str], constants: Collection[str]) -> None:
        self.tests: list[str] = []
        self._defined = defined
        self._constants = constants

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace the function, if its last argument is made of constants, and those below it."""
        self.generic_visit(node)
        match node.func:
            case ast.Name(id=name) if f"{name}_known" in self._defined and self._is_constant(node):
                self.tests.append(f"{name}_is_known({ast.unparse(node.args[-1])})")
                node.func.id = f"{name}_known"
        return node

    def _is_constant(self, node: ast.Call) -> bool:
        names = {each.id for each in ast.walk(node.args[-1]) if isinstance(each, ast.Name)}
        return bool(names - {"T"}) and names <= {"T", *self._constants}
