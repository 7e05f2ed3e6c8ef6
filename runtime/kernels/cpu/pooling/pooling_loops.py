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


# Mean.


@kernel
def spread_windows(grad_input, grad, size, step, pad, deep, high, wide, divisor):
    """Each gradient, over `divisor` or the size of its window, added to all that this saw."""
    depth, height = grad_input.shape[1], grad_input.shape[2]
    parts = np.empty(grad.shape[3], grad.dtype)
    for p in range(grad.shape[0]):
        for od in range(grad.shape[1]):
            for oh in range(grad.shape[2]):
                count = deep[od] * high[oh]
                row = grad[p, od, oh]
                for i in range(parts.size):
                    parts[i] = row[i] / (divisor if divisor else count * wide[i])
                d0, h0 = od * step[0] - pad[0], oh * step[1] - pad[1]
                for d in range(max(d0, 0), min(d0 + size[0], depth)):
                    for h in range(max(h0, 0), min(h0 + size[1], height)):
                        scatter_row(grad_input, parts, p, d, h, size[2], step[2], pad[2])


@kernel
def scatter_row(grad_input, parts, p, d, h, size, step, pad):
    """grad_input[p, d, h, i * step + kw - pad] += parts[i], for what lies inside."""
    width = grad_input.shape[3]
    for kw in range(size):
        offset = kw - pad
        first = 0 if offset >= 0 else (-offset + step - 1) // step
        end = min(parts.size, (width - offset - 1) // step + 1) if width > offset else 0
        if first >= end:
            continue
        line = grad_input[p, d, h, first * step + offset :]
        part = parts[first:end]
        if step == 1:
            for i in range(part.size):
                line[i] += part[i]
        else:
            for i in range(part.size):
                line[i * step] += part[i]
