"""Where the library's own files are: in a checkout, or in an installed package.

    checkout                  installed
    native_functions.yaml     torchgen_out/codegen/native_functions.yaml
    codegen/                  torchgen_out/codegen/
    runtime/                  torchgen_out/_runtime/
    torchgen_out/             torchgen_out/

Both are imported as on the right: a checkout's `torchgen_out` has two packages that point to the
folders beside it (`templates/linked_package.py.jinja`).
"""

from __future__ import annotations

from pathlib import Path

PACKAGE = "torchgen_out"
RUNTIME = f"{PACKAGE}._runtime"
LINKED = {"_runtime": "runtime", "codegen": "codegen"}
"""Packages in `torchgen_out` that a checkout has beside it, and what they are called there."""

_HERE = Path(__file__).resolve().parent
IS_INSTALLED = (_HERE.parent / "_runtime").is_dir()

ROOT = _HERE.parents[1] if IS_INSTALLED else _HERE.parent
"""The folder in which `torchgen_out` is."""
GENERATOR_FOLDER = _HERE
RUNTIME_FOLDER = _HERE.parent / "_runtime" if IS_INSTALLED else ROOT / "runtime"
YAML_FOLDER = _HERE if IS_INSTALLED else ROOT

COMMAND = f"python -m {__package__}"
"""How this generator was started: `python -m codegen`, or `python -m torchgen_out.codegen`."""


def path_of(module: str, root: Path) -> Path | None:
    """Where a module's file or folder would be; None if its first package is not below `root`."""
    first, _, rest = module.partition(".")
    if not (root / first).exists() and not (root / f"{first}.py").exists():
        return None
    if root == ROOT and f"{module}.".startswith(f"{RUNTIME}."):
        return RUNTIME_FOLDER.joinpath(*rest.split(".")[1:])
    return root.joinpath(first, *filter(None, rest.split(".")))
