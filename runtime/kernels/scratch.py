"""Working memory of kernels, kept between calls: new pages cost more than what is done in them."""

from __future__ import annotations

import threading
from math import prod
from typing import Any

import numpy as np

KEPT_BYTES = 1 << 25  # a larger piece is given back after the call

_kept = threading.local()


def take(name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of undefined values, valid until this thread takes one of that name again."""
    nbytes = prod(shape) * np.dtype(dtype).itemsize
    if nbytes > KEPT_BYTES:
        return np.empty(shape, dtype)
    pieces = _kept.__dict__
    piece = pieces.get(name)
    if piece is None or piece.size < nbytes:
        piece = pieces[name] = np.empty(nbytes + nbytes // 4 + 64, np.uint8)
    return piece[:nbytes].view(dtype).reshape(shape)


def zeros(name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of zeros, valid until this thread takes one of that name again."""
    array = take(name, shape, dtype)
    array.fill(0)
    return array


def release() -> None:
    """Give this thread's working memory back."""
    _kept.__dict__.clear()
