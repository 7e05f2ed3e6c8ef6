"""Whether the elements that a file describes lie inside the storage that it gives them."""

from __future__ import annotations

import math
from typing import Any

from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.library.serialization import errors

_LIMIT = 1 << 63


def check(offset: Any, sizes: Any, strides: Any, itemsize: int, nbytes: int) -> None:
    """Check a tensor's offset, sizes and strides (in elements) against its storage's bytes.

    **Raises** LoadError if any of them is no number in [0, 2**63), if there are other strides than
    sizes, or if an element lies outside the storage. Python's integers do not overflow.
    """
    for what, numbers in (("sizes", sizes), ("strides", strides)):
        if type(numbers) not in (tuple, list, Size):
            raise errors.wrong_argument(f"a tensor's {what}", "a tuple of ints", numbers)
        for number in numbers:
            _check_number(what, number)
    _check_number("offset", offset)
    if len(sizes) != len(strides):
        raise errors.damaged(f"a tensor has {len(sizes)} sizes, but {len(strides)} strides")
    if math.prod(size for size in sizes if size) >= _LIMIT:
        raise errors.damaged("a tensor has more elements than int64 can count")
    if 0 in sizes:
        return
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    if (last + 1) * itemsize > nbytes:
        raise errors.damaged(
            f"a tensor reaches to byte {(last + 1) * itemsize} of a storage of {nbytes} bytes"
        )


def _check_number(what: str, number: Any) -> None:
    if type(number) is not int:
        raise errors.wrong_argument(f"a tensor's {what}", "an int", number)
    if not 0 <= number < _LIMIT:
        raise errors.damaged(f"a tensor's {what} must lie in [0, 2**63)")
