"""The examples run as their first lines say: they compare themselves with one process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.distributed import jobs, marks

FOLDER = jobs.ROOT / "examples" / "distributed"
LAUNCHERS = ["gloo", pytest.param("mpi", marks=marks.needs_mpi)]


def run(*command: str, fails: bool = False) -> str:
    """Run a command; return what it prints."""
    variables = {**os.environ, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(
        command, cwd=jobs.ROOT, env=variables, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert (ended.returncode != 0) is fails, ended.stdout + ended.stderr
    return ended.stdout


def launched(size: int, backend: str, *options: str) -> list[str]:
    """The command before an example's name: `mpiexec`, or the library's own launcher."""
    if backend == "mpi":
        return [jobs.MPIEXEC, "-n", str(size), sys.executable]
    return [sys.executable, "-m", "torchgen_out.distributed.run", f"--nproc-per-node={size}",
            *options]  # fmt: skip


@pytest.mark.parametrize("backend", LAUNCHERS)
@pytest.mark.parametrize("size", [2, 4])
def test_digits(size: int, backend: str) -> None:
    """The example itself compares each loss with that of one process and the whole batch."""
    pytest.importorskip("sklearn")
    command = launched(size, backend)
    told = run(*command, f"{FOLDER}/digits.py", "--steps=20", "--backend", backend)
    assert f"step 20: {size} processes" in told


@pytest.mark.parametrize("backend", LAUNCHERS)
def test_a_model_split_by_data_and_by_tensor(backend: str) -> None:
    told = run(*launched(4, backend), f"{FOLDER}/gpt.py", "--backend", backend)
    assert "step 10: split 1.2758, whole 1.2758" in told


def test_a_killed_process(tmp_path: Path) -> None:
    command = launched(2, "gloo", "--max-restarts=1")
    told = run(*command, f"{FOLDER}/elastic.py", str(tmp_path / "saved"))
    _check_attempts(told)


@marks.needs_mpi
def test_a_killed_process_of_mpi(tmp_path: Path) -> None:
    """`mpiexec` ends all processes with the killed one; who starts it again has them go on."""
    command = [*launched(2, "mpi"), f"{FOLDER}/elastic.py", str(tmp_path / "saved"),
               "--backend=mpi"]  # fmt: skip
    _check_attempts(run(*command, fails=True) + run(*command))


def _check_attempts(told: str) -> None:
    steps = [line.split(":")[0] for line in told.splitlines() if "step" in line]
    first = [f"first attempt, step {i}" for i in range(1, 5)]
    later = ["later attempt, step 5", "later attempt, step 6"]
    # Rank 1 may be dead before rank 0 has said what they had done together.
    assert steps in ([*first, *later], [*first[:3], *later])


def test_hogwild() -> None:
    assert "largest error" in run(sys.executable, f"{FOLDER}/hogwild.py")
