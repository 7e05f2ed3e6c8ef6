"""Memory of compiled code: what a kernel leaves in a process, and what ever new shapes leave.

Linux only: what a process holds is read before and after, garbage collected.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import timing

TITLE = "Memory of compiled code"
GOAL, SHAPES_GOAL = 40.0, 50.0
"""KB for a kernel, MB for all shapes."""
SHAPES = 20_000
UNARY = "exp log sin cos tan tanh sigmoid sqrt rsqrt abs neg floor ceil round trunc frac "
UNARY += (
    "reciprocal expm1 log1p log2 log10 erf erfc sinh cosh asin acos atan asinh exp2 sign square"
)
BINARY = "mul sub div maximum minimum atan2 fmod remainder hypot pow fmax fmin eq ne lt le gt ge"
ROWS = "softmax log_softmax sum mean amax argmax prod var cumsum logsumexp"


def table(rounds: int) -> list[str]:
    """The page's lines."""
    if not Path("/proc/self/statm").exists():
        return ["Not measured: this system does not tell a process what it holds."]
    with tempfile.TemporaryDirectory() as folder:
        compiled, loaded = (_in_process("kernels", folder) for _ in range(2))
        shapes = _in_process("shapes", folder)[0]
    lines = [
        f"Kernels of {len(_calls_named())} operators, pointwise and of rows; the process imports "
        "neither Numba nor llvmlite.",
        "",
        "| what | kernels | left | goal |",
        "|---|--:|--:|--:|",
    ]
    for name, (each, count) in (("compiled", compiled), ("found in the cache", loaded)):
        lines.append(f"| a kernel, {name}, KB | {count:.0f} | {each:.1f} | {GOAL:.0f} |")
    lines.append(
        f"| {SHAPES:,} different shapes of four operators, MB | | {shapes:.1f} "
        f"| {SHAPES_GOAL:.0f} |"
    )
    return lines


def _in_process(what: str, folder: str) -> list[float]:
    environment = {**timing.environment(Path(folder, "bytecode")), "TORCHGEN_CACHE_DIR": folder}
    command = [sys.executable, "-m", "benchmarks.code_memory", what]
    run = subprocess.run(command, env=environment, check=True, capture_output=True)
    return [float(word) for word in run.stdout.split()]


# In the process that is measured.


def _held() -> float:
    """Bytes of this process that lie in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def _calls_named() -> list[tuple[str, int]]:
    """Operators, by how they are called."""
    kinds = ((UNARY, 1), (BINARY, 2), (ROWS, 3))
    return [(name, kind) for names, kind in kinds for name in names.split()]


def _kernels(T: Any) -> tuple[float, int]:
    """KB for each kernel that the operators need, and how many these are."""
    from torchgen_out._runtime.kernels.build import cache_counts

    x, y, rows = T.rand(64), T.rand(64) + 0.5, T.rand(8, 24)
    _ = x + y, rows.sum()  # what all kernels need is there after that
    before, count = _held(), sum(cache_counts())
    given = {1: (x,), 2: (x, y), 3: (rows, 1)}
    for name, kind in _calls_named():
        getattr(T, name)(*given[kind])
    new = sum(cache_counts()) - count
    return (_held() - before) / new / 1e3, new


def _shapes(T: Any) -> tuple[float]:
    """MB after calls of ever new shapes, freed buffers released."""

    def use(number: int) -> Any:
        digits = number % 11, number // 11 % 13, number // 143 % 17, number // 2431
        a = T.ones([1 + digit for digit in digits])
        b = a + 1
        return (b * b.sum(2, keepdim=True)).transpose(0, 1).reshape(-1)[:3]

    for number in (0, 1, SHAPES):
        use(number)
    before = _held()
    for number in range(SHAPES):
        use(number)
    T.cpu.empty_cache()
    return ((_held() - before) / 1e6,)


def main() -> None:
    """Measure what the command line names, and print it."""
    import torchgen_out as T

    T.set_num_threads(1)
    print(*{"kernels": _kernels, "shapes": _shapes}[sys.argv[1]](T))


if __name__ == "__main__":
    main()
