"""What programs need: run under record, kept for the next time, and compiled side by side."""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from torchgen_out._runtime import config
from torchgen_out._runtime.kernels.machine import compiling, packs, recording
from torchgen_out._runtime.kernels.machine.library import entry_of

Requests = dict[str, compiling.Request]


def run(script: str, folder: Path, environment: dict[str, str] | None = None) -> int:
    """Run a program and its arguments, as one text, and note what it needs; its exit status."""
    own = {**(environment or os.environ), "TORCHGEN_RECORD": str(folder)}
    return subprocess.run([sys.executable, *shlex.split(script)], env=own, check=False).returncode


def compile_all(requests: Requests, jobs: int) -> tuple[dict[bytes, bytes], list[str]]:
    """The encoded entries by the hashes of their keys, and what failed.

    What only Numba can run is left out, and said.
    """
    entries: dict[bytes, bytes] = {}
    failures: list[str] = []

    def compile_one(pair: tuple[str, compiling.Request]) -> None:
        key, request = pair
        try:
            entries[packs.key_hash(key)] = entry_of(key, request)
        except compiling.NeedsNumba as error:
            print(f"left out {key}: {error}", file=sys.stderr)
        except compiling.CannotCompile as error:
            failures.append(f"{key}: {error}")

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(compile_one, requests.items()))
    return entries, failures


def kept_folder(script: str) -> Path | None:
    """Where is kept what a program was seen to need; None if nothing can be kept."""
    home = config.cache_folder()
    words = shlex.split(script)
    name = hashlib.blake2b(os.path.abspath(words[0]).encode(), digest_size=12).hexdigest()
    return None if home is None else home / "recorded" / name


def warm(script: str, jobs: int) -> int:
    """Compile side by side what a program needed before, then run it; its exit status.

    The run compiles what is new, and that is noted, too.
    """
    folder = kept_folder(script)
    if folder is None:
        print("nothing is kept: there is no home folder", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    before = dict(recording.noted(folder))
    _, failures = compile_all(before, jobs)
    _tell(failures)
    status = run(script, folder)
    after = dict(recording.noted(folder))
    recording.replace(folder, after)
    print(f"{len(after)} kernels, {len(after.keys() - before.keys())} of them new")
    return status or bool(failures)


def _tell(failures: Sequence[str]) -> None:
    for failure in failures:
        print(failure, file=sys.stderr)
