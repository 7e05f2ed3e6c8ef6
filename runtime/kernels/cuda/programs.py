"""Statements of the library's operators within other kernels."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.index import program_of
from torchgen_out._runtime.kernels.cuda.queue import Queue

FOLDER = "torchgen_out._runtime.kernels.cuda"


def run_program(queue: Queue, name: str, *args: Any) -> None:
    """Queue what an operator's statements do: results of any strides, then its arguments."""
    program_of(name).kernel_for(FOLDER)(queue, *args)
