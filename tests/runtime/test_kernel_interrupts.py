"""Control-C at any moment of the first operators leaves a process that works."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

INTERRUPTED = """
import signal, threading
import torchgen_out as torch
signal.signal(signal.SIGINT, signal.default_int_handler)
main, begun, ended = threading.get_ident(), threading.Event(), threading.Event()
def disturb():
    moment = 0.002
    begun.wait()
    while not ended.wait(moment):
        signal.pthread_kill(main, signal.SIGINT)
        moment = moment * 1.5 if moment < 0.3 else 0.003
def use(x):
    y = torch.nn.functional.softplus(x) + x[:, :2].t().contiguous().sum()
    return float(y.exp().sum())
other = threading.Thread(target=disturb)
heard = 0
other.start()
x = torch.eye(3, dtype=torch.float64)
while True:
    try:
        begun.set()
        found = use(x)
        break
    except KeyboardInterrupt:
        heard += 1
while other.is_alive():
    try:
        ended.set()
        other.join()
    except KeyboardInterrupt:
        pass
again = use(x)
assert torch.ones(3).mul(2).cumsum(0).tolist() == [2, 4, 6]
print(heard, found == again, round(found, 3))
"""


def run(cache: Path) -> list[str]:
    """What the interrupted process says: interrupts heard, whether results agree, the result."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env={**os.environ, "TORCHGEN_CACHE_DIR": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_interrupts_while_numba_is_imported_and_kernels_are_compiled_or_loaded(
    tmp_path: Path,
) -> None:
    compiled, loaded = run(tmp_path), run(tmp_path)
    assert int(compiled[0]) > 10 and int(loaded[0]) > 3
    assert compiled[1:] == loaded[1:] and compiled[1] == "True"


WAITING = """
import os, signal, threading, time
from torchgen_out._runtime.kernels import interrupts
signal.signal(signal.SIGINT, signal.default_int_handler)
done = []
def work():
    time.sleep(1)
    done.append("long")
threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    interrupts.apart(work)
except KeyboardInterrupt:
    print("first", done)
try:
    with interrupts.postponed():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        done.append("short")
except KeyboardInterrupt:
    print("second", done)
time.sleep(1.5)
print(done, signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def test_long_work_goes_on_and_short_work_comes_to_its_end() -> None:
    done = subprocess.run([sys.executable, "-c", WAITING], capture_output=True, text=True)
    heard = ["first []", "second ['short']", "['short', 'long'] True"]
    assert done.stdout.splitlines() == heard, done.stderr


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
own = interpreters.create()
code = "import torchgen_out"
try:
    failed = getattr(interpreters, "exec", None) or interpreters.run_string
    print(failed(own, code))
except Exception as error:
    print(error)
"""


def test_a_subinterpreter_is_refused() -> None:
    pytest.importorskip("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", SUBINTERPRETER], capture_output=True, text=True, timeout=60
    )
    assert "ImportError" in done.stdout and "main interpreter only" in done.stdout, done.stderr
    assert time.monotonic() - start < 50
