"""The index programs of the library by their operators' names, and the kernels made of them."""

from __future__ import annotations

import importlib
from typing import Any

from torchgen_out._runtime.kernels.common.index import IndexProgram


def program(name: str, package: str = "torchgen_out") -> IndexProgram:
    """The program of an operator: `max_dim` for max.dim."""
    found = importlib.import_module(f"{package}.kernels.index.{name}").program
    assert isinstance(found, IndexProgram)
    return found


def cpu_kernel(name: str) -> Any:
    """What the CPU makes of it."""
    return program(name).kernel_for("torchgen_out._runtime.kernels.cpu")
