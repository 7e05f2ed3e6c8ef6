"""How many processors there are, and how processes of one job share them."""

from __future__ import annotations

import os

import torchgen_out as torch

_SAYS = ("OMP_NUM_THREADS", "TORCHGEN_NUM_THREADS")


def processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share_processors(count: int) -> None:
    """Let operators use a share of the processors, as `count` processes run on this machine.

    Nothing changes where the environment or `set_num_threads` has said how many threads.
    """
    if count > 1 and not any(map(os.environ.get, _SAYS)):
        own = processors()
        if torch.get_num_threads() == own:
            torch.set_num_threads(max(1, own // count))
