"""Shapes and checks of the losses that have kernels of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes

NONE = 0


def nll_loss_forward(
    self: Any, target: Any, weight: Any, reduction: int, ignore_index: int
) -> tuple[Any, Any]:
    """Shape: (C), (N, C) or (N, C, *P) with targets (), (N) or (N, *P)."""
    if self.ndim == 0:
        raise ValueError(f"Expected 1 or more dimensions (got {self.ndim})")
    _check_batch_size(self, target)
    if target.dtype not in (dtypes.int64, dtypes.uint8):
        raise RuntimeError(
            "expected target dtype to be Long or Byte, "
            f"but got {errors.scalar_type_name(target.dtype)}"
        )
    _check_target_sizes(self, target)
    if weight is not None:
        _check_weight(self, weight)
    sizes = tuple(target.shape) if reduction == NONE and self.ndim > 1 else ()
    return (sizes, self.dtype), ((), self.dtype)


def _check_batch_size(self: Any, target: Any) -> None:
    if self.ndim > 1 and (target.ndim == 0 or self.shape[0] != target.shape[0]):
        count = target.shape[0] if target.ndim else 1
        raise ValueError(
            f"Expected input batch_size ({self.shape[0]}) to match target batch_size ({count})."
        )


def _check_target_sizes(self: Any, target: Any) -> None:
    if self.ndim == 1:
        if target.ndim > 1 or target.numel() != 1:
            raise ValueError(
                "For 1D input, 1D target must have size 1, "
                f"but got target size: {list(target.shape)}"
            )
        return
    expected = (self.shape[0], *self.shape[2:])
    if tuple(target.shape) == expected:
        return
    if self.ndim == 4 and target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) "
            f"but got targets of dimension: {target.ndim}"
        )
    if self.ndim == 4:
        raise RuntimeError(
            f"size mismatch (got input: {list(self.shape)} , target: {list(target.shape)}"
        )
    raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.shape)}")


def _check_weight(self: Any, weight: Any) -> None:
    classes = self.shape[0 if self.ndim == 1 else 1]
    if weight.ndim != 1 or weight.shape[0] != classes:
        raise errors.class_weights_do_not_fit("", classes, weight.shape)
    if weight.dtype is not self.dtype:
        raise errors.scalar_type_mismatch(self.dtype, weight.dtype)


def nll_loss_backward(
    grad_output: Any,
    target: Any,
    weight: Any,
    total_weight: Any,
    sizes: Sequence[int],
    reduction: int,
    ignore_index: int,
) -> tuple[Any, Any]:
    """Shape: the scores'."""
    return tuple(sizes), grad_output.dtype


def cross_entropy_rows(
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    label_smoothing: float = 0.0,
) -> tuple[Any, Any, Any]:
    """Shape: (N, C) with targets (N) -> the losses, (N, C) logarithms, and ()."""
    if not self.dtype.is_floating_point:
        raise errors.dtype_not_supported("log_softmax", self.dtype, "floating-point dtypes")
    loss, total = nll_loss_forward(self, target, weight, reduction, ignore_index)
    return loss, (self.shape, self.dtype), total


def cross_entropy_rows_backward(
    grad_output: Any,
    log_probabilities: Any,
    target: Any,
    weight: Any,
    total_weight: Any,
    reduction: int,
    ignore_index: int,
    label_smoothing: float = 0.0,
) -> tuple[Any, Any]:
    """Shape: the scores'."""
    return log_probabilities.shape, log_probabilities.dtype


def ctc_loss(log_probs: Any, targets: Any, *rest: Any) -> tuple[Any, Any]:
    """Shape: (T, N, C) -> the losses (N) and alpha (N, T, 2 * longest + 1)."""
    times, batch = log_probs.shape[:2]
    longest = rest[3]
    return ((batch,), log_probs.dtype), ((batch, times, 2 * longest + 1), log_probs.dtype)


def ctc_loss_backward(grad_output: Any, log_probs: Any, *rest: Any) -> Any:
    """Shape: that of the log-probabilities."""
    return tuple(log_probs.shape), log_probs.dtype
