"""`torch.multiprocessing`: Python's `multiprocessing`, in which tensors travel by shared memory."""

import multiprocessing
from multiprocessing import *  # noqa: F403

from torchgen_out._runtime.library.multiprocessing.reductions import register
from torchgen_out._runtime.library.multiprocessing.spawning import (
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    spawn,
    start_processes,
)
from torchgen_out._runtime.library.multiprocessing.strategies import (
    get_all_sharing_strategies,
    get_sharing_strategy,
    set_sharing_strategy,
)

register()

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]
__all__ += multiprocessing.__all__
