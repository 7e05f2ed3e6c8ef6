"""The three operators as entries of research_ops.yaml."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from timed import Pair, run

HERE = Path(__file__).resolve().parent
sys.path[:0] = [
    os.environ.get("RESEARCH_PACKAGE", str(HERE.parent / "build")),
    str(HERE.parents[2]),
]


def make(name: str, given: tuple[Any, ...]) -> Pair:
    import numpy as np
    import research_ops

    import torchgen_out as torch

    operator = getattr(research_ops, name)
    args = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in given]
    leaves = [a for a in args if isinstance(a, torch.Tensor) and a.is_floating_point()]
    for each in leaves:
        each.requires_grad_()

    def call() -> Any:
        with torch.no_grad():
            return operator(*args).numpy()

    def step() -> list[Any]:
        result = operator(*args)
        return [g.numpy() for g in torch.autograd.grad(result, leaves, result.detach())]

    return call, step


if __name__ == "__main__":
    run(make)
