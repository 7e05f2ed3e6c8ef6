"""The same three operators in other systems: what their authors write, and what it takes to run.

    python same_operator.py [--python SYSTEM=INTERPRETER ...] [--out same_operator.md]

elsewhere/ has a file for each system, which runs in a process of its own, on one thread, from empty
caches. Lines are those of the operator and its gradient, without blank ones, comments and imports.
Systems that cannot be imported are left out, and named. Results are compared with ours.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pages import ENTRY

HERE = Path(__file__).resolve().parent
NAMES = ("rms_norm_gated", "local_correlation", "segment_softmax")
SYSTEMS = {
    "ours": ("YAML here", "ours.py", ["research_ops.yaml", "research_derivatives.yaml"], 0),
    "torch": (
        *("PyTorch, `torch.library` and C++", "torch_ops.py"),
        *(["elsewhere/torch_ops.cpp", "elsewhere/torch_ops.py"], 6),
    ),
    "warp": ("NVIDIA Warp", "warp_ops.py", ["elsewhere/warp_ops.py"], 0),
    "jax": ("JAX", "jax_ops.py", ["elsewhere/jax_ops.py"], 0),
    "numba": ("Numba by hand", "numba_ops.py", ["elsewhere/numba_ops.py"], 0),
}
"""What each is called, its script, what the author writes, and registrations of one operator."""


def main() -> None:
    """Run all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", default=[], metavar="SYSTEM=INTERPRETER")
    parser.add_argument("--package", type=Path, default=HERE / "build")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    chosen = dict(each.split("=", 1) for each in given.python)
    lines = ["# The same operator in other systems", "", *NOTES, ""]
    lines += ["| operator | system | lines | files | registrations | first call, s | first step, s "
              "| call, ms | step, ms |", "| --- | --- " + "| ---: " * 7 + "|"]  # fmt: skip
    left_out = []
    for name in NAMES:
        sums: list[float] = []
        for system, (title, script, files, registrations) in SYSTEMS.items():
            found = _run(name, chosen.get(system, sys.executable), script, given.package)
            if found is None:
                left_out.append(f"{title} ({name})")
                continue
            sums = sums or found["sums"]
            close = all(abs(a / b - 1) < 1e-3 for a, b in zip(sums, found["sums"], strict=True))
            call, step = (f"{1e3 * each:.2f}" for each in found["times"])
            cells = [name, title, sum(_lines(HERE / each, name) for each in files), len(files)]
            cells += [registrations, f"{found['first']:.1f}", f"{found['first_step']:.1f}"]
            cells += [call, step if close else f"{step} (differs)"]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
            print(lines[-1], flush=True)
    lines += ["", f"Left out: {', '.join(left_out) or 'none'}."]
    text = "\n".join(lines) + "\n"
    print(text)
    if given.out:
        given.out.write_text(text)


NOTES = [
    "Measured by `same_operator.py` on one thread, each in a process with empty caches; the first",
    "call is without imports and with all that it compiles: for C++, the compiler's run. A step is",
    "a call and its gradients. Registrations make an operator one of the framework's: schema,",
    "kernel, the gradient's schema and kernel, shapes, autograd. What is written in Warp, JAX or",
    "Numba is no operator of a tensor library; to be PyTorch's, each needs the same six.",
    "Only ours and JAX's have second gradients. Triton is not measured: it has no CPU compiler. By",
    "its documentation, a kernel of it needs a device, a wrapper, and the registrations of C++.",
]


def _run(name: str, python: str, script: str, package: Path) -> dict[str, Any] | None:
    """One system's times of one operator; None if it cannot run here."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
            "TORCHGEN_CACHE_DIR": f"{folder}/kernels",
            "WARP_CACHE_PATH": f"{folder}/warp",
            "RESEARCH_PACKAGE": str(package),
        }
        command = [python, str(HERE / "elsewhere" / script), name]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    if ran.returncode:
        print(ran.stderr[-500:], file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def _lines(file: Path, name: str) -> int:
    """The lines of one operator in a file."""
    text = file.read_text(encoding="utf-8")
    if file.name == "research_ops.yaml":
        entry = next(each[0] for each in ENTRY.finditer(text) if each["name"] == name)
        part = re.sub(r"^  doc: \|\n((?:    .*\n|\n)*)", "", entry, flags=re.MULTILINE)
    elif file.suffix == ".yaml":
        part = re.search(rf"^- name: {name}\n(?:  .*\n)*", text, re.MULTILINE)[0]  # type: ignore[index]
    else:
        mark = "//" if file.suffix == ".cpp" else "#"
        parts = re.split(rf"^ *{mark} (\w+)$", text, flags=re.MULTILINE)
        part = dict(zip(parts[1::2], parts[2::2], strict=True))[name]
        if file.suffix == ".cpp":
            tail = text[text.index("// end") :]
            part += "\n".join(line for line in tail.splitlines() if name in line)
    lines = [line.strip() for line in part.splitlines()]
    return sum(bool(line) and not line.startswith(("#", "//")) for line in lines)


if __name__ == "__main__":
    main()
