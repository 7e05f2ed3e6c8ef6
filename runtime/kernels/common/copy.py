"""What copies of every backend warn of, and as what views they see their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.kernels.common.index import View


def warn_of_discarding() -> None:
    """Warn that a cast leaves out imaginary parts."""
    warn("Casting complex values to real discards the imaginary part", UserWarning)


def repeat(out: Any, self: Any, repeats: Sequence[int]) -> dict[str, View]:
    """A dim for each repeat before each dim of self, which is there once."""
    missing = len(repeats) - len(self.sizes)
    own = (1,) * missing + tuple(self.sizes), (0,) * missing + tuple(self.strides)
    sizes = [each for pair in zip(repeats, own[0], strict=True) for each in pair]
    steps = zip(own[0], out.strides, strict=True)
    to = tuple([each for size, step in steps for each in (size * step, step)])
    source = tuple([each for step in own[1] for each in (0, step)])
    return {"out": View(tuple(sizes), to), "self": View(tuple(sizes), source)}


def diag_embed(
    out: Any, self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> dict[str, View | int]:
    """The new dims last; how long they are, and where the first element is."""
    ndim = len(out.sizes)
    last = dim1 % ndim, dim2 % ndim
    order = [*(dim for dim in range(ndim) if dim not in last), *last]
    sizes, strides = (tuple([each[dim] for dim in order]) for each in (out.sizes, out.strides))
    first = {"top": max(-offset, 0), "left": max(offset, 0)}
    return {"out": View(sizes, strides), "side": sizes[-1], **first}


def flip(out: Any, self: Any, dims: Sequence[int]) -> dict[str, View]:
    """Self from its last element on along each of `dims`."""
    strides, offset = list(self.strides), 0
    for dim in dims if self.sizes else ():
        offset += (self.sizes[dim] - 1) * strides[dim]
        strides[dim] = -strides[dim]
    return {"self": View(tuple(self.sizes), tuple(strides), offset)}
