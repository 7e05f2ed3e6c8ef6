"""In-place view operators: a tensor takes another geometry, and with it that view's history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.autograd import grad_mode, graph
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.batched import is_batched
from torchgen_out._runtime.core.sparse import is_sparse, storage_of


def _begin(self: Any) -> None:
    """Refuse what no recorded in-place operator may do."""
    if grad_mode.is_enabled():
        graph.check_inplace(self)


def _become(self: Any, view: Any) -> Any:
    """Give `self` the geometry and the place in the graph of `view`, a view of it."""
    if is_sparse(self):
        storage_of(self).take(storage_of(view))
        self._storage.version -= 1  # counted below
    if is_batched(self):
        self._shared = view._shared
    self._sizes, self._strides, self._offset = view._sizes, view._strides, view._offset
    self._flat = None
    graph.bump_version(self)
    if view._edge is not None:
        # A view asks for its history again after writes to its base; a base never does.
        version = None if self._base is None else self._storage.version
        self._edge = (*view._edge[:4], version)
    own = self._key & (keys.GRAD | keys.OVERRIDES)
    self._key = view._key & ~keys.OVERRIDES | own
    return self


def squeeze_(self: Any, dim: int | Sequence[int] | None = None) -> Any:
    """Drop the named dims (all of them without `dim`) whose size is 1."""
    _begin(self)
    return _become(self, self.squeeze() if dim is None else self.squeeze(dim))


def unsqueeze_(self: Any, dim: int) -> Any:
    """Insert a dim of size 1 before `dim`."""
    _begin(self)
    return _become(self, self.unsqueeze(dim))


def t_(self: Any) -> Any:
    """Swap the dims of a matrix."""
    _begin(self)
    return _become(self, self.t())


def transpose_(self: Any, dim0: int, dim1: int) -> Any:
    """Swap two dims."""
    _begin(self)
    return _become(self, self.transpose(dim0, dim1))


def as_strided_(
    self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Any:
    """Take any geometry within the storage."""
    _begin(self)
    return _become(self, self.as_strided(size, stride, storage_offset))


def detach_(self: Any) -> Any:
    """Leave the graph: the tensor becomes a leaf that does not require grad.

    **Raises** RuntimeError for a differentiable view, whose base would still see its writes.
    """
    if self._base is not None:
        raise RuntimeError(
            "Can't detach views in-place. Use detach() instead. If you are using "
            "DistributedDataParallel (DDP) for training, and gradient_as_bucket_view is set as "
            "True, gradients are views of DDP buckets, and hence detach_() cannot be called on "
            "these gradients. To fix this error, please refer to the Optimizer.zero_grad() "
            "function in torch/optim/optimizer.py as a solution."
        )
    self._edge = None
    self._key &= ~keys.GRAD
    return self
