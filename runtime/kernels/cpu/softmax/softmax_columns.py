"""logsumexp along a dim that is not innermost.

Neighbouring columns of an (outer, n, inner) array advance together: loops vectorise.
"""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.typed import typed


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
