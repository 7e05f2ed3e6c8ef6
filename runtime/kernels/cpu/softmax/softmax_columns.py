"""softmax, log_softmax and logsumexp along a dim that is not innermost.

`inner` neighbouring columns of an (outer, n, inner) array advance together: loops vectorise.
"""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.typed import typed


@typed
def column_max(top, block):
    """top[j] = the largest of block[:, j]."""
    for j in range(top.size):
        top[j] = T(-np.inf)
    for i in range(block.shape[0]):
        row = block[i]
        for j in range(top.size):
            top[j] = row[j] if row[j] > top[j] else top[j]


@typed
def softmax_columns(start, stop, out, x):
    """As softmax_rows, on `inner` columns at a time."""
    out, x = out[start:stop], x[start:stop]
    n, inner = x.shape[1], x.shape[2]
    top, total = np.empty(inner, x.dtype), np.empty(inner, x.dtype)
    for o in range(x.shape[0]):
        column_max(top, x[o])
        total[:] = T(0)
        for i in range(n):
            row, result = x[o, i], out[o, i]
            for j in range(inner):
                value = exp(row[j] - top[j])
                result[j] = value
                total[j] += value
        for j in range(inner):
            total[j] = T(1) / total[j]
        for i in range(n):
            result = out[o, i]
            for j in range(inner):
                result[j] *= total[j]


@typed
def log_softmax_columns(start, stop, out, x):
    """As log_softmax_rows, on `inner` columns at a time."""
    out, x = out[start:stop], x[start:stop]
    n, inner = x.shape[1], x.shape[2]
    top, total = np.empty(inner, x.dtype), np.empty(inner, x.dtype)
    for o in range(x.shape[0]):
        column_max(top, x[o])
        total[:] = T(0)
        for i in range(n):
            row = x[o, i]
            for j in range(inner):
                total[j] += exp(row[j] - top[j])
        for j in range(inner):
            total[j] = log(total[j])
        for i in range(n):
            row, result = x[o, i], out[o, i]
            for j in range(inner):
                result[j] = (row[j] - top[j]) - total[j]


@typed
def logsumexp_columns(start, stop, out, x):
    """As logsumexp_rows, on columns start to stop of all (outer, inner), side by side."""
    n, inner, lane = x.shape[1], x.shape[2], start
    while lane < stop:
        o, first = divmod(lane, inner)
        last = min(first + stop - lane, inner)
        top, total = np.full(last - first, T(-np.inf)), np.zeros(last - first, x.dtype)
        for i in range(n):
            row = x[o, i, first:last]
            for j in range(top.size):
                top[j] = row[j] if row[j] > top[j] else top[j]
        for j in range(top.size):
            top[j] = T(0) if abs(top[j]) == T(np.inf) else top[j]
        for i in range(n):
            row = x[o, i, first:last]
            for j in range(top.size):
                total[j] += exp(row[j] - top[j])
        for j in range(top.size):
            out[lane + j] = log(total[j]) + top[j]
        lane += last - first


@typed
def softmax_backward_columns(start, stop, grad_input, grad, y):
    """As softmax_backward_rows, on `inner` columns at a time."""
    grad_input, grad, y = grad_input[start:stop], grad[start:stop], y[start:stop]
    n, inner = y.shape[1], y.shape[2]
    total = np.empty(inner, y.dtype)
    for o in range(y.shape[0]):
        total[:] = T(0)
        for i in range(n):
            g, p = grad[o, i], y[o, i]
            for j in range(inner):
                total[j] += g[j] * p[j]
        for i in range(n):
            g, p, result = grad[o, i], y[o, i], grad_input[o, i]
            for j in range(inner):
                result[j] = p[j] * (g[j] - total[j])


@typed
def log_softmax_backward_columns(start, stop, grad_input, grad, y):
    """As log_softmax_backward_rows, on `inner` columns at a time."""
    grad_input, grad, y = grad_input[start:stop], grad[start:stop], y[start:stop]
    n, inner = y.shape[1], y.shape[2]
    total = np.empty(inner, y.dtype)
    for o in range(y.shape[0]):
        total[:] = T(0)
        for i in range(n):
            g = grad[o, i]
            for j in range(inner):
                total[j] += g[j]
        for i in range(n):
            g, p, result = grad[o, i], y[o, i], grad_input[o, i]
            for j in range(inner):
                result[j] = g[j] - exp(p[j]) * total[j]
