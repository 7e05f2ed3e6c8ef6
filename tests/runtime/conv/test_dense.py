"""Convolutions that see an image at once, and those of few places: products of matrices."""

from __future__ import annotations

import numpy as np
import pytest

from torchgen_out._runtime.kernels.common.conv import Geometry
from torchgen_out._runtime.kernels.cpu.conv import choice, convolution, dense


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("is_last", [False, True])
@pytest.mark.parametrize(
    "images, channels, outputs, size, kernel, is_dense, is_pointwise",
    [
        (5, 6, 14, (3, 4), (3, 4), True, False),
        (5, 7, 3, (1, 1), (1, 1), True, True),
        (1, 33, 40, (2, 2), (2, 2), True, False),
        (4, 16, 24, (2, 3), (1, 1), False, False),
        (4, 16, 24, (7, 8), (1, 1), False, True),
        (4, 16, 3, (2, 3), (1, 1), False, True),
    ],
)
def test_all_three_products(
    images: int,
    channels: int,
    outputs: int,
    size: tuple[int, int],
    kernel: tuple[int, int],
    is_dense: bool,
    is_pointwise: bool,
    is_last: bool,
    dtype: str,
) -> None:
    """Beside einsum's; into results whose channels lie last, too."""
    rng = np.random.default_rng(0)
    shapes = (images, channels, 1, *size), (outputs, channels, 1, *kernel)
    x, w = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    bias = rng.standard_normal(outputs).astype(dtype)
    where = "ncdij,ocdij->no" if is_dense else "ncdij,ocd->nodij"
    first, second = x, w if is_dense else w[..., 0, 0]
    exact = np.einsum(where, first, second)
    grad = rng.standard_normal(exact.shape).astype(dtype)
    names, result = where.split("->")
    left, right = names.split(",")
    exact_x = np.einsum(f"{result},{right}->{left}", grad, second)
    exact_w = np.einsum(f"{result},{left}->{right}", grad, first).reshape(w.shape)
    y_shape = (images, outputs, 1, *((1, 1) if is_dense else size))
    y, dx, dw = (_empty(shape, dtype, is_last) for shape in (y_shape, *shapes))
    dy = grad.reshape(y_shape)
    geometry = Geometry((1, 1, 1), (0, 0, 0), (1, 1, 1), 1)
    assert dense.suits(y, x, w, geometry[:3], 1) is is_dense
    assert choice.is_pointwise(y, x, w, geometry) is is_pointwise
    sliding = geometry[:3]
    convolution.convolution(y, x, w, bias, *sliding, False, 0, 1)
    convolution.convolution(dx, dy, w, None, *sliding, True, 0, 1)
    convolution.convolution_grad_weight(dw, dy, x, w.shape, *sliding, False, 1)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    expected = exact.reshape(y_shape) + bias.reshape(-1, 1, 1, 1), exact_x, exact_w
    for found, right_one in zip((y, dx, dw), expected, strict=True):
        np.testing.assert_allclose(found, right_one, tolerance, tolerance)


def _empty(shape: tuple[int, ...], dtype: str, is_last: bool) -> np.ndarray:
    """An array whose channels may lie last."""
    order = (0, 2, 3, 4, 1) if is_last else (0, 1, 2, 3, 4)
    made = np.full([shape[i] for i in order], np.nan, dtype)
    return made.transpose(np.argsort(order))
