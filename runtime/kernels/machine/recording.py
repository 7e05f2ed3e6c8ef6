"""What programs ask for while TORCHGEN_RECORD names a folder: a line for each kernel they need."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from torchgen_out._runtime import config
from torchgen_out._runtime.kernels.machine import packs
from torchgen_out._runtime.kernels.machine.compiling import Request

FOLDER = config.env_text("TORCHGEN_RECORD")
_seen: set[str] = set()


def note(key: str, request: Request) -> None:
    """Write a request down, once in a process."""
    if FOLDER and key not in _seen:
        _seen.add(key)
        line = json.dumps({"key": key, **request}) + "\n"
        with open(Path(FOLDER, f"{os.getpid()}.jsonl"), "a", encoding="utf-8") as file:
            file.write(line)


def noted(folder: Path) -> Iterator[tuple[str, Request]]:
    """All that processes wrote down in a folder, each request once, by its key.

    A file that another user could have written is left out: what it asks for would run here.
    """
    known: dict[str, Request] = {}
    for path in sorted(folder.glob("*.jsonl")):
        if not packs.is_safe(path.stat()):
            continue
        for line in path.read_text(encoding="utf-8").splitlines():
            request = Request(json.loads(line))
            known.setdefault(request.pop("key"), request)
    yield from known.items()


def replace(folder: Path, requests: dict[str, Request]) -> None:
    """Have one file with these requests in a folder, in the place of those that are there."""
    lines = [json.dumps({"key": key, **request}) + "\n" for key, request in requests.items()]
    for path in folder.glob("*.jsonl"):
        path.unlink()
    (folder / "all.jsonl").write_text("".join(lines), encoding="utf-8")
