"""The library's program as it was read and checked, kept for packages outside the tree.

Reading 850 entries takes half a second, and they hardly change while somebody writes an operator of
their own. The file lies where Python keeps bytecode, and is believed only if all inputs have the
digest that it notes; nothing can be made of it but the generator's own records.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pickle
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from . import freshness, library, manifest, record_files
from .model.operator import Index, Kind
from .model.program import Program
from .parse.places import OnePlace

if TYPE_CHECKING:
    from .project import Project

_held: dict[Project, tuple[str, Program]] = {}
"""Programs in memory, each with the digest of its inputs."""


def hold(project: Project) -> None:
    """Keep a project's program in memory, too: this process and its forks will ask again.

    Raises: CodegenError with all mistakes.
    """
    program = read(project)
    _held[project] = freshness.digest(project, freshness.read_besides(program)), program


def read(project: Project) -> Program:
    """The program of a project, read and checked now or before.

    Raises: CodegenError with all mistakes.
    """
    digest, program = _held.get(project, ("", None))
    if program and digest == freshness.digest(project, freshness.read_besides(program)):
        return program
    place = project.out / manifest.CACHE / f"program.{sys.implementation.cache_tag}{manifest.KEPT}"
    found = _kept(project, place)
    if found is None:
        found = _as_others_need_it(project.read())
        with contextlib.suppress(OSError):  # a folder that may only be read
            _keep(project, place, found)
    return found


def _as_others_need_it(program: Program) -> Program:
    """The program for packages outside the tree: names and signatures, and what kinds there are.

    Nobody calls its samples for them, nor asks how it differentiates or what statements say.
    """
    operators = [
        dataclasses.replace(
            each, samples=None, places=OnePlace(each.where), kind=_without_statements(each.kind)
        )
        for each in program.operators
    ]
    return dataclasses.replace(program, operators=tuple(operators), derivatives=())


def _without_statements(kind: Kind) -> Kind:
    if not isinstance(kind, Index):
        return kind
    program = dataclasses.replace(kind.program, statements=(), extents=(), requirements=(), text="")
    return dataclasses.replace(kind, program=program, variants=(), cases=())


def _kept(project: Project, place: Path) -> Program | None:
    """What was kept, if it is of these very inputs."""
    try:
        head, _, content = place.read_bytes().partition(b"\n")
        about = json.loads(head)
        files = [library.ROOT / name for name in about["files"]]
        if about["inputs"] != freshness.digest(project, files) or about["here"] != os.getcwd():
            return None  # places in files are told as they are seen from here
        program = record_files.load(content)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError):
        return None
    except pickle.UnpicklingError:
        return None
    return program if isinstance(program, Program) else None


def _keep(project: Project, place: Path, program: Program) -> None:
    files = freshness.read_besides(program)
    about = {
        "inputs": freshness.digest(project, files),
        "files": [file.relative_to(library.ROOT).as_posix() for file in files],
        "here": os.getcwd(),
    }
    place.parent.mkdir(exist_ok=True)
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    with open(temporary, "wb") as file:
        file.write(json.dumps(about).encode() + b"\n")
        file.write(record_files.dump(program, {id(each.where) for each in program.operators}))
    os.replace(temporary, place)
