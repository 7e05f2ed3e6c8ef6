"""Sparse tensors from their parts, checked."""

from __future__ import annotations

import threading
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation, from_data
from torchgen_out._runtime.tensor_api import conversion


class _State(threading.local):
    """Whether constructors look at indices on devices, too; None: where they do not wait for it."""

    checks: bool | None = None


_state = _State()


class check_sparse_tensor_invariants:
    """Have constructors of sparse tensors check all that must hold of their parts, or not.

    A context (`with check_sparse_tensor_invariants():`), a decorator, or for good by `enable()`
    and `disable()`. Unless asked not to, they check on the host in any case.
    """

    def __init__(self, enable: bool = True) -> None:
        self._wanted = enable
        self._before: list[bool | None] = []

    @staticmethod
    def is_enabled() -> bool:
        """Return whether checks were asked for."""
        return bool(_state.checks)

    @staticmethod
    def enable() -> None:
        """Check from here on."""
        _state.checks = True

    @staticmethod
    def disable() -> None:
        """Do not check from here on."""
        _state.checks = False

    def __enter__(self) -> None:
        self._before.append(_state.checks)
        _state.checks = self._wanted

    def __exit__(self, *raised: object) -> None:
        _state.checks = self._before.pop()

    def __call__(self, function: Any) -> Any:
        def checking(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self._wanted):
                return function(*args, **kwargs)

        return checking


def wants_checks(part: Tensor, asked: bool | None) -> bool:
    """Whether a constructor checks: as the caller, then the state says; else on the host."""
    for said in (asked, _state.checks):
        if said is not None:
            return said
    return part.is_cpu


def sparse_coo_tensor(
    *args: Any,
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    dtype: dtype | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
    layout: Any = None,
) -> Tensor:
    """Return a COO tensor: `sparse_coo_tensor(indices, values, size=None)`, or by its size alone.

    indices: (sparse dims, entries), as int64; floats lose their fractions. values: (entries, *dense
    sizes); gradients flow to them. size: by default the least that holds the indices. Entries of
    one place count as their sum. check_invariants: whether indices are looked at; by default on the
    host, where it takes no longer than a copy. is_coalesced: whether they ascend, each place once.

    **Raises** RuntimeError for indices outside of `size` or negative, for other numbers of dims or
    entries, and for complex indices.

    **Example** `torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))`
    """
    if len(args) == 1 and indices is values is None and not isinstance(args[0], Tensor):
        size, args = args[0], ()
    indices, values, size = (*args, *(None,) * (3 - len(args))) if args else (indices, values, size)
    if indices is None and values is None:
        return _without_entries(Size(size), dtype, device, requires_grad)
    values = as_part(values, dtype, device)
    on = None if values.is_cpu and isinstance(indices, Tensor) and indices.is_cpu else values.device
    indices = as_part(indices, None, on)
    if indices.dtype is not dtypes.int64:
        if indices.dtype.kind == "c" and indices.numel():
            raise errors.indices_not_integers(indices.dtype)
        indices = indices.to(dtypes.int64)
    checks = wants_checks(indices, check_invariants)
    sizes = _checked_sizes(indices, values, size, checks)
    if checks and is_coalesced:
        _check_order(indices, sizes)
    pattern = Pattern(ops.detach(indices), bool(is_coalesced) or _is_trivial(indices, is_coalesced))
    if checks or size is None:
        pattern.known["inside"] = tuple(sizes)[: pattern.dims]
    return finish(structure.with_pattern(sizes, pattern, values), requires_grad)


def finish(made: Tensor, requires_grad: bool) -> Tensor:
    """A new tensor, a leaf if it is to require grad."""
    return from_data.require_grad(ops.detach(made)) if requires_grad else made


def as_part(data: Any, wanted: dtype | None, device: Any) -> Tensor:
    """Indices or values as a tensor; itself if it is one."""
    if isinstance(data, Tensor):
        if wanted is device is None:
            return data
        return conversion.to(data, wanted, device)
    return from_data.as_tensor(data, dtype=wanted, device=device)


def _is_trivial(indices: Tensor, said: bool | None) -> bool:
    """Whether fewer than two entries are in order by themselves, unless the caller denies it."""
    return said is None and indices._sizes[1] < 2


def _without_entries(sizes: Size, wanted: Any, device: Any, requires_grad: bool) -> Tensor:
    on = creation.device_or_default(device)
    values = ops.zeros((0,), dtype=wanted, device=on)
    indices = ops.zeros((len(sizes), 0), dtype=dtypes.int64, device=on)
    return finish(structure.with_pattern(sizes, Pattern(indices, True), values), requires_grad)


def _checked_sizes(indices: Tensor, values: Tensor, size: Any, checks: bool) -> Size:
    """The tensor's sizes, given or inferred.

    Raises: RuntimeError for what does not fit together.
    """
    if indices.ndim != 2:
        raise errors.indices_not_matrix(indices._sizes)
    if not values.ndim:
        values = values.unsqueeze(0)
    dims, count = indices._sizes
    entries_given, *rest = values._sizes
    if entries_given != count:
        raise errors.entries_count(count, entries_given)
    bounds = _bounds(indices) if size is None or (checks and not _fits(indices, size)) else []
    for dim, (least, _) in enumerate(bounds):
        if least < 0:
            raise errors.negative_index(least, dim)
    if size is None:
        return Size((*(most + 1 for _, most in bounds), *rest))
    sizes = size if size.__class__ is Size else Size(size)
    if len(sizes) != dims + len(rest):
        raise errors.sparse_dims_count(len(sizes), dims, len(rest))
    if rest and rest != list(sizes)[dims:]:
        raise errors.values_size((count, *sizes[dims:]), values._sizes)
    for dim, (_, most) in enumerate(bounds):
        if most >= sizes[dim]:
            raise errors.index_beyond_size(dim, sizes[dim], most)
    return sizes


FEW = 64
"""Indices up to which Python's own numbers are compared."""


def _fits(indices: Tensor, size: Any) -> bool:
    """Whether no index is outside, told in one pass: a negative one is the largest without sign."""
    dims, entries_given = indices._sizes
    count = dims * entries_given
    if not count or len(size) < dims:
        return False
    if count <= FEW and indices.is_cpu:
        for row, bound in zip(indices.tolist(), size, strict=False):
            if min(row) < 0 or max(row) >= bound:
                return False
        return True
    most = ops.view(indices, dtypes.uint64).amax(1).tolist()
    return all(index < size[dim] for dim, index in enumerate(most))


def _bounds(indices: Tensor) -> list[tuple[int, int]]:
    """The least and the greatest index of each dim; (0, -1) without entries."""
    if not indices.numel():
        return [(0, -1)] * indices._sizes[0]
    least, most = indices.amin(1).tolist(), indices.amax(1).tolist()
    return list(zip(least, most, strict=True))


def _check_order(indices: Tensor, sizes: Size) -> None:
    """Raise RuntimeError if indices do not ascend."""
    from_pattern = entries.positions(Pattern(indices, False), sizes)
    if not from_pattern.diff().gt(0).all():
        raise RuntimeError(
            "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor"
        )


public.place("sparse", check_sparse_tensor_invariants)
