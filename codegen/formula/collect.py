"""Algebra on sums and products that rounds differently: like terms, common factors, cancellation.

Used on derivatives, where the product rule repeats itself. Cancelling x / x is right in the limit
also at 0 and infinity, where evaluating it would give NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..model.formula import Call, Expression, children
from .expressions import ONE, ZERO, call, is_call
from .fold import constant, value_of


def collect_terms(node: Call) -> Expression | None:
    """Return a shorter form of a sum or a product, or None."""
    if node.primitive.name in ("mul", "div"):
        return _cancel(node)
    if node.primitive.name in ("add", "sub"):
        return _exponential(node) or _merge_terms(node)
    return None


def _exponential(node: Call) -> Expression | None:
    """expm1(x) + 1 is exp(x)."""
    for one, other in (node.operands, node.operands[::-1]):
        if node.primitive.name == "add" and is_call(one, "expm1") and other == ONE:
            return call("exp", *children(one))
    return None


def _cancel(node: Call) -> Expression | None:
    """Drop factors that stand above and below the line; divide by no quotient."""
    above, below = _factors(node)
    common = [factor for factor in below if factor in above and factor != ONE]
    if not common and not (is_call(node, "div") and is_call(node.operands[1], "div")):
        return None
    for factor in common:
        if factor in above and factor in below:
            above.remove(factor)
            below.remove(factor)
    result = _product(above)
    for factor in below:
        result = call("div", result, factor)
    return result


def _factors(node: Expression) -> tuple[list[Expression], list[Expression]]:
    """Return the factors above and below the line."""
    if is_call(node, "mul") or is_call(node, "div"):
        first, second = (_factors(child) for child in children(node))
        if is_call(node, "div"):
            second = second[::-1]
        return first[0] + second[0], first[1] + second[1]
    return ([] if node == ONE else [node]), []


@dataclass(slots=True)
class _Term:
    """One summand: sign, factors, and the expression it came from while nothing changed."""

    sign: int
    factors: list[Expression]
    origin: Expression | None

    def expression(self) -> Expression:
        return _product(self.factors) if self.origin is None else self.origin


def _terms(node: Expression, sign: int = 1) -> list[_Term]:
    if is_call(node, "add") or is_call(node, "sub"):
        first, second = children(node)
        other = -sign if is_call(node, "sub") else sign
        return _terms(first, sign) + _terms(second, other)
    if is_call(node, "neg"):
        return _terms(children(node)[0], -sign)
    return [_Term(sign, _plain_factors(node), node)]


def _plain_factors(node: Expression) -> list[Expression]:
    if is_call(node, "mul"):
        return [factor for child in children(node) for factor in _plain_factors(child)]
    return [node]


def _merge_terms(node: Call) -> Expression | None:
    """Merge the two terms that have most in common; constants merge into one."""
    terms = _terms(node)
    best: tuple[int, int, int] | None = None
    for i in range(len(terms)):
        for j in range(i):
            weight = _affinity(terms[j], terms[i])
            if weight and (best is None or weight > best[0]):
                best = (weight, j, i)
    if best is None:
        return None
    _, j, i = best
    merged = _merged(terms[j], terms[i])
    rest = [merged if n == j else term for n, term in enumerate(terms) if n != i]
    return _total(rest)


def _affinity(one: _Term, other: _Term) -> int:
    if all(value_of(term.expression()) is not None for term in (one, other)):
        return 1000
    return len(_common(one.factors, other.factors))


def _common(one: Sequence[Expression], other: Sequence[Expression]) -> list[Expression]:
    left = list(other)
    found = []
    for factor in one:
        if factor in left and value_of(factor) is None:
            left.remove(factor)
            found.append(factor)
    return found


def _without(factors: Sequence[Expression], common: Sequence[Expression]) -> Expression:
    left = list(factors)
    for factor in common:
        left.remove(factor)
    return _product(left)


def _merged(one: _Term, other: _Term) -> _Term:
    """Add two terms: constants numerically, others as common factors times the sum of the rests."""
    first, second = value_of(one.expression()), value_of(other.expression())
    if first is not None and second is not None:
        value = constant(one.sign * first + other.sign * second)
        return _Term(1, [value], value)
    common = _common(one.factors, other.factors)
    same = one.sign == other.sign
    rest = call(
        "add" if same else "sub", _without(one.factors, common), _without(other.factors, common)
    )
    return _Term(one.sign, [*common, rest], None)


def _product(factors: Sequence[Expression]) -> Expression:
    result = factors[0] if factors else ONE
    for factor in factors[1:]:
        result = call("mul", result, factor)
    return result


def _total(terms: Sequence[_Term]) -> Expression:
    """Write a sum, beginning with a positive term if there is one."""
    ordered = sorted(terms, key=lambda term: term.sign < 0 and term is terms[0])
    result: Expression = ZERO
    for term in ordered:
        part = term.expression()
        if result == ZERO:
            result = part if term.sign > 0 else call("neg", part)
        else:
            result = call("add" if term.sign > 0 else "sub", result, part)
    return result
