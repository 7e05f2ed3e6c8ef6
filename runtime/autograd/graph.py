"""Where tensors meet nodes: edges, views and their bases, in-place writes.

Recorded calls go through here. `gradient_edge`, `attach`, `attach_view` and `track_view` are on
the way of every call: 30 to 150 ns each.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import anomaly, grad_mode, hooks, view_history
from torchgen_out._runtime.autograd.node import LEAF, Edge, MultiOutputNode, Node, next_sequence_nr
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor

_GRAD = keys.GRAD

_DIFFERENTIABLE = [
    dtype is not None and (dtype.is_floating_point or dtype.is_complex) for dtype in dtypes.BY_INDEX
] + [False] * (keys.DTYPE_MASK + 1 - len(dtypes.BY_INDEX))

# Why a view may not be written to while recording. One that was made in no_grad looks as if it
# required grad when its base does, but gets none until it is asked to by `requires_grad_`.
NO_GRAD, NO_GRAD_LEAF = "no_grad", "no_grad_leaf"
MULTI_OUTPUT, CUSTOM_FUNCTION = "multi_output", "custom_function"

_OUTDATED = -1
"""The version in the edge of a view whose history is to be made anew: no storage has it."""


# -- edges ------------------------------------------------------------------------------------


def gradient_edge(tensor: Tensor) -> Edge | None:
    """Return where the gradient of `tensor` goes, or None if it does not require grad."""
    edge = tensor._edge
    if edge is None:
        if tensor._key & _GRAD == 0:
            return None
        if tensor._base is not None and _is_cut_off(tensor):
            return None
        return (tensor, LEAF, tensor._sizes, tensor._key, None)
    version = edge[4]
    if version is None or version == tensor._storage.version:
        return edge
    return _refresh_view(tensor)


def gradient_edges(tensors: Sequence[Tensor | None]) -> tuple[Edge | None, ...]:
    """Return the edges of a list of tensors, None for an absent one."""
    return tuple([None if tensor is None else gradient_edge(tensor) for tensor in tensors])


def _is_cut_off(view: Tensor) -> bool:
    """Whether a view without history was made in no_grad, and so gets no gradient.

    Raises: RuntimeError if its base has been written to since.
    """
    meta = view._meta
    if meta is None or meta.creation is None or not meta.creation.startswith(NO_GRAD):
        return False
    if meta.base_version != view._storage.version:
        raise _forbidden_write(view, indirect=True)
    return meta.creation == NO_GRAD


def is_differentiable(tensor: Tensor) -> bool:
    """Return whether tensors of this dtype can have gradients."""
    return _DIFFERENTIABLE[tensor._key & keys.DTYPE_MASK]


def attach(result: Tensor, node: Node) -> None:
    """Make `node` the history of `result`, its only output."""
    node.sequence_nr = next_sequence_nr()
    node.extras = None
    if anomaly.is_on:
        anomaly.remember(node)
    key = result._key
    if _DIFFERENTIABLE[key & 31]:
        result._key = key | _GRAD
        result._edge = (node, 0, result._sizes, key, None)


def attach_unary(result: Tensor, operand: Tensor, node: Node) -> None:
    """Make `node` the history of `result`, which is its only output, as `operand` its only input.

    Its edge is taken here: a call of `gradient_edge` would cost a thirtieth of the recorded sum.
    """
    edge = operand._edge
    if edge is None and operand._base is None:
        edge = (operand, LEAF, operand._sizes, operand._key, None)
    elif edge is None or edge[4] is not None:
        edge = gradient_edge(operand)
    node.edges = (edge,)
    node.sequence_nr = next_sequence_nr()
    node.extras = None
    if anomaly.is_on:
        anomaly.remember(node)
    key = result._key
    if _DIFFERENTIABLE[key & 31]:
        result._key = key | _GRAD
        result._edge = (node, 0, result._sizes, key, None)


def attach_outputs(
    results: Sequence[Tensor | None],
    node: MultiOutputNode,
    differentiable: Sequence[bool] | None = None,
) -> None:
    """Make `node` the history of several results.

    differentiable: which of them are; all of a floating or complex dtype unless given.
    """
    node.sequence_nr = next_sequence_nr()
    node.extras = hooks.SEVERAL_OUTPUTS
    if anomaly.is_on:
        anomaly.remember(node)
    node.num_outputs = len(results)
    outputs: list[Any] = [None] * len(results)
    for nr, result in enumerate(results):
        if result is None or (differentiable is not None and not differentiable[nr]):
            continue
        key = result._key
        if _DIFFERENTIABLE[key & 31]:
            outputs[nr] = (result._sizes, key)
            result._key = key | _GRAD
            result._edge = (node, nr, result._sizes, key, None)
    node.outputs = tuple(outputs)


# -- views ------------------------------------------------------------------------------------


def track_view(result: Tensor, viewed: Tensor, creation: str | None = None) -> None:
    """Remember that `result` looks into `viewed`, and what forbids to write to it if anything."""
    base = viewed._base
    if base is None:
        result._base = viewed
    else:
        result._base = base
        meta = viewed._meta
        if creation is None and meta is not None:
            creation = meta.creation
    if not grad_mode.state.enabled:
        if result._base._key & _GRAD and _DIFFERENTIABLE[result._key & 31]:
            result._key |= _GRAD  # as in PyTorch it counts as requiring grad, but gets none
        creation = NO_GRAD
    if creation is not None:
        meta = hooks.meta_of(result)
        meta.creation = creation
        meta.base_version = result._storage.version


def attach_view(result: Tensor, viewed: Tensor, node: Node) -> None:
    """Make `node`, recorded just now, the history of `result`, which is a view of `viewed`.

    Its edge is taken here, as in `attach_unary`.
    """
    edge, base = viewed._edge, viewed._base
    shared = result._storage if result._shared is None else result._shared
    if base is None:
        result._base = viewed
        if edge is None:
            edge = (viewed, LEAF, viewed._sizes, viewed._key, None)
    elif edge is not None and edge[4] == shared.version and viewed._meta is None:
        result._base = base
    else:
        track_view(result, viewed)
        edge = gradient_edge(viewed)
    node.edges = (edge,)
    node.sequence_nr = next_sequence_nr()
    node.extras = None
    if anomaly.is_on:
        anomaly.remember(node)
    key = result._key
    if _DIFFERENTIABLE[key & 31]:
        result._key = key | _GRAD
        result._edge = (node, 0, result._sizes, key, shared.version)


def attach_views(results: Sequence[Tensor], viewed: Tensor, node: MultiOutputNode) -> None:
    """Make `node` the history of `results`, which are all views of `viewed`."""
    attach_outputs(results, node)
    base = viewed if viewed._base is None else viewed._base
    version = viewed._storage.version
    for result in results:
        result._base = base
        meta = hooks.meta_of(result)
        meta.creation, meta.base_version = MULTI_OUTPUT, version
        edge = result._edge
        if edge is not None:
            result._edge = (*edge[:4], version)


def _creation_of(view: Tensor) -> str | None:
    return None if view._meta is None else view._meta.creation


def _refresh_view(view: Tensor) -> Edge:
    """Give a view a new history after its base, or another view of it, was written to."""
    base = view._base
    assert base is not None
    if _creation_of(view) is not None:
        raise _forbidden_write(view, indirect=True)
    node = view_history.AsStridedBackward0()
    node.look_into(base, view)
    node.edges = (gradient_edge(base),)
    _replace_history(view, node)
    made = view._edge
    assert made is not None
    edge = view._edge = (*made[:4], view._storage.version)
    return edge


def _replace_history(tensor: Tensor, node: Node) -> None:
    """`attach`; a gradient that `tensor` retains is retained from there on."""
    edge = tensor._edge
    retains = tensor._meta is not None and tensor._meta.retains_grad
    if retains:
        assert edge is not None
        hooks.extras_of(edge[0]).retains.pop(edge[1], None)
    attach(tensor, node)
    if retains:
        hooks.extras_of(node).retains[0] = weakref.ref(tensor)


# -- in-place ---------------------------------------------------------------------------------


def bump_version(tensor: Tensor) -> None:
    """Count a write, for all tensors over the same storage."""
    tensor._storage.version += 1


def check_inplace(tensor: Tensor) -> None:
    """Refuse a recorded in-place write where it has no meaning.

    Raises: RuntimeError for a leaf that requires grad, a view of one, and views that came from
    several-output functions or from no_grad.
    """
    base = tensor._base
    if base is not None:
        if _creation_of(tensor) is not None:
            raise _forbidden_write(tensor)
        if tensor._key & _GRAD and base._edge is None:
            raise errors.inplace_on_leaf("a view of a leaf Variable")
    if tensor._key & _GRAD and tensor._edge is None:
        raise errors.inplace_on_leaf("a leaf Variable")


def _forbidden_write(view: Tensor, indirect: bool = False) -> RuntimeError:
    node, nr = view._edge[:2] if view._edge is not None else (None, 0)
    name = None if node is None else node.name().rstrip("0123456789").removesuffix("Backward")
    return errors.forbidden_view_write(name, nr, _creation_of(view) or NO_GRAD, indirect)


def rebase_history(tensor: Tensor, node: Node) -> None:
    """Make `node` the history of `tensor`, which has just been written to in place.

    A view's write is a write to its base: the base takes the node through `CopySlices`, and the
    view gets a new history as a view of the base when it is asked for one.
    """
    base = tensor._base
    changed = tensor if base is None else base
    known = changed._key & _GRAD
    if base is None:
        _replace_history(tensor, node)
    else:
        node.sequence_nr = next_sequence_nr()
        node.extras = None
        slices = view_history.copy_slices(base, tensor, node, gradient_edge(base))
        _replace_history(base, slices)
        tensor._key |= _GRAD
        edge = tensor._edge
        if edge is None:
            _refresh_view(tensor)
        else:  # most are not asked for it: they were made for this one write
            tensor._edge = (*edge[:4], _OUTDATED)
    if not known:
        _awaken_views(changed, tensor, node)


def _awaken_views(base: Tensor, written: Tensor, node: Node) -> None:
    """Let the other views of a base that begins to require grad know it.

    Views do not ask their base at every use; nor does a base know its views. They are looked for,
    among all objects of the process, only if more share the storage than the two at hand (and the
    call's own references), and the result that the node of the write may have saved.
    """
    storage = base._storage
    others = sys.getrefcount(storage) - (1 if written is base else 2) - 2
    if others <= 0 or others <= _times_saved(node, storage):
        return
    for view in gc.get_referrers(storage):
        if isinstance(view, Tensor) and view is not written and view._base is base:
            view._key |= _GRAD
            _refresh_view(view)


def _times_saved(node: Node, storage: Storage) -> int:
    """How many results over a storage a node has saved."""
    values = [getattr(node, name, None) for name in type(node).__slots__]
    results = [each for each in values if each.__class__ is tuple and len(each) == 8]
    return sum(each[4] is storage for each in results)
