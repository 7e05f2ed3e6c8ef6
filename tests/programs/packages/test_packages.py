"""Packages written for PyTorch compute with this library what they compute with it.

`pip install --no-deps` them beside PyTorch, with what they need themselves; those that are not
there are left out.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from tests.programs import running

pytest.importorskip("torch")

PROGRAMS = {
    path.stem: path
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if not path.stem.startswith(("_", "test_"))
}


@pytest.mark.full
@pytest.mark.parametrize("program", PROGRAMS)
def test_packages_compute_the_same(program: str, tmp_path: Path) -> None:
    for package in re.findall(r"^(?:import|from) (\w+)", PROGRAMS[program].read_text(), re.M):
        if package != "comparing" and importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    running.compare(PROGRAMS[program], tmp_path)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 20
