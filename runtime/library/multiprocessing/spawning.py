"""Starting one function in several processes, and waiting for all or for the first that fails."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from multiprocessing import connection
from pathlib import Path
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.multiprocessing.processors import share_processors

PATIENCE = 30.0  # seconds from the request to end until a process is killed


class ProcessException(Exception):
    """A process has failed: which one of those started (error_index), and its error_pid."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """A process has failed with an exception, whose traceback is in the message."""


class ProcessExitedException(ProcessException):
    """A process was killed by a signal, or ended with an exit code of its own."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        kind, given = super().__reduce__()
        return kind, (*given, self.exit_code, self.signal_name)


class ProcessContext:
    """Processes that run one function."""

    def __init__(self, processes: Sequence[Any], error_files: Sequence[str]) -> None:
        self.processes, self.error_files = list(processes), list(error_files)
        self.sentinels: dict[Any, int] = {
            process.sentinel: i for i, process in enumerate(processes)
        }

    def pids(self) -> list[int]:
        """Return the numbers that the system gave the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends, at most `timeout` seconds; return whether all have ended.

        If one has failed, the others get `grace_period` seconds to end by themselves, and are then
        terminated. **Raises** ProcessRaisedException or ProcessExitedException for it.
        """
        for sentinel in connection.wait(self.sentinels, timeout) if self.sentinels else ():
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode:
                self._end_all(grace_period)
                raise self._failure(index)
        return not self.sentinels

    def _end_all(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._join_all(grace_period)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        self._join_all(PATIENCE if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                process.kill()
            process.join()

    def _join_all(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for process in self.processes:
            process.join(max(0, end - time.monotonic()))

    def _failure(self, index: int) -> ProcessException:
        process, file = self.processes[index], Path(self.error_files[index])
        if file.exists():
            told = pickle.loads(file.read_bytes())
            file.unlink()
            message = f"\n\n-- Process {index} terminated with the following error:\n{told}"
            return ProcessRaisedException(message, index, process.pid)
        code, name = process.exitcode, None
        if code < 0:
            known = {number.value: number.name for number in signal.Signals}
            name = known.get(-code, f"<Unknown signal {-code}>")
        end = f"exit code {code}" if name is None else f"signal {name}"
        message = f"process {index} terminated with {end}"
        return ProcessExitedException(message, index, process.pid, code, name)


def _run(
    fn: Callable[..., Any], index: int, args: tuple[Any, ...], error_file: str, count: int
) -> None:
    """What a process does, one of `count`: it leaves the traceback of an exception in its file."""
    share_processors(count)
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent has it, too
    except Exception:
        Path(error_file).write_bytes(pickle.dumps(traceback.format_exc()))
        sys.exit(1)


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run fn(i, *args) in processes i = 0, 1, ... nprocs - 1.

    join: wait for all; otherwise return a context to join. **Raises** what `join` of it raises.
    """
    context: Any = multiprocessing.get_context(start_method)
    processes, files = [], []
    for index in range(nprocs):
        handle, file = tempfile.mkstemp(prefix="torchgen_error_")
        os.close(handle)
        os.unlink(file)
        process = context.Process(target=_run, args=(fn, index, args, file, nprocs), daemon=daemon)
        process.start()
        processes.append(process)
        files.append(file)
    started = ProcessContext(processes, files)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run fn(i, *args) in fresh processes; see `start_processes`."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)


public.place(
    "multiprocessing",
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
)
