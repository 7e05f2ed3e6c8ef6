"""Tensors kept for backward: `save` at the call, `unpack` in the node, with versions compared.

A saved input is `(tensor, version)`, a saved result `(*parts, version, output number)`: what makes
the tensor again but for its history, so that a node does not keep itself alive; unpacking while
recording gives that back. A number is itself. With hooks active, and for an absent tensor, it is a
`Packed`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode, graph, view_history
from torchgen_out._runtime.autograd.node import Edge, Node, on_read
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, alias, build
from torchgen_out._runtime.dispatch import ops


class _Hooks(threading.local):
    """The pairs (pack, unpack) in force in this thread; the last one counts."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = []
        self.forbidden: str | None = None


_hooks = _Hooks()
_lock = threading.Lock()
any_hooks = 0  # threads and contexts that use hooks: `save` looks no further while there are none


class Packed:
    """A saved tensor handed over to hooks: what they made of it, and how it is given back."""

    __slots__ = ("content", "edge", "unpack_hook")

    def __init__(self, content: Any, unpack_hook: Any, edge: Any) -> None:
        self.content = content
        self.unpack_hook = unpack_hook
        self.edge = edge


_new = object.__new__
_OUTSIDE_AUTOGRAD = ~(keys.GRAD | keys.OVERRIDES)
_ABSENT = Packed(None, None, None)


def save(tensor: Tensor | None) -> Any:
    """Keep an argument of the recorded call."""
    if tensor is None:
        return _ABSENT
    if any_hooks and _hooks.pairs:
        return _pack(tensor, graph.gradient_edge(tensor))
    storage = tensor._shared
    return (tensor, 0 if storage is None else storage.version)


def save_operand(value: Tensor | Any) -> Any:
    """Keep an argument that may be a number."""
    if value.__class__ is Tensor and not any_hooks:
        storage = value._shared
        return (value, 0 if storage is None else storage.version)
    return save(value) if value is None or isinstance(value, Tensor) else value


def save_original(tensor: Tensor) -> Any:
    """Keep an argument which the recorded call is about to overwrite: a copy of it."""
    return save(ops.clone(tensor))


def save_all(tensors: Sequence[Tensor | None]) -> list[Any]:
    """Keep a list of arguments."""
    return [save(tensor) for tensor in tensors]


def save_result(tensor: Tensor | None, nr: int = 0) -> Any:
    """Keep a result of the recorded call. To be called before it is attached, or after."""
    if tensor is None:
        return _ABSENT
    flat = tensor._flat
    storage = tensor._shared
    if storage is None:  # no other thread knows the result yet
        storage = tensor._shared = _new(Storage)
        storage.buffer = flat
        storage.version = 0
    key = tensor._key & _OUTSIDE_AUTOGRAD
    if any_hooks and _hooks.pairs:
        parts = (key, tensor._sizes, tensor._strides, tensor._offset, storage, flat)
        return _pack(build(*parts), nr)
    sizes, strides, offset = tensor._sizes, tensor._strides, tensor._offset
    return (key, sizes, strides, offset, storage, flat, storage.version, nr)


def unpack(saved: Any, node: Node) -> Any:
    """Return a kept tensor.

    Raises: RuntimeError if the node was released, or the tensor written to in the meantime.
    """
    if saved.__class__ is tuple:
        if len(saved) != 2:
            return _unpack_result(node, *saved)
        tensor, version = saved
        storage = tensor._shared
        if storage is not None and storage.version != version:
            raise _modified(tensor, node, version, *(tensor._edge or (None, 0))[:2])
        return tensor
    if saved is None:
        raise errors.saved_tensors_released()
    return _unpack_packed(saved, node) if saved.__class__ is Packed else saved


def _unpack_result(
    node: Node,
    key: int,
    sizes: Size,
    strides: tuple[int, ...],
    offset: int,
    storage: Storage,
    flat: Any,
    version: int,
    nr: int,
) -> Tensor:
    tensor = build(key, sizes, strides, offset, storage, flat)
    if storage.version != version:
        raise _modified(tensor, node, version, node, nr)
    return _with_history(tensor, node, nr) if grad_mode.state.enabled else tensor


def read(node: Node, slot: str) -> Any:
    """Return what a node keeps in a slot, for users who ask: `grad_fn._saved_self`.

    None for what no gradient needs. **Raises** RuntimeError as `unpack`.
    """
    value = getattr(node, slot, _ABSENT)
    if value is None and slot in type(node).release.__code__.co_names:
        raise errors.saved_tensors_released()
    if value.__class__ is list:
        return unpack_all(value, node)
    return unpack(value, node) if _is_saved(value) else value


def _is_saved(value: Any) -> bool:
    """Whether a value is what `save` and `save_result` keep in place of a tensor."""
    if value.__class__ is not tuple:
        return value.__class__ is Packed
    is_result = len(value) == 8 and isinstance(value[4], Storage)
    return is_result or (len(value) == 2 and isinstance(value[0], Tensor))


def read_raw(node: Node, slot: str) -> Any:
    """Return the `SavedTensor` of a slot, a tuple of them for a list; else NotImplemented."""
    value = getattr(node, slot, None)
    if value.__class__ is list:
        if not all(map(_is_saved, value)):
            return NotImplemented
        return tuple([SavedTensor(node, slot, place) for place in range(len(value))])
    is_released = value is None and slot in type(node).release.__code__.co_names
    return SavedTensor(node, slot) if is_released or _is_saved(value) else NotImplemented


class SavedTensor:
    """Where a node keeps a tensor, `grad_fn._raw_saved_self`: this one may be given hooks."""

    __slots__ = ("_node", "_place", "_slot")

    def __init__(self, node: Node, slot: str, place: int | None = None) -> None:
        self._node = node
        self._slot = slot
        self._place = place

    def register_hooks(
        self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
    ) -> None:
        """Hand the tensor to `pack_hook` now; `unpack_hook` gives it back in backward.

        **Raises** RuntimeError for None, after the graph was used up, and if it has hooks.
        """
        if not (callable(pack_hook) and callable(unpack_hook)):
            raise TypeError("register_hooks(): both hooks must be callable")
        kept = getattr(self._node, self._slot)
        value = kept if self._place is None or kept is None else kept[self._place]
        if value is None:
            raise errors.hooks_after_release()
        if value is _ABSENT:
            raise errors.hooks_of_none()
        if value.__class__ is Packed:
            raise errors.hooks_registered_twice()
        packed = _repacked(value, self._node, (pack_hook, unpack_hook))
        if self._place is not None:
            others = list(kept)
            others[self._place] = packed
            packed = type(kept)(others)
        setattr(self._node, self._slot, packed)


def _repacked(value: Any, node: Node, pair: Any) -> Any:
    """What a slot keeps once the tensor in it was handed to hooks."""
    with grad_mode.no_grad():
        tensor = unpack(value, node)
    place = value[7] if len(value) == 8 else graph.gradient_edge(tensor)
    return _pack(tensor, place, pair)


on_read(read, read_raw)


def unpack_all(saved: Any, node: Node) -> list[Any]:
    """Return a list of kept tensors."""
    if saved is None:
        raise errors.saved_tensors_released()
    return [unpack(each, node) for each in saved]


def _with_history(detached: Tensor, node: Node, nr: int) -> Tensor:
    """The saved result as it came from the call: with the node as its history."""
    edge = view_history.edge_of_written(node, detached._key)
    return _with_edge(detached, edge or (node, nr, detached._sizes, detached._key, None))


def _with_edge(detached: Tensor, edge: Edge) -> Tensor:
    result = alias(detached, detached._sizes, detached._strides, detached._offset)
    if graph.is_differentiable(result):
        result._edge = edge
        result._key |= keys.GRAD
    return result


def _modified(tensor: Tensor, node: Node, version: int, maker: Any, nr: int) -> RuntimeError:
    """Name the tensor, output `nr` of `maker` or a leaf, and both versions."""
    device = "" if tensor.device.type == "cpu" else f"{tensor.device.type}."
    what = f"torch.{device}{tensor.dtype!r} {list(tensor._sizes)}".replace("torch.torch.", "torch.")
    made_by = f"output {nr} of {maker.name()}" if isinstance(maker, Node) else "a leaf"
    return errors.saved_tensor_modified(
        what, made_by, node.name(), tensor._storage.version, version
    )


def _pack(tensor: Tensor, place: Any, pair: Any = None) -> Packed:
    pack_hook, unpack_hook = pair or _hooks.pairs[-1]
    version = tensor._storage.version
    with grad_mode.no_grad():
        content = pack_hook(tensor)
    if tensor._storage.version != version:
        raise errors.pack_hook_wrote()
    return Packed(content, unpack_hook, place)


def _unpack_packed(saved: Packed, node: Node) -> Any:
    if saved is _ABSENT:
        return None
    tensor = saved.unpack_hook(saved.content)
    if not isinstance(tensor, Tensor):
        raise errors.unpack_hook_result(tensor)
    edge = saved.edge
    if edge is None or not grad_mode.state.enabled:
        return tensor
    if edge.__class__ is int:
        return _with_history(tensor, node, edge)
    return _with_edge(tensor, edge)


class saved_tensors_hooks:
    """Hand every tensor saved inside to `pack_hook`; `unpack_hook` gives it back in backward.

    **Example** `with saved_tensors_hooks(lambda x: x.numpy(), torch.from_numpy): loss = f(x)`
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        global any_hooks
        if _hooks.forbidden is not None:
            raise RuntimeError(_hooks.forbidden)
        _hooks.pairs.append((self.pack_hook, self.unpack_hook))
        with _lock:
            any_hooks += 1

    def __exit__(self, *exc: object) -> None:
        global any_hooks
        _hooks.pairs.pop()
        with _lock:
            any_hooks -= 1


class disable_saved_tensors_hooks:
    """Refuse saved tensors' hooks inside, with `error_message`."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        if _hooks.pairs:
            raise RuntimeError(self.error_message)
        self.before = _hooks.forbidden
        _hooks.forbidden = self.error_message

    def __exit__(self, *exc: object) -> None:
        _hooks.forbidden = self.before


public.place("autograd.graph", disable_saved_tensors_hooks, saved_tensors_hooks)
