"""Programs written for PyTorch lose what they lose there, step by step, unchanged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted(
    path.stem
    for path in HERE.glob("*.py")
    if not path.stem.startswith(("_", "test_")) and path.stem != "comparing"
)
QUICK = ("actor_critic", "word_language_model")
"""Those that few kernels have to be compiled for."""
CLOSE = 1e-4
"""Relative: a dozen steps of float32, summed in another order."""


def losses(program: str, weights: Path, *how: str) -> tuple[str, list[float]]:
    """Run a program; the name of its library, and what it told."""
    ended = subprocess.run(
        [sys.executable, *how, str(HERE / f"{program}.py"), str(weights)],
        capture_output=True, text=True, check=False, timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    return told["library"], told["losses"]


@pytest.mark.parametrize(
    "program",
    [pytest.param(each, marks=[] if each in QUICK else pytest.mark.full) for each in PROGRAMS],
)
def test_losses_are_those_of_pytorch(program: str, tmp_path: Path) -> None:
    weights = tmp_path / "weights.pt"
    theirs_by, theirs = losses(program, weights)
    ours_by, ours = losses(program, weights, "-m", "torchgen_out.as_torch")
    assert "torchgen" in ours_by and "torchgen" not in theirs_by
    assert len(theirs) >= 6 and theirs[0] != theirs[-1]
    assert ours == pytest.approx(theirs, rel=CLOSE)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 10 and set(QUICK) < set(PROGRAMS)
