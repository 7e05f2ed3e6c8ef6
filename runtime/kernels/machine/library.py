"""The kernels of this process: found in memory, in the user's cache, in packs, or compiled."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.kernels import compiling_once, interrupts, store
from torchgen_out._runtime.kernels.machine import (
    call_text,
    callers,
    compiling,
    digests,
    memory,
    packs,
    pool_text,
    progress,
    recording,
    result_text,
    support_text,
    symbols,
    worker_text,
)
from torchgen_out._runtime.kernels.machine.callers import Native

counts = {"loaded": 0, "compiled": 0}
_natives: dict[str, Native] = {}
_placing = threading.RLock()
"""Held while kernels are read and placed."""
_compiling: dict[str, threading.Lock] = {}
"""Held while a kernel is compiled, by its key."""
_held = contextlib.ExitStack()


def _after_fork() -> None:
    """The child has none of the threads that were compiling."""
    _held.close()
    _compiling.clear()


at_fork(
    before=lambda: _held.enter_context(_placing),
    after_in_parent=_held.close,
    after_in_child=_after_fork,
)


def stem_of(name: str, text: str) -> str:
    """How the keys and files of a text begin."""
    return f"{name}_{digests.sha256(text)[:24]}"


def native_for(name: str, text: str, function: str, kinds: Sequence[str]) -> Native:
    """A function of a text, for arguments of such types.

    Raises: compiling.CannotCompile; compiling.NeedsNumba if it runs inside Numba only.
    """
    stem = stem_of(name, text)
    key = f"{stem}.{function}({', '.join(kinds)})"
    found = _natives.get(key)
    if found is None:
        request = compiling.request_of(name, text, function, kinds)
        prepare()
        found = _made(key, request, stem, text, _place_kernel)
    return found


def entry_of(key: str, request: compiling.Request) -> bytes:
    """The encoded entry of what a request asks for, read or compiled, and not placed."""
    content = store.read(key)
    if content is None:
        content = compiling.compiled(request)
        store.write(key, content)
    return content


def _place_kernel(key: str, entry: packs.Entry) -> Native:
    found = _natives[key] = callers.placed(entry)
    return found


def _made(
    key: str,
    request: compiling.Request,
    stem: str,
    text: str,
    place: Callable[[str, packs.Entry], Any],
) -> Any:
    """What a request asks for, placed: read, or compiled by one thread of one process."""
    recording.note(key, request)
    found = _read(key, place)
    return found or interrupts.apart(lambda: _compiled(key, request, stem, text, place))


def _read(key: str, place: Callable[[str, packs.Entry], Any]) -> Any:
    with _placing, interrupts.postponed():
        if key in _natives:
            return _natives[key]
        content = store.read(key)
        if content is None:
            return None
        try:
            found = place(key, packs.decoded(content))
        except (packs.Damaged, symbols.Unknown) as error:
            store.log.info("%s is not used: %s", key, error)
            return None
        counts["loaded"] += isinstance(found, Native)
        return found


def _compiled(
    key: str,
    request: compiling.Request,
    stem: str,
    text: str,
    place: Callable[[str, packs.Entry], Any],
) -> Any:
    with (
        _compiling.setdefault(key, threading.Lock()),
        compiling_once.locked(store.keep_text(f"{stem}.py", text)),
    ):
        found = _read(key, place)
        if found is not None:
            return found
        with progress.waiting_for(request["name"]):
            content = compiling.compiled(request)
        store.write(key, content)
    with _placing:
        _compiling.pop(key, None)
        made = place(key, packs.decoded(content))
        counts["compiled"] += isinstance(made, Native)
        return made


# What all kernels need.


def prepare() -> None:
    """Have the code in memory that calls kernels, and what they call."""
    if "torchgen_call" not in symbols.own:
        _prepare_text("support", support_text.TEXT, support_text.NAMES)
        own = (call_text.TEXT, result_text.TEXT, worker_text.TEXT, support_text.EMPTY)
        _prepare_text("calls", "".join(own) + pool_text.TEXT, callers.CALLS)


def _prepare_text(name: str, text: str, names: Sequence[str]) -> None:
    stem = stem_of(name, text)
    request = compiling.Request(name=name, ir=text, names=list(names))
    _made(f"{stem}(text)", request, stem, text, _place_text)


def _place_text(key: str, entry: packs.Entry) -> bool:
    symbols.own.update(memory.place(entry.image, symbols.address_of))
    return True
