"""Where files are written to: whole or not at all, through symlinks, and to pipes and devices."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path to write to; what is there takes the place of `path` if nothing goes wrong.

    A symlink stays one: the file that it leads to is replaced, and keeps its permissions. A pipe
    or device is no file that could be replaced, so it is written to itself.

    **Raises** RuntimeError if there is no folder for it.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise RuntimeError(f"Parent directory {target.parent} does not exist.")
    mode = _mode(target)
    if mode is not None and not stat.S_ISREG(mode):
        yield target
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _mode(target: Path) -> int | None:
    """Kind and permissions of what is there already."""
    try:
        return target.stat().st_mode
    except FileNotFoundError:
        return None


def _umask() -> int:
    """The permissions that new files lack."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Output:
    """Something with `write`, as a file that knows its place and cannot go back.

    Places count from where writing began: an archive in the middle of a file is whole by itself.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._place = 0

    def write(self, data: Any) -> int:
        """Write all bytes; raw files may take fewer at a time."""
        view = memoryview(data).cast("B")
        written = 0
        while written < len(view):
            count = self._file.write(view[written:])
            written += len(view) - written if count is None else count
        self._place += written
        return written

    def tell(self) -> int:
        """How much has been written."""
        return self._place

    def flush(self) -> None:
        """Pass on what the file holds back."""
        if hasattr(self._file, "flush"):
            self._file.flush()
