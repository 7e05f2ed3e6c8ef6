"""Emits the package itself: torchgen_out/__init__.py and the facades over hand-written modules."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.emit import namespaces
from codegen.emit.environment import render
from codegen.model.program import Program
from codegen.write import File

FACADES: dict[str, str] = {
    "autograd": "runtime.autograd",
    "optim": "runtime.optim",
}


def emit(program: Program) -> Iterable[File]:
    """Emit `__init__.py` and `py.typed`."""
    exports = list(namespaces._exports(program, "torch"))
    yield render("__init__.py", "init.py.jinja", names=[e.name for e in exports])
    yield render("nn/__init__.py", "nn.py.jinja")
    yield File("py.typed", "")
