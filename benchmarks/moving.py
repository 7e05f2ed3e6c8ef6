"""Operators that move, order, scan and draw elements, beside PyTorch's: one thread, two sizes.

`python -m benchmarks.moving [threads]`
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np

from benchmarks import timing

Case = Callable[[], object]
SIDES = (32, 1000)


def cases(T: ModuleType, side: int) -> dict[str, Case]:
    """The workload on square matrices, written once against a module with PyTorch's interface."""
    rng = np.random.default_rng(0)
    x = T.from_numpy(rng.standard_normal((side, side)).astype(np.float32))
    y = T.from_numpy(rng.standard_normal((side, side)).astype(np.float32))
    index = T.from_numpy(rng.integers(0, side, (side, side)))
    row = T.from_numpy(rng.integers(0, side, side))
    mask = T.from_numpy(rng.random((side, side)) < 0.5)
    bounds = T.from_numpy(np.sort(rng.integers(0, side, side)))
    few, many = max(2, side // 500), side // 4
    reading = {
        "gather, last dim": lambda: x.gather(1, index),
        "gather, first dim": lambda: x.gather(0, index),
        "gather, transposed": lambda: x.t().gather(1, index),
        "index_select, first dim": lambda: x.index_select(0, row),
        "index_select, last dim": lambda: x.index_select(1, row),
        "x[row]": lambda: x[row],
        "x[index, row]": lambda: x[index, row],
        "x[mask]": lambda: x[mask],
        "take": lambda: x.take(index),
        "nonzero": lambda: mask.nonzero(),
    }
    writing = {
        "masked_fill": lambda: x.masked_fill(mask, 0.0),
        "masked_fill, a row": lambda: x.masked_fill(mask[0], 0.0),
        "scatter": lambda: x.scatter(1, index, y),
        "scatter_add, last dim": lambda: x.scatter_add(1, index, y),
        "scatter_add, first dim": lambda: x.scatter_add(0, index, y),
        "scatter_reduce, amax": lambda: x.scatter_reduce(1, index, y, "amax"),
        "index_add, first dim": lambda: x.index_add(0, row, y),
        "index_add, last dim": lambda: x.index_add(1, row, y),
        "index_put": lambda: x.index_put((row,), y),
        "index_put, accumulate": lambda: x.index_put((index, row), y, True),
    }
    joining = {
        "cat, first dim": lambda: T.cat([x, y]),
        "cat, last dim": lambda: T.cat([x, y], 1),
        "stack, last dim": lambda: T.stack([x, y], -1),
        "flip, last dim": lambda: x.flip(1),
        "roll": lambda: x.roll(1, 1),
        "tril": lambda: x.tril(),
        "repeat": lambda: x.repeat(2, 2),
        "repeat_interleave": lambda: x.repeat_interleave(2, 1),
    }
    ordering = {
        "sort, last dim": lambda: x.sort(),
        "sort, first dim": lambda: x.sort(0),
        "topk, few": lambda: x.topk(few),
        "topk, a quarter": lambda: x.topk(many),
        "kthvalue": lambda: x.kthvalue(many),
        "median of a dim": lambda: x.median(1),
        "unique": lambda: index.unique(),
        "unique, inverse": lambda: index.unique(return_inverse=True),
        "searchsorted": lambda: T.searchsorted(bounds, index),
        "argmax": lambda: x.argmax(1),
        "max, first dim": lambda: x.max(0),
    }
    scanning = {
        "cumsum, last dim": lambda: x.cumsum(1),
        "cumsum, first dim": lambda: x.cumsum(0),
        "cumprod": lambda: x.cumprod(1),
        "cummax": lambda: x.cummax(1),
        "logcumsumexp": lambda: x.logcumsumexp(1),
        "histc": lambda: x.histc(100),
    }
    drawing = {
        "uniform_": lambda: y.uniform_(),
        "normal_": lambda: y.normal_(),
        "bernoulli_": lambda: y.bernoulli_(0.5),
        "exponential_": lambda: y.exponential_(),
        "dropout": lambda: T.dropout(x, 0.5, True),
        "randperm": lambda: T.randperm(side * side),
        "multinomial": lambda: mask.float().multinomial(1),
    }
    return {**reading, **writing, **joining, **ordering, **scanning, **drawing}


def run(threads: int = 1) -> None:
    """Print and write the tables."""
    import torch

    import torchgen_out

    torch.set_num_threads(threads)
    torchgen_out.set_num_threads(threads)
    lines = []
    for side in SIDES:
        mine, theirs = cases(torchgen_out, side), cases(torch, side)
        lines += [f"## {side} x {side}, float32", ""]
        lines += ["| case | us | PyTorch, us | ratio |", "|---|---|---|---|"]
        ratios = []
        for name in mine:
            ours, reference = timing.best_in_turns([mine[name], theirs[name]], 7, 0.01)
            ratios.append(ours / reference)
            lines.append(
                f"| {name} | {ours * 1e6:.1f} | {reference * 1e6:.1f} | {ratios[-1]:.2f} |"
            )
            print(lines[-1], flush=True)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines += ["", f"Geometric mean of the ratios: {mean:.2f}.", ""]
        print(lines[-2], flush=True)
    timing.write("moving", f"Moving, ordering, scanning, drawing; {threads} thread(s)", lines)


if __name__ == "__main__":
    run(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
