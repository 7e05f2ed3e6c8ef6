"""The cross entropy of a linear map's results, as a whole or over some samples at a time."""

from __future__ import annotations

import dataclasses
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.autograd.checkpoint import checkpoint
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.user_warnings import warn

POLICIES = ("auto", "accurate", "balanced", "compact")
FLOATS = ("float16", "bfloat16", "float32", "float64")


@dataclasses.dataclass(slots=True, frozen=True)
class LinearCrossEntropyOptions:
    """Have `linear_cross_entropy` work on some samples at a time: the scores of all need not exist.

    batch_chunk_size: how many samples at a time. chunking_method: `aspect_ratio` takes so many that
    their scores are about as large as the input, `aspect_ratio:N` the Nth part of these, `auto` is
    `aspect_ratio:2`, None all. Backward computes the scores again, so that it may run twice, and be
    differentiated; 16-bit floats are summed in float32: acc_policy, acc_dtype and
    allow_retain_graph are checked, and change nothing.

    **Raises** ValueError for what is none of these, or contradicts itself.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in POLICIES:
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype is not None and self.acc_dtype.name not in FLOATS:
            raise ValueError(f"acc_dtype must be one of {FLOATS} or None, got {self.acc_dtype!r}")
        self._divisor()

    def _divisor(self) -> int:
        """By how much a group is smaller than the aspect ratio says; 0 is no grouping."""
        if self.chunking_method is None:
            return 0
        if self.chunking_method == "auto":
            return 2
        name, colon, divisor = self.chunking_method.partition(":")
        divisor = divisor if colon else "1"
        if name != "aspect_ratio" or not divisor.isdigit() or not int(divisor):
            raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        return int(divisor)

    def group_size(self, samples: int, classes: int, features: int) -> int:
        """How many samples are taken at a time."""
        if self.batch_chunk_size is not None:
            return self.batch_chunk_size
        divisor = self._divisor()
        if not divisor or not samples:
            return max(samples, 1)
        ratio = -(-classes // max(features, 1))
        even = 1 << (-(-samples // max(ratio, 1)) - 1).bit_length()
        return max(even // divisor, 1)


public.place("nn.modules.linear_cross_entropy_options", LinearCrossEntropyOptions)


def linear_cross_entropy(
    input: Any,
    linear_weight: Any,
    target: Any,
    *,
    linear_bias: Any = None,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: LinearCrossEntropyOptions | None = None,
) -> Any:
    """Apply `linear`, then `cross_entropy`: the last layer of a classifier and its loss.

    Shape: input (in) or (N, in), linear_weight (C, *outer, in), linear_bias (C, *outer); target
    classes (N, *outer) or probabilities (N, C, *outer).
    options: have it work on some samples at a time; only for classes, without `outer` and
    smoothing.
    **Raises** RuntimeError for other shapes, and for `ignore_index` beside probabilities.
    """
    classes, *outer, features = _checked_sizes(input, linear_weight, linear_bias)
    scores = (*input.shape[:-1], classes, *outer)
    if tuple(target.shape) == scores and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    ignored = -100 if ignore_index is None else ignore_index
    if options is not None and _is_grouped(target, outer, reduction, label_smoothing):
        rows = (input, target) if input.dim() == 2 else (input.unsqueeze(0), target.unsqueeze(0))
        size = options.group_size(len(rows[0]), classes, features)
        loss = _in_groups(*rows, linear_weight, linear_bias, weight, reduction, ignored, size)
        return loss.reshape(target.shape) if reduction == "none" else loss
    flat = linear_weight.reshape((-1, features)) if outer else linear_weight
    bias = linear_bias.reshape(-1) if linear_bias is not None and outer else linear_bias
    return torch.nn.functional.cross_entropy(
        torch.nn.functional.linear(input, flat, bias).reshape(scores),
        target,
        weight=weight,
        ignore_index=ignored,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )


def _checked_sizes(input: Any, weight: Any, bias: Any) -> tuple[int, ...]:
    """The sizes of the weight."""
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    sizes = tuple(weight.shape)
    if len(sizes) < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {len(sizes)}"
        )
    if input.shape[-1] != sizes[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{input.shape[-1]} and {sizes[-1]}, respectively"
        )
    if bias is not None and tuple(bias.shape) != sizes[:-1]:
        raise RuntimeError(f"expected linear_bias shape {sizes[:-1]}, got {tuple(bias.shape)}")
    if len(sizes) > 2 and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {sizes} requires batched input "
            f"(N, {sizes[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    return sizes


def _is_grouped(target: Any, outer: Any, reduction: str, label_smoothing: float) -> bool:
    """Whether options apply; warns if not."""
    known = reduction in ("mean", "sum", "none")
    if known and not outer and not label_smoothing and target.dtype is torch.int64:
        return True
    warn(
        "linear_cross_entropy: options ignored; they are for classes (int64), without further dims "
        f"and label_smoothing. Got reduction={reduction!r}, label_smoothing={label_smoothing}, "
        f"target.dtype={target.dtype}, out_features={tuple(outer)}.",
    )
    return False


def _in_groups(
    input: Any,
    target: Any,
    linear_weight: Any,
    linear_bias: Any,
    weight: Any,
    reduction: str,
    ignored: int,
    size: int,
) -> Any:
    """The loss, group by group; backward computes the scores of a group again."""

    def loss_of(rows: Any, classes: Any, matrix: Any, bias: Any) -> Any:
        scores = torch.nn.functional.linear(rows, matrix, bias)
        how = "none" if reduction == "none" else "sum"
        return torch.nn.functional.cross_entropy(
            scores, classes, weight=weight, ignore_index=ignored, reduction=how
        )

    losses = [
        checkpoint(loss_of, *group, linear_weight, linear_bias, use_reentrant=False)
        for group in zip(input.split(size), target.split(size), strict=True)
    ]
    if reduction == "none":
        return torch.cat(losses)
    total = torch.stack(losses).sum()
    if reduction == "sum":
        return total
    counted = target != ignored
    if weight is None:
        return total / counted.sum()
    return total / (weight[target.where(counted, 0)] * counted).sum()
