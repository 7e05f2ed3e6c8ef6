"""Keeps PyTorch's threads on processors of their own, so that it is measured at its best.

Linux wakes a thread beside the one that wakes it, and may leave both there for seconds while other
processors are idle: a parallel call then takes ten times as long. Our workers move away by
themselves; those of PyTorch are moved here.
"""

from __future__ import annotations

import os
from pathlib import Path

import torch

from benchmarks import arrays

TASKS = Path("/proc/self/task")


def separate_threads() -> None:
    """Start PyTorch's threads and give each of them, and the calling one, another processor.

    Where there are more threads than processors, or the system has no say in it, nothing happens.
    """
    if not TASKS.exists() or torch.get_num_threads() == 1:
        return
    arrays.start_jax()  # its threads would inherit the one processor of this one
    before = {task.name for task in TASKS.iterdir()}
    x = torch.ones(1 << 20)
    for _ in range(10):
        x.exp()
    started = sorted({task.name for task in TASKS.iterdir()} - before)
    own, *others = sorted(os.sched_getaffinity(0))
    if len(started) <= len(others):
        os.sched_setaffinity(0, {own})
        for task, processor in zip(started, others, strict=False):
            os.sched_setaffinity(int(task), {processor})
