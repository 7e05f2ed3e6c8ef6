"""Per-call overhead: operators on eight elements, beside PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType

from benchmarks import timing

Case = Callable[[], object]


def cases(T: ModuleType) -> dict[str, Case]:
    """The workload, written once against a module with PyTorch's interface."""
    x, y = T.arange(8, dtype=T.float32), T.ones(8)
    matrix, row = T.ones(8, 8), T.ones(8)
    leaf = T.ones(8, requires_grad=True)
    weight = T.ones(8, 8, requires_grad=True)

    def chain() -> object:
        result = x
        for _ in range(20):
            result = result + y
        return result

    def backward() -> None:
        leaf.grad = None
        (leaf * y).sum().backward()

    def linear_backward() -> None:
        weight.grad = None
        T.mm(matrix, weight).tanh().sum().backward()

    return {
        "x + y": lambda: x + y,
        "x + 1.0": lambda: x + 1.0,
        "x * y": lambda: x * y,
        "x.exp()": lambda: x.exp(),
        "matrix + row": lambda: matrix + row,
        "x.sum()": lambda: x.sum(),
        "matrix.sum(1)": lambda: matrix.sum(1),
        "matrix.view(64)": lambda: matrix.view(64),
        "matrix.t()": lambda: matrix.t(),
        "matrix[1]": lambda: matrix[1],
        "matrix[1:3]": lambda: matrix[1:3],
        "mm(matrix, matrix)": lambda: T.mm(matrix, matrix),
        "x.add_(y)": lambda: x.add_(y),
        "leaf + y, recorded": lambda: leaf + y,
        "leaf * leaf, recorded": lambda: leaf * leaf,
        "leaf.exp(), recorded": lambda: leaf.exp(),
        "forward and backward of (leaf * y).sum()": backward,
        "forward and backward of mm, tanh, sum": linear_backward,
        "chain of 20 additions": chain,
    }


def run() -> None:
    """Print and write the table."""
    import torch

    import torchgen_out

    torch.set_num_threads(1)
    ours, theirs = cases(torchgen_out), cases(torch)
    lines = ["| call | ours, us | PyTorch, us | ratio |", "|---|---|---|---|"]
    ratios = []
    for name in ours:
        mine, other = timing.best_in_turns([ours[name], theirs[name]])
        ratios.append(mine / other)
        lines.append(f"| `{name}` | {mine * 1e6:.2f} | {other * 1e6:.2f} | {mine / other:.2f} |")
        print(lines[-1], flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lines += ["", f"Geometric mean of the ratios: {mean:.2f}. Budget: 0.8, no case above 1.5."]
    print(lines[-1])
    timing.write("overhead", "Per-call overhead on eight elements", lines)


if __name__ == "__main__":
    run()
