"""python -m codegen watch: generate at every save, and compile ahead what changed.

This process holds the generator and the library's program in memory; a fork of it generates, so
that no round leaves anything to the next. Beside it waits a process that has imported the library
and started a compiler: it calls the operators that changed, and a program finds their kernels.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from .. import kept, library, project
from ..__main__ import generate
from ..errors import CodegenError
from ..project import Project
from . import child, sampling

BETWEEN = 0.03
"""Seconds between two looks at the files; more where a look takes longer than a twentieth of it."""

HEAD = re.compile(r"- +['\"]?(?:func|name)['\"]? *: *['\"]?([\w.]+)")

STAGES = ("check", "emit", "lower", "parse", "write")

Key = TypeVar("Key")
Stamps = dict[Path, tuple[int, int]]
"""When files were written, and their sizes."""
Entries = dict[str, str]
"""The text of each operator's entries; under the empty name, what stands outside of entries."""


def main(arguments: list[str]) -> int:
    """Watch until interrupted."""
    parser = argparse.ArgumentParser(prog=f"{library.COMMAND} watch", description=__doc__)
    parser.add_argument(
        "--dtypes", default="float32", metavar="NAMES", help="compiled ahead, by commas"
    )
    project.add_arguments(parser)
    options = parser.parse_args(arguments)
    chosen = project.chosen(options, parser)
    if chosen.is_installed:
        print(project.INSTALLED, file=sys.stderr)
        return 1
    if not hasattr(os, "fork"):
        print(f"this system has no forks; use {library.COMMAND} after each change", file=sys.stderr)
        return 1
    try:
        _watch(chosen, options.dtypes)
    except KeyboardInterrupt:
        print()
    except CodegenError as error:  # of the library, which a package outside the tree stands on
        print(error, file=sys.stderr)
        return 1
    return 0


def _watch(chosen: Project, dtypes: str) -> None:
    for stage in STAGES:
        importlib.import_module(f"...{stage}", __name__)
    if chosen.base:
        kept.hold(chosen.base)
    helper = Helper(chosen, dtypes)
    besides = _besides(chosen)
    seen, entries = stamps(own_files(chosen)), entries_of(chosen)
    _round(chosen, helper, [name for name in entries if chosen.base and name])
    while True:
        before, seen = seen, _next(chosen, seen)
        if _besides(chosen) != besides:
            print("the generator or the library has changed: both are read anew", flush=True)
            helper.end()
            os.execv(sys.executable, sys.orig_argv)
        known, entries = entries, entries_of(chosen)
        has_code = any(path.suffix == ".py" for path in differing(before, seen))
        _round(chosen, helper, list(entries) if has_code else differing(known, entries))


def own_files(chosen: Project) -> Iterator[Path]:
    """The files in which a project's author works."""
    yield chosen.functions
    if chosen.derivatives:
        yield chosen.derivatives
    if chosen.implementations:
        yield from chosen.implementations.rglob("*.py")


def _besides(chosen: Project) -> Stamps:
    """What the generator itself consists of, and the library's program."""
    own = set(own_files(chosen))
    return stamps(path for path in chosen.dependencies() if path not in own)


def stamps(paths: Iterable[Path]) -> Stamps:
    """When files were written, of those that are there."""
    found = {}
    for path in paths:
        try:
            state = path.stat()
        except OSError:  # an editor is about to put a new one in its place
            continue
        found[path] = (state.st_mtime_ns, state.st_size)
    return found


def entries_of(chosen: Project) -> Entries:
    """The text of each operator's entries in both files."""
    found: Entries = {}
    for path in (chosen.functions, chosen.derivatives):
        text = path.read_text(encoding="utf-8") if path else ""
        for block in re.split(r"(?m)^(?=- )", text):
            head = HEAD.match(block)
            name = head[1] if head else ""
            found[name] = found.get(name, "") + block
    return found


def differing(before: dict[Key, Any], after: dict[Key, Any]) -> list[Key]:
    """What one table has and the other has not, or has otherwise."""
    return [key for key in {**before, **after} if before.get(key) != after.get(key)]


def _next(chosen: Project, known: Stamps) -> Stamps:
    """Wait until a file has changed, and the YAML is there; return all stamps."""
    yaml = [path for path in (chosen.functions, chosen.derivatives) if path]
    while True:
        begun = time.perf_counter()
        found = stamps(own_files(chosen))
        if found != known and all(found.get(path, (0, 0))[1] for path in yaml):
            return found
        time.sleep(max(BETWEEN, 20 * (time.perf_counter() - begun)))


def _round(chosen: Project, helper: Helper, names: list[str]) -> None:
    """Generate, in a process of its own, and have the operators of some names compiled."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        return
    try:
        if generate(chosen) == 0:
            sys.stdout.flush()
            helper.compile(names)
    except BrokenPipeError:
        print("nothing is compiled ahead: the helper has ended", file=sys.stderr)
    except KeyboardInterrupt:
        pass
    except BaseException:  # it ends here, and must not return into the parent's loop
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0)


class Helper:
    """The process that compiles ahead. One operator of the library itself needs a new one."""

    def __init__(self, chosen: Project, dtypes: str) -> None:
        self.chosen, self.dtypes = chosen, dtypes
        self.process = self._start() if chosen.base else None

    def _start(self) -> subprocess.Popen[str]:
        return child.start(self.chosen, f"{library.RUNTIME}.library.tools.resident", apart=True)

    def compile(self, names: list[str]) -> None:
        """Have operators called in all ways, if their entries are right."""
        program = self.chosen.read()
        known = {operator.name for operator in program.operators}
        names = [name for name in names if name in known]
        if not names:
            return
        found, sent = sampling.chosen(program, names)
        process = self.process or self._start()
        assert process.stdin is not None
        request = {"package": self.chosen.package, "dtypes": self.dtypes, "operators": found}
        process.stdin.write(json.dumps({**request, "records": json.loads(sent)}) + "\n")
        process.stdin.flush()
        if process is not self.process:
            process.stdin.close()
            process.wait()

    def end(self) -> None:
        """End the process that waits."""
        if self.process:
            self.process.kill()
            self.process.wait()
