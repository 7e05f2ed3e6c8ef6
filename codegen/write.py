"""Emitted files to disk: only what changed, all or nothing, and never over a person's edits.

A new folder is put together beside the old one, of links to the files that stay and of new ones,
and takes its place at once (`codegen.exchange`). What was generated is noted in a manifest inside
the folder; a file that differs from its note was edited by hand, a file without one is not ours.
"""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from . import exchange, manifest
from .record import record


@record
class File:
    """One emitted file."""

    path: str
    """Relative to the package's folder, with forward slashes."""
    text: str


@record
class Changes:
    """What writing would do, or did."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    deleted: tuple[str, ...]
    """Generated earlier, made by no entry any more."""
    foreign: tuple[str, ...] = ()
    """On disk, and never generated."""


class Refused(Exception):
    """Writing would destroy a person's work. Nothing was written."""

    def __init__(self, problem: str, paths: Iterable[str], advice: str) -> None:
        self.paths = tuple(paths)
        listed = "".join(f"\n  {path}" for path in self.paths)
        super().__init__(f"{problem}:{listed}\n{advice} Nothing was written.")


class EditedByHand(Refused):
    """A generated file was changed since it was generated."""

    def __init__(self, folder: Path, paths: Iterable[str]) -> None:
        super().__init__(
            f"{folder.name}/: these generated files were edited by hand",
            paths,
            "Move the change to the YAML or to a template, or give --force to overwrite them.",
        )


class NotGenerated(Refused):
    """The folder holds something that was never generated."""

    def __init__(self, folder: Path, paths: Iterable[str]) -> None:
        super().__init__(
            f"{folder.name}/ holds what is not generated",
            paths,
            "A generated package has its folder to itself: move these files, or choose another.",
        )


class Unwritable(Exception):
    """The file system refused. Nothing was written."""


def plan_changes(
    folder: Path, files: Iterable[File], apart: frozenset[str] = frozenset()
) -> Changes:
    """Compare emitted files with what is on disk, but for what is in the folders `apart`."""
    texts = {file.path: file.text for file in files}
    known = _outside(apart, manifest.read(folder))
    present = _outside(apart, manifest.present(folder))
    same = {
        path
        for path, text in texts.items()
        if path in present and (folder / path).read_bytes() == text.encode()
    }
    return Changes(
        written=tuple(path for path in texts if path not in same),
        unchanged=tuple(path for path in texts if path in same),
        deleted=tuple(sorted(known - texts.keys())),
        foreign=tuple(sorted(present - known - texts.keys())),
    )


def _outside(apart: frozenset[str], paths: Iterable[str]) -> set[str]:
    return {path for path in paths if path.partition("/")[0] not in apart}


def write(folder: Path, files: Iterable[File], force: bool = False) -> Changes:
    """Bring `folder` to the emitted state.

    Raises: EditedByHand unless `force`, NotGenerated, Unwritable; nothing is written then.
    """
    try:
        return _write(folder.resolve(), list(files), force)
    except OSError as error:
        raise Unwritable(f"{error.strerror} ({error.filename})") from error


def _write(folder: Path, files: list[File], force: bool) -> Changes:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with exchange.exclusive(folder):
        exchange.recover(folder)
        changes = plan_changes(folder, files)
        _refuse(folder, changes, force)
        texts = {file.path: file.text for file in files}
        if changes.written or changes.deleted or manifest.read(folder) != manifest.notes(texts):
            try:
                _stage(folder, texts, changes)
                exchange.exchange(folder)
            finally:
                exchange.recover(folder)
    return changes


def _refuse(folder: Path, changes: Changes, force: bool) -> None:
    if changes.foreign:
        raise NotGenerated(folder, changes.foreign)
    known = manifest.read(folder)
    edited = [
        path
        for path in (*changes.written, *changes.deleted)
        if (folder / path).is_file() and manifest.digest_of(folder / path) != known.get(path)
    ]
    if not edited or force:
        return
    if not known:
        raise NotGenerated(folder, edited)
    raise EditedByHand(folder, edited)


def _stage(folder: Path, texts: Mapping[str, str], changes: Changes) -> None:
    """Put the new folder together beside the old one."""
    staged = exchange.staging(folder)
    staged.mkdir()
    for path in _kept(folder, changes):
        target = staged / path
        target.parent.mkdir(parents=True, exist_ok=True)
        _link(folder / path, target)
    for path in changes.written:
        target = staged / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(texts[path].encode())
        _date_anew(target, folder / path)
    manifest.write(staged, manifest.notes(texts))


def _date_anew(file: Path, replaced: Path) -> None:
    """Give a file another second than the one whose place it takes, if it has the same size.

    Python's bytecode knows its source by both, and would be that of the old file.
    """
    if not replaced.is_file():
        return
    new, old = file.stat(), replaced.stat()
    if new.st_size == old.st_size and int(new.st_mtime) <= int(old.st_mtime):
        os.utime(file, (new.st_atime, int(old.st_mtime) + 1))


def _kept(folder: Path, changes: Changes) -> Iterator[str]:
    """The files that stay, Python's compiled form of each, and what the generator keeps."""
    yield from changes.unchanged
    for kept in (folder / manifest.CACHE).glob(f"*{manifest.KEPT}"):
        yield kept.relative_to(folder).as_posix()
    for path in changes.unchanged:
        place = PurePosixPath(path)
        if place.suffix != ".py":
            continue
        for compiled in (folder / place.parent / manifest.CACHE).glob(f"{place.stem}.*.pyc"):
            yield compiled.relative_to(folder).as_posix()


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links
        shutil.copy2(source, target)


def diff(folder: Path, files: Iterable[File], apart: frozenset[str] = frozenset()) -> str:
    """A unified diff from what is on disk to what would be generated; empty if nothing differs."""
    notes = manifest.notes({file.path: file.text for file in files})
    files = [file for file in files if _outside(apart, [file.path])]
    changes = plan_changes(folder, files, apart)
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
    lines += [f"this file is not generated: {path}\n" for path in changes.foreign]
    if not lines and manifest.read(folder) != notes:
        lines.append(f"{manifest.NAME} does not say what was generated\n")
    return "".join(lines)
