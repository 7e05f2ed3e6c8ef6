"""How the statements of losses see scores, and the classes that targets name."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import View


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
