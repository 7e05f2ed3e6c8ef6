"""The processes of one attempt on one machine: started, watched, ended, their output told apart."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed.launching.options import LaunchConfig
from torchgen_out._runtime.library.multiprocessing.processors import processors

_OUT, _ERR = 1, 2
_START = str(Path(__file__).with_name("start.py"))
_PARENT_DEATH = 1  # PR_SET_PDEATHSIG


class Failure(NamedTuple):
    """How one process has failed."""

    rank: int
    local_rank: int
    pid: int
    exit_code: int
    time: float
    message: str
    traceback: str

    def told(self) -> str:
        """What it is in words."""
        lines = [
            f"  rank      : {self.rank} (local_rank: {self.local_rank})",
            f"  exitcode  : {self.exit_code} (pid: {self.pid})",
            f"  error     : {self.message}",
        ]
        if self.traceback:
            lines.append("  traceback :\n" + self.traceback)
        return "\n".join(lines)


@cache
def _system() -> Any:
    return ctypes.CDLL(None) if sys.platform == "linux" else None


def _end_with_parent() -> None:
    """In a new process: let the system kill it when the launcher is gone."""
    _system().prctl(_PARENT_DEATH, signal.SIGKILL, 0, 0, 0)


class Worker:
    """One process."""

    def __init__(
        self, config: LaunchConfig, local_rank: int, variables: dict[str, str], folder: Path
    ) -> None:
        self.rank, self.local_rank = int(variables["RANK"]), local_rank
        self.error_file = folder / "error.json"
        self._config, self._folder = config, folder
        self._threads: list[threading.Thread] = []
        folder.mkdir(parents=True, exist_ok=True)
        environment = {**os.environ, **variables, "TORCHELASTIC_ERROR_FILE": str(self.error_file)}
        out, err = self._stream(_OUT), self._stream(_ERR)
        self.process = subprocess.Popen(
            command(config, local_rank),
            env=environment,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=None if _system() is None else _end_with_parent,
        )
        for which, given in ((_OUT, out), (_ERR, err)):
            if given == subprocess.PIPE:
                self._copy(which)
            elif given is not None:
                given.close()
        self.ended: float | None = None

    def _wants(self, table: dict[int, int], which: int) -> bool:
        return bool(table.get(self.local_rank, table.get(-1, 0)) & which)

    def _stream(self, which: int) -> Any:
        """Where a stream goes: nowhere new, a file, or a pipe that is copied to both."""
        config = self._config
        is_shown = config.shown is None or self.local_rank in config.shown
        if self._wants(config.tee, which):
            return subprocess.PIPE
        if self._wants(config.redirects, which):
            return self._log(which).open("wb")
        return None if is_shown else open(os.devnull, "wb")

    def _log(self, which: int) -> Path:
        return self._folder / ("stdout.log" if which == _OUT else "stderr.log")

    def _copy(self, which: int) -> None:
        """Copy lines to a file, and to the console with the process's name before them."""
        source: Any = self.process.stdout if which == _OUT else self.process.stderr
        target: IO[str] = sys.stdout if which == _OUT else sys.stderr
        config = self._config
        is_shown = config.shown is None or self.local_rank in config.shown
        name = f"[{config.role}{self.local_rank}]:"

        def run() -> None:
            with self._log(which).open("wb") as log:
                for line in source:
                    log.write(line)
                    log.flush()
                    if is_shown:
                        target.write(name + line.decode(errors="replace"))
                        target.flush()
            source.close()

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        self._threads.append(thread)

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        code = self.process.poll()
        if code is not None and self.ended is None:
            self.ended = time.time()
        return code

    def signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            self.process.send_signal(number)

    def reap(self) -> None:
        """Wait for the end, of the output as well."""
        self.process.wait()
        for thread in self._threads:
            thread.join(5)

    def failure(self) -> Failure:
        """How it has failed."""
        code = self.process.returncode
        message, text, when = f"exit code {code}", "", self.ended or time.time()
        if code < 0:
            message = (
                f"Signal {-code} ({signal.Signals(-code).name}) received by PID {self.process.pid}"
            )
        try:
            told = json.loads(self.error_file.read_text(encoding="utf-8"))
            message, text, when = str(told["message"]), str(told["traceback"]), float(told["time"])
        except (OSError, ValueError, KeyError, TypeError):
            pass  # it could not say
        return Failure(self.rank, self.local_rank, self.process.pid, code, when, message, text)


def command(config: LaunchConfig, local_rank: int) -> list[str]:
    """What a process runs: the script, by way of what notes its errors."""
    script, *arguments = config.command
    if config.tells_local_rank:
        arguments.insert(0, f"--local-rank={local_rank}")
    if not config.uses_python:
        return [script, *arguments]
    # Where this library goes by PyTorch's name, it does so there, too.
    start = ["-m", "torchgen_out.as_torch"] if public.module() == "torch" else [_START]
    module = ["-m"] if config.is_module else []
    return [sys.executable, "-u", *start, *module, script, *arguments]


def threads_each(count: int) -> str:
    """Threads for each of `count` processes: what OMP_NUM_THREADS says, or their share."""
    return os.environ.get("OMP_NUM_THREADS") or str(max(1, processors() // count))


def end(workers: list[Worker], number: int, grace: float) -> None:
    """End processes: a signal, some seconds, then a kill. All of them are waited for."""
    for worker in workers:
        worker.signal(number)
    until = time.monotonic() + grace
    while any(worker.poll() is None for worker in workers) and time.monotonic() < until:
        time.sleep(0.02)
    for worker in workers:
        worker.signal(signal.SIGKILL)
        worker.reap()
