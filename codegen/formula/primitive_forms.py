"""The forms that primitives of the formula language have: calls, infix operators, predicates.

A form fills in what its primitives have in common: how they are written in Python and LaTeX, and
where they need parentheses.
"""

from __future__ import annotations

from ..model.formula import Primitive

ADDITION, PRODUCT, UNARY, POWER, ATOM = 10, 11, 12, 13, 14
"""Precedences; what binds more tightly has a larger one."""


def function(
    name: str,
    derivative: str | None,
    latex: str = "",
    python: str | None = "",
    operator: str = "",
    cost: int = 12,
    adjoint: str | None = None,
) -> Primitive:
    """A function of one operand; by default a method of tensors and a function of `math`."""
    return Primitive(
        name,
        1,
        latex or rf"\operatorname{{{{{name}}}}}\left({{0}}\right)",
        operator or f"{{0}}.{name}()",
        f"math.{name}({{0}})" if python == "" else python,
        (derivative,),
        None if adjoint is None else (adjoint,),
        cost=cost,
    )


def special(name: str, derivative: str | None, latex: str = "", operator: str = "") -> Primitive:
    """A function of the module `special`, which Python's `math` lacks."""
    return function(name, derivative, latex, None, f"ops.special_{operator or name}({{0}})", 40)


def binary(
    name: str,
    derivatives: tuple[str | None, str | None],
    latex: str,
    python: str | None,
    operator: str,
    cost: int = 4,
) -> Primitive:
    """A function of two operands that is written as a call."""
    return Primitive(name, 2, latex, operator, python, derivatives, cost=cost)


def infix(
    name: str,
    symbol: str,
    precedence: int,
    derivatives: tuple[str | None, str | None],
    latex: str,
    cost: int = 1,
) -> Primitive:
    """A Python operator between two numbers."""
    text = f"{{0}} {symbol} {{1}}"
    return Primitive(
        name,
        2,
        latex,
        text,
        text,
        derivatives,
        symbol=symbol,
        precedence=precedence,
        latex_precedence=precedence,
        latex_operands=(precedence, precedence + 1),
        cost=cost,
    )


def comparison(name: str, symbol: str, latex: str) -> Primitive:
    """A comparison of two numbers."""
    text = f"{{0}} {symbol} {{1}}"
    return Primitive(
        name,
        2,
        f"{{0}} {latex} {{1}}",
        text,
        text,
        ("0", "0"),
        type="bool",
        symbol=symbol,
        precedence=5,
        latex_precedence=5,
        latex_operands=(6, 6),
    )


def connective(
    name: str, symbol: str, precedence: int, arity: int, latex: str, operator: str
) -> Primitive:
    """`and`, `or` or `not` of truth values."""
    return Primitive(
        name,
        arity,
        latex,
        operator,
        f"{{0}} {symbol} {{1}}" if arity == 2 else f"{symbol} {{0}}",
        ("0",) * arity,
        type="bool",
        operands="bool",
        symbol=symbol,
        precedence=precedence,
        latex_precedence=precedence,
        latex_operands=(precedence, precedence + 1),
    )


def predicate(name: str, python: str | None, latex: str) -> Primitive:
    """A question about one number, by default a method of tensors."""
    return Primitive(name, 1, latex, f"{{0}}.{name}()", python, ("0",), type="bool", cost=2)
