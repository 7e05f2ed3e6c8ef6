"""Gradients by running a layer once more, step by step.

The usual pass has one fused kernel per layer. Under create_graph the layer is run again by
operators, and differentiated with a graph of its own: that gives every higher order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.autograd import api, grad_mode
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

Gradients = tuple[Any, ...]


def is_recorded(*tensors: Tensor | None) -> bool:
    """Whether gradients of some of the tensors are to be recorded themselves."""
    return grad_mode.is_enabled() and any(t is not None and t.requires_grad for t in tensors)


def by_steps(
    run: Callable[[], Any], inputs: Sequence[Tensor | None], grads: list[Tensor]
) -> Gradients:
    """The gradients of what `run` computes, recorded themselves; None where none is needed.

    What an input has no influence on gives zeros, as the kernel that this stands for does.
    """
    wanted = [x for x in inputs if x is not None and x.requires_grad]
    outputs = run()
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    found = iter(api.grad(outputs, wanted, grads, create_graph=True, materialize_grads=True))
    return tuple(next(found) if x is not None and x.requires_grad else None for x in inputs)


def through(
    function: Callable[..., Any], inputs: Sequence[Tensor], grads: list[Tensor]
) -> Gradients:
    """The gradients of inputs through `function`, run once more; recorded if somebody records.

    None for all if the result depends on none that is asked for, as without a single step.
    """
    if grad_mode.is_enabled():
        result = function(*inputs)
        if not result.requires_grad:
            return (None,) * len(inputs)
        return by_steps(lambda: result, inputs, grads)
    with grad_mode.enable_grad():
        leaves: list[Any] = [ops.detach(x).requires_grad_(x.requires_grad) for x in inputs]
        wanted = [x for x in leaves if x.requires_grad]
        result = function(*leaves)
        if not result.requires_grad:
            return (None,) * len(inputs)
        found = iter(api.grad([result], wanted, grads, allow_unused=True))
    return tuple(next(found) if x.requires_grad else None for x in leaves)
