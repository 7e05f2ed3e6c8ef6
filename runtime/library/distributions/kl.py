"""Kullback-Leibler divergences: the formula of a pair of families, found by their classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core.user_warnings import warn

__all__ = ["kl_divergence", "register_kl"]

Formula = Callable[[Any, Any], Any]

_formulas: dict[tuple[type, type], Formula] = {}
_found: dict[tuple[type, type], Formula] = {}
"""What was looked up before; emptied when a formula is added."""


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """Decorate the formula of KL(p || q) for these classes and their subclasses."""
    wrong = [kind for kind in (type_p, type_q) if not isinstance(kind, type)]
    if wrong:
        raise TypeError(f"Expected a Distribution subclass but got {wrong[0]}")

    def register(formula: Formula) -> Formula:
        _formulas[type_p, type_q] = formula
        _found.clear()
        return formula

    return register


def kl_divergence(p: Any, q: Any) -> Any:
    """E[log p(x) - log q(x)] over x of p, for each entry of the batch.

    Raises: NotImplementedError for a pair of families without a formula.
    """
    kinds = type(p), type(q)
    formula = _found.get(kinds)
    if formula is None:
        formula = _found[kinds] = _most_specific(*kinds)
    return formula(p, q)


def _most_specific(kind_p: type, kind_q: type) -> Formula:
    """The formula of the nearest base classes; p's and q's nearest should be the same pair."""
    pairs = [(p, q) for p, q in _formulas if issubclass(kind_p, p) and issubclass(kind_q, q)]
    if not pairs:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {kind_p.__name__} and "
            f"q type {kind_q.__name__}"
        )

    def steps(pair: tuple[type, type]) -> tuple[int, int]:
        return kind_p.__mro__.index(pair[0]), kind_q.__mro__.index(pair[1])

    by_p = min(pairs, key=steps)
    by_q = min(pairs, key=lambda pair: steps(pair)[::-1])
    if _formulas[by_p] is not _formulas[by_q]:
        warn(
            f"Ambiguous kl_divergence({kind_p.__name__}, {kind_q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
        )
    return _formulas[by_p]
