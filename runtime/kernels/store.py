"""The files of the kernel cache, which are believed only if they are whole and this user's.

Each file is a pack of one kernel for this very processor. What is damaged, cut off, of another key
or absent is the same: nothing, and made again, unless an installed pack has it. A file that another
user could have written would run that user's code, so the folder and each file must belong to this
user or to root and be writable by nobody else. Where files cannot be kept, each process makes its
own kernels, and says so once.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path

from torchgen_out._runtime import config
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.kernels.machine import host, installed, packs

log = logging.getLogger("torchgen_out.kernels")
"""What the kernel cache does besides loading: at level INFO, so that it is silent by default."""

_judged: dict[Path, bool] = {}
"""Whether a folder that exists may be used."""
_said: set[str] = set()


def folder() -> Path | None:
    """Return the folder of the files, which need not exist; None if there is no home for it."""
    home = config.cache_folder()
    return None if home is None else home / "compiled"


def read(key: str) -> bytes | None:
    """Return the encoded entry of a kernel for this processor, if it is there and to be believed.

    It is of the user's own cache, or of a pack.
    """
    content = _read_own(key)
    return installed.find(key) if content is None else content


def _read_own(key: str) -> bytes | None:
    home = folder()
    if home is None or not _is_usable(home):
        return None
    name = file_name(key)
    try:
        with open(home / name, "rb") as file:
            owned = packs.is_safe(os.fstat(file.fileno()))
            content = file.read() if owned else b""
    except OSError:
        return None
    if not owned:
        log.info("%s belongs to another user or may be written by one, and is not used", name)
        return None
    try:
        found = packs.Pack(content).find(_own_hash(key))
    except packs.Damaged:
        found = None
    if found is None:
        log.info("%s is damaged or of another kernel, and is made again", name)
    return found


def write(key: str, content: bytes) -> None:
    """Keep an encoded entry, for this process and others; warn once if that fails."""
    header = {"key": key, "platform": host.own_platform()}
    _put(file_name(key), packs.written(header, {_own_hash(key): content}), _replace)


def file_name(key: str) -> str:
    """The file of a kernel for this processor."""
    return f"{key.partition('(')[0]}.{_own_hash(key).hex()[:24]}.kernel"


def _own_hash(key: str) -> bytes:
    return packs.key_hash(f"{key} {host.own_platform()}")


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
    temporary = path.with_name(f"{path.stem[:80]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
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
        found = _judged[home] = packs.is_safe(status)
        if not found:
            _say(_distrust(home, status))
    return found


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
