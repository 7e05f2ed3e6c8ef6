"""Shapes and checks of random operators. Those that fill a tensor in place answer nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.finfo import finfo, iinfo
from torchgen_out._runtime.core.shape import broadcast_shapes, dense_strides
from torchgen_out._runtime.kernels.common.draw import check_expands

Answer = tuple[tuple[int, ...], dtypes.dtype]
Laid = tuple[tuple[int, ...], dtypes.dtype, tuple[int, ...]]


def uniform_(self: Any, from_: float = 0, to: float = 1, generator: Any = None) -> None:
    """Raises: RuntimeError unless from <= to and the dtype holds both."""
    limit = finfo(self.dtype).max
    for name, bound in (("from", from_), ("to", to)):
        if not -limit <= bound <= limit:
            raise errors.bound_outside_dtype(name, self.dtype)
    if from_ > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_:g} > to={to:g}"
        )


def normal_(self: Any, mean: float = 0, std: float = 1, generator: Any = None) -> None:
    """Raises: RuntimeError if std is negative."""
    if not std >= 0:
        raise errors.negative_deviation(std)


def random_to_(self: Any, to: int, generator: Any = None) -> None:
    """Raises: RuntimeError unless 0 < to and the dtype holds to - 1."""
    random_from_(self, 0, to)


def random_from_(self: Any, from_: int, to: int | None, generator: Any = None) -> None:
    """Raises: RuntimeError unless from < to and the dtype holds from and to - 1."""
    low, high = _whole_numbers(self.dtype)
    if to is None:
        to = high + 1
    if from_ >= to:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={from_} >= to={to}"
        )
    if not low <= from_ <= high:
        raise errors.bound_outside_dtype("from", self.dtype)
    if not low <= to - 1 <= high:
        raise errors.bound_outside_dtype("to - 1", self.dtype)


def _whole_numbers(dtype: dtypes.dtype) -> tuple[int, int]:
    """The least and the greatest whole number that a tensor of `dtype` holds."""
    if dtype is dtypes.bool:
        return 0, 1
    if dtype.kind == "i":
        limits = iinfo(dtype)
        return limits.min, limits.max
    top = int(finfo(dtype).max)
    return max(-top, -(2**63)), min(top, 2**63 - 1)


def bernoulli_(self: Any, p: float = 0.5, generator: Any = None) -> None:
    """Raises: RuntimeError unless p is a probability."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")


def bernoulli_tensor_(self: Any, p: Any, generator: Any = None) -> None:
    """Raises: RuntimeError unless `p` is floating and expands to self's shape."""
    if not p.dtype.is_floating_point:
        raise errors.dtype_not_supported("bernoulli_", p.dtype, "floating-point probabilities")
    check_expands(p.shape, self.shape)


def exponential_(self: Any, lambd: float = 1, generator: Any = None) -> None:
    """Raises: RuntimeError unless the rate is positive."""
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")


def geometric_(self: Any, p: float, generator: Any = None) -> None:
    """Raises: RuntimeError unless 0 < p < 1."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")


def cauchy_(self: Any, median: float = 0, sigma: float = 1, generator: Any = None) -> None:
    """Raises: RuntimeError unless sigma is positive."""
    if not (sigma > 0 and isfinite(sigma)):
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")


def log_normal_(self: Any, mean: float = 1, std: float = 2, generator: Any = None) -> None:
    """Raises: RuntimeError unless std is positive."""
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")


def multinomial(
    self: Any, num_samples: int, replacement: bool = False, generator: Any = None
) -> Answer:
    """int64, `num_samples` for each row.

    Raises: RuntimeError for ndim or `num_samples`, or if there is nothing to draw from.
    """
    if self.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if not self.shape[-1]:
        raise errors.no_weight_above_zero()
    return (*self.shape[:-1], num_samples), dtypes.int64


def dropout(input: Any, p: float) -> tuple[Laid, Laid]:
    """The result and the bool mask, laid out as `input`; of nothing the mask has its dtype.

    Raises: RuntimeError unless p is a probability.
    """
    if not 0 <= p <= 1:
        raise errors.dropout_probability(p)
    mask = input.dtype if 0 in input.shape else dtypes.bool
    strides = dense_strides(input._sizes, input._strides)
    return (input.shape, input.dtype, strides), (input.shape, mask, strides)


class _Undrawn(NamedTuple):
    """What checks look at of a tensor."""

    dtype: dtypes.dtype


def draw(
    size: Sequence[int],
    distribution: str,
    numbers: Sequence[Any],
    dtype: dtypes.dtype,
    generator: Any = None,
) -> Answer:
    """The sizes and the dtype asked for. Raises: what filling such a tensor would."""
    _FILLING[distribution](_Undrawn(dtype), *numbers)
    return tuple(size), dtype


def randperm(n: int, generator: Any = None) -> Answer:
    """int64 of size n. Raises: RuntimeError if n is negative."""
    if n < 0:
        raise errors.negative_size(n, (n,))
    return (n,), dtypes.int64


def poisson(self: Any, generator: Any = None) -> Answer:
    """The shape and dtype of self."""
    return self.shape, self.dtype


def binomial(count: Any, prob: Any, generator: Any = None) -> Answer:
    """Shape: both broadcast. Raises: RuntimeError for two dtypes."""
    if count.dtype is not prob.dtype:
        names = [errors.scalar_type_name(each.dtype) for each in (prob, count)]
        raise RuntimeError(f"Found dtype {names[0]} but expected {names[1]}")
    return broadcast_shapes(count.shape, prob.shape), count.dtype


_FILLING: dict[str, Callable[..., None]] = {
    "uniform_": uniform_,
    "normal_": normal_,
    "random_.from": random_from_,
    "bernoulli_.float": bernoulli_,
}
