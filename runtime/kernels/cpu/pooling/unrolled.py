"""Pooling with small windows: the window's places are written out, a row of results at a time.

With a window's values in variables, LLVM computes sixteen windows at once. That holds for windows
that lie inside the plane; those that hang over its edge go through `edge`, one by one.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

from torchgen_out._runtime.kernels import build

MOST_PLACES = 16  # of a window; a larger one pays for its loops anyway


def suits(size: tuple[int, int, int]) -> bool:
    """Whether a window of this size is written out."""
    return prod(size) <= MOST_PLACES


def max_kernel(
    size: tuple[int, int, int], step: int, spread: int = 1, has_places: bool = True
) -> Any:
    """kernel(out, indices, x, step, pad, spread), as `max_windows` for one size of window.

    step, spread: those of the last dim, which vectors need to know. has_places: whether `indices`
    are written, which takes longer than the values.
    """
    name = f"max_pool_{'x'.join(map(str, size))}_{step}"
    return build.compile_text(name, max_text(size, step, spread, has_places))


INSIDE = '''\
@inner
def inside(offset, reach, step, size, count):
    """The windows from the first that starts inside to the last that ends inside."""
    first = 0 if offset >= 0 else (-offset + step - 1) // step
    last = (size - reach - offset) // step + 1 if size >= reach + offset else 0
    return min(first, count), max(min(last, count), min(first, count))
'''

MAX_EDGE = '''\
@inner
def edge(out, indices, x, p, od, oh, ow, step, pad, spread):
    """One window that hangs over an edge."""
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    place = -1
    best = x[p, 0, 0, 0]
    for kd in range({depth}):
        d = od * step[0] - pad[0] + kd * spread[0]
        for kh in range({height}):
            h = oh * step[1] - pad[1] + kh * spread[1]
            for kw in range({width}):
                w = ow * step[2] - pad[2] + kw * spread[2]
                if 0 <= d < depth and 0 <= h < height and 0 <= w < width:
                    value = x[p, d, h, w]
                    if place < 0 or value > best or value != value:
                        best = value
                        place = (d * height + h) * width + w
    out[p, od, oh, ow] = best
{store}'''

MAX_DRIVER = '''\
@entry
def kernel(out, indices, x, step, pad, spread):
    """out = the largest of each window, indices = where it stands."""
    depth, height, width = x.shape[1], x.shape[2], x.shape[3]
    reach_d, reach_h = {last_d} * spread[0] + 1, {last_h} * spread[1] + 1
    w0, w1 = inside(-pad[2], {last_w} * spread[2] + 1, {step}, width, out.shape[3])
    for p in range(out.shape[0]):
        for od in range(out.shape[1]):
            d = od * step[0] - pad[0]
            for oh in range(out.shape[2]):
                h = oh * step[1] - pad[1]
                whole = d >= 0 and d + reach_d <= depth and h >= 0 and h + reach_h <= height
                first, last = (w0, w1) if whole else (0, 0)
                for ow in range(first):
                    edge(out, indices, x, p, od, oh, ow, step, pad, spread)
                if first < last:
                    w = first * {step} - pad[2]
                    row(out, indices, x, p, od, oh, first, last, d, h, w, spread)
                for ow in range(last, out.shape[3]):
                    edge(out, indices, x, p, od, oh, ow, step, pad, spread)
'''


@cache
def max_text(size: tuple[int, int, int], step: int, spread: int, has_places: bool) -> str:
    """The text of the maximum over windows of one size, `step` apart."""
    lines = [
        "@inner",
        "def row(out, indices, x, p, od, oh, first, last, d, h, w, spread):",
        "    height, width = x.shape[2], x.shape[3]",
        "    best = out[p, od, oh, first:last]",
        *_lines(size, " * spread[0]", " * spread[1]"),
    ]
    values = [f"line{kd}{kh}[j + {kw * spread}]" for kd, kh, kw in _places(size)]
    if has_places:
        lines += ["    chosen = indices[p, od, oh, first:last]"]
        lines += ["    start = np.int32((d * height + h) * width + w)", *_place_lines(size)]
    lines += ["    for i in range(best.size):", f"        j = i * {step}"]
    lines += [f"        top = {values[0]}"] + ["        place = place0"] * has_places
    for number, value in enumerate(values[1:], 1):
        lines += [f"        value = {value}", "        take = (value > top) | (value != value)"]
        lines += ["        top = value if take else top"]
        lines += [f"        place = place{number} if take else place"] * has_places
    lines += ["        best[i] = top"]
    lines += ["        chosen[i] = start + place + np.int32(j)"] * has_places
    store = "    indices[p, od, oh, ow] = place\n" * has_places
    return _text("max_pool", size, step, MAX_EDGE, lines, MAX_DRIVER, store=store)


def _place_lines(size: tuple[int, int, int]) -> list[str]:
    """Where each place of a window lies, seen from its first."""
    return [
        f"    place{number} = np.int32(({kd} * spread[0] * height + {kh} * spread[1]) * width "
        f"+ {kw} * spread[2])"
        for number, (kd, kh, kw) in enumerate(_places(size))
    ]


def _places(size: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    depth, height, width = (range(n) for n in size)
    return [(kd, kh, kw) for kd in depth for kh in height for kw in width]


def _lines(size: tuple[int, int, int], spread_d: str, spread_h: str) -> list[str]:
    """The parts of the plane's rows that a row of windows sees."""
    return [
        f"    line{kd}{kh} = x[p, d + {kd}{spread_d}, h + {kh}{spread_h}, w:]"
        for kd in range(size[0])
        for kh in range(size[1])
    ]


def _text(
    name: str,
    size: tuple[int, int, int],
    step: int,
    edge: str,
    row: list[str],
    driver: str,
    store: str = "",
) -> str:
    depth, height, width = size
    numbers = {"depth": depth, "height": height, "width": width, "step": step}
    numbers |= {"last_d": depth - 1, "last_h": height - 1, "last_w": width - 1}
    header = build.HEADER.format(title=f"{name}: windows of {size}, {step} apart.")
    texts = [edge.format(**numbers, store=store), "\n".join(row) + "\n", driver.format(**numbers)]
    return "\n\n".join([header, INSIDE, *texts])
