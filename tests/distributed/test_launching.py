"""The launcher: restarts, the first failure's traceback, log files, signals, nothing left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.distributed import jobs, marks
from torchgen_out._runtime.library.distributed.launching import old_launcher, options
from torchgen_out._runtime.library.multiprocessing.processors import processors

PROGRAM = """
import os, sys, time
import torchgen_out.distributed as dist, torchgen_out as torch
dist.init_process_group("gloo")
x = torch.ones(1) * dist.get_rank()
dist.all_reduce(x)
attempt, folder = os.environ["TORCHELASTIC_RESTART_COUNT"], sys.argv[1]
print("sum", x.item(), os.environ["OMP_NUM_THREADS"], dist.is_torchelastic_launched())
print("to the errors", file=sys.stderr)
if attempt == "0" and "fail" in sys.argv and dist.get_rank() == 1:
    raise ValueError("deliberate")
if attempt == "1" and "always" in sys.argv and dist.get_rank() == 0:
    os.kill(os.getpid(), 9)
if "sleep" in sys.argv:
    open(f"{folder}/asleep{dist.get_rank()}", "w").write(str(os.getpid()))
    time.sleep(60)
dist.barrier()
"""


def command(folder: Path, *options_: str) -> list[str]:
    program = folder / "train.py"
    program.write_text(PROGRAM)
    head = [sys.executable, "-m", "torchgen_out.distributed.run", "--nproc_per_node=2"]
    return [*head, *options_, str(program), str(folder)]


def run(folder: Path, given: list[str]) -> subprocess.CompletedProcess[str]:
    variables = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    variables["PYTHONPATH"] = str(jobs.ROOT)
    return subprocess.run(
        given, cwd=folder, env=variables, capture_output=True, text=True, timeout=60, check=False
    )


def test_a_restart_and_log_files(tmp_path: Path) -> None:
    given = command(tmp_path, "--max-restarts=1", "--log-dir", "logs", "-t", "1", "-r", "2")
    ended = run(tmp_path, [*given, "fail"])
    assert ended.returncode == 0, ended.stderr
    threads = max(1, processors() // 2)
    assert ended.stdout.count(f"]:sum 1.0 {threads} True") == 4
    assert "[default0]:" in ended.stdout
    assert "attempt 0 has failed, 1 restarts are left" in ended.stderr
    assert "to the errors" not in ended.stderr
    (logs,) = (tmp_path / "logs").iterdir()
    assert "ValueError: deliberate" in (logs / "attempt_0" / "1" / "stderr.log").read_text()
    assert "to the errors" in (logs / "attempt_1" / "0" / "stderr.log").read_text()


def test_the_first_failure_is_shown(tmp_path: Path) -> None:
    ended = run(tmp_path, [*command(tmp_path, "-r", "3"), "fail"])
    assert ended.returncode == 1
    told = ended.stderr.split("Root cause")[1]
    assert "rank      : 1" in told.split("Other failures")[0]
    assert "ValueError: deliberate" in told
    assert 'raise ValueError("deliberate")' in told
    assert "runpy" not in told
    given = command(tmp_path, "-r", "3", "--max-restarts=1", "--shutdown-timeout=2")
    ended = run(tmp_path, [*given, "fail", "always"])
    assert ended.returncode == 1
    assert "Signal 9 (SIGKILL)" in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_signals_are_passed_on(tmp_path: Path, number: signal.Signals) -> None:
    """Even if the launcher itself is killed, its processes end with it."""
    given = [*command(tmp_path, "--shutdown-timeout=2"), "sleep"]
    variables = {**os.environ, "PYTHONPATH": str(jobs.ROOT)}
    launcher = subprocess.Popen(given, cwd=tmp_path, env=variables, stderr=subprocess.DEVNULL)
    marks = [tmp_path / f"asleep{rank}" for rank in range(2)]
    end = time.monotonic() + 30
    while not all(mark.exists() and mark.read_text() for mark in marks):
        assert time.monotonic() < end
        assert launcher.poll() is None
        time.sleep(0.02)
    pids = [int(mark.read_text()) for mark in marks]
    launcher.send_signal(number)
    assert launcher.wait(20) == (128 + number if number is signal.SIGTERM else -number)
    while any(_runs(pid) for pid in pids):
        assert time.monotonic() < end
        time.sleep(0.02)


SUM = r"""
import sys, torchgen_out as torch, torchgen_out.distributed as dist
dist.init_process_group("gloo")
x = torch.tensor([int(sys.argv[1])])
dist.all_reduce(x)
sys.stdout.write(f"sum {x.item()} {torch.get_num_threads()}\n")
"""


@pytest.mark.parametrize("launcher", ["own", pytest.param("mpiexec", marks=marks.needs_mpi)])
def test_two_jobs_on_one_machine(tmp_path: Path, launcher: str) -> None:
    """They meet at different ports, and share the processors among their processes."""
    program = tmp_path / "sum.py"
    program.write_text(SUM)
    head = [sys.executable, "-m", "torchgen_out.distributed.run", "--nproc-per-node=2"]
    if launcher == "mpiexec":
        head = [jobs.MPIEXEC, "-n", "2", sys.executable]
    variables = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    variables["PYTHONPATH"] = str(jobs.ROOT)
    both = [
        subprocess.Popen(
            [*head, str(program), number], cwd=tmp_path, env=variables, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        for number in ("1", "10")
    ]  # fmt: skip
    threads = max(1, processors() // 2)
    for job, total in zip(both, (2, 20), strict=True):
        told, wrong = job.communicate(timeout=60)
        assert job.returncode == 0, wrong
        assert told.split("\n")[:2] == [f"sum {total} {threads}"] * 2


def _runs(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_options() -> None:
    parsed = options.parse(
        ["--nnodes=2:2", "--nproc_per_node=3", "--rdzv-endpoint=host:77", "--node_rank=1",
         "--rdzv-id=job", "-t", "0:1,1:3", "--local-ranks-filter=0", "-m", "pkg.train", "-x", "1"]
    )  # fmt: skip
    assert (parsed.nodes, parsed.processes, parsed.host, parsed.port) == (2, 3, "host", 77)
    assert parsed.command == ["pkg.train", "-x", "1"]
    assert (parsed.node_rank, parsed.tee, parsed.shown) == (1, {0: 1, 1: 3}, {0})
    for wrong in (
        ["--nnodes=1:2", "x"],
        ["--nproc-per-node=none", "x"],
        ["--redirects=9", "x"],
        ["--nnodes=2", "x"],
        ["-m", "--no-python", "x"],
    ):
        with pytest.raises(ValueError, match=r"--|expected"):
            options.parse(wrong)


@pytest.mark.parametrize("given", [[], ["--use_env"]])
def test_the_launcher_of_old_tells_scripts_their_local_rank(
    given: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    program = ["--no-python", "echo", "-x"]
    old_launcher.main(["--nproc_per_node=2", *given, *program])
    expected = {"-x"} if given else {"--local-rank=0 -x", "--local-rank=1 -x"}
    assert set(capfd.readouterr().out.split("\n")[:2]) == expected
