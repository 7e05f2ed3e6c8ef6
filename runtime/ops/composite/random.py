"""Composites that draw random numbers."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core.dtype import bool as boolean
from torchgen_out._runtime.core.dtype import float64, int64
from torchgen_out._runtime.dispatch import ops


def dropout(input: Any, p: float, train: bool) -> Any:
    """Drop and scale in training, else nothing. **Raises** RuntimeError unless p is in [0, 1]."""
    if not 0 <= p <= 1:
        raise errors.dropout_probability(p)
    if not train or p == 0 or not input.numel():
        return input
    return ops._dropout(input, p)[0]


def native_dropout(input: Any, p: float, train: bool | None) -> Any:
    """The same, or a copy, and the mask of what is kept; of nothing the mask has its dtype."""
    if train is not False:
        return ops._dropout(input, p)
    kept = input.dtype if not input.numel() else boolean
    return input.clone(), ops.ones_like(input, dtype=kept)


def dropout_(self: Any, p: float, train: bool) -> Any:
    """The same in place."""
    dropped = dropout(self, p, train)
    return self if dropped is self else self.copy_(dropped)


def draw_key(self: Any, generator: Any = None) -> Any:
    """A word of 64 bits, on the device of `self`: an int64 tensor of shape (1)."""
    return self.new_empty((1,), dtype=int64).random_(-(2**63), None, generator=generator)


_SELU_FLOOR = -1.7580993408473766
"""The limit of SELU towards minus infinity: -scale * alpha."""


def _is_idle(input: Any, p: float, train: bool) -> bool:
    """Whether nothing is dropped. **Raises** RuntimeError unless p is in [0, 1]."""
    if not 0 <= p <= 1:
        raise errors.dropout_probability(p)
    return not train or p == 0 or not input.numel()


def _channels(input: Any) -> tuple[int, ...]:
    """The shape of one number per channel: dims 0 and 1 tell them apart."""
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    batch, channels, *rest = input._sizes
    return (batch, channels, *(1,) * len(rest))


def feature_dropout(input: Any, p: float, train: bool) -> Any:
    """`dropout` of whole channels."""
    if _is_idle(input, p, train):
        return input
    return input * _channel_scales(input, p)


def feature_dropout_(self: Any, p: float, train: bool) -> Any:
    """The same in place."""
    return self if _is_idle(self, p, train) else self.mul_(_channel_scales(self, p))


def _channel_scales(input: Any, p: float) -> Any:
    """1 / (1 - p) for channels that are kept, 0 for others."""
    if p == 1:
        return 0
    return ops._dropout(input.new_ones(_channels(input)), p)[0]


def alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """Set elements to SELU's floor, then scale and shift so that mean and variance stay."""
    if _is_idle(input, p, train):
        return input
    return _with_floor(input, p, tuple(input.shape))


def alpha_dropout_(self: Any, p: float, train: bool) -> Any:
    """The same in place."""
    dropped = alpha_dropout(self, p, train)
    return self if dropped is self else self.copy_(dropped)


def feature_alpha_dropout(input: Any, p: float, train: bool) -> Any:
    """`alpha_dropout` of whole channels."""
    if _is_idle(input, p, train):
        return input
    return _with_floor(input, p, _channels(input))


def feature_alpha_dropout_(self: Any, p: float, train: bool) -> Any:
    """The same in place."""
    dropped = feature_alpha_dropout(self, p, train)
    return self if dropped is self else self.copy_(dropped)


def _with_floor(input: Any, p: float, shape: tuple[int, ...]) -> Any:
    if p == 1:
        return input * 0
    keep = input.new_empty(shape).bernoulli_(1 - p)
    scale = (1 - p + _SELU_FLOOR**2 * p * (1 - p)) ** -0.5
    shift = -scale * p * _SELU_FLOOR
    return (input * keep + (1 - keep) * _SELU_FLOOR) * scale + shift


def rrelu(
    self: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    """leaky_relu with a slope drawn per element in training, the mean slope otherwise."""
    for name, bound in (("lower", lower), ("upper", upper)):
        if not isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound}")
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    self = self.contiguous()  # as PyTorch's result is, whatever the strides
    if not training:
        return ops.leaky_relu(self, (lower + upper) / 2)
    slope = ops.empty_like(self).uniform_(lower, upper, generator=generator)
    return ops._prelu_kernel(self, slope)


def rrelu_(
    self: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    """The same in place."""
    return self.copy_(rrelu(self, lower, upper, training, generator))


# -- choosing -----------------------------------------------------------------------------------


def multinomial(
    out: Any, self: Any, num_samples: int, replacement: bool, generator: Any = None
) -> None:
    """Write indices drawn with the weights of each row. Nothing waits for a look at the weights."""
    if not self.numel():
        return
    weights = self.to(float64)
    told = backends.of(self)
    broken = ((weights >= 0) & (weights < inf)).logical_not()
    told.refuse_any(broken, "multinomial", errors.no_weight())
    told.refuse_any(weights.amax(-1) == 0, "multinomial", errors.no_weight_above_zero())
    if replacement:
        out.copy_(_fallen_among(weights, out, generator))
        return
    clocks = ops.empty_like(weights).exponential_(generator=generator)
    clocks = ops.where(weights > 0, clocks / weights, inf)
    if num_samples == 1:
        out.copy_(clocks.argmin(-1, True))
    else:
        out.copy_(ops.sort(clocks, -1)[1].narrow(-1, 0, num_samples))


def _fallen_among(weights: Any, out: Any, generator: Any) -> Any:
    """Where numbers drawn from [0, 1) fall among the sums of each row's weights, before trailing
    weights of zero."""
    sums = weights.cumsum(-1)
    total = sums.narrow(-1, sums.shape[-1] - 1, 1)
    drawn = ops.empty_like(out, dtype=float64).uniform_(generator=generator)
    found = ops.searchsorted(sums, drawn * total, right=True)
    return ops.minimum(found, ops.searchsorted(sums, total))
