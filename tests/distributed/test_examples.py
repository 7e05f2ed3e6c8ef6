"""The examples run as their first lines say: they compare themselves with one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.distributed import jobs

RUN = [sys.executable, "-m", "torchgen_out.distributed.run", "--nproc-per-node=2"]
FOLDER = str(jobs.ROOT / "examples" / "distributed")


def run(command: list[str]) -> str:
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        command, cwd=jobs.ROOT, env=variables, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_digits() -> None:
    pytest.importorskip("sklearn")
    told = run([*RUN, f"{FOLDER}/digits.py", "--steps=20"])
    assert "step 20: 2 processes" in told
    if jobs.MPIEXEC:
        given = [sys.executable, f"{FOLDER}/digits.py", "--steps=20"]
        for backend in ("mpi", "gloo"):
            assert run([jobs.MPIEXEC, "-n", "2", *given, "--backend", backend]) == told


def test_tensor_parallel() -> None:
    assert "step 10: split" in run([*RUN, f"{FOLDER}/tensor_parallel.py"])


def test_a_killed_process(tmp_path: Path) -> None:
    told = run([*RUN, "--max-restarts=1", f"{FOLDER}/elastic.py", str(tmp_path / "saved")])
    steps = [line.split(":")[0] for line in told.splitlines()]
    begun = [f"attempt 0, step {i}" for i in range(1, 5)]
    assert steps in (
        [*begun, "attempt 1, step 5", "attempt 1, step 6"],
        [*begun[:3], "attempt 1, step 5", "attempt 1, step 6"],  # killed before it could say so
    )


def test_hogwild() -> None:
    assert "largest error" in run([sys.executable, f"{FOLDER}/hogwild.py"])
