"""Convolutions whose kernels see the whole image at once: products of two matrices."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.cpu.matmul import blas, matmul

Array = Any


def suits(y: Array, x: Array, w: Array, sliding: Any, groups: int) -> bool:
    """Whether an image has one place for the kernel, which is as large as it is."""
    return (
        y.shape[2:] == (1, 1, 1)
        and w.shape[2:] == x.shape[2:]
        and sliding[1] == (0, 0, 0)
        and groups == 1
        and y.dtype.kind == "f"
    )


def convolve(y: Array, x: Array, w: Array, bias: Array | None) -> None:
    """y = x w' + bias."""
    matmul.linear(_rows(y), _rows(x), _rows(w), bias)


def convolve_transposed(x: Array, y: Array, w: Array) -> None:
    """x = y w."""
    blas.product(_rows(x), _rows(y), _rows(w))


def correlate(w: Array, y: Array, x: Array) -> None:
    """w = y' x."""
    blas.product(_rows(w), _rows(y).T, _rows(x))


def _rows(array: Array) -> Array:
    return array.reshape(array.shape[0], -1)
