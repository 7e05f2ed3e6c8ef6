"""Two tensors change places: whoever refers to one has the other."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import public

__all__ = ["swap_tensors"]


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchange all that two tensors are, attributes and classes as well.

    **Raises** RuntimeError if their classes have different slots.
    """
    slots = _slots(type(t1))
    if slots != _slots(type(t2)):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name in slots:
        first, second = (getattr(each, name, _UNSET) for each in (t1, t2))
        _set(t1, name, second)
        _set(t2, name, first)
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__


_UNSET = object()


def _slots(kind: type) -> list[str]:
    named = [name for each in kind.__mro__ for name in getattr(each, "__slots__", ())]
    return sorted(set(named) - {"__dict__", "__weakref__"})


def _set(tensor: Any, name: str, value: Any) -> None:
    if value is not _UNSET:
        setattr(tensor, name, value)
    elif hasattr(tensor, name):
        delattr(tensor, name)


public.place_all("utils", globals())
