"""Runs mypy over the package as it is installed, with `runtime/` as `torchgen_out._runtime`.

    python -m tests.typecheck [options of mypy]

In a checkout these are two folders, which mypy cannot be told are one package; so it is shown a
folder of links. What it reads there, and how strictly, stands in pyproject.toml. Beside the package
lie users' typed programs of `tests/typing`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = ROOT / ".mypy_cache" / "installed"


def lay_out(tree: Path) -> None:
    """Make the folder of links anew."""
    shutil.rmtree(tree, ignore_errors=True)
    package = tree / "torchgen_out"
    package.mkdir(parents=True)
    for entry in (ROOT / "torchgen_out").iterdir():
        if entry.name not in ("_runtime", "codegen", "__pycache__"):
            _link(entry, package / entry.name)
    _link(ROOT / "runtime", package / "_runtime")
    _link(ROOT / "codegen", tree / "codegen")
    _link(ROOT / "tests" / "typing", tree / "typed_programs")


def _link(source: Path, target: Path) -> None:
    try:
        os.symlink(source, target)
    except OSError:  # Windows grants links to some users alone
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, target)


if __name__ == "__main__":
    lay_out(TREE)
    config = ROOT / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), *sys.argv[1:]]
    sys.exit(subprocess.run(command, cwd=TREE, check=False).returncode)
