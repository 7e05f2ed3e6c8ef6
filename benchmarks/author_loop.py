"""The author's loop: a new operator, from saving the YAML to its first gradient.

Both commands count: `python -m codegen` for a package outside the tree, and a fresh process that
imports it, computes a value and a gradient, with kernels that no cache has seen.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
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
import torchgen_out as torch
import {package}
x = torch.linspace(-1, 1, 1000, requires_grad=True)
{package}.author_{name}(x).sum().backward()
assert x.grad is not None
"""


def one_round(folder: Path, number: int) -> tuple[float, float]:
    """Seconds to generate, and to the first gradient in a fresh process."""
    package = f"author_ops_{number}"
    (folder / "functions.yaml").write_text(FUNCTIONS.format(name=number))
    (folder / "derivatives.yaml").write_text(DERIVATIVES.format(name=number))
    environment = timing.environment(folder / "bytecode", folder)
    start = time.perf_counter()
    subprocess.run(
        [
            *(sys.executable, "-m", "codegen"),
            *("--functions", str(folder / "functions.yaml")),
            *("--derivatives", str(folder / "derivatives.yaml")),
            *("--out", str(folder / package)),
        ],
        env=environment,
        cwd=timing.ROOT,
        check=True,
        capture_output=True,
    )
    generated = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", USE.format(package=package, name=number)],
        env=environment,
        check=True,
    )
    return generated - start, time.perf_counter() - generated


def table(rounds: int) -> list[str]:
    """The page's lines."""
    with tempfile.TemporaryDirectory() as name:
        unique = int(time.time())
        runs = [one_round(Path(name), unique + i) for i in range(rounds)]
    generate, use = (min(times) for times in zip(*runs, strict=True))
    total = min(map(sum, runs))
    return [
        "| step | seconds |",
        "|---|---|",
        f"| `python -m codegen`, one new operator outside the tree | {generate:.2f} |",
        f"| fresh process: import, compile, value and gradient | {use:.2f} |",
        f"| together (budget: 2) | {total:.2f} |",
    ]
