"""The texts of casts: what is computed of an element, and the loop over elements at any places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.small import INT64, WORDS

MOST_PLACES = 256
"""For how many elements it is remembered where each comes from and goes to."""


def cast(x):
    """The element itself: loading and storing convert it."""
    return x


@kernel
def move_places(out, at_out, source, at, to, places):
    """out[to[i]] = source[places[i]]."""
    for i in range(to.size):
        out[at_out + to[i]] = source[at + places[i]]


def can_move(count: int, itemsize: int) -> bool:
    """Whether so many elements of a width are moved by `mover`."""
    return 0 < count <= MOST_PLACES and itemsize in WORDS


def mover(itemsize: int) -> Callable[..., Any]:
    """`move_places` for all dtypes of a width: nothing is computed."""
    own = WORDS[itemsize]
    return move_places.entry_point((own, int, own, int, INT64, INT64))
