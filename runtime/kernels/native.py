"""Compiled kernels as Python calls them, and as workers do.

A kernel that is asked for by its arguments' types is one compiled function. One that is called with
whatever comes, `Overloads`, has one for each combination of types that it has met.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.kernels.machine import callers, compiling, library
from torchgen_out._runtime.kernels.machine.callers import Native
from torchgen_out._runtime.kernels.machine.spelling import spell_values
from torchgen_out._runtime.kernels.store import log

MOST_OVERLOADS = 32
"""Of one kernel that are found by compiled code; the others are found by Python."""

entries: dict[Callable[..., Any], Native] = {}
"""The kernels that are one compiled function, by what Python calls."""
_overloads: dict[Callable[..., Any], Overloads] = {}


def entry_for(name: str, text: str, function: str, kinds: tuple[str, ...]) -> Callable[..., Any]:
    """The function for arguments of such types, spelled as in `machine.signatures`."""
    found = _native_for(name, text, function, kinds)
    if found is None:
        return in_numba(name, text, function)
    entries[found.entry] = found
    return found.entry


def _native_for(name: str, text: str, function: str, kinds: Sequence[str]) -> Native | None:
    """The compiled function; None for what works inside Numba only."""
    if not callers.work_here():
        return None
    try:
        return library.native_for(name, text, function, kinds)
    except compiling.NeedsNumba as error:
        log.info("%s is compiled in every process: %s", name, error)
        return None


def in_numba(name: str, text: str, function: str) -> Callable[..., Any]:
    """Numba's own dispatcher, in this process."""
    found: Callable[..., Any] = compiling.compiler().dispatcher_of(name, text, function)
    return found


class Overloads:
    """A function of a text that is compiled for the types it is called with.

    entry: what is called. Compiled code looks for the types; what it does not find comes here.
    """

    def __init__(self, name: str, text: str, function: str) -> None:
        self.name, self.text, self.function = name, text, function
        self.natives: dict[tuple[str, ...], Native | None] = {}
        library.prepare()
        self.entry = callers.function_of("kernel", "torchgen_call", [self._call])
        _overloads[self.entry] = self

    def _call(self, *args: Any) -> Any:
        found = self.for_values(args)
        if found is None:
            return in_numba(self.name, self.text, self.function)(*args)
        return found.entry(*args)

    def for_values(self, args: tuple[Any, ...]) -> Native | None:
        """The function for the types of arguments; None for what Numba alone can call."""
        kinds = spell_values(args)
        if kinds is None:
            return None
        if kinds not in self.natives:
            found = _native_for(self.name, self.text, self.function, kinds)
            self.natives[kinds] = found
            owner = callers.owner_of(self.entry)
            if found is not None and len(owner) <= MOST_OVERLOADS:
                owner.append(callers.describe(found, is_checked=True))
        return self.natives[kinds]


def native_call(kernel: Any, *calls: Sequence[Any]) -> Native | None:
    """What makes some calls of a kernel: an entry point, or anything that has overloads.

    None for what only the interpreter can call, and for calls whose arguments have different types
    (one row of a strided array is contiguous).
    """
    found = entries.get(kernel)
    if found is not None:
        return found
    find = getattr(kernel, "dispatcher_for", None)
    own = _overloads.get(kernel if find is None else find(calls[0][0]))
    if own is None:
        return None
    first, *others = [own.for_values(tuple(args)) for args in calls]
    return first if all(other is first for other in others) else None
