"""Start-up: importing the package, the first call of a compiled kernel, the digits demo."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import timing

TITLE = "Start-up"

STATEMENT = """
import time
start = time.perf_counter()
import {name}
print(time.perf_counter() - start)
"""

FIRST_CALL = """
import time
import torchgen_out as torch
x = torch.ones(8)
x + x
start = time.perf_counter()
x.mul(x)
print(time.perf_counter() - start)
"""

FIRST_STEP = """
import sys
import time
from examples import digits
step = digits.optim.AdamW.step
def first(self):
    step(self)
    print(time.time())
    sys.exit()
def train(model, data):
    print(time.time())
    digits.optim.AdamW.step = first
    return trained(model, data)
trained, digits.train = digits.train, train
digits.main()
"""


def _demo(rounds: int, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds from the interpreter's start to the beginning of training, and to a first step."""
    found = []
    for _ in range(rounds + 1):
        start = time.time()
        command = [sys.executable, "-c", FIRST_STEP]
        run = subprocess.run(command, env=environment, check=True, capture_output=True)
        found.append([float(line) - start for line in run.stdout.split()])
    begun, stepped = zip(*found[1:], strict=True)
    return min(begun), min(stepped)


def _least(code: str, rounds: int, environment: dict[str, str]) -> float:
    """The least number that fresh interpreters print; the first of them writes the bytecode."""
    return min([_output(code, environment) for _ in range(rounds + 1)][1:])


def _output(code: str, environment: dict[str, str]) -> float:
    """The number that a fresh interpreter prints."""
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)


def _seconds(code: str, rounds: int, environment: dict[str, str]) -> float:
    """The shortest time that a fresh interpreter needs for `code`, less an empty one's."""
    best = {}
    for text in ("pass", code):
        wrapped = (
            "import subprocess, sys, time\n"
            "start = time.perf_counter()\n"
            f"subprocess.run([sys.executable, '-c', {text!r}], check=True)\n"
            "print(time.perf_counter() - start)"
        )
        # The first writes the bytecode.
        best[text] = min([_output(wrapped, environment) for _ in range(rounds + 1)][1:])
    return best[code] - best["pass"]


def table(rounds: int) -> list[str]:
    """The page's lines."""
    with tempfile.TemporaryDirectory() as folder:
        environment = timing.environment(Path(folder))
        first = _least(FIRST_CALL, rounds, environment)
        own, theirs = (
            _least(STATEMENT.format(name=name), rounds, environment)
            for name in ("torchgen_out", "torch")
        )
        whole = _seconds("import torchgen_out", rounds, environment)
        begun, stepped = _demo(rounds, environment)
    return [
        "| what | seconds | budget |",
        "|---|---|---|",
        f"| `import torchgen_out` | {own:.3f} | 0.15 |",
        f"| ... and the end of a process that did nothing else | {whole:.3f} | |",
        f"| `import torch` | {theirs:.3f} | |",
        f"| first call of a cached kernel, Numba loaded | {first:.4f} | 0.005 |",
        f"| `examples/digits.py` begins to train, kernels compiled before | {begun:.2f} | 1.5 |",
        f"| ... and has taken its first step | {stepped:.2f} | |",
    ]
