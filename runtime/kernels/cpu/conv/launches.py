"""What a launch of a convolution's product is, and how it runs on arrays.

run(out, first, second, [bias], *where each begins but out, params) works over flat memory, for
sizes that are known when it is made; out, first and second are what the product is made of, in the
order of its name: (y, x, w) forward, (x, y, w) on the way back, (w, y, x) of the weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.kernels.cpu.folding import contiguous

Array = Any
Run = Callable[..., None]
Sizes = tuple[int, ...]


def run_on_arrays(run: Run, out: Array, first: Array, second: Array, bias: Array | None) -> None:
    """Run a launch on arrays; the result is contiguous."""
    given = [first, second] if bias is None else [first, second, bias]
    flat = [contiguous(each).reshape(-1) for each in given]
    run(out.reshape(-1), *flat, *[0] * len(flat), None)
