"""PTX by numba-cuda-mlir, the successor of numba-cuda: this module alone knows it.

It compiles the same texts, with two differences so far: a vector is read and written element by
element, and there is no `atomic_add`.
"""

from __future__ import annotations

import cmath
import math
from functools import cache
from typing import Any

import numpy as np

from runtime.kernels.cuda.compiling import compiler, vectors


def ptx(source: compiler.Source, capability: tuple[int, int]) -> str:
    """The PTX of a kernel, whose entry has the compiler's name for it."""
    from numba_cuda_mlir import cuda, tools

    tools._cached_cc = capability  # it would ask the current device, whatever `cc` says
    namespace = dict(_vocabulary(capability))
    exec(compile(source.text, f"<{source.name}>", "exec"), namespace)
    code, _ = cuda.compile(
        namespace[compiler.ENTRY],
        tuple([_type(each) for each in source.arguments]),
        device=False,
        cc=capability,
        abi="numba",
        launch_bounds=source.threads,
    )
    return str(code)


@cache
def _vocabulary(capability: tuple[int, int]) -> dict[str, Any]:
    """The names of a text. Inner functions are compiled for one architecture, so it has its own."""
    from numba_cuda_mlir import cuda

    names: dict[str, Any] = {"cuda": cuda, "libdevice": cuda.libdevice}
    names |= {"np": np, "math": math, "cmath": cmath}
    inner = names["inner"] = cuda.jit(device=True, forceinline=True)
    for width in vectors.WIDTHS:
        scope: dict[str, Any] = {}
        exec(compile(_accesses(width), f"<accesses of {width}>", "exec"), scope)
        names |= {f"{name}{width}": inner(scope[name]) for name in ("load", "store")}
    return names


def _accesses(width: int) -> str:
    """The text of load(pointer, i) and store(pointer, i, values)."""
    lanes = range(width)
    read = ", ".join(f"pointer[i * {width} + {lane}]" for lane in lanes)
    written = "\n".join(f"    pointer[i * {width} + {lane}] = values[{lane}]" for lane in lanes)
    return (
        f"def load(pointer, i):\n    return ({read})\ndef store(pointer, i, values):\n{written}\n"
    )


def _type(name: str) -> Any:
    """The compiler's type for "float32*" or "int64"."""
    from numba_cuda_mlir.numba_cuda import types

    base = getattr(types, {"bool": "boolean"}.get(name.rstrip("*"), name.rstrip("*")))
    return types.CPointer(base) if name.endswith("*") else base
