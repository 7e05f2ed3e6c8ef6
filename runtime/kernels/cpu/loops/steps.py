"""How much arithmetic the text of a formula holds, beside moving an element."""

from __future__ import annotations

import re

_STEP = re.compile(r"sqrt\(|(?<!/)/(?!/)|[-+*<>=]=?|\w\(|\bif\b")
_COSTS = {"sqrt(": 16, "/": 8}
_STEPS_PER_MOVE = 20
"""Steps of arithmetic in the time that it takes to read an element and to write one, measured with
64k elements of float32: `exp` has 73 and takes 2.3 times as long as `abs`, `tanh` 101 and 4."""


def moves(text: str) -> int:
    """Return how many times an element could be moved while the arithmetic is done, at least 1."""
    found = _STEP.findall(text)
    return max(sum(_COSTS.get(step, 1) for step in found) // _STEPS_PER_MOVE, 1)
