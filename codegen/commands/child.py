"""Runs the library in a process of its own: the generator itself never imports it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from .. import library
from ..project import Project


def run(chosen: Project, module: str, arguments: Sequence[str] = (), sent: str = "") -> int:
    """Run a module of the library with the project's package importable; return its exit status."""
    process = start(chosen, module, arguments)
    process.communicate(sent)
    return process.returncode


def start(
    chosen: Project, module: str, arguments: Sequence[str] = (), apart: bool = False
) -> subprocess.Popen[str]:
    """Start such a module, which reads what is sent to it; apart: Control-C does not reach it."""
    environment = dict(os.environ)
    folders = [str(library.ROOT), *(str(folder) for folder in chosen.import_folders())]
    folders += [environment["PYTHONPATH"]] if "PYTHONPATH" in environment else []
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, text=True, env=environment, start_new_session=apart
    )
