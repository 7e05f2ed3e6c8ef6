"""TORCH_DISTRIBUTED_DEBUG: with DETAIL, ranks compare shapes and dtypes before each collective."""

from __future__ import annotations

import enum
import hashlib
import os
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import errors, options

_TEXT = 256


class DebugLevel(enum.Enum):
    """How much is checked."""

    OFF = 0
    INFO = 1
    DETAIL = 2


_level = DebugLevel.OFF


def get_debug_level() -> DebugLevel:
    """Return how much is checked."""
    return _level


def set_debug_level(level: DebugLevel) -> None:
    """Check so much from now on, on every rank."""
    global _level
    _level = level


def set_debug_level_from_env() -> None:
    """Check as much as TORCH_DISTRIBUTED_DEBUG says. **Raises** RuntimeError for another word."""
    word = os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper()
    if word not in DebugLevel.__members__:
        raise RuntimeError(
            f"The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL, got {word!r}"
        )
    set_debug_level(DebugLevel[word])


def is_detailed() -> bool:
    """Whether every call is compared."""
    return _level is DebugLevel.DETAIL


def check_alike(group: Any, name: str, tensor: Any) -> None:
    """Compare a call with those of all ranks. **Raises** RuntimeError that tells all of them."""
    text = f"{name} of {tensor.dtype} {list(tensor.shape)}".encode()
    if len(text) > _TEXT:
        text = text[: _TEXT - 20] + hashlib.sha256(text).hexdigest()[:20].encode()
    own = torch.tensor(list(text.ljust(_TEXT)), dtype=torch.uint8)
    told = [torch.empty_like(own) for _ in range(group.size())]
    work = group.allgather([told], [own], options.AllgatherOptions(None, False))
    if work is not None:
        work.wait()
    calls = [bytes(each.tolist()).decode().strip() for each in told]
    if len(set(calls)) > 1:
        every = "; ".join(f"rank {rank}: {call}" for rank, call in enumerate(calls))
        raise errors.DistBackendError(f"Detected mismatch between collectives on ranks. {every}")


set_debug_level_from_env()
public.place("distributed", DebugLevel)
