"""How much arithmetic the text of a formula holds, beside moving an element."""

from __future__ import annotations

import re

_STEP = re.compile(r"sqrt\(|//?|%|[-+*<>=]=?|\w\(|\bif\b")
_TYPES = re.compile(r"\b(?:T|view|np\.(?:u?int|float)\d+)\(")
_DOCSTRING = re.compile(r'"""[^"]*"""')
_COSTS = {"sqrt(": 16, "/": 8, "//": 400, "%": 400}
"""Of what takes longer than other steps: whole numbers are divided one by one, in 15 cycles."""
_STEPS_PER_MOVE = 20
"""Steps of arithmetic in the time that it takes to read an element and to write one, measured with
64k elements of float32: `exp` has 73 and takes 2.3 times as long as `abs`, `tanh` 101 and 4."""


def moves(text: str) -> int:
    """Return how many times an element could be moved while the arithmetic is done, at least 1."""
    return max(count(text) // _STEPS_PER_MOVE, 1)


def count(text: str) -> int:
    """Return how many steps of arithmetic a text holds."""
    return sum(_COSTS.get(step, 1) for step in _STEP.findall(_DOCSTRING.sub("", text)))


_LITTLE = 50
"""Steps that are done for 32 elements before the version that does without them is chosen."""


def _is_in_double(text: str) -> bool:
    return "np.float64(" in text


def saves_little(text: str, other: str) -> bool:
    """Whether a text, its test included, does with less, but by no more than some steps: `exp`."""
    if _is_in_double(other) and not _is_in_double(text):
        return False
    return count(other) - count(text) <= _LITTLE


def saves(text: str, other: str) -> bool:
    """Whether a text does with so much less that it is worth to compile it beside the other.

    With fewer steps by a tenth (`log` of float64, by an eighth, takes 48 us for 64k elements and
    not 52), or without arithmetic in double, of which a vector holds half as many. Here what only
    gives bits another type, of which tests for special values are full, is no step.
    """
    if _is_in_double(other) and not _is_in_double(text):
        return True
    return 10 * count(_TYPES.sub("(", text)) <= 9 * count(_TYPES.sub("(", other))
