"""Sobol's sequence: points that fill the unit cube evenly, `torch.quasirandom`.

**Source** S. Joe, F. Kuo, "Constructing Sobol sequences with better two-dimensional projections"
(2008), whose direction numbers SciPy brings along; J. Matousek, "On the L2-discrepancy for anchored
boxes" (1998) for the scrambling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.core import public

__all__ = ["SobolEngine"]

Bits = Any


class SobolEngine:
    """Draws points of Sobol's sequence in [0, 1)^dimension, scrambled or not.

    **Raises** ValueError for a dimension outside of [1, 21201].
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.num_generated = 0
        directions = _direction_numbers(dimension, self.MAXBIT)
        shift = np.zeros(dimension, np.int64)
        if scramble:
            directions, shift = self._scrambled(directions)
        self.sobolstate = torch.tensor(directions)
        self.shift = torch.tensor(shift)

    @property
    def quasi(self) -> Any:
        """The last point drawn, as integers of MAXBIT bits; the first one before that."""
        return torch.tensor(self._points(max(self.num_generated - 1, 0), 1)[0])

    def draw(self, n: int = 1, out: Any = None, dtype: Any = None) -> Any:
        """Return the next n points, a row each."""
        dtype = torch.get_default_dtype() if dtype is None else dtype
        whole = torch.tensor(self._points(self.num_generated, n))
        self.num_generated += n
        points = whole.to(dtype) / 2**self.MAXBIT
        if out is None:
            return points
        return out.resize_(points.shape).copy_(points)

    def draw_base2(self, m: int, out: Any = None, dtype: Any = None) -> Any:
        """Return the next 2**m points.

        **Raises** ValueError if the number of all points drawn is then no power of two.
        """
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Begin the sequence again."""
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out n points."""
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        parts += ["scramble=True"] if self.scramble else []
        parts += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(parts)})"

    def _points(self, first: int, count: int) -> Bits:
        """Points as integers: the direction numbers that the bits of the Gray code choose."""
        indices = np.arange(first, first + count, dtype=np.int64)
        codes = indices ^ (indices >> 1)
        found = np.repeat(self.shift.numpy()[None], count, axis=0)
        for bit, numbers in enumerate(self.sobolstate.numpy().T):
            found ^= ((codes >> bit) & 1)[:, None] * numbers
        return found

    def _scrambled(self, directions: Bits) -> tuple[Bits, Bits]:
        """Multiply the numbers' bits by random triangular matrices, and draw a digital shift."""
        generator = torch.Generator()
        generator.seed() if self.seed is None else generator.manual_seed(self.seed)
        size = self.MAXBIT
        powers = 2 ** np.arange(size, dtype=np.int64)
        drawn = torch.randint(2, (self.dimension, size), generator=generator)
        shift = drawn.numpy() @ powers
        drawn = torch.randint(2, (self.dimension, size, size), generator=generator)
        rows = drawn.tril().numpy()
        rows[:, range(size), range(size)] = 1
        # Bits from the most significant one on: (dimension, bit, number).
        bits = (directions[:, None, :] >> np.arange(size)[::-1, None]) & 1
        return powers[::-1] @ (rows @ bits % 2), shift


def _direction_numbers(dimension: int, bits: int) -> Bits:
    """Joe and Kuo's numbers, (dimension, bits). SciPy keeps them with the generator it makes."""
    from scipy.stats import qmc

    engine = qmc.Sobol(dimension, scramble=False, bits=bits)
    return np.asarray(engine._sv, dtype=np.int64)


public.place("quasirandom", SobolEngine)
