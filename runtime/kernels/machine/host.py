"""What machine code depends on besides its text: the processor, the system, who compiles."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

from torchgen_out._runtime.kernels.machine import digests
from torchgen_out._runtime.kernels.machine.packs import ABI

LEVELS = {
    "x86-64-v4": "X86_V4 AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL",
    "x86-64-v3": "X86_V3 AVX2 FMA3 F16C BMI2 MOVBE",
    "x86-64-v2": "X86_V2 SSE42 POPCNT SSSE3",
}
"""Levels of processors, the highest first: the last words are NumPy's names of what each needs."""

FEATURES = {
    "x86-64-v2": "+cx16,+sahf,+popcnt,+sse3,+sse4.1,+sse4.2,+ssse3",
    "x86-64-v3": "+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave",
    "x86-64-v4": "+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,-prefer-256-bit",
    "aarch64": "+neon",
}
"""What each level adds, by LLVM's names."""

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
"""Other names of machines."""

SETTINGS = (
    "CPU_NAME",
    "CPU_FEATURES",
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "BOUNDSCHECK",
    "DEBUGINFO",
    "ENABLE_AVX",
)
"""Of Numba's settings those that its code depends on, without NUMBA_ before their names."""

ONLY_NUMBAS = SETTINGS[2:]
"""Those that none but Numba follows: with them it compiles every kernel."""


def target() -> str:
    """The level to compile for, if it is not for a processor that runs what is compiled."""
    return os.environ.get("TORCHGEN_TARGET", "")


def features_of(level: str) -> str:
    """All features of a level, as NUMBA_CPU_FEATURES takes them."""
    if level not in FEATURES:
        raise ValueError(f"there is no level '{level}': they are {', '.join(FEATURES)}")
    if not level.startswith("x86"):
        return FEATURES[level]
    names = [each for each in FEATURES if each.startswith("x86") and each <= level]
    return ",".join(FEATURES[each] for each in names)


@cache
def levels() -> tuple[str, ...]:
    """The levels of code that this processor runs, the best first."""
    machine = platform.machine().lower()
    if machine in ("aarch64", "arm64"):
        return ("aarch64",)
    if machine not in ("x86_64", "amd64"):
        return ()
    has = numpy_features()
    own = []
    for level, needed in LEVELS.items():
        whole, *parts = needed.split()
        if has.get(whole) or all(has.get(each) for each in parts):
            own.append(level)
    return tuple(own)


@cache
def numpy_features() -> dict[str, bool]:
    """What NumPy found the processor to have."""
    names = ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath")
    module: Any = next(sys.modules[name] for name in names if name in sys.modules)
    found: dict[str, bool] = module.__cpu_features__
    return found


@cache
def compiles_for(feature: str) -> bool:
    """Whether kernels may use a feature of x86-64 processors, by LLVM's name."""
    chosen = os.environ.get("NUMBA_CPU_FEATURES")
    if chosen is not None:
        return f"+{feature}" in chosen.split(",")
    known = {"fma": "FMA3"}.get(feature, feature.upper())
    return "NUMBA_CPU_NAME" not in os.environ and bool(numpy_features().get(known))


def fuses_multiply_add() -> bool:
    """Whether kernels are compiled for a processor that multiplies and adds with one rounding."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64", "i686", "x86")
    return not is_x86 or compiles_for("fma")


@cache
def system() -> str:
    """How code is called here, the system, and the machine."""
    return f"{ABI} {sys.platform} {MACHINES.get(platform.machine().lower(), platform.machine())}"


def system_of(level: str) -> str:
    """The same for code of a level."""
    return f"{ABI} {sys.platform} {'x86_64' if level.startswith('x86') else level}"


TEXTS = 4
"""Another number where `kernels/compiler/` makes other code of a text."""


@cache
def own_platform() -> str:
    """All that code for this very processor, compiled by this Numba, depends on."""
    settings = [f"{name}={os.environ.get('NUMBA_' + name, '')}" for name in SETTINGS]
    settings.append(target())
    compilers = [f"{package} {_version(package)}" for package in ("numba", "llvmlite")]
    return " ".join([system(), _processor(), *compilers, f"texts {TEXTS}", *settings])


def _processor() -> str:
    """A hash of what the processor is and has."""
    try:
        with open("/proc/cpuinfo", "rb") as file:
            first = file.read(8192).split(b"\n\n")[0]
        wanted = (b"vendor", b"cpu family", b"model", b"flags", b"Features", b"CPU ")
        text = b"\n".join(line for line in first.splitlines() if line.startswith(wanted))
    except OSError:
        own = sorted(name for name, is_there in numpy_features().items() if is_there)
        text = f"{platform.processor()} {' '.join(own)}".encode()
    return digests.blake2b(text, 8).hex()


def _version(package: str) -> str:
    """What a package's version file says, read without importing it."""
    for folder in sys.path:
        try:
            content = Path(folder or ".", package, "_version.py").read_bytes()
        except OSError:
            continue
        return digests.blake2b(content, 8).hex()
    return "none"
