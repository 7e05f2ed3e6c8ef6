"""Time of one indexing call on a small tensor, beside PyTorch's: `python -m benchmarks.indexing`.

Each line: microseconds of the fastest of seven runs here and there, their ratio, and the spread of
our runs (slowest by fastest).
"""

from __future__ import annotations

import timeit
from typing import Any

STATEMENTS = (
    "x[1]",
    "x[1:3]",
    "x[0, 1]",
    "x[:, 1]",
    "x[0, 1:]",
    "x[None]",
    "x[...]",
    "x[i]",
    "x[x > 2]",
    "x[0] = 1.0",
    "x[0, 1] = 1.0",
    "x[1:] = x[:1]",
    "x[0, 0].item()",
    "g[1]",
    "g[0, 1:]",
    "g[i]",
)
NUMBER, REPEAT = 20_000, 7


def measure(statement: str, torch: Any) -> list[float]:
    """Return the runs' times of one execution, in microseconds."""
    x = torch.arange(12.0).reshape(3, 4)
    names = {"x": x, "i": torch.tensor([0, 1]), "g": x.clone().requires_grad_()}
    runs = timeit.repeat(statement, globals=names, number=NUMBER, repeat=REPEAT)
    return [run / NUMBER * 1e6 for run in runs]


def run() -> None:
    """Print the table."""
    import torch as theirs

    import torchgen_out as ours

    theirs.set_num_threads(1)
    print(f"{'':20}{'ours':>8}{'PyTorch':>9}{'ratio':>7}{'spread':>8}")
    for statement in STATEMENTS:
        mine, reference = measure(statement, ours), measure(statement, theirs)
        ratio, spread = min(mine) / min(reference), max(mine) / min(mine)
        print(f"{statement:20}{min(mine):8.2f}{min(reference):9.2f}{ratio:7.2f}{spread:8.2f}")


if __name__ == "__main__":
    run()
