"""Running a worker function of this folder in several processes, with this library or PyTorch.

python -m tests.distributed.jobs LIBRARY MODULE FUNCTION RANK SIZE STORE RESULTS
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent


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

    def wait(self, seconds: float = 60) -> list[int]:
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
    if os.environ.get("JOB_BACKEND", "gloo") != "none":
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
