"""The three operators by hand: loops and their gradients, compiled by Numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from timed import Pair, run


# rms_norm_gated
@njit(fastmath=True)
def rms_norm_gated(x, gate, weight, eps):
    out = np.empty_like(x)
    scale = np.empty(x.shape[0], x.dtype)
    for i in range(x.shape[0]):
        total = np.float32(0)
        for j in range(x.shape[1]):
            total += x[i, j] * x[i, j]
        r = np.float32(1 / np.sqrt(total / x.shape[1] + eps))
        scale[i] = r
        for j in range(x.shape[1]):
            gated = np.float32(1) / (np.float32(1) + np.exp(-gate[i, j]))
            out[i, j] = x[i, j] * r * weight[j] * gated
    return out, scale


@njit(fastmath=True)
def rms_norm_gated_backward(grad, x, gate, weight, scale):
    grad_x, grad_gate, grad_weight = np.empty_like(x), np.empty_like(x), np.zeros_like(weight)
    for i in range(x.shape[0]):
        r, dot = scale[i], np.float32(0)
        for j in range(x.shape[1]):
            s = np.float32(1) / (np.float32(1) + np.exp(-gate[i, j]))
            normal = x[i, j] * r
            grad_gate[i, j] = grad[i, j] * normal * weight[j] * s * (np.float32(1) - s)
            grad_weight[j] += grad[i, j] * normal * s
            through = grad[i, j] * weight[j] * s
            grad_x[i, j] = through
            dot += through * x[i, j]
        dot *= r * r * r / np.float32(x.shape[1])
        for j in range(x.shape[1]):
            grad_x[i, j] = grad_x[i, j] * r - dot * x[i, j]
    return grad_x, grad_gate, grad_weight


# local_correlation
@njit(fastmath=True)
def local_correlation(a, b, radius):
    n, channels, height, width = a.shape
    out = np.zeros((n, 2 * radius + 1, height, width), a.dtype)
    for i in range(n):
        for d in range(2 * radius + 1):
            first, last = max(0, radius - d), min(width, width + radius - d)
            for c in range(channels):
                for y in range(height):
                    for x in range(first, last):
                        out[i, d, y, x] += a[i, c, y, x] * b[i, c, y, x + d - radius]
    return out


@njit(fastmath=True)
def local_correlation_backward(grad, a, b, radius):
    n, channels, height, width = a.shape
    grad_a, grad_b = np.zeros_like(a), np.zeros_like(b)
    for i in range(n):
        for d in range(2 * radius + 1):
            first, last = max(0, radius - d), min(width, width + radius - d)
            for c in range(channels):
                for y in range(height):
                    for x in range(first, last):
                        grad_a[i, c, y, x] += grad[i, d, y, x] * b[i, c, y, x + d - radius]
                    for x in range(first, last):
                        grad_b[i, c, y, x + d - radius] += grad[i, d, y, x] * a[i, c, y, x]
    return grad_a, grad_b


# segment_softmax
@njit
def segment_softmax(score, segment, segments):
    top = np.full(segments, -np.inf, score.dtype)
    total = np.zeros(segments, score.dtype)
    out = np.empty_like(score)
    for i in range(len(score)):
        if not 0 <= segment[i] < segments:
            raise IndexError("a segment is out of range")
        top[segment[i]] = max(top[segment[i]], score[i])
    for i in range(len(score)):
        out[i] = np.exp(score[i] - top[segment[i]])
        total[segment[i]] += out[i]
    for i in range(len(score)):
        out[i] /= total[segment[i]]
    return out


@njit
def segment_softmax_backward(grad, out, segment, segments):
    dot = np.zeros(segments, out.dtype)
    for i in range(len(out)):
        dot[segment[i]] += grad[i] * out[i]
    result = np.empty_like(out)
    for i in range(len(out)):
        result[i] = out[i] * (grad[i] - dot[segment[i]])
    return result


# end
def make(name: str, given: tuple[Any, ...]) -> Pair:
    if name == "rms_norm_gated":
        eps = np.float32(1e-6)

        def step() -> list[Any]:
            out, scale = rms_norm_gated(*given, eps)
            return list(rms_norm_gated_backward(out, *given, scale))

        return (lambda: rms_norm_gated(*given, eps)[0]), step
    if name == "local_correlation":
        return (lambda: local_correlation(*given)), (
            lambda: list(local_correlation_backward(local_correlation(*given), *given))
        )

    def steps() -> list[Any]:
        out = segment_softmax(*given)
        return [segment_softmax_backward(out, out, *given[1:])]

    return (lambda: segment_softmax(*given)), steps


if __name__ == "__main__":
    run(make)
