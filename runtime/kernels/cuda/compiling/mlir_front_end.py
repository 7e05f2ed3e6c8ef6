"""PTX by numba-cuda-mlir, the successor of numba-cuda: this module alone knows it.

It compiles the same texts, with two differences so far: a vector is read and written element by
element, and a bfloat16 is rounded by integer arithmetic. Its atomic operations take arrays, so a
pointer is seen as one.
"""

from __future__ import annotations

import cmath
import math
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.cuda.compiling import compiler, conversions, vectors

ATOMIC = """\
def atomic_{name}(pointer, i, value):
    return cuda.atomic.{name}(cuda.carray(pointer, i + 1), i, value)
"""


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
def _teach_fences() -> None:
    """Say what `cuda.threadfence_system` compiles to: the compiler knows its name, not its code."""
    from numba_cuda_mlir._mlir.dialects import llvm
    from numba_cuda_mlir.lowering import cuda as lowering
    from numba_cuda_mlir.numba_cuda import stubs

    def fence(builder: Any, target: Any, args: Any, kwargs: Any) -> None:
        llvm.inline_asm(None, [], "membar.sys;", "~{memory}", has_side_effects=True)
        builder.store_var(target, None)

    lowering.lower(stubs.threadfence_system)(fence)


@cache
def _vocabulary(capability: tuple[int, int]) -> dict[str, Any]:
    """The names of a text. Inner functions are compiled for one architecture, so it has its own."""
    from numba_cuda_mlir import cuda

    _teach_fences()
    names: dict[str, Any] = {"cuda": cuda, "libdevice": cuda.libdevice}
    names |= {"np": np, "math": math, "cmath": cmath}
    inner = names["inner"] = cuda.jit(device=True, forceinline=True)
    for width in vectors.WIDTHS:
        scope: dict[str, Any] = {}
        exec(compile(_accesses(width), f"<accesses of {width}>", "exec"), scope)
        names |= {f"{name}{width}": inner(scope[name]) for name in ("load", "store")}
    scope = dict(names)
    atomic = {f"atomic_{name}": ATOMIC.format(name=name) for name in vectors.ATOMIC}
    for name, text in (*atomic.items(), ("bfloat16_bits", conversions.BFLOAT16_BITS)):
        exec(compile(text, "<inner>", "exec"), scope)
        names[name] = inner(scope[name])
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
