"""Runs a program from weights in a file, which the first run writes, and prints its losses."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import torch


def run(
    build: Callable[[], torch.nn.Module], losses: Callable[[torch.nn.Module], Iterable[float]]
) -> None:
    """Build a model, give it the weights of the file that is named, and train it."""
    path = Path(sys.argv[1])
    torch.manual_seed(0)
    model = build()
    if path.exists():
        model.load_state_dict(torch.load(path))
    else:
        torch.save(model.state_dict(), path)
    told = [float(loss) for loss in losses(model)]
    json.dump({"library": torch.__version__, "losses": told}, sys.stdout)
