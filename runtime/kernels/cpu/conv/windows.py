"""Where a sliding kernel finds its elements: offsets into images framed by zeros.

Element t of the window of result p lies at places[p] + taps[t] of a plane, whatever the strides and
the dilation. The way back, from results to the image, is such a kernel again, one for each phase of
the strides: the elements of the image that the same taps reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

Array = Any
Triple = tuple[int, int, int]
LINE = 16  # elements of a cache line of float32
ALL = np.empty(0, np.int64)


class Frame(NamedTuple):
    """Planes with zeros around the images.

    sizes: of a plane. before: the zeros in front, per dim. numel: elements from plane to plane.
    is_bare: whether there are no zeros, so that the images themselves will do.
    """

    sizes: Triple
    before: Triple
    numel: int
    is_bare: bool


class Window(NamedTuple):
    """The offsets of some results.

    places: of the results. taps: of the taps; chosen: which of the kernel's taps these are.
    targets: where the results belong in their plane; empty if they are all of it, in order.
    """

    places: Array
    taps: Array
    chosen: Array
    targets: Array


def frame_of(sizes: Triple, before: Sequence[int], after: Sequence[int]) -> Frame:
    """Frame images of `sizes`; planes do not lie a power of two apart, for the cache's sake."""
    depth, height, width = map(sum, zip(before, sizes, after, strict=True))
    numel = depth * height * width
    if any(before) or any(after):
        numel = (-(-numel // LINE) | 1) * LINE
    return Frame((depth, height, width), tuple(before), numel, not any(before) and not any(after))


@lru_cache(maxsize=1024)
def see(
    sizes: Triple,
    kernel: Triple,
    results: Triple,
    stride: Triple,
    padding: Triple,
    dilation: Triple,
) -> tuple[Frame, Window]:
    """The frame of the images and the windows of the results of a convolution."""
    reach = [
        (n - 1) * s + d * (k - 1) + 1
        for n, s, d, k in zip(results, stride, dilation, kernel, strict=True)
    ]
    after = [max(0, r - p - n) for r, p, n in zip(reach, padding, sizes, strict=True)]
    frame = frame_of(sizes, padding, after)
    places = _ravel(frame.sizes, [np.arange(n) * s for n, s in zip(results, stride, strict=True)])
    taps = _ravel(frame.sizes, [np.arange(k) * d for k, d in zip(kernel, dilation, strict=True)])
    return frame, Window(places, taps, np.arange(taps.size), ALL)


@lru_cache(maxsize=1024)
def see_back(
    sizes: Triple,
    kernel: Triple,
    results: Triple,
    stride: Triple,
    padding: Triple,
    dilation: Triple,
) -> tuple[Frame, list[Window]]:
    """The frame of the results, and the windows of the images' elements, phase by phase."""
    dims = [_phases(*each) for each in zip(sizes, kernel, stride, padding, dilation, strict=True)]
    before = [max(phase.before for phase in phases) for phases in dims]
    last = [max(phase.last for phase in phases) for phases in dims]
    after = [max(0, place - n + 1) for place, n in zip(last, results, strict=True)]
    frame = frame_of(results, before, after)
    windows = []
    for phases in product(*dims):
        places = _ravel(
            frame.sizes, [phase.places + b for phase, b in zip(phases, before, strict=True)]
        )
        taps = -_ravel(frame.sizes, [phase.shifts for phase in phases])
        chosen = _ravel(kernel, [phase.taps for phase in phases])
        targets = _ravel(sizes, [phase.targets for phase in phases])
        windows.append(Window(places, taps, chosen, ALL if stride == (1, 1, 1) else targets))
    return frame, windows


class _Phase(NamedTuple):
    """The elements of one dim that the same taps reach: element i * stride + start is met by
    tap k in result i - shift of k.

    places: the numbers i. targets: the elements. taps, shifts: as above.
    """

    places: Array
    targets: Array
    taps: Array
    shifts: Array

    @property
    def before(self) -> int:
        """How many results are missing in front of the first."""
        return max(0, int((self.shifts[:, None] - self.places).max(initial=0)))

    @property
    def last(self) -> int:
        """The last result that is asked for."""
        return int((self.places - self.shifts[:, None]).max(initial=0))


def _phases(size: int, kernel: int, stride: int, padding: int, dilation: int) -> list[_Phase]:
    """Element e meets tap k in result (e + padding - k * dilation) / stride, if that divides."""
    elements, taps = np.arange(size), np.arange(kernel)
    phases = []
    for rest in range(stride):
        targets = elements[(elements + padding) % stride == rest]
        chosen = taps[taps * dilation % stride == rest]
        shifts = (chosen * dilation - rest) // stride
        phases.append(_Phase((targets + padding) // stride, targets, chosen, shifts))
    return phases


def _ravel(sizes: Triple, places: Sequence[Array]) -> Array:
    """The offsets of a grid of places in a plane; places may be negative."""
    depth, height, width = places
    rows = depth[:, None] * sizes[1] + height
    return np.ascontiguousarray((rows[..., None] * sizes[2] + width).reshape(-1), np.int64)
