"""Compiling kernels: in a process of its own, which holds LLVM, and Numba with all it remembers.

They take tenths of a second to import, and Numba keeps some two megabytes for each kernel: this
process needs neither, but the machine code. The compiler's process is started by the first kernel
that nobody has compiled before, lives as long as it is used, and is replaced when it has grown.
Where no process can be started, or TORCHGEN_COMPILER=here asks for it, all is done in this one.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import json
import os
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from torchgen_out._runtime import config
from torchgen_out._runtime.forks import at_fork

IDLE = 120.0  # seconds without work after which the compiler's process ends
LONG_IDLE = 4 * 3600.0  # of one that waits for somebody who writes operators
MOST_MEMORY = 600 << 20  # bytes after which it ends, too

START = """\
import sys, types
sys.path[:] = {path!r}
for name, path in (("torchgen_out", []), ("torchgen_out._runtime", [{runtime!r}])):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = path
from torchgen_out._runtime.kernels.machine import compiling
compiling.serve({idle})
"""
"""The compiler's program: it imports the floors that it needs, and not the library above them."""


class CannotCompile(Exception):
    """Numba refused a kernel: what it said."""


class NeedsNumba(Exception):
    """A kernel works inside Numba only: why."""


class Request(dict[str, Any]):
    """What is to be compiled: a kernel, or a text in LLVM's language."""


def compiled(request: Request) -> bytes:
    """Return the encoded entry of what a request asks for.

    Raises: CannotCompile; NeedsNumba.
    """
    if config.env_text("TORCHGEN_COMPILER") == "here" or not sys.executable:
        return _answer(request)
    for attempt in range(2):
        process = _taken()
        if process is None:
            return _answer(request)
        try:
            answer = process.ask(request)
        except OSError as error:  # it ended: idle, grown, or killed
            process.end()
            if attempt:
                raise CannotCompile(f"the compiler's process ended: {error}") from None
            continue
        except BaseException:
            process.end()
            raise
        _give_back(process)
        return _judged(answer)
    raise AssertionError


def _judged(answer: bytes) -> bytes:
    kind, content = answer[:1], answer[1:]
    if kind == b"+":
        return content
    error = NeedsNumba if kind == b"?" else CannotCompile
    raise error(content.decode())


# The asking side.


class _Process:
    """A compiler's process, which answers one request after the other."""

    def __init__(self, idle: float = IDLE) -> None:
        program = START.format(
            idle=idle,
            runtime=str(Path(__file__).resolve().parents[2]),
            path=[os.path.abspath(each or ".") for each in sys.path],
        )
        threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        import subprocess  # three milliseconds that a program with all its kernels does without

        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **threads, "TORCHGEN_COMPILER": "here"},
            bufsize=0,
            start_new_session=True,  # Control-C is for whoever waits, and not for the compiler
        )

    def ask(self, request: Request) -> bytes:
        """Send a request and wait for its answer. Raises: OSError if the process has ended."""
        assert self.process.stdin is not None and self.process.stdout is not None
        _send(self.process.stdin, json.dumps(request).encode())
        answer = _received(self.process.stdout)
        if answer is None:
            raise BrokenPipeError("it gave no answer")
        return answer

    def forget(self) -> None:
        """Let go of a process that belongs to the parent of this one."""
        self._close()
        self.process.returncode = 0

    def end(self) -> None:
        """End the process: what it works at is not needed, or does not come."""
        _all.discard(self)
        self.process.kill()
        self.process.wait()
        self._close()

    def _close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()


class Spare:
    """A compiler's process that waits for a fork of this one to need it."""

    def __init__(self, first: Request) -> None:
        """first: what each process compiles as its first, which takes the longest."""
        self._first, self._process = first, _Process(LONG_IDLE)
        self._process.ask(first)

    def keep_ready(self) -> None:
        """Start another where the last has ended: idle, grown, or killed."""
        if self._process.process.poll() is not None:
            self._process = _Process(LONG_IDLE)
            self._process.ask(self._first)

    def end(self) -> None:
        """End the process."""
        self._process.end()

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """In the fork: what is to be compiled goes there. The process outlives the fork."""
        _give_back(self._process)
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):  # it ended, and another took its place
                _idle.remove(self._process)
            end_all()


_all: set[_Process] = set()
_idle: list[_Process] = []
_lock = threading.Lock()


def _taken() -> _Process | None:
    """A process that has nothing to do; None if there is none and none can be started."""
    with _lock:
        if _idle:
            return _idle.pop()
        try:
            process = _Process()
        except OSError:
            return None
        _all.add(process)
        return process


def _give_back(process: _Process) -> None:
    with _lock:
        _idle.append(process)


def _forget_all() -> None:
    """A forked child leaves its parent's compilers alone."""
    global _lock
    _lock = threading.Lock()
    for process in _all:
        process.forget()
    _all.clear()
    _idle.clear()


def end_all() -> None:
    """End all compilers of this process."""
    for process in list(_all):
        process.end()
    _idle.clear()


at_fork(before=lambda: _lock.acquire(), after_in_parent=lambda: _lock.release())
at_fork(after_in_child=_forget_all)
atexit.register(end_all)


def _send(pipe: IO[bytes], content: bytes) -> None:
    left = memoryview(struct.pack("<Q", len(content)) + content)
    while left:
        left = left[pipe.write(left) :]


def _received(pipe: IO[bytes]) -> bytes | None:
    """A message; None where the other side has ended."""
    head = _read(pipe, 8)
    return None if head is None else _read(pipe, struct.unpack("<Q", head)[0])


def _read(pipe: IO[bytes], size: int) -> bytes | None:
    content = bytearray()
    while len(content) < size:
        more = pipe.read(size - len(content))
        if not more:
            return None
        content += more
    return bytes(content)


# The answering side.


def serve(idle: float) -> None:
    """Answer requests until there are no more, nobody asks, or too much memory is held."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(0, "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    os.dup2(2, 1)  # what is printed meanwhile goes where errors go
    while _comes(requests, idle):
        content = _received(requests)
        if content is None:
            return
        try:
            answer = b"+" + _answer(Request(json.loads(content)))
        except NeedsNumba as error:
            answer = b"?" + str(error).encode()
        except CannotCompile as error:
            answer = b"-" + str(error).encode()
        except Exception:  # of the text, or of this library: whoever asked must hear of it
            answer = b"-" + traceback.format_exc().encode()
        try:
            _send(answers, answer)
        except BrokenPipeError:  # whoever asked has ended
            return
        if _has_grown():
            return


def _comes(pipe: IO[bytes], idle: float) -> bool:
    """Wait for a message for as long as it is worth it."""
    if sys.platform == "win32":
        return True
    import select

    return bool(select.select([pipe], [], [], idle)[0])


def _has_grown() -> bool:
    return _held_memory() > MOST_MEMORY


def _held_memory() -> int:
    """Bytes that this process holds; 0 where nobody tells.

    Linux hands the highest count of a parent on to its children: `ru_maxrss` says nothing there.
    """
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    if sys.platform != "darwin":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _answer(request: Request) -> bytes:
    """Compile what a request asks for, in this process."""
    content: bytes = compiler().answered(request)
    return content


def compiler() -> Any:
    """The module that imports Numba, which most processes never need."""
    return importlib.import_module(f"{__package__}.compiler")


def request_of(name: str, text: str, function: str, kinds: Sequence[str]) -> Request:
    """What asks for a kernel."""
    return Request(name=name, text=text, function=function, kinds=list(kinds))
