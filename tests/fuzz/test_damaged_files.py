"""Damaged files of every kind are refused by LoadError or load whole; some seconds here, and an
hour on demand (`pytest -m slow tests/fuzz`, as long as TORCHGEN_FUZZ_SECONDS says)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

_CI_SECONDS = 15.0


def run(seconds: float, seed: int) -> dict[str, int]:
    """A process of its own: a crash is its exit status, its memory no one else's."""
    command = [sys.executable, "-m", "tests.fuzz.damaged_files"]
    command += ["--seconds", str(seconds), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10 * seconds + 300)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    counts: dict[str, int] = json.loads(done.stdout)
    return counts


def test_damaged_files() -> None:
    counts = run(_CI_SECONDS, seed=0)
    assert counts["refused"] > 1000 and counts["loaded"] > 100


@pytest.mark.slow
def test_damaged_files_for_long() -> None:
    seconds = float(os.environ.get("TORCHGEN_FUZZ_SECONDS", "3600"))
    counts = run(seconds, seed=int(time.time()))
    assert counts["refused"] > 100 * seconds / 2
