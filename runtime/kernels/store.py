"""The files of the kernel cache, which are believed only if they are whole and this user's.

A file is a few parts of bytes below a checksum and the key that they were kept under. What is
damaged, cut off, of another key or absent is the same: nothing, and made again. A file that another
user could have written would run that user's code, so the folder and each file must belong to this
user or to root and be writable by nobody else. Where files cannot be kept, each process makes its
own kernels, and says so once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import secrets
import stat
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from torchgen_out._runtime import config
from torchgen_out._runtime.core.user_warnings import warn

log = logging.getLogger("torchgen_out.kernels")
"""What the kernel cache does besides loading: at level INFO, so that it is silent by default."""

MAGIC = b"torchgen kernel 1\n"
"""How each file begins; another number where the layout of files changes."""

DIGEST = 16  # bytes of the checksum
_judged: dict[Path, bool] = {}
"""Whether a folder that exists may be used."""
_said: set[str] = set()


def folder() -> Path | None:
    """Return the folder of the files, which need not exist; None if there is no home for it."""
    home = config.cache_folder()
    return None if home is None else home / "compiled"


def read(name: str, key: str) -> list[bytes] | None:
    """Return the parts of a file that was kept under a key, if it is there and to be believed."""
    home = folder()
    if home is None or not _is_usable(home):
        return None
    try:
        with open(home / name, "rb") as file:
            owned = _is_safe(os.fstat(file.fileno()))
            content = file.read() if owned else b""
    except OSError:
        return None
    if not owned:
        log.info("%s belongs to another user or may be written by one, and is not used", name)
        return None
    parts = _parts(content, key)
    if parts is None:
        log.info("%s is damaged or of another kernel, and is made again", name)
    return parts


def write(name: str, key: str, parts: Sequence[bytes]) -> None:
    """Keep parts in a file under a key, for this process and others; warn once if that fails."""
    head = json.dumps({"key": key, "lengths": [len(part) for part in parts]}).encode()
    content = b"".join([len(head).to_bytes(4, "little"), head, *parts])
    _put(name, MAGIC + _checksum(content) + content, _replace)


def keep_text(name: str, text: str) -> Path | None:
    """Keep a kernel's text for people to read, and as a file to lock; None if there is none.

    It is never read. Of processes that keep it at once the first makes the file and none replaces
    it: the others would lock another.
    """
    home = folder()
    if home is None:
        return None
    path = home / name
    if not path.exists():
        _put(name, text.encode(), _create)
    return path


def _put(name: str, content: bytes, place: Callable[[Path, bytes], None]) -> None:
    """Write a file into the folder, if there is one to use; warn once if that fails."""
    home = folder()
    if home is None:
        _say("Compiled kernels are not kept: there is no home folder.")
        return
    try:
        if not _is_usable(home):
            return
        home.mkdir(mode=0o755, parents=True, exist_ok=True)
        if _is_usable(home):
            place(home / name, content)
    except OSError as error:
        _say(f"Compiled kernels are not kept: {home}: {error.strerror}.")


def _create(path: Path, content: bytes) -> None:
    """Write a file that is not there; one that is, whole or not yet, stays."""
    with contextlib.suppress(FileExistsError):
        _write_new(path, content)


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that others see all of it or nothing."""
    temporary = path.with_name(f"{path.stem[:80]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        _write_new(temporary, content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_new(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _checksum(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST).digest()


def _parts(file: bytes, key: str) -> list[bytes] | None:
    """The parts of a whole file of this key."""
    start = len(MAGIC) + DIGEST
    content = memoryview(file)[start:]
    if not file.startswith(MAGIC) or file[len(MAGIC) : start] != _checksum(content):
        return None
    at = 4 + int.from_bytes(content[:4], "little")
    head = json.loads(bytes(content[4:at]))
    if head["key"] != key:
        return None
    parts = []
    for length in head["lengths"]:
        parts.append(bytes(content[at : at + length]))
        at += length
    return parts


def _is_usable(home: Path) -> bool:
    """Whether nobody but this user and root can have put files into a folder, or it is not there.

    What is there instead of a folder is told by whoever opens it.
    """
    found = _judged.get(home)
    if found is None:
        try:
            status = os.stat(home)
        except OSError:
            return True
        found = _judged[home] = _is_safe(status)
        if not found:
            _say(_distrust(home, status))
    return found


def _is_safe(status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _distrust(home: Path, status: os.stat_result) -> str:
    if sys.platform != "win32" and status.st_uid in (0, os.geteuid()):
        why = f"others may write into {home} (remove it, or: chmod -R go-w {home})"
    else:
        why = f"{home} belongs to another user, whose code it would run"
    return f"Compiled kernels are neither loaded nor kept: {why}."


def _say(what: str) -> None:
    """Warn once in a process that kernels are compiled anew, and say what helps."""
    if what not in _said:
        _said.add(what)
        remedy = "Every process compiles its own. TORCHGEN_CACHE_DIR names a folder to keep them in"
        warn(f"{what} {remedy}.", RuntimeWarning)
