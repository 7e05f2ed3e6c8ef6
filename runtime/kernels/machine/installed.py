"""Packs that came with installed distributions, or that TORCHGEN_PACKS names.

A distribution ships packs as files `torchgen_packs/NAME.pack` beside its packages. They are looked
for where Python looks for modules, and mapped when the first kernel is needed. A pack for another
system, a higher level of processors, or another way to call kernels is not used, and the log says
so; nor is a file that another user could have written.
"""

from __future__ import annotations

import logging
import mmap
import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from torchgen_out._runtime.kernels.machine import host, packs

log = logging.getLogger("torchgen_out.kernels")

FOLDER, SUFFIX = "torchgen_packs", ".pack"


class Found(NamedTuple):
    """A pack that fits, and its file."""

    path: Path
    pack: packs.Pack


def find(key: str) -> bytes | None:
    """The encoded entry of a kernel in a pack for this system and processor, if one has it."""
    available = usable()
    if not available:
        return None
    name = packs.key_hash(key)
    for path, pack in available:
        try:
            content = pack.find(name)
        except packs.Damaged as error:
            log.warning("%s: %s is compiled, as %s", path, key, error)
            continue
        if content is not None:
            return content
    return None


@cache
def usable() -> tuple[Found, ...]:
    """The packs that fit, those for higher levels of processors first.

    None where Numba is told what to compile for: that is not what packs were compiled for.
    """
    if host.target() or any(f"NUMBA_{name}" in os.environ for name in host.SETTINGS):
        return ()
    found = [Found(path, pack) for path in _files() if (pack := _mapped(path)) is not None]
    order = {level: i for i, level in enumerate(host.levels())}
    return tuple(sorted(found, key=lambda each: order[each.pack.header["level"]]))


def _files() -> Iterator[Path]:
    for named in os.environ.get("TORCHGEN_PACKS", "").split(os.pathsep):
        path = Path(named)
        if named and path.is_dir():
            yield from sorted(path.glob(f"*{SUFFIX}"))
        elif named:
            yield path
    for folder in dict.fromkeys(sys.path):
        home = os.path.join(folder, FOLDER)
        if os.path.isabs(folder) and os.path.isdir(home):
            if packs.is_safe(os.stat(home)):
                yield from sorted(Path(home).glob(f"*{SUFFIX}"))
            else:
                log.warning("%s may be written by other users, and is not used", home)


def _mapped(path: Path) -> packs.Pack | None:
    """A pack whose index is whole and that this process can use; the log says why not."""
    try:
        with open(path, "rb") as file:
            if not packs.is_safe(os.fstat(file.fileno())):
                log.warning("%s may be written by other users, and is not used", path)
                return None
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        pack = packs.Pack(memoryview(content))
    except (OSError, ValueError, packs.Damaged) as error:
        log.warning("%s is not used: %s", path, error)
        return None
    reason = _misfit(pack.header)
    if reason:
        log.info("%s is not used: %s", path, reason)
        return None
    return pack


def _misfit(header: dict[str, object]) -> str:
    """Why a pack cannot be used here; empty if it can."""
    if header.get("system") != host.system():
        return f"it is for '{header.get('system')}', and this is '{host.system()}'"
    if header.get("level") not in host.levels():
        own = ", ".join(host.levels()) or "none that is known"
        return f"it is for processors of level {header.get('level')}, and this one has {own}"
    return ""
