"""What views show, in memory of its own: in one step where a backend makes both at once."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.memory_format import contiguous_format, preserve_format
from torchgen_out._runtime.dispatch import calls, overrides, tables
from torchgen_out._runtime.dispatch.backends import backend_of
from torchgen_out._runtime.dispatch.operator import Call, View, is_wrapped, operators


class _Copies(dict[int, Call]):
    """The calls that copy what a view shows, by the tensor's key.

    keeps_order: whether dims keep their order in memory; else copies are contiguous.
    """

    def __init__(self, view: str, keeps_order: bool) -> None:
        self.view: View = operators[view]  # type: ignore[assignment]
        self.keeps_order = keeps_order
        tables.remember(self)

    def __missing__(self, key: int) -> Call:
        call = self.apart()
        if not (key & keys.SEEN or is_wrapped() or overrides.InUse.modes):
            backend = backend_of(key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK)
            call = backend.view_copy(self.view, key, self.keeps_order, call)
        self[key] = call
        return call

    def apart(self) -> Call:
        """The view's call and the copy's, from their tables."""
        views, clone = self.view.calls, calls.clone
        wanted = preserve_format if self.keeps_order else contiguous_format

        def copied_apart(self: Any, *args: Any) -> Any:
            part = views[self._key](self, *args)
            return clone[part._key](part, wanted)

        def copied_each_apart(self: Any, *args: Any) -> Any:
            parts = views[self._key](self, *args)
            return tuple([clone[part._key](part, wanted) for part in parts])

        return copied_each_apart if self.view.several else copied_apart


class _ByView(dict[str, _Copies]):
    """The same by the view's name."""

    def __init__(self, keeps_order: bool) -> None:
        self.keeps_order = keeps_order

    def __missing__(self, view: str) -> _Copies:
        self[view] = found = _Copies(view, self.keeps_order)
        return found


_contiguous, _ordered = _ByView(keeps_order=False), _ByView(keeps_order=True)


def copied(view: str, self: Any, *args: Any) -> Any:
    """What the operator `view` shows, contiguous; of a view of several parts, each."""
    return _contiguous[view][self._key](self, *args)


def narrow_copy(self: Any, dim: int, start: int, length: int) -> Any:
    """The elements of `narrow`, whose dims keep their order in memory."""
    return _ordered["narrow"][self._key](self, dim, start, length)


def view_copy(self: Any, size: Any) -> Any:
    """The elements in their order as `size`, where the strides allow no view, too."""
    try:
        return _contiguous["view"][self._key](self, size)
    except RuntimeError:
        return self.reshape(size).clone(memory_format=contiguous_format)
