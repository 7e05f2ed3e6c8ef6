"""Compiling kernels without a GPU, and what must hold of every one."""

from __future__ import annotations

import re

import pytest

from torchgen_out._runtime.kernels.cuda.compiling import compiler, primitives
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source

CAPABILITY = (9, 0)

NARROW = re.compile(r"^(I|INDEX) = np\.int32$", re.MULTILINE)
"""Of a text whose indices have 32 bits."""
WHOLE_NUMBERS = re.compile(r"^(T|STORED) = np\.u?int\d+$", re.MULTILINE)
"""Of a text that computes with whole numbers, which it may divide."""
DIVIDES_WIDE = re.compile(r"\b(div|rem)\.[su]64")

needs_extra = pytest.mark.skipif(
    not compiler.is_installed(), reason="needs the extra: pip install 'torchgen-out[cuda]'"
)


def uses(source: Source, names: tuple[str, ...]) -> bool:
    """Whether a kernel's text defines one of some primitives."""
    pattern = rf"^def (double_)?({'|'.join(names)})\("
    return re.search(pattern, source.text, re.MULTILINE) is not None


def check(source: Source, is_double: bool, is_complex: bool = False) -> str:
    """Compile to PTX, link to machine code, and look at what came out; return the PTX.

    is_double: whether the kernel is meant to compute in float64. The complex functions of the
    compiler's own library may do so, and have a stack.
    """
    code = compiler.ptx(source, CAPABILITY)
    taken = compiler.resources(code, CAPABILITY)
    assert taken.spilled == 0, f"{source.name}: {taken.spilled} bytes spilled"
    if uses(source, ("float32_to_bfloat16",)):
        assert ", 32767;" not in code, f"{source.name} rounds to bfloat16 by integer arithmetic"
    assert taken.registers <= 65536 // source.threads, f"{source.name}: {taken.registers} registers"
    if NARROW.search(source.text) and not WHOLE_NUMBERS.search(source.text):
        assert not DIVIDES_WIDE.search(code), f"{source.name} divides indices of 64 bits"
    if is_complex or uses(source, primitives.NEED_STACK):
        return code
    assert taken.stack == 0, f"{source.name}: a stack of {taken.stack} bytes"
    if not is_double and not uses(source, (*primitives.COMPUTE_IN_DOUBLE, r"double_\w+")):
        assert ".f64" not in code, f"{source.name} computes in double"
    return code
