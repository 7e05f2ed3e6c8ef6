"""What a loader's options must be, alone and together."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.context import BaseContext
from typing import Any

from torchgen_out._runtime.core.user_warnings import warn


def check_workers(
    num_workers: int, prefetch_factor: int | None, persistent_workers: bool, timeout: float
) -> None:
    """**Raises** ValueError for options of workers that cannot be, or that need workers."""
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing. let num_workers "
            "> 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor <= 0:
        raise ValueError(f"prefetch_factor option should be positive, got {prefetch_factor}")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def check_stream(shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
    """**Raises** ValueError for options that only datasets with indices have."""
    if shuffle not in (None, False):
        raise ValueError(
            "DataLoader with IterableDataset: expected unspecified shuffle option, "
            f"but got shuffle={shuffle}"
        )
    for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if given is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, "
                f"but got {name}={given}"
            )


def check_sampling(
    batch_size: int | None, shuffle: Any, sampler: Any, batch_sampler: Any, drop_last: bool
) -> None:
    """**Raises** ValueError for options that say different things about the order or the size."""
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None:
        if batch_size != 1 or shuffle or sampler is not None or drop_last:
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                "sampler, and drop_last"
            )
    elif batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


def context_of(given: Any, num_workers: int) -> Any:
    """Return the context in which workers are started: one that is given or named, or None.

    **Raises** ValueError for an unknown name, or without workers; TypeError for anything else.
    """
    if given is None:
        return None
    if num_workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading "
            f"(num_workers > 0), but got num_workers={num_workers}"
        )
    if isinstance(given, str):
        known = multiprocessing.get_all_start_methods()
        if given not in known:
            raise ValueError(
                "multiprocessing_context option should specify a valid start method in "
                f"{known!r}, but got multiprocessing_context={given!r}"
            )
        return multiprocessing.get_context(given)
    if not isinstance(given, BaseContext):
        raise TypeError(
            "multiprocessing_context option should be a valid context object or a string "
            f"specifying the start method, but got multiprocessing_context={given}"
        )
    return given


def warn_of_many_workers(num_workers: int) -> None:
    """Warn of more workers than processors."""
    can_ask = hasattr(os, "sched_getaffinity")
    most = len(os.sched_getaffinity(0)) if can_ask else os.cpu_count()
    if most is not None and num_workers > most:
        warn(
            f"This DataLoader will create {num_workers} worker processes in total. Our suggested "
            f"max number of worker in current system is {most}, which is smaller than what this "
            "DataLoader is going to create. Please be aware that excessive worker creation might "
            "get DataLoader running slow or even freeze, lower the worker number to avoid "
            "potential slowness/freeze if necessary.",
        )
