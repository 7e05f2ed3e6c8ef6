"""Loops of pooling over (planes, depth, height, width) arrays, for windows of any size.

They run over planes, then results, then the window; sums accumulate in float64.
"""

from __future__ import annotations

import numpy as np

from torchgen_out._runtime.kernels.build import kernel

# Maximum.


@kernel
def max_windows(start, stop, out, indices, x, size, step, pad, spread):
    """out[p, od, oh, ow] = the largest of its window, for planes start to stop; NaN wins.

    Padding is never chosen. indices: empty if nobody asks for the places.
    """
    out, indices, x = out[start:stop], indices[start:stop], x[start:stop]
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    for p in range(out.shape[0]):
        plane = x[p]
        for od in range(out.shape[1]):
            d0 = od * step[0] - pad[0]
            for oh in range(out.shape[2]):
                h0 = oh * step[1] - pad[1]
                for ow in range(out.shape[3]):
                    w0 = ow * step[2] - pad[2]
                    place = -1
                    best = plane[0, 0, 0]
                    for kd in range(size[0]):
                        d = d0 + kd * spread[0]
                        if d < 0 or d >= depth:
                            continue
                        for kh in range(size[1]):
                            h = h0 + kh * spread[1]
                            if h < 0 or h >= height:
                                continue
                            for kw in range(size[2]):
                                w = w0 + kw * spread[2]
                                if w < 0 or w >= width:
                                    continue
                                value = plane[d, h, w]
                                if place < 0 or value > best or value != value:
                                    best = value
                                    place = (d * height + h) * width + w
                    out[p, od, oh, ow] = best
                    if indices.size:
                        indices[p, od, oh, ow] = place


@kernel
def greatest_windows(start, stop, out, x, size, step, pad, spread):
    """max_windows where nobody asks for the places."""
    max_windows(start, stop, out, np.empty((0, 0, 0, 0), np.int64), x, size, step, pad, spread)


@kernel
def scatter_windows(grad_input, grad, indices):
    """grad_input[p, indices[p, i]] += grad[p, i], but for indices that the caller spoilt."""
    for p in range(grad.shape[0]):
        for i in range(grad.shape[1]):
            place = indices[p, i]
            if place >= 0 and place < grad_input.shape[1]:
                grad_input[p, place] += grad[p, i]
