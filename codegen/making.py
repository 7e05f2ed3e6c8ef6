"""From two YAML files to the files of a package: all stages, or those that an edit asks for."""

from __future__ import annotations

from . import check, emit, last_run, lower, parse
from .errors import CodegenError
from .model.plan import Texts
from .model.program import Program
from .parse.reading import Reading
from .project import Project
from .record import record
from .record_files import LostPlaces
from .write import File


@record
class Made:
    """A checked program, and what is emitted of it."""

    program: Program
    files: tuple[File, ...]
    reading: Reading | None
    """What each entry became, in a whole run."""
    texts: Texts


def make(project: Project) -> Made:
    """Read, check and emit a project.

    Raises: CodegenError with all mistakes.
    """
    texts = Texts()
    parsed = parse.parse(project.inputs())
    program = check.check(parsed)
    files = tuple(emit.emit(lower.lower(program, texts)))
    return Made(program, files, parsed.reading, texts)


def make_again(project: Project) -> Made:
    """The same after an edit: what it cannot have changed is as the last whole run made it.

    Raises: CodegenError with all mistakes.
    """
    found = last_run.again(project)
    if found is None:
        return make(project)
    parsed, texts = found
    try:
        program = check.check(parsed)
    except (CodegenError, LostPlaces):  # the whole has the places of all mistakes
        return make(project)
    return Made(program, tuple(emit.emit(lower.lower(program, texts))), None, texts)
