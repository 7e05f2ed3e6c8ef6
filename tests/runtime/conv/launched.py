"""Launches of convolutions on arrays, called as the ways are that take arrays."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cpu.conv import flat, implicit
from torchgen_out._runtime.kernels.cpu.conv.launches import run_on_arrays

Array = Any


def convolve(y: Array, x: Array, w: Array, bias: Array | None, sliding: Any, groups: int) -> None:
    """y = w * x + bias, by offsets."""
    sizes = y.shape, x.shape, w.shape, y.dtype, bias is not None, sliding, groups
    run_on_arrays(implicit.launch(*sizes), y, x, w, bias)


def convolve_transposed(
    x: Array, y: Array, w: Array, bias: Array | None, sliding: Any, groups: int
) -> None:
    """x = the gradient that y sends back through w, plus bias, by offsets."""
    sizes = x.shape, y.shape, w.shape, y.dtype, bias is not None, sliding, groups
    run_on_arrays(implicit.launch_transposed(*sizes), x, y, w, bias)


def correlate(w: Array, y: Array, x: Array, sliding: Any, groups: int) -> None:
    """w = the sum over images and places of y times what each tap sees of x, by offsets."""
    run = implicit.launch_correlate(w.shape, y.shape, x.shape, y.dtype, sliding, groups)
    run_on_arrays(run, w, y, x, None)


def convolve_flat(
    y: Array, x: Array, w: Array, bias: Array | None, sliding: Any, groups: int
) -> None:
    """y = w * x + bias, by vectors of places."""
    sizes = y.shape, x.shape, w.shape, y.dtype, bias is not None, sliding, groups
    run_on_arrays(flat.launch(*sizes), y, x, w, bias)
