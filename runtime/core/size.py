"""`Size`: the tuple of ints that `tensor.shape` is."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import SupportsIndex, overload


class Size(tuple[int, ...]):
    """The sizes of a tensor: a tuple of ints that stays a `Size` under slicing and addition.

    Inner code that already holds ints calls `make_size`, which does not check and is four times
    as fast.
    """

    __slots__ = ()
    __module__ = "torchgen_out"

    def __new__(cls, sizes: Iterable[SupportsIndex] = (), /) -> Size:
        items = tuple(sizes)
        for position, item in enumerate(items):
            if not hasattr(item.__class__, "__index__"):
                raise TypeError(
                    "torch.Size() takes an iterable of 'int' "
                    f"(item {position} is '{type(item).__name__}')"
                )
        return tuple.__new__(cls, map(operator.index, items))

    def numel(self) -> int:
        """Return the number of elements of a tensor of this size; 1 for no dims.

        **Example** `Size((2, 3)).numel() == 6`
        """
        return math.prod(self)

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Size: ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> int | Size:
        found = tuple.__getitem__(self, index)
        return make_size(found) if isinstance(found, tuple) else found

    def __add__(self, other: tuple[int, ...], /) -> Size:  # type: ignore[override]
        if not isinstance(other, tuple):
            got = other.__class__.__name__
            raise TypeError(f"can only concatenate tuple (not {got}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: tuple[int, ...], /) -> Size:
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(other, self))

    def __mul__(self, count: SupportsIndex, /) -> Size:
        return make_size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def __reduce__(self) -> tuple[object, tuple[tuple[int, ...]]]:
        return Size, (tuple(self),)


make_size: Callable[[Iterable[int]], Size] = partial(tuple.__new__, Size)
