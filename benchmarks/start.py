"""Start-up: importing the package, and the first call of a kernel compiled before."""

from __future__ import annotations

import subprocess
import sys

TITLE = "Start-up"

FIRST_CALL = """
import time
import torchgen_out as torch
x = torch.ones(8)
x + x
start = time.perf_counter()
x.mul(x)
print(time.perf_counter() - start)
"""


def _seconds(code: str, rounds: int) -> float:
    """The shortest time that a fresh interpreter needs for `code`, less an empty one's."""
    best = {}
    for text in ("pass", code):
        wrapped = (
            "import subprocess, sys, time\n"
            "start = time.perf_counter()\n"
            f"subprocess.run([sys.executable, '-c', {text!r}], check=True)\n"
            "print(time.perf_counter() - start)"
        )
        times = [
            float(subprocess.run([sys.executable, "-c", wrapped], capture_output=True).stdout)
            for _ in range(rounds)
        ]
        best[text] = min(times)
    return best[code] - best["pass"]


def table(rounds: int) -> list[str]:
    """The page's lines."""
    subprocess.run([sys.executable, "-c", FIRST_CALL], check=True, capture_output=True)
    first = min(
        float(subprocess.run([sys.executable, "-c", FIRST_CALL], capture_output=True).stdout)
        for _ in range(rounds)
    )
    return [
        "| what | seconds | budget |",
        "|---|---|---|",
        f"| `import torchgen_out` | {_seconds('import torchgen_out', rounds):.3f} | 0.3 |",
        f"| `import torch` | {_seconds('import torch', rounds):.3f} | |",
        f"| first call of a cached kernel, Numba loaded | {first:.4f} | 0.005 |",
    ]
