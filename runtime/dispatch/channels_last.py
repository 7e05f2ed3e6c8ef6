"""Results that lie channels-last where an operand does: shape functions that say so.

Which operands decide stands in native_functions.yaml, `memory_format`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core import shape
from torchgen_out._runtime.core.tensor import Tensor


def keep_channels_last(meta: Callable[..., Any], places: Sequence[int], several: bool) -> Any:
    """A shape function that adds strides to what `meta` says, if an operand lies channels-last.

    places: where the operands that decide stand among the arguments. several: whether `meta`
    describes several results.
    """

    def described(*args: Any) -> Any:
        specs = meta(*args)
        if not any(_decides(args[place]) for place in places):
            return specs
        return tuple(map(_laid, specs)) if several else _laid(specs)

    return described


def _decides(operand: Any) -> bool:
    """Whether a tensor, or every one of a list, lies channels-last."""
    if isinstance(operand, Tensor):
        return shape.is_channels_last(operand._sizes, operand._strides)
    return isinstance(operand, (list, tuple)) and bool(operand) and all(map(_decides, operand))


def _laid(spec: Any) -> Any:
    """The description with channels-last strides, if the result has as many dims as that takes."""
    sizes, dtype, *strides = spec
    if strides or len(sizes) not in formats.OF_RANK:
        return spec
    wanted = formats.OF_RANK[len(sizes)]
    return sizes, dtype, shape.channels_last_strides(sizes, wanted.name)
