"""From a kernel's text to machine code: this and `vectors` alone know the compiler, numba-cuda.

A text is Python in the dialect that numba-cuda and its successor share: it may name `cuda`,
`libdevice`, `np`, `math` and `cmath`, marks what it calls with `@inner`, and defines `kernel`. Its
arguments are raw pointers and scalars. PTX is made without a GPU and without a driver, and linked
to machine code (a cubin) by nvJitLink, which finds what PTX alone does not: too many registers,
unresolved names. Cubins are kept beside the CPU's kernels, under the hash of text, types,
architecture and compiler.
"""

from __future__ import annotations

import cmath
import hashlib
import importlib.util
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import numpy as np

from runtime import config
from runtime.kernels import build
from runtime.kernels.cuda import vectors

ENTRY = "kernel"
"""The name of every kernel in its cubin; Numba's own is some 200 characters long."""
_FORMAT = "1"
"""Changes when the same text must compile to something else, for a change of this module."""

_lock = threading.Lock()


@dataclass(frozen=True)
class Resources:
    """What a kernel takes of a device, as the linker says: registers and bytes per thread."""

    registers: int
    spilled: int
    stack: int


@dataclass(frozen=True)
class Source:
    """A kernel before it is compiled.

    name: a readable prefix for its file. text: it defines `kernel`. arguments: a type for each,
    "float32*" for a pointer, "int64" for a scalar. threads: the most that a block will have.
    """

    name: str
    text: str
    arguments: tuple[str, ...]
    threads: int


def is_installed() -> bool:
    """Whether the compiler and the linker can be imported."""
    try:
        return all(importlib.util.find_spec(name) for name in ("numba_cuda", "cuda.core"))
    except ModuleNotFoundError:
        return False


def ptx(source: Source, capability: tuple[int, int]) -> str:
    """The PTX of a kernel, whose entry is called `kernel`."""
    numba_cuda = _numba_cuda()
    with _lock, _compiling_for(capability):
        namespace = dict(_vocabulary(capability))
        exec(compile(source.text, f"<{source.name}>", "exec"), namespace)
        code, _ = numba_cuda.compile(
            namespace[ENTRY],
            tuple([_type(each) for each in source.arguments]),
            device=False,
            cc=capability,
            abi="numba",
            launch_bounds=source.threads,
        )
    return _renamed(code)


def link(code: str, capability: tuple[int, int]) -> bytes:
    """The cubin of a kernel's PTX.

    Raises: RuntimeError with the linker's words if it does not link.
    """
    return _link(code, capability)[0]


def resources(code: str, capability: tuple[int, int]) -> Resources:
    """What the kernel of a PTX takes of a device."""
    log = _link(code, capability, ptxas_options=["-v"])[1]
    found = {
        name: int(match.group(1)) if (match := re.search(pattern, log)) else 0
        for name, pattern in _IN_LOG.items()
    }
    return Resources(**found)


_IN_LOG = {
    "registers": r"Used (\d+) registers",
    "spilled": r"(\d+) bytes spill stores",
    "stack": r"(\d+) bytes stack frame",
}


def _link(code: str, capability: tuple[int, int], **options: Any) -> tuple[bytes, str]:
    from cuda.bindings.nvjitlink import nvJitLinkError
    from cuda.core import Linker, LinkerOptions, ObjectCode

    architecture = f"sm_{capability[0]}{capability[1]}"
    linker = Linker(
        ObjectCode.from_ptx(code.encode()), options=LinkerOptions(arch=architecture, **options)
    )
    try:
        cubin = linker.link("cubin").code
    except nvJitLinkError as error:
        raise RuntimeError(f"a kernel does not link for {architecture}: {error}") from error
    return bytes(cubin), linker.get_info_log()


def machine_code(source: Source, capability: tuple[int, int]) -> bytes:
    """The cubin of a kernel, compiled or found in the cache."""
    key = repr((source, capability, _FORMAT, _versions()))
    digest = hashlib.sha256(key.encode()).hexdigest()[:24]
    path = config.cache_folder() / "kernels" / "cuda" / f"{source.name}_{digest}.cubin"
    if not path.exists():
        build.write_once(path, link(ptx(source, capability), capability))
    return path.read_bytes()


@cache
def _versions() -> tuple[str, ...]:
    packages = ("numba-cuda", "nvidia-nvvm", "nvidia-nvjitlink")
    return tuple([metadata.version(package) for package in packages])


@cache
def _numba_cuda() -> Any:
    from numba import cuda

    return cuda


def _renamed(code: str) -> str:
    """The PTX with its entry called `kernel`, and without Numba's empty environments."""
    match = re.search(r"\.visible \.entry (\S+?)\(", code)
    assert match is not None
    code = re.sub(r"^\.common \.global .*NumbaEnv.*\n", "", code, flags=re.MULTILINE)
    return code.replace(match.group(1), ENTRY)


@contextmanager
def _compiling_for(capability: tuple[int, int]) -> Iterator[None]:
    """Numba asks the current device what to compile an inner function for: answer in its place."""
    from numba.cuda import dispatcher

    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        yield
    finally:
        dispatcher.get_current_device = asked


# -- what a text may name -----------------------------------------------------------------------


@cache
def _vocabulary(capability: tuple[int, int]) -> dict[str, Any]:
    """The names of a text. Inner functions are compiled for one architecture, so it has its own."""
    from numba.cuda import libdevice

    numba_cuda = _numba_cuda()
    names: dict[str, Any] = {"cuda": numba_cuda, "libdevice": libdevice}
    names |= {"np": np, "math": math, "cmath": cmath}
    names["inner"] = numba_cuda.jit(device=True, forceinline=True)
    for width in vectors.WIDTHS:
        names[f"load{width}"] = vectors.make_load(width)
        names[f"store{width}"] = vectors.make_store(width)
    names["atomic_add"] = vectors.make_atomic_add()
    return names


def _type(name: str) -> Any:
    """Numba's type for "float32*" or "int64"."""
    from numba import types

    base = getattr(types, {"bool": "boolean"}.get(name.rstrip("*"), name.rstrip("*")))
    return types.CPointer(base) if name.endswith("*") else base
