"""The texts of casts: what is computed of an element, and the loop over elements at any places."""

from __future__ import annotations

from torchgen_out._runtime.kernels.build import kernel


def cast(x):
    """The element itself: loading and storing convert it."""
    return x


@kernel
def move_places(out, at_out, source, at, to, places):
    """out[to[i]] = source[places[i]]."""
    for i in range(to.size):
        out[at_out + to[i]] = source[at + places[i]]
