"""How long `python -m codegen` takes for 600 operators: from nothing, unchanged, one entry changed.

Each run is a process of its own, so Python's start-up counts. The operators are the library's, and
as many synthetic ones as are missing; everything happens in a temporary folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import timing

OPERATORS = 600
TITLE = "Regenerating the package"

FUNCTION = """
- func: synthetic_{number}(Tensor self, Tensor|Scalar other, Scalar beta=1) -> Tensor
  variants: function, method, inplace, out
  dtypes: floating
  promotion: int_to_float
  pointwise: self * tanh(log1p(exp(self * beta))) + other * {number}
  samples: {{self: [-3, 3], other: [-3, 3], beta: [1, 0.5]}}
  doc: |
    Compute a function that nobody needs.
"""

DERIVATIVE = """
- name: synthetic_{number}
  self: auto
  other: auto
  result: auto_element_wise
"""

PROGRAM = """\
import gc
import sys
from pathlib import Path
from codegen.__main__ import generate
from codegen.project import Project
gc.disable()  # as `python -m codegen` does
folder = Path({folder!r})
sys.exit(generate(Project(folder / "functions.yaml", folder / "derivatives.yaml", folder / "made")))
"""


def write_inputs(folder: Path) -> int:
    """Write both YAML files with at least OPERATORS entries; return how many there are."""
    functions = (timing.ROOT / "native_functions.yaml").read_text(encoding="utf-8")
    derivatives = (timing.ROOT / "derivatives.yaml").read_text(encoding="utf-8")
    count = functions.count("\n- func:")
    for number in range(count, OPERATORS):
        functions += FUNCTION.format(number=number)
        derivatives += DERIVATIVE.format(number=number)
    (folder / "functions.yaml").write_text(functions, encoding="utf-8")
    (folder / "derivatives.yaml").write_text(derivatives, encoding="utf-8")
    return max(count, OPERATORS)


def change_entry(folder: Path, number: int) -> None:
    """Give one entry another formula."""
    path = folder / "functions.yaml"
    text = path.read_text(encoding="utf-8")
    changed = re.sub(r"pointwise: self \* other( \* \d+)?\n", _formula(number), text, count=1)
    path.write_text(changed, encoding="utf-8")


def _formula(number: int) -> str:
    return f"pointwise: self * other * {number + 2}\n"


def seconds(folder: Path) -> tuple[float, float]:
    """Wall and processor time of one run."""
    before = os.times()
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", PROGRAM.format(folder=str(folder))],
        env=timing.environment(folder / "bytecode"),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    wall = time.perf_counter() - start
    after = os.times()
    used = after.children_user + after.children_system
    return wall, used - before.children_user - before.children_system


def best(folder: Path, prepare: Callable[[int], None], rounds: int) -> str:
    """The row of the best of some runs."""
    times = []
    for number in range(rounds):
        prepare(number)
        times.append(seconds(folder))
    wall, used = (min(each) for each in zip(*times, strict=True))
    return f"{wall:.2f} | {used:.2f}"


def table(rounds: int) -> list[str]:
    """The page's lines."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = write_inputs(folder)
        first = best(folder, lambda number: None, 1)
        unchanged = best(folder, lambda number: None, rounds)
        changed = best(folder, lambda number: change_entry(folder, number), rounds)
    return [
        f"{count} operators, Python's start included; best of {rounds}.",
        "",
        "| run | wall, s | processor, s | budget, s |",
        "|---|---|---|---|",
        f"| nothing changed | {unchanged} | 0.1 |",
        f"| one entry changed | {changed} | 0.8 |",
        f"| into an empty folder | {first} | |",
    ]
