"""What ruff says of a generated package, by the rules of this project."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def accept(package: Any) -> None:
    """Assert that `ruff check` and `ruff format` leave a package as it was generated."""
    if importlib.util.find_spec("ruff") is None:
        pytest.skip("needs ruff")
    folder = str(Path(package.__file__).parent)
    rules = ["--no-cache", "--config", str(ROOT / "pyproject.toml"), folder]
    assert not _said("check", "--quiet", *rules)
    assert not _said("format", "--quiet", "--diff", *rules)


def _said(*arguments: str) -> str:
    command = [sys.executable, "-m", "ruff", *arguments]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout + found.stderr
