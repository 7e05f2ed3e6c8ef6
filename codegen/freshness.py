"""Whether anything changed since the last run: by content, without reading YAML or templates.

The answer is kept in the output's cache folder, which version control ignores; when it is lost,
the next run does its work and finds nothing to write.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from . import library, manifest
from .model.program import Program

if TYPE_CHECKING:
    from .project import Project

_STAMP = Path(manifest.CACHE) / "codegen.json"


def unchanged_operators(project: Project) -> int | None:
    """How many operators the output has, if the run before this one left nothing to do."""
    try:
        stamp = json.loads((project.out / _STAMP).read_text(encoding="utf-8"))
        files = [library.ROOT / name for name in stamp["files"]]
        is_fresh = stamp["inputs"] == digest(project, files)
        is_fresh = is_fresh and stamp["output"] == _output(project)
    except (OSError, json.JSONDecodeError, KeyError):
        return None
    return int(stamp["operators"]) if is_fresh and manifest.is_as_generated(project.out) else None


def remember(project: Project, program: Program) -> None:
    """Note that the output is what the inputs say."""
    path = project.out / _STAMP
    files = read_besides(program)
    stamp = {
        "inputs": digest(project, files),
        "files": [file.relative_to(library.ROOT).as_posix() for file in files],
        "output": _output(project),
        "operators": len(program.operators),
    }
    with contextlib.suppress(OSError):  # a folder that may only be read
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(stamp) + "\n", encoding="utf-8")


def _output(project: Project) -> str:
    return manifest.digest_of(project.out / manifest.NAME)


def read_besides(program: Program) -> tuple[Path, ...]:
    """Files and folders that the program was read from, as the project does not know."""
    base = read_besides(program.base) if program.base else ()
    return (*base, *program.surface.files)


def digest(project: Project, files: Iterable[Path]) -> str:
    """The digest of every input, and of the settings."""
    settings = f"{project.package} {project.implementations}"
    return digest_of((*project.dependencies(), *files), settings)


def digest_of(files: Iterable[Path], settings: str = "") -> str:
    """The digest of files, with their names, and of settings; of a folder, of its names."""
    found = hashlib.sha256(settings.encode())
    for path in files:
        name = path.relative_to(library.ROOT) if path.is_relative_to(library.ROOT) else path
        content = path.read_bytes() if path.is_file() else _names(path)
        found.update(f"{name.as_posix()} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def _names(folder: Path) -> bytes:
    """What is in a folder, if there is one."""
    return " ".join(sorted(path.name for path in folder.glob("*.py"))).encode()
