"""The author's loop: a new operator, from saving the YAML to its first gradient.

Both commands count: `python -m codegen` for a package outside the tree, and a fresh process that
imports it, computes a value and a gradient, with kernels that no cache has seen.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

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
GOAL = 0.7
CHART = timing.RESULTS / "author_loop.svg"


Times = tuple[float, float]
"""Seconds, and processor seconds with those of children."""


def one_round(folder: Path, number: int) -> list[Times]:
    """What each of the parts takes."""
    package = f"author_ops_{number}"
    (folder / "functions.yaml").write_text(FUNCTIONS.format(name=number))
    (folder / "derivatives.yaml").write_text(DERIVATIVES.format(name=number))
    environment = timing.environment(folder / "bytecode", folder)
    command = [sys.executable, "-m", "codegen", "--out", str(folder / package)]
    for name in ("functions", "derivatives"):
        command += [f"--{name}", str(folder / f"{name}.yaml")]
    start = _now()
    subprocess.run(command, env=environment, cwd=timing.ROOT, check=True, capture_output=True)
    generated = _now()
    use = [sys.executable, "-c", USE.format(package=package, name=number)]
    run = subprocess.run(use, env=environment, check=True, capture_output=True)
    ended = _now()
    inside = [(at, generated[1] + processor) for at, processor in json.loads(run.stdout)]
    times = [start, generated, *inside, (ended[0], max(ended[1], inside[-1][1]))]
    return [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(times)]


def _now() -> Times:
    """The time, and what this process's children have taken so far."""
    ended = os.times()
    return time.time(), ended.children_user + ended.children_system


def table(rounds: int) -> list[str]:
    """The page's lines; the chart is drawn beside it."""
    with tempfile.TemporaryDirectory() as name:
        unique = int(time.time())
        runs = [one_round(Path(name), unique + i) for i in range(rounds + 1)][1:]
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
