"""Errors of process groups, by PyTorch's names: each says which rank, and what it was doing."""

from __future__ import annotations

from torchgen_out._runtime.core import public

__all__ = [
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError",
]  # fmt: skip


class DistError(RuntimeError):
    """What goes wrong between processes."""


class DistBackendError(DistError):
    """A backend cannot carry out a collective."""


class DistNetworkError(DistError):
    """A connection cannot be made, or does not last."""


class DistStoreError(DistError):
    """A store does not answer as it should, or not in time."""


class QueueEmptyError(DistStoreError):
    """A store's queue has nothing to pop."""


def lost(rank: int, doing: str, why: str) -> DistBackendError:
    """The process of a rank is gone."""
    return DistBackendError(f"rank {rank} is gone ({why}) while this process was in {doing}")


def late(ranks: list[int], doing: str, seconds: float) -> DistBackendError:
    """Some ranks have not come within the time-out."""
    who = f"rank {ranks[0]} has" if len(ranks) == 1 else f"ranks {ranks} have"
    return DistBackendError(
        f"Timed out after {seconds:g} seconds in {doing}: {who} not come to the same call"
    )


def not_initialized() -> ValueError:
    """There is no default group."""
    return ValueError(
        "Default process group has not been initialized, please make sure to call "
        "init_process_group."
    )


def not_supported(backend: str, what: str) -> RuntimeError:
    """A backend lacks a collective."""
    return RuntimeError(f"Backend {backend} does not support {what}")


public.place("distributed", DistError, DistBackendError, DistNetworkError, DistStoreError)
public.place("distributed", QueueEmptyError)
