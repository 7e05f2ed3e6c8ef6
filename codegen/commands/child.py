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
    environment = dict(os.environ)
    folders = [str(library.ROOT), *(str(folder) for folder in chosen.import_folders())]
    folders += [environment["PYTHONPATH"]] if "PYTHONPATH" in environment else []
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, input=sent, text=True, env=environment, check=False).returncode
