"""Hooks on tensors and nodes: where they are kept, how one is removed, how gradients pass them."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import AutogradMeta, Tensor

__all__ = ["RemovableHandle"]


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook out again.

    A context manager as well: leaving it removes the hook. `extra_dict` names further tables
    that know the hook by its number.
    """

    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        tables = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(table) for table in tables if table is not None)

    def remove(self) -> None:
        """Take the hook out. Doing it twice is no error."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> Any:
        """The tables themselves: copied and pickled with whoever holds them, they stay his."""
        tables = [reference() for reference in (self.hooks_dict_ref, *self.extra_dict_ref)]
        return self.id, tables

    def __setstate__(self, state: Any) -> None:
        self.id, tables = state
        known = [OrderedDict() if table is None else table for table in tables]
        self.hooks_dict_ref, *extra = (weakref.ref(table) for table in known)
        self.extra_dict_ref = tuple(extra)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def add_hook(table: OrderedDict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    """Put `hook` at the end of `table`."""
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle


def meta_of(tensor: Any) -> AutogradMeta:
    """Return the tensor's autograd record, made if it has none."""
    if tensor._meta is None:
        tensor._meta = AutogradMeta()
    meta: AutogradMeta = tensor._meta
    return meta


class Extras:
    """What only some nodes carry.

    tensor_hooks: per output number the hooks of the tensor made there, run before the node.
    retains: per output number a weak reference to the tensor that keeps its gradient.
    pre_hooks, post_hooks: the node's own. metadata: the user's dictionary, also anomaly mode's.
    """

    __slots__ = ("metadata", "post_hooks", "pre_hooks", "retains", "tensor_hooks")

    def __init__(self) -> None:
        self.metadata: dict[Any, Any] = {}
        self.tensor_hooks: dict[int, OrderedDict[int, Any]] = {}
        self.retains: dict[int, Any] = {}
        self.pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self.post_hooks: OrderedDict[int, Any] = OrderedDict()


SEVERAL_OUTPUTS = Extras()
"""The extras of a node of several outputs that has none of its own: nothing, but not None. So the
engine need not ask every node for its outputs."""


def extras_of(node: Any) -> Extras:
    """Return a node's extras, made if it has none."""
    if node.extras is None or node.extras is SEVERAL_OUTPUTS:
        node.extras = Extras()
    extras: Extras = node.extras
    return extras


def pass_through(hooks: OrderedDict[int, Any], grad: Any) -> Any:
    """Return the gradient after `hooks`, each of which may replace it."""
    for hook in list(hooks.values()):
        replaced = hook(grad)
        if replaced is None:
            continue
        if not isinstance(replaced, Tensor):
            raise errors.hook_result(replaced)
        if replaced._sizes != grad._sizes:
            raise errors.hook_size(hook, replaced._sizes, grad._sizes)
        grad = replaced
    return grad


def before_tensors(extras: Extras, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """Pass the gradients of a node's outputs through the hooks of the tensors made there."""
    if not extras.tensor_hooks and not extras.retains:
        return grads
    passed = list(grads)
    for nr, table in extras.tensor_hooks.items():
        if passed[nr] is not None:
            passed[nr] = pass_through(table, passed[nr])
    for nr, reference in extras.retains.items():
        tensor = reference()
        if tensor is not None and passed[nr] is not None:
            keep_gradient(tensor, passed[nr])
    return tuple(passed)


def before_node(extras: Extras, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """Pass what a node is about to receive through its pre-hooks."""
    for hook in list(extras.pre_hooks.values()):
        grads = _replacement(hook(grads), grads)
    return grads


def after_node(extras: Extras, results: tuple[Any, ...], grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """Pass what a node has made through its post-hooks."""
    for hook in list(extras.post_hooks.values()):
        results = _replacement(hook(results, grads), results)
    return results


def _replacement(returned: Any, before: tuple[Any, ...]) -> tuple[Any, ...]:
    if returned is None:
        return before
    after = returned if isinstance(returned, tuple) else (returned,)
    if len(after) != len(before):
        raise errors.hook_count(len(before), len(after))
    return after


def keep_gradient(tensor: Any, grad: Any) -> None:
    """Store the gradient of a non-leaf that retains it, adding to one from before."""
    meta = meta_of(tensor)
    meta.grad = grad.clone() if meta.grad is None else meta.grad + grad


public.place_all("utils.hooks", globals())
