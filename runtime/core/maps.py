"""The maps (`vmap`) that a thread is inside, and what they say of random numbers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.generator import Generator


class Map(NamedTuple):
    """What a map says of random numbers ("error", "different", "same"), and its samples' number."""

    randomness: str
    size: int


class _State(threading.local):
    """The state of one thread. The class attributes are what a new thread starts with.

    entered: the maps, from the outermost; that of level 1 is the first. may_draw: whether somebody
    answers for the numbers that are drawn.
    """

    entered: tuple[Map, ...] = ()
    may_draw = False


state = _State()
count = 0
"""How many maps are entered now, in all threads."""

_lock = threading.Lock()
_advance: Any = Generator.advance


class entered:
    """Be inside one more map; the value is its level."""

    __slots__ = ("before", "each")

    def __init__(self, each: Map) -> None:
        self.each = each
        self.before: tuple[Map, ...] = ()

    def __enter__(self) -> int:
        self.before = state.entered
        _count(1)
        state.entered = (*self.before, self.each)
        return len(state.entered)

    def __exit__(self, *raised: object) -> None:
        state.entered = self.before
        _count(-1)


def _count(by: int) -> None:
    """Let generators ask before they draw, as long as somebody is inside a map."""
    global count
    with _lock:
        count += by
        setattr(Generator, "advance", _guarded if count else _advance)  # noqa: B010 - a method


def _guarded(generator: Generator, blocks: int) -> tuple[int, int]:
    """Draw, unless maps of this thread say that samples get none, or each its own."""
    if state.entered and not state.may_draw and drawing_apart("of a generator"):
        raise errors.drawn_for_all()
    taken: tuple[int, int] = _advance(generator, blocks)
    return taken


def drawing_apart(name: str) -> list[int]:
    """The levels of maps whose samples draw each for themselves.

    Raises: RuntimeError if a map says nothing of random numbers.
    """
    if any(each.randomness == "error" for each in state.entered):
        raise errors.random_inside_map(name)
    pairs = enumerate(state.entered, 1)
    return [level for level, each in pairs if each.randomness == "different"]


@contextmanager
def drawing() -> Iterator[None]:
    """Answer for the numbers that are drawn."""
    before, state.may_draw = state.may_draw, True
    try:
        yield
    finally:
        state.may_draw = before


@contextmanager
def outside() -> Iterator[Any]:
    """Be inside no map."""
    before, state.entered = state.entered, ()
    try:
        yield
    finally:
        state.entered = before
