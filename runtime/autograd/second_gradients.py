"""Gradients that are constant in the operands of their call, for who differentiates them again.

PyTorch's backward of `relu` is an operator of gradient and operand, whose own derivative by the
operand is zero. Nodes here keep no operand for that: a second backward goes by the edges that the
node has anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.autograd import accumulate
from torchgen_out._runtime.autograd.graph import attach, gradient_edge
from torchgen_out._runtime.autograd.node import Edge, Node
from torchgen_out._runtime.dispatch import ops

Edges = tuple[Edge | None, ...]


class ConstantBackward0(Node):
    """A gradient as a function of itself, and of operands in which it is constant."""

    __slots__ = ()

    def apply(self, grad: Any) -> tuple[Any, ...]:
        """Pass the gradient on; operands get zeros."""
        _, *operands = self.edges
        return grad, *[None if edge is None else _zeros(edge) for edge in operands]


def _zeros(edge: Edge) -> Any:
    return accumulate.zeros(edge[2], edge[3])


def zero(node: Node, grads: Sequence[Any]) -> tuple[Any, ...]:
    """Gradients of a node's operands, recorded with gradient zero in all of them."""
    return tuple([None if grad is None else _recorded(grad, node.edges) for grad in grads])


def none(node: Node, grads: Sequence[Any]) -> tuple[Any, ...]:
    """The same, requiring grad, but without gradient in operands that they do not depend on."""
    return tuple(
        [grad if grad is None or grad.requires_grad else _recorded(grad, ()) for grad in grads]
    )


def _recorded(grad: Any, edges: Edges) -> Any:
    node = ConstantBackward0()
    node.edges = (gradient_edge(grad), *edges)
    result = ops.detach(grad)
    attach(result, node)
    return result
