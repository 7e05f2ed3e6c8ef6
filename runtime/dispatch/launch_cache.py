"""The launches of a call by geometry: what was planned once is looked up."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.tensor import Tensor

LAUNCHES_KEPT = 1024
"""Geometries that a call remembers before it begins anew."""

LAUNCHES_IN_ALL = 16384
"""Geometries that all calls of the process remember before they begin anew."""

_caches: list[weakref.ref[LaunchCache]] = []
_kept = 0
"""At least as many as all calls remember now."""


def _count_one() -> None:
    """Forget all launches when there are too many: programs without end meet ever new shapes."""
    global _kept
    _kept += 1
    if _kept > LAUNCHES_IN_ALL:
        forget_launches()
        _kept = 1


def forget_launches() -> None:
    """Have every geometry planned anew, after something that plans depend on has changed."""
    for reference in _caches:
        cache = reference()
        if cache is not None:
            cache.clear()
    _caches[:] = [each for each in _caches if each() is not None]


class LaunchCache(dict[Any, tuple[Any, ...]]):
    """By geometry and plain arguments: each new result's `Output`, then (run, params, is_dense).

    prepare(args): such an entry, for the arguments of a call; or it raises what is wrong with them.
    is_dense: whether all operands are contiguous.
    """

    __slots__ = ("__weakref__", "prepare")

    def __init__(self, prepare: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> None:
        self.prepare = prepare
        _caches.append(weakref.ref(self))

    def find(self, key: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The launch of a call that was not found: a new one, or one with lists in its key."""
        if _has_tensor(key):
            return self.prepare(args)
        try:
            key = _hashable(key)
            found = self.get(key)
        except TypeError:  # what cannot be looked up is planned each time
            return self.prepare(args)
        if found is None:
            found = self.prepare(args)
            if len(self) >= LAUNCHES_KEPT:
                self.clear()
            _count_one()
            self[key] = found
        return found


def _has_tensor(value: Any) -> bool:
    """Whether a tensor stands for a number: its element may change, so that it is no key.

    Raises: TypeError if it requires grad, which the result would not pass on.
    """
    if value.__class__ is tuple or value.__class__ is list:
        return any(map(_has_tensor, value))
    if not isinstance(value, Tensor):
        return False
    if value.requires_grad:
        raise errors.number_expected("a Scalar argument", value)
    return True


def _hashable(value: Any) -> Any:
    if value.__class__ is tuple or value.__class__ is list:
        return tuple(map(_hashable, value))
    return value
