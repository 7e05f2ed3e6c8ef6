"""What a launched process runs first: a file by its path, so it imports the standard library alone.

    python start.py [-m] SCRIPT ARGUMENTS

It runs the script as `python SCRIPT` would. An exception that ends it is written, before it is
printed, into the file that the launcher reads; so the launcher can show the first one.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import time
import traceback
from types import TracebackType


def own_frames(where: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of this file and of what it calls to run the script."""
    while where is not None and where.tb_next is not None:
        if where.tb_frame.f_code.co_filename not in (__file__, "<frozen runpy>", runpy.__file__):
            break
        where = where.tb_next
    return where


def note(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Write an exception into the launcher's file."""
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if path and not issubclass(kind, KeyboardInterrupt):
        text = "".join(traceback.format_exception(kind, error, where))
        told = {"time": time.time(), "message": f"{kind.__name__}: {error}", "traceback": text}
        made = f"{path}.{os.getpid()}"
        with open(made, "w", encoding="utf-8") as file:
            json.dump(told, file)
        if not os.path.exists(path):
            os.replace(made, path)


def main(arguments: list[str]) -> None:
    """Run a script or module."""

    def hook(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
        where = own_frames(where)
        note(kind, error, where)
        sys.__excepthook__(kind, error, where)

    sys.excepthook = hook
    is_module = arguments[0] == "-m"
    name, *rest = arguments[1:] if is_module else arguments
    sys.argv = [name, *rest]
    if is_module:
        sys.path[0] = os.getcwd()
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(name))
        runpy.run_path(name, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
