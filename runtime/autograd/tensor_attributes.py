"""The members of `Tensor` that belong to autograd; importing this module installs them."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import api, graph, hooks
from torchgen_out._runtime.autograd.detached_storage import TwinStorage
from torchgen_out._runtime.autograd.node import LEAF, Node
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.sparse import SparseStorage
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.core.user_warnings import warn

# -- requires_grad, grad_fn ---------------------------------------------------------------------


def _requires_grad(self: Tensor) -> bool:
    """Whether operators on this tensor are recorded."""
    return self._key & keys.GRAD != 0


def _set_requires_grad(self: Tensor, requires_grad: bool) -> None:
    if self._edge is not None:
        raise errors.requires_grad_of_non_leaf()
    requires_grad_(self, requires_grad)


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set `requires_grad` of a leaf, and return the tensor.

    Raises: RuntimeError for an integer tensor, and for switching a computed one off.
    """
    if not isinstance(requires_grad, bool):
        raise errors.bool_expected("requires_grad_", "requires_grad", requires_grad)
    if requires_grad:
        if not graph.is_differentiable(self):
            raise errors.requires_grad_dtype(self.dtype)
        self._key |= keys.GRAD
        if self._meta is not None and self._meta.creation == graph.NO_GRAD:
            self._meta.creation = graph.NO_GRAD_LEAF
    elif self._edge is not None:
        raise errors.requires_grad_of_non_leaf()
    else:
        self._key &= ~keys.GRAD
    return self


def _grad_fn(self: Tensor) -> Node | None:
    """The node that recorded how this tensor was made; None for a leaf."""
    if self._edge is None:
        return None
    edge = graph.gradient_edge(self)
    return None if edge is None or edge[1] == LEAF else edge[0]


def _output_nr(self: Tensor) -> int:
    """Which output of `grad_fn` this tensor is."""
    return 0 if self._edge is None else max(self._edge[1], 0)


def _is_view(self: Tensor) -> bool:
    """Return whether this tensor is a view that autograd knows of."""
    return self._base is not None


# -- the gradient -------------------------------------------------------------------------------


def _grad(self: Tensor) -> Tensor | None:
    """The gradient that `backward` has accumulated; None before the first."""
    meta = self._meta
    if meta is not None and (meta.grad is not None or meta.retains_grad):
        return meta.grad
    if self._edge is not None and self._edge[1] != LEAF:
        warn(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. It is "
            "filled by backward() only after .retain_grad() on the non-leaf Tensor.",
        )
    return None


def _set_grad(self: Tensor, grad: Tensor | None) -> None:
    if grad is not None:
        if not isinstance(grad, Tensor):
            raise errors.assigned_grad_type(grad)
        if grad is self:
            raise errors.own_grad()
        if grad._sizes != self._sizes:
            raise errors.assigned_grad_size(grad._sizes, self._sizes)
        if grad.dtype is not self.dtype:
            raise errors.assigned_grad_dtype(grad.dtype, self.dtype)
        if grad.device != self.device:
            raise errors.assigned_grad_device(grad.device, self.device)
    elif self._meta is None:
        return
    hooks.meta_of(self).grad = grad


def _delete_grad(self: Tensor) -> None:
    _set_grad(self, None)


def backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradients of this tensor with respect to the graph's leaves to their `.grad`.

    gradient: the gradient arriving at this tensor, needed unless it has one element.
    retain_graph: keep the graph for another backward. create_graph: record backward itself.
    inputs: the tensors to accumulate into, instead of all leaves.
    """
    api.backward(self, gradient, retain_graph, create_graph, inputs=inputs)


def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> hooks.RemovableHandle:
    """Call `hook(grad)` whenever this tensor's gradient is computed; it may return another.

    Raises: RuntimeError if the tensor does not require grad.
    """
    edge = graph.gradient_edge(self)
    if edge is None:
        raise errors.hook_without_grad()
    node, nr = edge[:2]
    if nr == LEAF:
        meta = hooks.meta_of(node)
        if meta.hooks is None:
            meta.hooks = OrderedDict()
        return hooks.add_hook(meta.hooks, hook)
    table = hooks.extras_of(node).tensor_hooks.setdefault(nr, OrderedDict())
    return hooks.add_hook(table, hook)


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], None]
) -> hooks.RemovableHandle:
    """Call `hook(tensor)` after a gradient has been added to this leaf's `.grad`.

    Raises: RuntimeError if the tensor is no leaf, or does not require grad.
    """
    if self._edge is not None:
        raise errors.post_hook_on_non_leaf()
    if not self._key & keys.GRAD:
        raise errors.hook_without_grad()
    meta = hooks.meta_of(self)
    if meta.post_hooks is None:
        meta.post_hooks = OrderedDict()
    return hooks.add_hook(meta.post_hooks, hook)


def retain_grad(self: Tensor) -> None:
    """Let `backward` fill `.grad` although this tensor is no leaf.

    Raises: RuntimeError if the tensor does not require grad.
    """
    if not self._key & keys.GRAD:
        raise errors.retain_without_grad()
    edge = graph.gradient_edge(self)
    if edge is None:
        return
    node, nr = edge[:2]
    meta = hooks.meta_of(self)
    if nr != LEAF and not meta.retains_grad:
        meta.retains_grad = True
        hooks.extras_of(node).retains[nr] = weakref.ref(self)


def _retains_grad(self: Tensor) -> bool:
    """Whether this is a non-leaf whose `.grad` is filled by `backward`."""
    return self._meta is not None and self._meta.retains_grad


# -- the data -----------------------------------------------------------------------------------


_OWN_BITS = keys.GRAD | keys.OVERRIDES
"""What of its key is a tensor's own, and not its data's."""


def _data(self: Tensor) -> Tensor:
    """The same data outside autograd. Writes to it go unnoticed: `detach()` is safer."""
    storage = self._storage if self._shared is None else self._shared
    key = self._key & ~_OWN_BITS
    return build(key, self._sizes, self._strides, self._offset, _twin(storage, 0), self._flat)


def _twin(storage: Storage, version: int) -> Storage:
    """The same memory, or the same entries, under a version counter of its own."""
    if isinstance(storage, SparseStorage):
        made = SparseStorage(storage.pattern, storage.values)
        made.version = version
        return made
    return TwinStorage(storage, version)


def _set_data(self: Tensor, source: Tensor) -> None:
    """Look into the data of `source` from here on; history and `.grad` stay."""
    if not isinstance(source, Tensor):
        raise errors.data_type(source)
    if self._key & keys.GRAD and not graph.is_differentiable(source):
        raise errors.requires_grad_dtype(source.dtype)
    version = self._storage.version
    self._storage = _twin(source._storage, version)
    self._key = source._key & ~_OWN_BITS | self._key & _OWN_BITS
    self._sizes = source._sizes
    self._strides = source._strides
    self._offset = source._offset
    self._flat = source._flat


def _is_inference(self: Tensor) -> bool:
    """Return whether this tensor was made in inference mode: never, here it is as no_grad."""
    return False


def _name(self: Tensor) -> str | None:
    return None if self._meta is None else self._meta.name


def _volatile(self: Tensor) -> bool:
    warn("volatile was removed (Variable.volatile is always False)")
    return False


def _creator(self: Tensor) -> None:
    raise errors.creator_is_grad_fn()


_class: Any = Tensor  # core/autograd_members.pyi has the types of what it gets
_class.requires_grad = property(_requires_grad, _set_requires_grad)
_class.requires_grad_ = requires_grad_
_class.grad_fn = property(_grad_fn)
_class.output_nr = property(_output_nr)
_class.grad = property(_grad, _set_grad, _delete_grad)
_class.backward = backward
_class.register_hook = register_hook
_class.register_post_accumulate_grad_hook = register_post_accumulate_grad_hook
_class.retain_grad = retain_grad
_class.retains_grad = property(_retains_grad)
_class.data = property(_data, _set_data)
_class.volatile = property(_volatile)
_class.creator = property(_creator)
_class.is_inference = _is_inference
_class.name = property(_name)
_class._is_view = _is_view
