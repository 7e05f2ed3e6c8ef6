"""Programs written for PyTorch lose what they lose there, step by step, unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.programs import running

pytest.importorskip("torch")

PROGRAMS = sorted(
    path.stem
    for path in running.HERE.glob("*.py")
    if not path.stem.startswith(("_", "test_")) and path.stem not in ("comparing", "running")
)
QUICK = ("actor_critic", "word_language_model")
"""Those that few kernels have to be compiled for."""


@pytest.mark.parametrize(
    "program",
    [pytest.param(each, marks=[] if each in QUICK else pytest.mark.full) for each in PROGRAMS],
)
def test_losses_are_those_of_pytorch(program: str, tmp_path: Path) -> None:
    running.compare(running.HERE / f"{program}.py", tmp_path)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 12 and set(QUICK) < set(PROGRAMS)
