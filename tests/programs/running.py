"""Runs a program by PyTorch and by this library, and compares what it tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CLOSE = 1e-4
"""Relative: a dozen steps of float32, summed in another order."""


def losses(program: Path, weights: Path, *how: str) -> tuple[str, list[float]]:
    """Run a program; the name of its library, and what it told in its last line."""
    ended = subprocess.run(
        [sys.executable, *how, str(program), str(weights)],
        capture_output=True, text=True, check=False, timeout=900,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": search_path()},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout.splitlines()[-1])
    return told["library"], told["losses"]


def search_path() -> str:
    """What finds `comparing` and the library."""
    return os.pathsep.join([str(HERE), str(HERE.parent.parent), os.environ.get("PYTHONPATH", "")])


def compare(program: Path, folder: Path) -> None:
    """Run a program by both libraries from the same weights: both tell the same numbers."""
    weights = folder / "weights.pt"
    theirs_by, theirs = losses(program, weights)
    ours_by, ours = losses(program, weights, "-m", "torchgen_out.as_torch")
    assert "torchgen" in ours_by and "torchgen" not in theirs_by
    assert len(theirs) >= 6 and theirs[0] != theirs[-1]
    assert ours == pytest.approx(theirs, rel=CLOSE)
