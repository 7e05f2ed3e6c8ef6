"""Images in padded planes: what one tap of a kernel sees of a plane is one run of memory.

An image is copied into planes with zeros around it, split by the phases of the strides. Result
(od, oh, ow) then stands at (od * height + oh) * width + ow of every tap's run, with the planes' own
height and width; what lies between the rows is garbage, which nobody reads.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime.kernels.typed import typed

Array = Any
Triple = tuple[int, int, int]


class Planes(NamedTuple):
    """How an image lies in planes, and where each tap finds its run.

    sizes: of one phase of a plane. base: first element of each tap's run. length: of the runs.
    numel: elements of a plane, with the overhang of the last runs.
    """

    stride: Triple
    padding: Triple
    sizes: Triple
    base: Array
    length: int
    numel: int

    @property
    def numbers(self) -> tuple[int, ...]:
        """What the kernels take: strides, padding and sizes."""
        return (*self.stride, *self.padding, *self.sizes)

    @property
    def row(self) -> tuple[int, int]:
        """Height and width that place a result within a run."""
        return self.sizes[1], self.sizes[2]


@lru_cache(maxsize=1024)
def lay_out(
    sizes: Triple, kernel: Triple, places: Triple, stride: Triple, padding: Triple, dilation: Triple
) -> Planes:
    """Plan the planes for images of `sizes` and results at `places`."""
    padded = [
        max(size + pad, (count - 1) * s + d * (k - 1) + 1)
        for size, pad, count, s, d, k in zip(
            sizes, padding, places, stride, dilation, kernel, strict=True
        )
    ]
    depth, height, width = (-(-size // s) for size, s in zip(padded, stride, strict=True))
    base = []
    for tap in np.ndindex(*kernel):
        (od, rd), (oh, rh), (ow, rw) = (
            divmod(tap[dim] * dilation[dim], stride[dim]) for dim in range(3)
        )
        phase = (rd * stride[1] + rh) * stride[2] + rw
        base.append(((phase * depth + od) * height + oh) * width + ow)
    length = ((places[0] - 1) * height + places[1] - 1) * width + places[2]
    numel = max(prod(stride) * depth * height * width, max(base) + length)
    return Planes(stride, padding, (depth, height, width), np.array(base), length, numel)


@typed
def fill_planes(planes, x, at, numbers):
    """planes[c, at:] = x[c] in its place; the padding around it is zero already."""
    sd, sh, sw, pd, ph, pw, depth, height, width = numbers
    for c in range(x.shape[0]):
        plane = planes[c]
        for d in range(x.shape[1]):
            qd, rd = divmod(d + pd, sd)
            for h in range(x.shape[2]):
                qh, rh = divmod(h + ph, sh)
                line = x[c, d, h]
                for rw in range(sw):
                    start = (rw - pw) % sw
                    phase = (rd * sh + rh) * sw + rw
                    first = at + ((phase * depth + qd) * height + qh) * width + (start + pw) // sw
                    count = (line.size - start + sw - 1) // sw
                    run = plane[first : first + count]
                    if sw == 1:
                        for i in range(count):
                            run[i] = line[i]
                    elif sw == 2:
                        for i in range(count):
                            run[i] = line[start + 2 * i]
                    else:
                        for i in range(count):
                            run[i] = line[start + i * sw]


@typed
def empty_planes(x, planes, at, numbers):
    """x[c] = planes[c, at:]: the way back, without the padding."""
    sd, sh, sw, pd, ph, pw, depth, height, width = numbers
    for c in range(x.shape[0]):
        plane = planes[c]
        for d in range(x.shape[1]):
            qd, rd = divmod(d + pd, sd)
            for h in range(x.shape[2]):
                qh, rh = divmod(h + ph, sh)
                line = x[c, d, h]
                for rw in range(sw):
                    start = (rw - pw) % sw
                    phase = (rd * sh + rh) * sw + rw
                    first = at + ((phase * depth + qd) * height + qh) * width + (start + pw) // sw
                    count = (line.size - start + sw - 1) // sw
                    run = plane[first : first + count]
                    if sw == 1:
                        for i in range(count):
                            line[i] = run[i]
                    else:
                        for i in range(count):
                            line[start + i * sw] = run[i]


@typed
def take_results(y, runs, first, at, bias, height, width):
    """y[first + o] = runs[o, at:] without what lies between the rows, plus the bias."""
    for o in range(runs.shape[0]):
        added = bias[first + o]
        for d in range(y.shape[1]):
            for h in range(y.shape[2]):
                start = at + (d * height + h) * width
                line = y[first + o, d, h]
                run = runs[o, start : start + line.size]
                for i in range(line.size):
                    line[i] = run[i] + added


@typed
def put_results(runs, y, at, height, width):
    """runs[o, at:] = y[o] at its places; between the rows there are zeros already."""
    for o in range(runs.shape[0]):
        for d in range(y.shape[1]):
            for h in range(y.shape[2]):
                start = at + (d * height + h) * width
                line = y[o, d, h]
                run = runs[o, start : start + line.size]
                for i in range(line.size):
                    run[i] = line[i]
