"""The two versions of a formula whose primitives have a cheaper one for arguments near 0.

A primitive `f` may come with `f_near` and `f_is_far`: the first is right wherever the second is
false. So it is for sine, cosine and tangent, where taking away multiples of pi costs more than
everything else unless the argument is known to be small. A choice per element would keep the loop
from vectorising; a choice by the tensor's values would not do for a formula that takes the sine of
something else. So the loop tests a block of elements (`kernels.cpu.loops.runs`) by a function
that is derived from the formula, and takes the version that serves them all.

Both versions keep to the errors that they name, and may differ in the last place: the result for a
number may depend, so far, on whether there is a large one beside it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from torchgen_out._runtime.kernels.vecmath import compose


def versions(source: str, defined: Collection[str]) -> str:
    """Return the sources of `f_near` and `f_is_far` for the formula `f` of some source.

    defined: the names of all primitives of the compute type.
    Empty if the formula names no primitive that has two versions, or is not straight-line code.
    """
    if not any(f"{name}_near" in defined for name in compose.names_in(source)):
        return ""  # most formulas, which need not be parsed
    (function,) = ast.parse(source).body
    assert isinstance(function, ast.FunctionDef)
    *steps, last = function.body
    if not isinstance(last, ast.Return) or not all(map(_is_step, steps)):
        return ""
    change = _ToNear(defined)
    function = change.visit(function)
    if not change.tests:
        return ""
    name = function.name
    function.name = f"{name}_near"
    near = ast.unparse(function)
    function.name = f"{name}_is_far"
    function.body[-1] = ast.parse(f"return {' | '.join(change.tests)}").body[0]
    return f"\n\n{near}\n\n\n{ast.unparse(function)}\n"


def _is_step(statement: ast.stmt) -> bool:
    """Whether a statement is run once whatever the values are."""
    return isinstance(statement, (ast.Assign, ast.Expr))


class _ToNear(ast.NodeTransformer):
    """Puts the near versions in place. tests: an expression per call, true if it must not be so."""

    def __init__(self, defined: Collection[str]) -> None:
        self.tests: list[str] = []
        self._defined = defined

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace the function, after those in its arguments."""
        self.generic_visit(node)
        match node.func:
            case ast.Name(id=name) if f"{name}_near" in self._defined:
                arguments = ", ".join(map(ast.unparse, node.args))
                self.tests.append(f"{name}_is_far({arguments})")
                node.func.id = f"{name}_near"
        return node
