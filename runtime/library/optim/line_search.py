"""A step length along a direction that satisfies the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

DECREASE, CURVATURE = 1e-4, 0.9


class Point(NamedTuple):
    """A step length, the loss and gradient there, and the slope along the direction."""

    step: float
    loss: float
    gradient: Any
    slope: float


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """The minimum of the cubic through two points with these slopes, within bounds.

    **Source** Nocedal and Wright, Numerical Optimization, equation 3.59.
    """
    low, high = bounds or (min(a.step, b.step), max(a.step, b.step))
    first = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.step - b.step)
    square = first**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    root = math.sqrt(square)
    left, right = (a, b) if a.step <= b.step else (b, a)
    part = (right.slope + root - first) / (right.slope - left.slope + 2 * root)
    return min(max(right.step - (right.step - left.step) * part, low), high)


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    step: float,
    largest: float,
    tolerance: float = 1e-9,
    most: int = 25,
) -> tuple[Point, int]:
    """Return a point that satisfies the conditions, and how often the loss was evaluated.

    `start` is the point at step 0; `largest` the largest element of the direction.
    **Source** Nocedal and Wright, algorithms 3.5 and 3.6.
    """
    bracket, count, found = _bracket(evaluate, start, step, most)
    if found:
        return bracket[0], count + 1
    stuck = False
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    evaluations = count + 1
    while count < most:
        least, greatest = sorted(point.step for point in bracket)
        if (greatest - least) * largest < tolerance:
            break
        trial = cubic_minimum(bracket[0], bracket[1])
        trial, stuck = _off_the_ends(trial, least, greatest, stuck)
        point = evaluate(trial)
        count, evaluations = count + 1, evaluations + 1
        too_high = point.loss > start.loss + DECREASE * trial * start.slope
        if too_high or point.loss >= bracket[low].loss:
            bracket[high] = point
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        done = abs(point.slope) <= -CURVATURE * start.slope
        if not done and point.slope * (bracket[high].step - bracket[low].step) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = point
        if done:
            break
    return bracket[low], evaluations


def _bracket(
    evaluate: Callable[[float], Point], start: Point, step: float, most: int
) -> tuple[list[Point], int, bool]:
    """Two points around a minimum, or one that satisfies the conditions already."""
    before, point = start, evaluate(step)
    for count in range(most):
        too_high = point.loss > start.loss + DECREASE * point.step * start.slope
        if too_high or (count > 1 and point.loss >= before.loss):
            return [before, point], count, False
        if abs(point.slope) <= -CURVATURE * start.slope:
            return [point], count, True
        if point.slope >= 0:
            return [before, point], count, False
        bounds = (point.step + 0.01 * (point.step - before.step), point.step * 10)
        trial = cubic_minimum(before, point, bounds)
        before, point = point, evaluate(trial)
    return [start, point], most, False


def _off_the_ends(trial: float, least: float, greatest: float, stuck: bool) -> tuple[float, bool]:
    """Move a trial step away from the ends of the bracket if it keeps coming close to them."""
    margin = 0.1 * (greatest - least)
    if min(greatest - trial, trial - least) >= margin:
        return trial, False
    if not (stuck or trial >= greatest or trial <= least):
        return trial, True
    near_end = abs(trial - greatest) < abs(trial - least)
    return (greatest - margin if near_end else least + margin), False
