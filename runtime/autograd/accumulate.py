"""Adding gradients up: of several uses of a tensor, and into the `.grad` of a leaf.

Gradients are written to in place, or kept without a copy, only if nobody else can see them: the
tensor and its storage have no references beyond those of the engine's own variables.
"""

from __future__ import annotations

import sys
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode, hooks
from torchgen_out._runtime.autograd.detached_storage import TwinStorage
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.memory_format import contiguous_format
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.sparse import SparseStorage, is_sparse
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import AutogradMeta, Tensor, build
from torchgen_out._runtime.dispatch import ops

FRESH = 1 << 30
"""References allowed to a sum that was just made: nobody else can have it."""

unshared = 0
"""References to a gradient on its way to `into_leaf` that nobody else has. It depends on the
interpreter: `engine._measure_references` sets it."""

_GRAD = keys.GRAD
_references = sys.getrefcount


def add(old: Tensor, new: Tensor) -> Tensor:
    """Return the sum of two gradients, of which the caller gives up the first."""
    if (
        _references(old) <= _ARGUMENT
        and not grad_mode.state.enabled
        and _has_memory_alone(old)
        and old._dense() is not None
    ):
        return old.add_(new)
    return _sum_of(old, new)


def _has_memory_alone(grad: Tensor) -> bool:
    """Whether no other tensor or array looks into the memory of this one.

    A base that only this view of it knows does not count. Beyond its storage, the buffer is known
    to the flat arrays of the tensor and of the base.
    """
    base = grad._base
    if grad._shared is None:  # there has been no view
        return _references(grad._flat) <= _BUFFER
    storage = grad._storage
    if storage.__class__ is SparseStorage:
        return False
    arrays = 0 if grad._flat is None else 1
    if base is None:
        known = _references(storage) <= _STORAGE
    else:
        known = _references(storage) <= _STORAGE + 1 and _references(base) <= _BASE
        arrays += 0 if base._flat is None else 1
    return (
        known
        and _references(storage.buffer) <= _BUFFER + arrays
        and storage.__class__ is not TwinStorage
    )


def _measure_references() -> tuple[int, int, int, int]:
    """How often the interpreter counts what only these variables, or one argument, refer to."""

    def argument(value: Tensor) -> int:
        return _references(value)

    def memory(grad: Tensor) -> tuple[int, int, int]:
        storage, base = grad._storage, grad._base
        return _references(storage), _references(base), _references(storage.buffer)

    def view() -> Tensor:
        storage = Storage(None)
        storage.buffer = []
        base = build(0, Size(()), (), 0, storage)
        made = build(0, Size(()), (), 0, base._storage)
        made._base = base
        return made

    of_storage, of_base, of_buffer = memory(view())
    return argument(view()), of_storage - 1, of_base, of_buffer


_ARGUMENT, _STORAGE, _BASE, _BUFFER = _measure_references()


def zeros(sizes: Any, key: int) -> Tensor:
    """Return the gradient of an output that had no influence."""
    dtype = dtypes.BY_INDEX[key & keys.DTYPE_MASK]
    device = devices.device(devices.type_name(key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK))
    made: Tensor = ops.zeros(sizes, dtype=dtype, device=device)
    return made


def pass_hooks(leaf: Tensor, grad: Tensor | None) -> Tensor | None:
    """Return the gradient after the leaf's own hooks."""
    meta = leaf._meta
    if grad is None or meta is None or not meta.hooks:
        return grad
    passed: Tensor = hooks.pass_through(meta.hooks, grad)
    return passed


def into_leaf(leaf: Tensor, grad: Tensor, references: int) -> None:
    """Add `grad` to `leaf.grad`, with the hooks that stand around it, if it still requires grad.

    references: how many references `grad` has if nobody but the engine knows it.
    """
    meta = leaf._meta
    if meta is None:
        meta = leaf._meta = AutogradMeta()
    node = meta.accumulator
    if meta.hooks or (node is not None and node.extras is not None):
        _through_hooks(leaf, grad, meta)
        return
    before = meta.grad
    if not leaf._key & _GRAD:
        pass  # frozen since the call was recorded; as in PyTorch hooks run all the same
    elif before is None:
        if (
            _references(grad) > references
            or grad._strides != leaf._strides
            or grad_mode.state.enabled
            or not _has_memory_alone(grad)
        ):
            grad = _own_copy(leaf, grad)
        grad._base = None
        meta.grad = grad
    elif grad_mode.state.enabled:
        meta.grad = _sum_of(before, grad)
    else:
        try:
            before.add_(grad)
        except errors.DenseIntoSparse:
            meta.grad = _sum_of(before, grad)
    if meta.post_hooks:
        for hook in list(meta.post_hooks.values()):
            hook(leaf)


def _through_hooks(leaf: Tensor, grad: Tensor, meta: AutogradMeta) -> None:
    """`into_leaf` for a leaf that has hooks, or whose accumulator does."""
    table, meta.hooks = meta.hooks, None
    node, meta.accumulator = meta.accumulator, None
    try:
        if table:
            grad = hooks.pass_through(table, grad)
        extras = None if node is None else node.extras
        grads = (grad,) if extras is None else hooks.before_node(extras, (grad,))
        if grads[0] is not None:
            into_leaf(leaf, grads[0], 0)
        if extras is not None:
            hooks.after_node(extras, (), grads)
    finally:
        meta.hooks, meta.accumulator = table, node


def _sum_of(before: Tensor, grad: Tensor) -> Tensor:
    """A new sum of gradients, of which either may be sparse; two sparse ones join their entries."""
    if is_sparse(before) and not is_sparse(grad):
        before, grad = grad, before
    return ops.add(before, grad)


def _own_copy(leaf: Tensor, grad: Tensor) -> Tensor:
    """A copy of the gradient in the leaf's shape and memory layout.

    The shape is another one if the leaf took it, as by `unsqueeze_`, after its use.
    """
    if is_sparse(grad):
        return grad if grad_mode.state.enabled else ops.detach(grad)
    if grad._strides == leaf._strides:
        return grad.clone()
    if (grad._sizes == leaf._sizes and leaf.is_contiguous()) or not _is_dense(leaf):
        return grad.clone(memory_format=contiguous_format)
    copy: Tensor = ops.empty_strided(
        leaf._sizes, leaf._strides, dtype=grad.dtype, device=grad.device
    )
    copy.copy_(grad)
    return copy


def _is_dense(leaf: Tensor) -> bool:
    """Whether a leaf's elements lie one behind the other in some order of its dims."""
    step = 1
    for stride, size in sorted(zip(leaf._strides, leaf._sizes, strict=True)):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def clear(tensor: Any, set_to_none: bool) -> None:
    """Drop what has accumulated in a tensor, or set it to zero, outside of the graph."""
    grad = tensor.grad
    if grad is None:
        return
    if set_to_none:
        tensor.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()
