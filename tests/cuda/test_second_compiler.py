"""The same texts compiled by numba-cuda-mlir: one module alone knows a compiler."""

from __future__ import annotations

import importlib.util

import pytest

import torchgen_out  # noqa: F401 - registers the operators
from tests.cuda.compiling import CAPABILITY
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch.operator import operators
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cuda.compiling import compiler
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.copy import copy
from torchgen_out._runtime.kernels.cuda.linalg import matrix_parts
from torchgen_out._runtime.kernels.cuda.loops import pointwise, transpose
from torchgen_out._runtime.kernels.cuda.matmul import integers
from torchgen_out._runtime.kernels.cuda.scatter import combining
from torchgen_out._runtime.kernels.cuda.sort import radix

needs_it = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda_mlir") is None, reason="needs numba-cuda-mlir"
)


def _spec(name: str, dtype: dtypes.dtype) -> PointwiseSpec:
    operator = operators[name]
    count = len(operator.operands)
    formula = operator.at_defaults or operator.formulas[()]
    return PointwiseSpec(formula, ("tensor",) * count, (dtype,) * count, (dtype,), dtype.opmath)


DIGITS = {"IS_FIRST": False, "OF_ROWS": False, "IS_LAST": False}
SOURCES = {
    "add": lambda: pointwise.contiguous_kernel(_spec("add.Tensor", dtypes.float32), (), False),
    "strided": lambda: pointwise.strided_kernel(_spec("add.Tensor", dtypes.int64), 3, False),
    "exp": lambda: pointwise.contiguous_kernel(_spec("exp", dtypes.bfloat16), (), False),
    "tanh": lambda: pointwise.strided_kernel(_spec("tanh", dtypes.float16), 2, False),
    "complex": lambda: pointwise.strided_kernel(_spec("mul.Tensor", dtypes.complex64), 1, False),
    "tiles": lambda: transpose.transposing_kernel(
        copy.copy_spec(dtypes.float32, dtypes.float32), 1, False
    ),
    "product": lambda: integers.multiply_tiles.source({"X": dtypes.int32}, False, {}),
    "sums": lambda: combining.combine_elements.source(
        {"X": dtypes.int32}, False, {"atomic": combining.add_atomically}
    ),
    "digits": lambda: radix.move_tiles.source(
        {"P": dtypes.int32, "X": dtypes.int32, "Q": dtypes.int32}, False, DIGITS
    ),
    "permutation": lambda: matrix_parts.permutation.source({"X": dtypes.float32}, False, {}),
}


@needs_it
@pytest.mark.parametrize("name", SOURCES)
def test_it_compiles_the_same_texts(monkeypatch, name):
    monkeypatch.setenv("TORCHGEN_CUDA_COMPILER", "numba-cuda-mlir")
    source = SOURCES[name]()
    code = compiler.ptx(source, CAPABILITY)
    assert "numba_cuda_mlir" in code and ".f64" not in code
    assert compiler.resources(code, CAPABILITY).spilled == 0
    assert ("atom.global.add" in code) == (name == "sums")
    assert ("membar.sys" in code) == (name == "permutation")


def test_an_unknown_compiler_is_refused(monkeypatch):
    monkeypatch.setenv("TORCHGEN_CUDA_COMPILER", "another")
    with pytest.raises(RuntimeError, match="another: expected one of numba-cuda, numba-cuda-mlir"):
        compiler.ptx(Source("probe", "", (), 32), CAPABILITY)
