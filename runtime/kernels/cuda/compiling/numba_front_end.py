"""PTX by numba-cuda: this, `conversions` and `vectors` alone know it."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import lean_compiler
from torchgen_out._runtime.kernels.cuda.compiling import compiler, conversions, vectors


def ptx(source: compiler.Source, capability: tuple[int, int]) -> str:
    """The PTX of a kernel, whose entry has the compiler's name for it."""
    numba_cuda = _numba_cuda()
    with _compiling_for(capability):
        namespace = dict(_vocabulary(capability))
        exec(compile(source.text, f"<{source.name}>", "exec"), namespace)
        code, _ = numba_cuda.compile(
            namespace[compiler.ENTRY],
            tuple([_type(each) for each in source.arguments]),
            device=False,
            cc=capability,
            abi="numba",
            launch_bounds=source.threads,
        )
    return str(code)


@cache
def _numba_cuda() -> Any:
    from numba import cuda

    return cuda


@contextmanager
def _compiling_for(capability: tuple[int, int]) -> Iterator[None]:
    """Numba asks the current device what to compile an inner function for: answer in its place."""
    from numba.cuda import dispatcher
    from numba.cuda.core import ir, targetconfig

    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=capability)
    try:
        with lean_compiler.answering_faster(ir, targetconfig):
            yield
    finally:
        dispatcher.get_current_device = asked


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
    names |= {f"atomic_{name}": vectors.make_atomic(name) for name in vectors.ATOMIC}
    if capability >= conversions.SINCE:
        names["bfloat16_bits"] = conversions.make_bfloat16_bits()
    else:
        exec(compile(conversions.BFLOAT16_BITS, "<bfloat16_bits>", "exec"), names)
        names["bfloat16_bits"] = names["inner"](names["bfloat16_bits"])
    return names


def _type(name: str) -> Any:
    """Numba's type for "float32*" or "int64"."""
    from numba import types

    base = getattr(types, {"bool": "boolean"}.get(name.rstrip("*"), name.rstrip("*")))
    return types.CPointer(base) if name.endswith("*") else base
