"""Proves where formulas vanish: what a pointwise operator may do for elements that are not stored.

An element which a sparse tensor does not store is no number that was computed: it stays zero beside
infinities and NaN. So a product with it is zero here, while `simplify` must not say so.
"""

from __future__ import annotations

from itertools import combinations

from ..model.formula import Argument, Call, Constant, Expression, Formula, Select, walk
from .expressions import FALSE, ZERO, substitute
from .simplify import Simplifier

_AT_ZERO = frozenset((
    *("sign", "sgn", "signbit", "round", "frac", "conj", "real", "imag"),
    *("erfinv", "deg2rad", "square"),
))  # fmt: skip
"""Functions that are zero at zero and that are not evaluated at generation time."""


class _BesideNothing(Simplifier):
    """Simplifies where a zero is an element that is not stored."""

    def __init__(self) -> None:
        super().__init__()
        self._rules = {
            **self._rules,
            "mul": _Absorbing(self._rules.get("mul")),
            "neg": _Vanishing(self._rules.get("neg")),
            **{name: _Vanishing(self._rules.get(name)) for name in _AT_ZERO},
        }


class _Vanishing:
    """A rule behind the one that a function of zero is zero."""

    def __init__(self, rule: object) -> None:
        self._rule = rule

    def __call__(self, *operands: Expression) -> Expression | None:
        if operands[0] == ZERO:
            return ZERO
        return self._rule(*operands) if callable(self._rule) else None


class _Absorbing(_Vanishing):
    """A rule behind the one that a product with zero is zero."""

    def __call__(self, *operands: Expression) -> Expression | None:
        return ZERO if ZERO in operands else super().__call__(*operands)


def vanishing_sets(formula: Formula) -> tuple[tuple[str, ...], ...]:
    """The least sets of tensor arguments whose zeros make every output zero, by their names."""
    tensors = [each for each in formula.arguments if each.kind == "tensor"]
    found: list[tuple[str, ...]] = []
    for count in range(1, len(tensors) + 1):
        for chosen in combinations(tensors, count):
            names = tuple(each.name for each in chosen)
            if any(set(less) <= set(names) for less in found):
                continue
            if _vanishes(formula, chosen):
                found.append(names)
    return tuple(found)


def _vanishes(formula: Formula, chosen: tuple[Argument, ...]) -> bool:
    values: dict[Expression, Expression] = dict.fromkeys(chosen, ZERO)
    simplify = _BesideNothing()
    outputs = [simplify(substitute(output, values)) for output in formula.outputs]
    return bool(outputs) and all(_is_zero(output) for output in outputs)


def _is_zero(node: Expression) -> bool:
    return node in (ZERO, FALSE) or (isinstance(node, Constant) and node.value == 0)


def is_linear(formula: Formula, names: tuple[str, ...]) -> bool:
    """Whether a formula is linear in an argument, by its structure: a product with other terms.

    A slope that does not change is not enough: `x - trunc(x)` has one. Nor is a factor that the
    formula itself states (`deg2rad`): it is rounded, one function of a sum. Factors that a caller
    gives are taken by each entry, as PyTorch does.
    """
    if len(names) != 1:
        return False
    return all(_is_linear(output, names[0]) for output in formula.outputs)


def _is_linear(node: Expression, name: str) -> bool:
    if isinstance(node, Argument):
        return node.name == name
    if isinstance(node, Select):
        sides = _is_linear(node.then, name) and _is_linear(node.otherwise, name)
        return sides and not _reads(node.condition, name)
    if not isinstance(node, Call):
        return False
    parts = node.operands
    match node.primitive.name:
        case "neg" | "conj" | "real" | "imag":
            return _is_linear(parts[0], name)
        case "add" | "sub":
            return all(_is_linear(part, name) for part in parts)
        case "div":
            return _is_linear(parts[0], name) and not _reads(parts[1], name)
        case "mul":
            return any(
                _is_linear(one, name) and _is_given(other) and not _reads(other, name)
                for one, other in (parts, parts[::-1])
            )
    return False


def _is_given(node: Expression) -> bool:
    """Whether a term says something of what a caller gives."""
    return any(isinstance(each, Argument) for each in walk((node,)))


def _reads(node: Expression, name: str) -> bool:
    return any(isinstance(each, Argument) and each.name == name for each in walk((node,)))
