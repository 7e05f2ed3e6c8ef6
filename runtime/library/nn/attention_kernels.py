"""`nn.attention`: which kernels `scaled_dot_product_attention` may use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import Any

from torchgen_out._runtime.core import public


class SDPBackend(IntEnum):
    """Kinds of kernels for attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """Allow only these kinds of kernels within the block.

    Each device has one kernel, which computes what all kinds mean: the choice changes nothing.
    **Raises** AssertionError for what is no SDPBackend.
    """
    wanted = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(wanted, (list, tuple)) or not all(
        isinstance(backend, SDPBackend) for backend in wanted
    ):
        raise AssertionError(
            "Backends must be an instance of SDPBackend or a list of SDPBackend instances"
        )
    yield


public.place("nn.attention", SDPBackend)
