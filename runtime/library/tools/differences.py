"""Says of a wrong derivative where it is wrong and by how much: a line, not two Jacobians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import torchgen_out
from torchgen_out._runtime.autograd.api import grad
from torchgen_out._runtime.autograd.gradcheck import analytical_jacobians, numerical_jacobians
from torchgen_out._runtime.core.tensor import Tensor

STEP, RTOL, ATOL = 1e-6, 1e-3, 1e-5
"""What `gradcheck` takes by default."""


def first_difference(
    function: Callable[..., Any], leaves: Sequence[Tensor], names: Sequence[str], twice: bool
) -> str | None:
    """The first wrong derivative of the outputs, or of their gradients; None if all are right."""
    inputs, outputs = list(leaves), "result"
    if twice:
        results = function(*leaves)
        arriving = [torchgen_out.randn(r.shape, dtype=r.dtype).requires_grad_() for r in results]
        names = [*names, *(f"grad of result {i}" for i in range(len(arriving)))]
        inputs, outputs = [*leaves, *arriving], "gradient"
        function = _gradients_of(function, len(leaves))
    numerical = [numerical_jacobians(function, inputs, x, STEP) for x in inputs]
    for o, output in enumerate(function(*inputs)):
        for i, found in enumerate(analytical_jacobians(output, inputs)):
            told = _told(found, numerical[i][o], output, inputs[i])
            if told:
                which = f"{outputs} {o}" if outputs == "result" else f"{outputs} of {names[o]}"
                return f"derivative of {which} with respect to {names[i]}: {told}"
    return None


def _gradients_of(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The gradients of `count` leaves as a function of these and of what arrives at the results."""

    def gradients(*inputs: Any) -> tuple[Any, ...]:
        leaves, arriving = inputs[:count], inputs[count:]
        found = grad(function(*leaves), leaves, arriving, create_graph=True, allow_unused=True)
        return tuple(each for each in found if each is not None and each.requires_grad)

    return gradients


def _told(found: Any, wanted: Any, output: Tensor, moved: Tensor) -> str | None:
    """Jacobians have a row per element (and part) of the output, a column per element moved."""
    if found.shape != wanted.shape:
        return f"Jacobian of shape {found.shape}, by differences {wanted.shape}"
    wrong = ~np.isclose(found, wanted, rtol=RTOL, atol=ATOL, equal_nan=True)
    if not wrong.any():
        return None
    errors = np.where(wrong, np.nan_to_num(np.abs(found - wanted), nan=np.inf), -1.0)
    row, column = np.unravel_index(int(np.argmax(errors)), found.shape)
    return (
        f"{found[row, column]:.6g} where differences give {wanted[row, column]:.6g}, "
        f"from element {_place(int(column), moved)} to element {_place(int(row), output)}; "
        f"{int(wrong.sum())} of {wrong.size} are wrong, this one most"
    )


def _place(position: int, tensor: Tensor) -> tuple[int, ...]:
    index = np.unravel_index(position % max(tensor.numel(), 1), tuple(tensor.shape))
    return tuple(int(each) for each in index)
