"""What a generated folder holds: every file with a digest of its text, noted in the folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

NAME = ".generated.json"
CACHE = "__pycache__"
KEPT = ".kept"
"""The suffix of what the generator keeps in the cache folder for its next run."""

Notes = dict[str, str]
"""Path to digest."""


def read(folder: Path) -> Notes:
    """What was generated last; empty for a folder that was not, or whose notes are damaged."""
    try:
        found: Notes = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return found


def write(folder: Path, notes: Notes) -> None:
    """Note what is generated."""
    (folder / NAME).write_text(json.dumps(notes, indent=0) + "\n", encoding="utf-8")


def notes(texts: Mapping[str, str]) -> Notes:
    """The notes of files, given as texts by path."""
    return {path: digest(text.encode()) for path, text in sorted(texts.items())}


def is_as_generated(folder: Path) -> bool:
    """Whether the folder holds what was generated last, all of it and nothing else."""
    known = read(folder)
    if not known or known.keys() != set(present(folder)):
        return False
    return all(digest_of(folder / path) == note for path, note in known.items())


def present(folder: Path) -> Iterator[str]:
    """The files in the folder, but for the manifest and Python's caches."""
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != CACHE]
        place = Path(root).relative_to(folder)
        yield from ((place / name).as_posix() for name in names if name != NAME)


def digest_of(path: Path) -> str:
    """The digest of a file."""
    return digest(path.read_bytes())


def digest(content: bytes) -> str:
    """A short name of some bytes."""
    return hashlib.sha256(content).hexdigest()[:16]
