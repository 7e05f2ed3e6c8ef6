"""Distributions with parameters, made alike in both libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import torchgen_out as t

LOC = [[-1.5, 0.25, 2.0]]
POSITIVE = [[0.5, 1.75, 3.25], [1.25, 2.5, 4.0]]
SMALL = [0.7, 1.5, 2.25]
PROBS = [[0.1, 0.45, 0.8], [0.3, 0.65, 0.95]]
WEIGHTS = [[0.2, 0.5, 0.3], [0.6, 0.15, 0.25]]
LOGITS = [[0.5, -1.0, 1.5], [0.0, 2.0, -0.75]]

Make = Callable[[Any, Any], Any]

CASES: dict[str, Make] = {
    "normal": lambda d, v: d.Normal(v(LOC), v(POSITIVE)),
    "normal_of_numbers": lambda d, v: d.Normal(v(1.5), 2.0),
    "bernoulli": lambda d, v: d.Bernoulli(v(PROBS)),
    "bernoulli_of_logits": lambda d, v: d.Bernoulli(logits=v(LOGITS)),
    "categorical": lambda d, v: d.Categorical(v(WEIGHTS)),
    "categorical_of_logits": lambda d, v: d.Categorical(logits=v(LOGITS)),
    "one_hot": lambda d, v: d.OneHotCategorical(v(WEIGHTS)),
    "one_hot_of_logits": lambda d, v: d.OneHotCategorical(logits=v(LOGITS)),
    "straight_through": lambda d, v: d.OneHotCategoricalStraightThrough(v(WEIGHTS)),
    "uniform": lambda d, v: d.Uniform(v(LOC), v([[2.5, 3.0, 4.0], [3.0, 1.0, 2.5]])),
    "unit_uniform": lambda d, v: d.Uniform(
        v([[0.0, 0.1, 0.0]]), v([[1.0, 0.9, 0.5], [0.6, 0.7, 0.8]])
    ),
    "exponential": lambda d, v: d.Exponential(v(POSITIVE)),
    "laplace": lambda d, v: d.Laplace(v(LOC), v(POSITIVE)),
    "cauchy": lambda d, v: d.Cauchy(v(LOC), v(POSITIVE)),
    "independent": lambda d, v: d.Independent(d.Normal(v(LOC), v(POSITIVE)), 1),
    "transformed": lambda d, v: d.TransformedDistribution(
        d.Normal(v(LOC), v(POSITIVE)), [d.AffineTransform(v(0.5), v(-0.25)), d.TanhTransform()]
    ),
}
"""Name -> how it is made of a library's distributions and of a maker of parameters."""


@dataclass
class Made:
    """A distribution of one library, and the tensors that it was made of."""

    name: str
    library: Any
    parameters: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.distribution = CASES[self.name](self.library.distributions, self._parameter)

    def _parameter(self, values: Any) -> Any:
        leaf = self.library.tensor(values, dtype=self.library.float64, requires_grad=True)
        self.parameters.append(leaf)
        return leaf

    def tensor(self, array: np.ndarray) -> Any:
        """An array as a tensor of the library."""
        return self.library.tensor(array)


def both(name: str) -> tuple[Made, Made]:
    """The distribution in this library and in PyTorch."""
    return Made(name, t), Made(name, torch)
