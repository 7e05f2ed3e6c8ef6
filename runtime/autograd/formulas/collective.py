"""Gradients of collectives that reduce: a sum over ranks, and the sum's mean."""

from __future__ import annotations

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


def _check_linear(name: str, reduce_op: str) -> None:
    if reduce_op not in ("sum", "avg"):
        raise RuntimeError(f"{name}: '{reduce_op}' has no derivative, only sum and avg have")


def all_reduce_backward(grad: Tensor, reduce_op: str, group_name: str) -> Tensor:
    """Each rank's input is in all results: reduce the gradients likewise."""
    _check_linear("all_reduce", reduce_op)
    total: Tensor = ops._c10d_all_reduce(grad, reduce_op, group_name)
    return total


def reduce_backward(grad: Tensor, reduce_op: str, dst: int, group_name: str) -> Tensor:
    """The one result has all inputs: they get its gradient."""
    if reduce_op != "sum":
        raise RuntimeError(f"reduce: '{reduce_op}' has no derivative, only sum has")
    found: Tensor = ops._c10d_broadcast(grad, dst, group_name)
    return found


def reduce_scatter_tensor_backward(
    grad: Tensor, reduce_op: str, group_size: int, group_name: str
) -> Tensor:
    """Each part gets the gradient of the rank that has its reduction."""
    _check_linear("reduce_scatter", reduce_op)
    gathered: Tensor = ops._c10d_all_gather_into_tensor(grad, group_size, group_name)
    return gathered if reduce_op == "sum" else gathered / group_size
