"""In-place writes through views, as history of the base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runtime.autograd.node import Edge, Node
from runtime.core.tensor import Tensor
from runtime.dispatch import ops

Geometry = tuple[Sequence[int], tuple[int, ...], int]


class AsStridedBackward0(Node):
    """as_strided
    self: as_strided_backward(grad, sizes, strides and offset of the base, of the view)
    """

    __slots__ = ("base", "view")
    base: Geometry
    view: Geometry

    def look_into(self, base: Tensor, view: Tensor) -> None:
        """Remember both geometries."""
        self.base = base._sizes, base._strides, base._offset
        self.view = view._sizes, view._strides, view._offset

    def apply(self, grad: Any) -> tuple[Any, ...]:
        return (ops.as_strided_backward(grad, *self.base, *self.view),)


class CopySlices(Node):
    """A write to a part of a tensor through a view of it.

    The part's gradient goes through the writing operator's node (`function`), the rest of the
    gradient to the base as it was before.
    """

    __slots__ = ("base", "function", "view")
    base: Geometry
    function: Node
    view: Geometry

    takes_undefined = True

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def apply(self, grad: Any) -> tuple[Any, ...]:
        if grad is None:
            return (None,) * len(self.edges)
        sizes, strides, offset = self.base
        view_sizes, view_strides, view_offset = self.view
        remaining = ops.empty_strided(sizes, strides, dtype=grad.dtype, device=grad.device)
        remaining.copy_(grad)
        part = remaining.as_strided(view_sizes, view_strides, view_offset - offset)
        through, *others = self.function.apply(part.clone())
        if self.edges[0] is None:
            return (None, *others)
        if through is None:
            part.zero_()
        else:
            part.copy_(through)
        return (remaining, *others)

    def release(self) -> None:
        self.function.release()


def copy_slices(base: Tensor, view: Tensor, function: Node, edge: Edge | None) -> CopySlices:
    """Return the node of a write to `view` by `function`, where `edge` was the base's."""
    node = CopySlices()
    node.base = base._sizes, base._strides, base._offset
    node.view = view._sizes, view._strides, view._offset
    node.function = function
    node.edges = (edge, *function.edges[1:])
    return node
