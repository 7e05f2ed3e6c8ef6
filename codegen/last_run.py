"""What the last whole run read and emitted: after an edit only what changed is made again.

The file lies where Python keeps bytecode. It is believed if the generator is the one that wrote it;
what else it depends on is looked at by whoever reads again (`parse.again`). A few edits do not make
a new one: they are read again until a whole run is worth its time.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from . import freshness, library, manifest, record_files
from .errors import CodegenError
from .model.plan import Texts
from .parse.again import parse_again
from .parse.functions import read_functions
from .parse.program import Parsed, read_surface
from .parse.reading import Reading
from .parse.report import Report
from .project import FORMULAS, Project, generator_files
from .record import record

NAME = f"last_run.{sys.implementation.cache_tag}{manifest.KEPT}"


@record
class LastRun:
    """One whole run."""

    formulas: str
    """The digest of the functions for derivative formulas."""
    surface: str
    """That of what public modules are made of."""
    reading: Reading
    texts: Mapping[tuple[str, str], str]
    """What was emitted of single operators."""


def again(project: Project) -> tuple[Parsed, Texts] | None:
    """The program after an edit, and the emitted texts that are still right.

    None if the whole is to be read: much has changed, something is wrong, or nothing is known.
    """
    last = None if project.base else _read(project)
    if last is None:
        return None
    reading, functions = last.reading, last.reading.functions
    try:
        if last.formulas != _of_formulas():
            functions = read_functions(FORMULAS)
        if last.surface != _of_surface(reading):
            report = Report()
            surface = read_surface(library.RUNTIME_FOLDER, report)
            report.raise_if_any()
            reading = replace(reading, program=replace(reading.program, surface=surface))
        parsed = parse_again(project.inputs(), reading, functions)
    except CodegenError:
        return None
    if parsed is None or parsed.again is None:
        return None
    known = {key: text for key, text in last.texts.items() if key[1] not in parsed.again}
    return parsed, Texts(known)


def keep(project: Project, reading: Reading | None, texts: Texts) -> None:
    """Keep what a whole run read and emitted; after an edit there is no reading to keep."""
    if project.base or reading is None:
        return
    last = LastRun(_of_formulas(), _of_surface(reading), reading, texts.used)
    head = {"generator": _of_generator(project)}
    place = project.out / manifest.CACHE / NAME
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    with contextlib.suppress(OSError):  # a folder that may only be read
        place.parent.mkdir(exist_ok=True)
        temporary.write_bytes(json.dumps(head).encode() + b"\n" + record_files.dump(last))
        os.replace(temporary, place)


def _read(project: Project) -> LastRun | None:
    """What was kept, if this generator kept it."""
    try:
        content = (project.out / manifest.CACHE / NAME).read_bytes()
        head, _, content = content.partition(b"\n")
        if json.loads(head)["generator"] != _of_generator(project):
            return None
        last = record_files.load(content)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, EOFError):
        return None
    except pickle.UnpicklingError:
        return None
    return last if isinstance(last, LastRun) else None


def _of_generator(project: Project) -> str:
    return freshness.digest_of(generator_files(), project.package)


def _of_formulas() -> str:
    return freshness.digest_of(sorted(FORMULAS.rglob("*.py")))


def _of_surface(reading: Reading) -> str:
    files: Iterable[Path] = sorted(library.RUNTIME_FOLDER.glob("*.yaml"))
    return freshness.digest_of((*files, *reading.program.surface.files))
