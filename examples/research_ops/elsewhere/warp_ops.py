"""The three operators in NVIDIA Warp: kernels on the CPU, gradients by its tape."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from timed import Pair, run


# rms_norm_gated
@wp.kernel
def row_total(x: wp.array2d(dtype=float), total: wp.array(dtype=float)):
    i = (
        wp.tid()
    )  # a loop that is not unrolled is not run again for its gradient: nothing may follow
    for j in range(x.shape[1]):
        total[i] += x[i, j] * x[i, j]


@wp.kernel
def rms_norm_gated(
    x: wp.array2d(dtype=float),
    gate: wp.array2d(dtype=float),
    weight: wp.array(dtype=float),
    eps: float,
    total: wp.array(dtype=float),
    out: wp.array2d(dtype=float),
):
    i, j = wp.tid()
    r = 1.0 / wp.sqrt(total[i] / float(x.shape[1]) + eps)
    out[i, j] = x[i, j] * r * weight[j] / (1.0 + wp.exp(-gate[i, j]))


# local_correlation
@wp.kernel
def local_correlation(
    a: wp.array4d(dtype=float),
    b: wp.array4d(dtype=float),
    radius: int,
    out: wp.array4d(dtype=float),
):
    n, d, y, x = wp.tid()
    other = x + d - radius
    if other >= 0 and other < a.shape[3]:
        total = float(0.0)  # noqa: UP018
        for c in range(a.shape[1]):
            total += a[n, c, y, x] * b[n, c, y, other]
        out[n, d, y, x] = total


# segment_softmax
@wp.kernel
def segment_top(
    score: wp.array(dtype=float), segment: wp.array(dtype=wp.int64), top: wp.array(dtype=float)
):
    i = wp.tid()
    wp.atomic_max(top, int(segment[i]), score[i])


@wp.kernel
def segment_total(
    score: wp.array(dtype=float),
    segment: wp.array(dtype=wp.int64),
    top: wp.array(dtype=float),
    total: wp.array(dtype=float),
):
    i = wp.tid()
    s = int(segment[i])
    wp.atomic_add(total, s, wp.exp(score[i] - top[s]))


@wp.kernel
def segment_share(
    score: wp.array(dtype=float),
    segment: wp.array(dtype=wp.int64),
    top: wp.array(dtype=float),
    total: wp.array(dtype=float),
    out: wp.array(dtype=float),
):
    i = wp.tid()
    s = int(segment[i])
    out[i] = wp.exp(score[i] - top[s]) / total[s]


# end
def make(name: str, given: tuple[Any, ...]) -> Pair:
    wp.config.quiet = True
    wp.init()
    arrays = [
        wp.array(a, device="cpu", requires_grad=a.dtype == np.float32)
        for a in given
        if isinstance(a, np.ndarray)
    ]
    leaves = [a for a in arrays if a.requires_grad]

    def call(grad: bool = False) -> Any:
        if name == "rms_norm_gated":
            out = wp.zeros(given[0].shape, dtype=float, device="cpu", requires_grad=grad)
            total = wp.zeros(len(given[0]), dtype=float, device="cpu", requires_grad=grad)
            wp.launch(row_total, len(total), arrays[:1], [total], device="cpu")
            wp.launch(rms_norm_gated, out.shape, [*arrays, 1e-6, total], [out], device="cpu")
        elif name == "local_correlation":
            n, _, height, width = given[0].shape
            shape = (n, 2 * given[2] + 1, height, width)
            out = wp.zeros(shape, dtype=float, device="cpu", requires_grad=grad)
            wp.launch(local_correlation, shape, [*arrays, given[2]], [out], device="cpu")
        else:
            count = len(given[0])
            top = wp.full(given[2], -np.inf, dtype=float, device="cpu")
            total = wp.zeros(given[2], dtype=float, device="cpu", requires_grad=grad)
            out = wp.zeros(count, dtype=float, device="cpu", requires_grad=grad)
            wp.launch(segment_top, count, arrays, [top], device="cpu")
            wp.launch(segment_total, count, [*arrays, top], [total], device="cpu")
            wp.launch(segment_share, count, [*arrays, top, total], [out], device="cpu")
        return out

    def step() -> list[Any]:
        with wp.Tape() as tape:
            out = call(True)
        tape.backward(grads={out: out})
        found = [tape.gradients[each].numpy().copy() for each in leaves]
        tape.zero()
        return found

    return (lambda: call().numpy()), step


if __name__ == "__main__":
    run(make)
