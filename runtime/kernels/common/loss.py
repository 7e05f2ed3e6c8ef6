"""How the statements of losses see scores, and the classes that targets name."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import View


def nll_loss_forward(
    output: Any,
    total_weight: Any,
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
) -> dict[str, View | int] | None:
    """Scores as samples of classes of places, targets as a vector; losses, and how many make each
    result."""
    batch = len(self.sizes) > 1
    places, count = prod(self.sizes[batch + 1 :]), prod(target.sizes)
    behind = merged_stride(self.sizes[batch + 1 :], self.strides[batch + 1 :])
    step = merged_stride(target.sizes, target.strides)
    if behind is None or step is None:
        return None
    sizes = (self.sizes[0] if batch else 1, self.sizes[batch], places)
    strides = (self.strides[0] if batch else 0, self.strides[batch], behind)
    return {
        "self": View(sizes, strides),
        "target": View((count,), (step,)),
        "places": max(places, 1),
        **_summed(output, total_weight, count),
    }


def _summed(output: Any, total_weight: Any, count: int) -> dict[str, View | int]:
    """Results as vectors; how many there are, and of how many losses each is the sum."""
    results = prod(output.sizes)
    return {
        "output": View((results,), (1,)),
        "total_weight": View((1,), (1,)),
        "results": results,
        "summed": 1 if output.sizes else count,
    }


def cross_entropy_rows(
    output: Any,
    log_probabilities: Any,
    total_weight: Any,
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    label_smoothing: float = 0.0,
) -> dict[str, View | int | float]:
    """Losses, and how many make each result."""
    count, classes = self.sizes
    return {"classes": float(classes), **_summed(output, total_weight, count)}


def cross_entropy_rows_backward(
    out: Any,
    grad_output: Any,
    log_probabilities: Any,
    target: Any,
    weight: Any,
    total_weight: Any,
    reduction: int,
    ignore_index: int,
    label_smoothing: float = 0.0,
) -> dict[str, View | int | float]:
    """A gradient for each row, or one for all."""
    count, classes = log_probabilities.sizes
    step = 0 if reduction else grad_output.strides[0]
    return {
        "grad_output": View((count,), (step,)),
        "total_weight": View((1,), (1,)),
        "classes": float(classes),
    }


def nll_loss_backward(
    out: Any,
    grad_output: Any,
    target: Any,
    weight: Any,
    total_weight: Any,
    sizes: Any,
    reduction: int,
    ignore_index: int,
) -> dict[str, View | int] | None:
    """Samples of places, before which the result has its classes; one gradient may be for all."""
    batch = len(sizes) > 1
    count, classes, places = sizes[0] if batch else 1, sizes[batch], prod(sizes[batch + 1 :])
    views: dict[str, View | int] = {"classes": classes, "step": 1}
    views["total_weight"] = View((1,), (1,))
    for name, each, behind in (("target", target, batch), ("grad_output", grad_output, batch)):
        if name == "grad_output" and reduction:
            views[name] = View((count, places), (0, 0))
            continue
        step = merged_stride(each.sizes[behind:], each.strides[behind:])
        if step is None:
            return None
        views[name] = View((count, places), (each.strides[0] if batch else 0, step))
    step = merged_stride(out.sizes[batch + 1 :], out.strides[batch + 1 :])
    if step is None:
        return None
    first = out.strides[0] if batch else 0
    views["out"] = View((count, classes, places), (first, out.strides[batch], step))
    return views
