"""Convolutions whose kernels see the whole image at once: products of two matrices."""

from __future__ import annotations

from math import prod
from typing import Any

from torchgen_out._runtime.kernels.cpu.conv.launches import Run, Sizes
from torchgen_out._runtime.kernels.cpu.matmul import blas, matmul, matrix_plans
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

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


def launch(y: Sizes, x: Sizes, w: Sizes, dtype: Any, has_bias: bool) -> Run | None:
    """y = x w' + bias."""
    bias = TensorSpec(dtype, (y[1],), (1,)) if has_bias else None
    return _launched(matrix_plans.plan_linear(*(_spec(each, dtype) for each in (y, x, w)), bias))


def launch_transposed(x: Sizes, y: Sizes, w: Sizes, dtype: Any, has_bias: bool) -> Run | None:
    """x = y w; None if there is a bias."""
    if has_bias:
        return None
    return _launched(matrix_plans.plan_product(*(_spec(each, dtype) for each in (x, y, w))))


def launch_correlate(w: Sizes, y: Sizes, x: Sizes, dtype: Any) -> Run | None:
    """w = y' x."""
    turned = TensorSpec(dtype, (y[1], y[0]), (1, y[1]))
    return _launched(matrix_plans.plan_product(_spec(w, dtype), turned, _spec(x, dtype)))


def _spec(sizes: Sizes, dtype: Any) -> TensorSpec:
    """An array as a matrix of its rows."""
    rows, columns = sizes[0], prod(sizes[1:])
    return TensorSpec(dtype, (rows, columns), (columns, 1))


def _launched(plan: LaunchPlan | None) -> Run | None:
    if plan is None:
        return None
    run, numbers = plan
    return lambda *given: run(*given[:-1], numbers)


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
