"""What the tests of planned kernels share: calls with arrays, layouts, and bits to compare.

A launch over tensors' memory computes bit by bit what the kernel's call with arrays does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.backends.cpu import dispatch
from torchgen_out._runtime.dispatch.tables import forget_calls
from torchgen_out._runtime.kernels.cpu.planned import ArrayKernel

SHAPE = (6, 5, 7)


@contextmanager
def without_plans(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All kernels are called with arrays."""

    planned = dispatch.DispatchCall._planned

    def on_arrays(call: Any, kernel: Any) -> Any:
        kernel = planned(call, kernel)
        return ArrayKernel(kernel, lambda *args: None, kernel.results, kernel.any_order)

    with monkeypatch.context() as patch:
        patch.setattr(dispatch.DispatchCall, "_planned", on_arrays)
        forget_calls()
        yield
    forget_calls()


def tied(*sizes: int) -> Any:
    """Few different numbers, in disorder, with both zeros, infinities and NaN among them."""
    rng = np.random.default_rng(3)
    values = np.array([-np.inf, -1.5, -0.0, 0.0, 1.0, 1.0, 2.5, np.inf, np.nan], np.float32)
    return torch.tensor(values[rng.integers(0, len(values), sizes)])


LAYOUTS: dict[str, Callable[[], Any]] = {
    "contiguous": lambda: tied(*SHAPE),
    "transposed": lambda: tied(7, 5, 6).permute(2, 1, 0),
    "rows apart": lambda: tied(12, 5, 7)[::2],
    "offset": lambda: tied(7, 5, 7)[1:],
    "repeated": lambda: tied(5, 1).expand(SHAPE),
    "not mergeable": lambda: tied(6, 8, 14)[:, :5, ::2],
}


def results(found: Any) -> list[Any]:
    """Shapes, dtypes and bits of all tensors of an answer, every NaN being the same."""
    tensors = found if isinstance(found, (tuple, list)) else [found]
    return [(each.shape, each.dtype, bits(each.numpy().copy())) for each in tensors]


def bits(array: Any) -> bytes:
    """The memory of an array."""
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.tobytes()


def places_in(size: int, *sizes: int) -> Any:
    """Places of a dim, some named twice and some not at all."""
    return torch.tensor(np.random.default_rng(5).integers(0, size, sizes))
