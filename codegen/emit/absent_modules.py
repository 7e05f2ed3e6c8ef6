"""Emits public modules of what PyTorch has and the library has not.

Programs import them at their top and hardly use them. `absent.yaml` says what each is asked for,
and what to do instead; the modules say so when something is used. What answers with more than one
value is hand-written, in `runtime/library/programs/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..model.surface import AbsentModule, Surface
from ..record import record
from ..write import File
from .environment import render


@record
class Layout:
    """What the template prints of a module."""

    doc: str
    remedy: str
    path: str
    """Its name in PyTorch."""
    stand_ins: list[tuple[str, str]]
    """Names, and which stand-in each is."""
    refuses: bool
    """Whether something needs the remedy."""
    answers: list[tuple[str, str]]
    values: list[tuple[str, str]]
    submodules: list[str]
    package: str
    exported: list[str]


def emit(surface: Surface) -> Iterable[File]:
    """Emit the modules."""
    for module in surface.absent:
        layout = _layout(module, surface)
        yield render(surface.file(module.path), "absent_module.py.jinja", module=layout)


def _layout(module: AbsentModule, surface: Surface) -> Layout:
    named = {"kind": module.classes, "function": module.functions, "mark": module.marks}
    stand_ins = [(name, word) for word, names in named.items() for name in names]
    below = [
        other.path.rpartition(".")[2]
        for other in surface.absent
        if other.path.rpartition(".")[0] == module.path
    ]
    return Layout(
        module.doc,
        module.remedy,
        module.place or f"torch.{module.path}",
        sorted(stand_ins),
        any(word != "mark" for _, word in stand_ins),
        sorted(module.answers),
        sorted(module.values),
        sorted(below, key=_exported_order),
        f"torchgen_out.{module.path}",
        sorted(module.exported, key=_exported_order),
    )


def _exported_order(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Constants, classes, then the rest; numbers in names as numbers."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    parts = re.split(r"(\d+)", name)
    return kind, [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
