"""From a kernel's text to machine code, by a compiler that one module knows (`FRONT_ENDS`).

A text is Python in the dialect that numba-cuda and its successor share: it may name `cuda`,
`libdevice`, `np`, `math` and `cmath`, marks what it calls with `@inner`, and defines `kernel`. Its
arguments are raw pointers and scalars. PTX is made without a GPU and without a driver, and linked
to machine code (a cubin) by nvJitLink, which finds what PTX alone does not: too many registers,
unresolved names. Cubins are kept beside the CPU's kernels, under the hash of text, types,
architecture and compiler. A device that is newer than the linker is given PTX, which its driver
compiles.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import threading
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from torchgen_out._runtime import config, errors
from torchgen_out._runtime.kernels import store

ENTRY = "kernel"
"""The name of every kernel in its cubin; Numba's own is some 200 characters long."""
FRONT_ENDS = {
    "numba-cuda": "torchgen_out._runtime.kernels.cuda.compiling.numba_front_end",
    "numba-cuda-mlir": "torchgen_out._runtime.kernels.cuda.compiling.mlir_front_end",
}
"""The modules that know a compiler, by its package; each has ptx(source, capability)."""
OLDEST = (7, 5)
"""The first compute capability that CUDA 13 compiles for."""
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
    packages = front_end_name().replace("-", "_"), "cuda.core"
    try:
        return all(importlib.util.find_spec(name) for name in packages)
    except ModuleNotFoundError:
        return False


def ptx(source: Source, capability: tuple[int, int]) -> str:
    """The PTX of a kernel, whose entry is called `kernel`."""
    with _lock:
        code = _front_end().ptx(source, capability)
    return _renamed(code)


class UnknownArchitecture(Exception):
    """The linker is older than the device."""


def link(code: str, capability: tuple[int, int]) -> bytes:
    """The cubin of a kernel's PTX.

    Raises: RuntimeError with the linker's words if it does not link; UnknownArchitecture.
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
    from cuda.bindings.nvjitlink import Result, nvJitLinkError
    from cuda.core import Linker, LinkerOptions, ObjectCode

    architecture = f"sm_{capability[0]}{capability[1]}"
    given = ObjectCode.from_ptx(code.encode())
    try:
        linker = Linker(given, options=LinkerOptions(arch=architecture, **options))
        cubin = linker.link("cubin").code
    except nvJitLinkError as error:
        if error.status in (Result.ERROR_UNRECOGNIZED_ARCH, Result.ERROR_UNSUPPORTED_ARCH):
            raise UnknownArchitecture from error
        raise RuntimeError(f"a kernel does not link for {architecture}: {error}") from error
    return bytes(cubin), linker.get_info_log()


def machine_code(source: Source, capability: tuple[int, int]) -> bytes:
    """What the driver loads of a kernel, compiled or found in the cache: a cubin, or PTX.

    Raises: RuntimeError for a device that is too old.
    """
    if capability < OLDEST:
        raise errors.device_too_old(capability, OLDEST)
    about = repr((source, capability, _FORMAT, _versions()))
    key = f"{source.name}({hashlib.sha256(about.encode()).hexdigest()})"
    content = store.read(key)
    if content is None:
        content = _compiled(ptx(source, capability), capability)
        store.write(key, content)
    return content


def _compiled(code: str, capability: tuple[int, int]) -> bytes:
    try:
        return link(code, capability)
    except UnknownArchitecture:
        return code.encode() + b"\0"  # the driver looks for the end of a text


@cache
def _versions() -> tuple[str, ...]:
    packages = (front_end_name(), "nvidia-nvvm", "nvidia-nvjitlink")
    return tuple([f"{package} {metadata.version(package)}" for package in packages])


def front_end_name() -> str:
    """The package that turns texts into PTX, which TORCHGEN_CUDA_COMPILER may name.

    Raises: RuntimeError for one that is not known here.
    """
    name = config.env_text("TORCHGEN_CUDA_COMPILER") or next(iter(FRONT_ENDS))
    if name not in FRONT_ENDS:
        raise errors.unknown_compiler(name, tuple(FRONT_ENDS))
    return name


def _front_end() -> Any:
    return importlib.import_module(FRONT_ENDS[front_end_name()])


def _renamed(code: str) -> str:
    """The PTX with its entry called `kernel`, and without Numba's empty environments."""
    match = re.search(r"\.visible \.entry (\S+?)\(", code)
    assert match is not None
    code = re.sub(r"^\.common \.global .*NumbaEnv.*\n", "", code, flags=re.MULTILINE)
    return code.replace(match.group(1), ENTRY)
