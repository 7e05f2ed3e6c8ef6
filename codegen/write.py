"""Emitted files to disk: only what changed, all or nothing, and never over a person's edits."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

MANIFEST = ".generated.json"


@dataclass(frozen=True, slots=True)
class File:
    """One emitted file."""

    path: str
    """Relative to the package's folder, with forward slashes."""
    text: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What writing would do, or did."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    deleted: tuple[str, ...]


class EditedByHand(Exception):
    """A generated file was changed since it was generated."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = tuple(paths)
        listed = "".join(f"\n  {path}" for path in self.paths)
        super().__init__(
            f"these generated files were edited by hand:{listed}\nMove the change to the YAML or "
            "to a template, or give --force to overwrite them. Nothing was written."
        )


def plan_changes(folder: Path, files: Iterable[File]) -> Changes:
    """Compare emitted files with what is on disk."""
    files = list(files)
    written, unchanged = [], []
    for file in files:
        path = folder / file.path
        same = path.is_file() and path.read_text(encoding="utf-8") == file.text
        (unchanged if same else written).append(file.path)
    claimed = {file.path for file in files}
    deleted = sorted(path for path in _manifest(folder) if path not in claimed)
    return Changes(tuple(written), tuple(unchanged), tuple(deleted))


def write(folder: Path, files: Iterable[File], force: bool = False) -> Changes:
    """Bring `folder` to the emitted state.

    New text is first written beside its target; only when all of it is on disk are the files
    renamed into place, the manifest last. Raises EditedByHand before anything is written.
    """
    files = list(files)
    changes = plan_changes(folder, files)
    if not force:
        _refuse_hand_edits(folder, changes)
    texts = {file.path: file.text for file in files}
    staging = folder / ".generating"
    if changes.written or changes.deleted or not (folder / MANIFEST).exists():
        _stage_and_swap(folder, staging, texts, changes)
    return changes


def _stage_and_swap(folder: Path, staging: Path, texts: dict[str, str], changes: Changes) -> None:
    shutil.rmtree(staging, ignore_errors=True)
    try:
        for path in changes.written:
            target = staging / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(texts[path], encoding="utf-8")
        manifest = {path: _digest(text) for path, text in sorted(texts.items())}
        staging.mkdir(parents=True, exist_ok=True)
        (staging / MANIFEST).write_text(json.dumps(manifest, indent=0) + "\n", encoding="utf-8")
        for path in (*changes.written, MANIFEST):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(staging / path, folder / path)
        for path in changes.deleted:
            (folder / path).unlink(missing_ok=True)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def diff(folder: Path, files: Iterable[File]) -> str:
    """A unified diff from what is on disk to what would be generated; empty if nothing differs."""
    files = list(files)
    changes = plan_changes(folder, files)
    lines: list[str] = []
    for file in files:
        if file.path in changes.written:
            path = folder / file.path
            old = path.read_text(encoding="utf-8") if path.is_file() else ""
            lines += difflib.unified_diff(
                old.splitlines(keepends=True),
                file.text.splitlines(keepends=True),
                f"on disk: {file.path}",
                f"generated: {file.path}",
            )
    lines += [f"no entry makes this file any more: {path}\n" for path in changes.deleted]
    return "".join(lines)


def _refuse_hand_edits(folder: Path, changes: Changes) -> None:
    known = _manifest(folder)
    edited = []
    for path in (*changes.written, *changes.deleted):
        file = folder / path
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        if known.get(path) != _digest(text):
            edited.append(path)
    if edited:
        raise EditedByHand(edited)


def _manifest(folder: Path) -> dict[str, str]:
    """Path to digest of what was generated last."""
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    manifest: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return manifest


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
