"""The author's loop: a new operator, from saving the YAML to its first gradient.

Both commands count: `python -m codegen` for a package outside the tree, and a fresh process that
imports it, computes a value and a gradient, with kernels that no cache has seen. Once more beside
`python -m codegen watch`, which generates and compiles by itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import IO

from benchmarks import timing

TITLE = "The author's loop"

FUNCTIONS = """\
- func: author_{name}(Tensor self, Scalar beta=1) -> Tensor
  variants: function, method, inplace, out
  dtypes: floating
  promotion: int_to_float
  pointwise: "self * tanh(log1p(exp(beta * self))) + {name}"
  samples: {{self: [-3, 3]}}
  doc: |
    An activation that nobody has compiled before.
"""

DERIVATIVES = """\
- name: author_{name}
  self: auto
"""

USE = """\
import json
import time
begun = [(time.time(), time.process_time())]
import torchgen_out as torch
import {package}
from benchmarks.cold import processor_seconds
def note():
    begun.append((time.time(), processor_seconds()))
note()
x = torch.linspace(-1, 1, 1000, requires_grad=True)
y = {package}.author_{name}(x)
note()
y.sum().backward()
assert x.grad is not None
note()
print(json.dumps(begun))
"""

PARTS = (
    ("`python -m codegen`, one new operator outside the tree", "#4477aa"),
    ("a fresh process begins", "#bbbbbb"),
    ("it imports the library and the package", "#66ccee"),
    ("first value: the compiler's process starts and compiles", "#ee6677"),
    ("first gradient: more is compiled", "#ccbb44"),
    ("the process ends", "#dddddd"),
)
"""What the loop consists of, and the colours of the chart."""
WATCHED = (
    "the save is seen, and the package written",
    "a fresh process begins",
    "it imports the library and the package",
    "first value",
    "first gradient",
    "the process ends",
)
GOAL = 0.7
CHART = timing.RESULTS / "author_loop.svg"


Times = tuple[float, float]
"""Seconds, and processor seconds with those of children."""


def one_round(folder: Path, number: int) -> list[Times]:
    """What each of the parts takes."""
    package = f"author_ops_{number}"
    _save(folder, number)
    environment = timing.environment(folder / "bytecode", folder)
    start = _now()
    command = _command(folder, package)
    subprocess.run(command, env=environment, cwd=timing.ROOT, check=True, capture_output=True)
    generated = _now()
    return [*_parts(start, generated), *_use(folder, package, number)]


def watched_rounds(folder: Path, numbers: Sequence[int]) -> Iterator[list[Times]]:
    """What each of the parts takes beside a process that generates and compiles at every save."""
    package = "watched_ops"
    _save(folder, numbers[0])
    environment = timing.environment(folder / "bytecode", folder)
    command = _command(folder, package, "watch")
    watch = subprocess.Popen(
        command, env=environment, cwd=timing.ROOT, stdout=subprocess.PIPE, text=True
    )
    assert watch.stdout is not None
    try:
        _wait_for("compiled", watch.stdout)
        for number in numbers[1:]:
            start = _now()
            _save(folder, number)
            _wait_for("written", watch.stdout)
            generated = _now()
            yield [*_parts(start, generated), *_use(folder, package, number)]
            _wait_for("compiled", watch.stdout)
    finally:
        watch.terminate()
        watch.wait()


def _save(folder: Path, number: int) -> None:
    (folder / "derivatives.yaml").write_text(DERIVATIVES.format(name=number))
    (folder / "functions.yaml").write_text(FUNCTIONS.format(name=number))


def _command(folder: Path, package: str, *command: str) -> list[str]:
    files = [f"--{name}={folder / name}.yaml" for name in ("functions", "derivatives")]
    return [sys.executable, "-m", "codegen", *command, f"--out={folder / package}", *files]


def _use(folder: Path, package: str, number: int) -> list[Times]:
    """The parts of a program that asks for a value and a gradient."""
    environment = timing.environment(folder / "bytecode", folder)
    use = [sys.executable, "-c", USE.format(package=package, name=number)]
    start = _now()
    run = subprocess.run(use, env=environment, check=True, capture_output=True)
    ended = _now()
    inside = [(at, start[1] + processor) for at, processor in json.loads(run.stdout)]
    return _parts(start, *inside, (ended[0], max(ended[1], inside[-1][1])))


def _parts(*times: Times) -> list[Times]:
    return [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(times)]


def _wait_for(word: str, lines: IO[str]) -> None:
    """Read what a process tells until a line has a word."""
    for line in lines:
        if word in line:
            return
    raise RuntimeError(f"it ended without a line that says '{word}'")


def _now() -> Times:
    """The time, and what this process's children have taken so far."""
    ended = os.times()
    return time.time(), ended.children_user + ended.children_system


def table(rounds: int) -> list[str]:
    """The page's lines; the chart is drawn beside it."""
    with tempfile.TemporaryDirectory() as name:
        unique = int(time.time())
        runs = [one_round(Path(name), unique + i) for i in range(rounds + 1)][1:]
        numbers = range(unique + rounds + 1, unique + 2 * rounds + 3)
        watched = list(watched_rounds(Path(name), numbers))[1:]
    best = min(runs, key=lambda run: sum(processor for _, processor in run))
    wall, processor = (list(times) for times in zip(*best, strict=True))
    CHART.write_text(chart(processor), encoding="utf-8")
    total = sum(processor)
    mark = "" if total <= GOAL else "**"
    return [
        f"Of {rounds} rounds that with the least processor time, children's included; one before "
        "them wrote Python's bytecode, and what the generator keeps of the library.",
        "",
        "| part | processor, s | wall, s |",
        "|---|--:|--:|",
        *(
            f"| {name} | {p:.2f} | {w:.2f} |"
            for (name, _), p, w in zip(PARTS, processor, wall, strict=True)
        ),
        f"| together (goal: {GOAL}) | {mark}{total:.2f}{mark} | {sum(wall):.2f} |",
        "",
        f"![the parts one after the other]({CHART.name})",
        *watched_table(watched),
    ]


def watched_table(runs: Sequence[Sequence[Times]]) -> list[str]:
    """The lines about the loop beside `codegen watch`: by the clock, as somebody waits."""
    best = min(([wall for wall, _ in run] for run in runs), key=sum)
    mark = "" if sum(best) <= GOAL else "**"
    return [
        "",
        "Beside `python -m codegen watch`, of as many rounds that in which one waits least. Its "
        "process has the generator in memory, another the library and a compiler; the program "
        "begins as soon as the package is written, while kernels are compiled.",
        "",
        "| part | wall, s |",
        "|---|--:|",
        *(f"| {name} | {wall:.2f} |" for name, wall in zip(WATCHED, best, strict=True)),
        f"| together (goal: {GOAL}) | {mark}{sum(best):.2f}{mark} |",
    ]


def chart(parts: Sequence[float]) -> str:
    """A picture of the parts one after the other, in SVG."""
    scale = 560 / max(sum(parts), GOAL)
    height = 70 + 20 * len(parts)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="640" height="{height}" fill="white"/>',
    ]
    place = 20.0
    for row, ((name, colour), part) in enumerate(zip(PARTS, parts, strict=True)):
        width, line = part * scale, 62 + 20 * row
        text = f"{part:.2f} s  {name.replace('`', '')}"
        lines += [
            f'<rect x="{place:.1f}" y="16" width="{width:.1f}" height="24" fill="{colour}"/>',
            f'<rect x="20" y="{line}" width="12" height="12" fill="{colour}"/>',
            f'<text x="40" y="{line + 10}">{text}</text>',
        ]
        place += width
    goal = 20 + GOAL * scale
    lines += [
        f'<line x1="{goal:.1f}" y1="10" x2="{goal:.1f}" y2="46" stroke="#222222"/>',
        f'<text x="{goal:.1f}" y="57" text-anchor="middle">goal: {GOAL} s</text>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"
