"""In-place writes through views, as history of the base."""

from __future__ import annotations

import weakref
from typing import Any

from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.node import Edge, Node, next_sequence_nr
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.dense import dense_layout
from torchgen_out._runtime.core.memory_format import contiguous_format
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor, alias
from torchgen_out._runtime.dispatch import ops

Geometry = tuple[Size, tuple[int, ...], int]

PARTS, PAIRS = "parts", "pairs"
"""What a view shows of a base of another dtype: the real and imaginary parts of its elements, or
pairs of them as complex ones. Geometries then count in different units."""


def _shown(base: Tensor, view: Tensor) -> str | None:
    if not (base._key ^ view._key) & keys.DTYPE_MASK:
        return None
    if base.dtype.is_complex == view.dtype.is_complex:
        return None
    return PARTS if base.dtype.is_complex else PAIRS


def _in_parts(geometry: Geometry) -> Geometry:
    """The same for the real and imaginary parts of complex elements, which become a last dim."""
    sizes, strides, offset = geometry
    return make_size((*sizes, 2)), (*[2 * stride for stride in strides], 1), 2 * offset


class AsStridedBackward0(Node):
    """as_strided
    self: as_strided_backward(grad, sizes, strides and offset of the base, of the view)
    """

    __slots__ = ("base", "shown", "view")
    base: Geometry
    shown: str | None
    view: Geometry

    def look_into(self, base: Tensor, view: Tensor) -> None:
        """Remember both geometries."""
        self.base = base._sizes, base._strides, base._offset
        self.view = view._sizes, view._strides, view._offset
        self.shown = _shown(base, view)

    def apply(self, grad: Any) -> tuple[Any, ...]:
        if self.shown is PARTS:
            parts = ops.as_strided_backward(grad, *_in_parts(self.base), *self.view)
            return (ops.view_as_complex(parts.contiguous()),)
        if self.shown is PAIRS:
            parts = ops.view_as_real(grad)
            return (ops.as_strided_backward(parts, *self.base, *_in_parts(self.view)),)
        return (ops.as_strided_backward(grad, *self.base, *self.view),)


class CopySlices(Node):
    """A write to a part of a tensor through a view of it.

    The part's gradient goes through the writing operator's node (`function`), the rest of the
    gradient to the base as it was before.
    """

    __slots__ = ("base", "function", "key", "shown", "view")
    base: Geometry
    function: Node
    key: int
    """Of the base."""
    shown: str | None
    view: Geometry

    takes_undefined = True

    def name(self) -> str:
        return "torch::autograd::CopySlices"

    def apply(self, grad: Any) -> tuple[Any, ...]:
        if grad is None:
            return (None,) * len(self.edges)
        remaining = self._copy(grad)
        part = self._part_of(remaining)
        through, *others = self.function.apply(self._received(grad, part))
        if self.edges[0] is None:
            return (None, *others)
        if through is None:
            part.zero_()
        else:
            part.copy_(through)
        return (remaining, *others)

    def _copy(self, grad: Tensor) -> Tensor:
        """A copy of the base's gradient, laid out as the base was."""
        sizes, strides, _ = self.base
        if strides == dense_layout(sizes).strides:
            return grad.clone(memory_format=contiguous_format)
        copy: Tensor = ops.empty_strided(sizes, strides, dtype=grad.dtype, device=grad.device)
        return copy.copy_(grad)

    def _received(self, grad: Tensor, part: Tensor) -> Tensor:
        """The gradient of what was written, not in the memory of `part`, which will change."""
        if grad._strides == self.base[1]:
            return self._part_of(grad)
        is_one_number = not any(grad._strides)  # as after a sum
        if is_one_number and self.shown is None and not grad_mode.state.enabled:
            sizes = self.view[0]
            return alias(grad, sizes, (0,) * len(sizes), grad._offset)
        return part.clone()

    def _part_of(self, grad: Tensor) -> Tensor:
        """What the view shows of a gradient that is laid out as the base."""
        sizes, strides, offset = self.view
        if self.shown is PARTS:
            parts: Tensor = ops.view_as_real(grad)
            return parts.as_strided(sizes, strides, parts._offset + offset - 2 * self.base[2])
        if self.shown is PAIRS:
            sizes, strides, offset = _in_parts(self.view)
            parts = grad.as_strided(sizes, strides, grad._offset + offset - self.base[2])
            pairs: Tensor = ops.view_as_complex(parts)
            return pairs
        place = grad._offset + offset - self.base[2]
        if grad_mode.state.enabled:
            return grad.as_strided(sizes, strides, place)
        return alias(grad, sizes, strides, place)  # the same, without a dispatch

    def release(self) -> None:
        self.function.release()


def copy_slices(base: Tensor, view: Tensor, function: Node, edge: Edge | None) -> CopySlices:
    """Return the node of a write to `view` by `function`, where `edge` was the base's."""
    node = CopySlices()
    node.base = base._sizes, base._strides, base._offset
    node.view = view._sizes, view._strides, view._offset
    node.key = base._key
    node.shown = _shown(base, view)
    node.function = function
    function._slices = weakref.ref(node)
    node.edges = (edge, *function.edges[1:])
    return node


def edge_of_written(function: Node, key: int) -> Edge | None:
    """Return where the gradient of what `function` wrote through a view goes.

    It is a part of the base. A way to the function itself would be a second one, and the first
    releases what the function has saved. None for a function that did not write through a view.
    """
    reference = getattr(function, "_slices", None)
    if reference is None:
        return None
    slices = reference()
    node = AsStridedBackward0()
    node.base, node.view, node.shown = slices.base, slices.view, slices.shown
    node.edges = ((slices, 0, slices.base[0], slices.key, None),)
    node.sequence_nr = next_sequence_nr()
    node.extras = None
    return (node, 0, slices.view[0], key, None)
