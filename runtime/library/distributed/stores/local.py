"""Stores without a server: in this process's memory, and in a file that processes share."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.stores import wire
from torchgen_out._runtime.library.distributed.stores.store import Store
from torchgen_out._runtime.library.distributed.stores.table import (
    CHANGES,
    Refused,
    Table,
    timed_out,
)

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LONGEST_NAP = 0.02


class HashStore(Store):
    """Keys and values of the threads of one process."""

    def __init__(self) -> None:
        super().__init__()
        self._table = Table()
        self._changed = threading.Condition()

    def _request(self, operation: str, arguments: list[bytes], timeout: float) -> list[bytes]:
        end = time.monotonic() + timeout
        with self._changed:
            while True:
                try:
                    answer = self._table.answer(operation, arguments)
                except Refused as refusal:
                    raise errors.DistStoreError(str(refusal)) from None
                if answer is not None:
                    if operation in CHANGES:
                        self._changed.notify_all()
                    return answer
                if not self._changed.wait(end - time.monotonic()) and time.monotonic() >= end:
                    raise timed_out(operation, arguments, timeout)


class FileStore(Store):
    """Keys and values in a file that all processes write: a log of the requests that changed it.

    Every request locks the file and reads what others have appended. Waiting is asking again.
    **Raises** DistStoreError if the file holds anything else.
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        if fcntl is None:
            raise errors.DistStoreError("FileStore needs a system that locks files")
        self.path, self._world_size = os.fspath(file_name), world_size
        self._table, self._read = Table(), 0
        self._lock = threading.Lock()
        self._file: Any = open(self.path, "a+b")  # noqa: SIM115
        try:
            self.add("_joined", 1)  # reads the file: garbage is found out now
        except errors.DistStoreError:
            self._file.close()
            raise

    def _request(self, operation: str, arguments: list[bytes], timeout: float) -> list[bytes]:
        end, nap = time.monotonic() + timeout, 0.0005
        while True:
            with self._locked():
                self._catch_up()
                answer = self._answer(operation, arguments)
            if answer is not None:
                return answer
            if time.monotonic() >= end:
                raise timed_out(operation, arguments, timeout)
            time.sleep(nap)
            nap = min(2 * nap, _LONGEST_NAP)

    def _answer(self, operation: str, arguments: list[bytes]) -> list[bytes] | None:
        try:
            answer = self._table.answer(operation, arguments)
        except Refused as refusal:
            raise errors.DistStoreError(str(refusal)) from None
        if answer is not None and operation in CHANGES:
            self._file.seek(0, os.SEEK_END)
            self._file.write(wire.pack_request(operation, arguments, 0.0))
            self._file.flush()
            self._read = self._file.tell()
        return answer

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _catch_up(self) -> None:
        """Do what others have done since; a request half written by a killed process is cut off."""
        self._file.seek(self._read)
        log = memoryview(self._file.read())
        while log:
            try:
                request = wire.unpack_request(log)
                if request is None:
                    self._file.truncate(self._read)
                    return
                self._table.answer(request.operation, request.arguments)
            except (Refused, wire.Garbage) as error:
                raise errors.DistStoreError(f"{self.path} is no store: {error}") from None
            log = log[request.length :]
            self._read += request.length

    def close(self) -> None:
        """Let go of the file; the last of `world_size` processes removes it."""
        if self._file.closed:
            return
        if self._world_size > 0 and self.add("_left", 1) == self._world_size:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)
        self._file.close()

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            with contextlib.suppress(OSError, RuntimeError):
                self.close()


public.place("distributed", HashStore, FileStore)
