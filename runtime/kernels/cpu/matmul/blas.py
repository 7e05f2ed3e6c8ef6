"""Matrix products by NumPy's own OpenBLAS, called from compiled code.

`np.dot` costs three times as much on a small matrix, and warns of inf and NaN unless told not to.
A product is compiled once per dtype, for arrays of any strides: a transposed matrix is a flag, what
BLAS cannot read is copied. Where NumPy brings no OpenBLAS, or for other dtypes, NumPy multiplies.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build, openblas
from torchgen_out._runtime.kernels.cpu.folding import contiguous
from torchgen_out._runtime.kernels.cpu.matmul import integers

Array = Any
quiet = np.errstate(all="ignore")

LETTERS = {"float32": "s", "float64": "d"}

GEMM = """\
from numba import types

T, N = types.{type}, types.int64
GEMM = types.void(types.int32, types.int32, types.int32, N, N, N, T, N, N, N, N, T, N, N)
gemm = types.ExternalFunction("{symbol}", GEMM)
ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112
"""

COMPLEX_GEMM = '''\
from numba import types

T, N = np.{type}, types.int64
GEMM = types.void(types.int32, types.int32, types.int32, N, N, N, N, N, N, N, N, N, N, N)
gemm_by_address = types.ExternalFunction("{symbol}", GEMM)
ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112


@inner
def gemm(order, flag_a, flag_b, m, n, k, alpha, a, ld_a, b, ld_b, beta, c, ld_c):
    """BLAS takes complex factors by their addresses."""
    factors = np.empty(2, T)
    factors[0], factors[1] = alpha, beta
    one = factors.ctypes.data
    other = one + factors.itemsize
    gemm_by_address(order, flag_a, flag_b, m, n, k, one, a, ld_a, b, ld_b, other, c, ld_c)
'''

COMPLEX_LETTERS = {"complex64": "c", "complex128": "z"}

GEMV = """\
from numba import types

T, N = types.{type}, types.int64
GEMV = types.void(types.int32, types.int32, N, N, T, N, N, N, N, T, N, N)
gemv = types.ExternalFunction("{symbol}", GEMV)
ROW_MAJOR, PLAIN = 101, 111
"""

ALONE = '''
get_threads = types.ExternalFunction("{get}", types.int32())
set_threads = types.ExternalFunction("{set}", types.void(types.int32))
MOST_ALONE, MOST_ALONE_VECTOR = 1 << 18, 9216  # products that OpenBLAS never splits


@inner
def take_threads(work, most):
    """Let OpenBLAS use one thread, if it had more for the work; how many these were."""
    if work <= most:
        return types.int32(1)
    count = get_threads()
    if count > 1:
        set_threads(types.int32(1))
    return count


@inner
def give_threads(count):
    """Give them back."""
    if count > 1:
        set_threads(count)
'''

MULTIPLY = '''\
@inner
def leading(rows, columns, row_stride, column_stride):
    """(flag, leading dimension) of a matrix in BLAS's words; strides in elements, 0 if none."""
    if (column_stride == 1 or columns == 1) and (row_stride >= columns or rows == 1):
        return PLAIN, max(columns if rows == 1 else row_stride, 1)
    if (row_stride == 1 or rows == 1) and (column_stride >= rows or columns == 1):
        return TRANSPOSED, max(rows if columns == 1 else column_stride, 1)
    return PLAIN, 0


@inner
def multiply(out, a, b, alpha, beta):
    """out = alpha * a @ b + beta * out; False if BLAS cannot read an operand."""
    m, k = a.shape
    n = b.shape[1]
    if m == 0 or n == 0:
        return True
    if k == 0:
        for i in range(m):
            for j in range(n):
                out[i, j] = out[i, j] * beta if beta != 0 else 0
        return True
    size = a.itemsize
    flag_a, ld_a = leading(m, k, a.strides[0] // size, a.strides[1] // size)
    flag_b, ld_b = leading(k, n, b.strides[0] // size, b.strides[1] // size)
    if ld_a == 0 or ld_b == 0:
        return False
    gemm(
        types.int32(ROW_MAJOR),
        types.int32(flag_a),
        types.int32(flag_b),
        m,
        n,
        k,
        alpha,
        a.ctypes.data,
        ld_a,
        b.ctypes.data,
        ld_b,
        beta,
        out.ctypes.data,
        out.strides[0] // size if m > 1 else n,
    )
    return True
'''

KINDS = {
    "product": ("[2A]", "[2A]", "[2A]", "", ""),
    "batched": ("[3A]", "[3A]", "[3A]", "", ""),
    "affine": ("[2A]", "[2A]", "[2A]", "[1A]"),
}
"""What each product takes: arrays of so many dims with any strides, and numbers."""

PRODUCT = '''\
@entry
def kernel(out, a, b, alpha, beta):
    """out = alpha * a @ b + beta * out, rows of out being contiguous."""
    return multiply(out, a, b, alpha, beta)
'''

BATCHED = '''\
@entry
def kernel(out, a, b, alpha, beta):
    """out[i] = alpha * a[i] @ b[i] + beta * out[i]."""
    for i in range(a.shape[0]):
        if not multiply(out[i], a[i], b[i], alpha, beta):
            return False
    return True
'''

AFFINE = '''\
@entry
def kernel(out, a, b, bias):
    """out = a @ b + bias, the bias added to each row."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = bias[j]
    return multiply(out, a, b, T(1), T(1))
'''


def product(out: Array, a: Array, b: Array, alpha: Any = 1, beta: Any = 0) -> None:
    """out = alpha * a @ b + beta * out, for matrices; out is contiguous."""
    kernel = compiled("product", PRODUCT, out.dtype)
    if kernel is None:
        multiply_without_blas(out, a, b, alpha, beta)
    elif not kernel(out, a, b, alpha, beta):
        kernel(out, contiguous(a), contiguous(b), alpha, beta)


def batched(out: Array, a: Array, b: Array, alpha: Any = 1, beta: Any = 0) -> None:
    """out[i] = alpha * a[i] @ b[i] + beta * out[i]; out is contiguous."""
    kernel = compiled("batched", BATCHED, out.dtype)
    if kernel is None:
        multiply_without_blas(out, a, b, alpha, beta)
    elif not kernel(out, a, b, alpha, beta):
        kernel(out, contiguous(a), contiguous(b), alpha, beta)


def affine(out: Array, a: Array, b: Array, bias: Array) -> None:
    """out = a @ b + bias, the bias added to each row; out is contiguous."""
    kernel = compiled("affine", AFFINE, out.dtype)
    if kernel is None:
        multiply_without_blas(out, a, b, 1, 0)
        add_quietly(out, bias)
    elif not kernel(out, a, b, bias):
        kernel(out, contiguous(a), contiguous(b), bias)


def multiply_without_blas(out: Array, a: Array, b: Array, alpha: Any, beta: Any) -> None:
    """The same for any dtype."""
    (integers.multiply if integers.suits(out) else multiply_by_numpy)(out, a, b, alpha, beta)


@quiet
def multiply_by_numpy(out: Array, a: Array, b: Array, alpha: Any, beta: Any) -> None:
    """The same by NumPy."""
    before = out * out.dtype.type(beta) if beta != 0 else None
    if out.ndim == 2:
        np.dot(a, b, out)
    else:
        np.matmul(a, b, out=out)
    if alpha != 1:
        np.multiply(out, out.dtype.type(alpha), out=out)
    if before is not None:
        np.add(out, before, out=out)


@quiet
def add_quietly(out: Array, added: Array) -> None:
    """out += added."""
    np.add(out, added, out=out)


@cache
def compiled(name: str, text: str, dtype: Any) -> Any:
    """The compiled product for one dtype; None if BLAS has no such product, or is not found."""
    gemm = gemm_text(dtype)
    if gemm is None:
        return None
    title = f"{name}: {dtype.name}."
    parts = [build.HEADER.format(title=title), gemm, MULTIPLY, text]
    kinds = tuple(f"{dtype.name}{form}" for form in KINDS[name])
    return build.entry_point(f"{name}_{dtype.name}", "\n\n".join(parts), kinds)


def gemm_text(dtype: Any) -> str | None:
    """The declaration of the product of one dtype; None if BLAS has none, or is not found."""
    return _declaration(GEMM, "gemm", dtype)


def product_text(dtype: Any) -> str | None:
    """The same, also of complex numbers: those of real ones are among them."""
    letter = COMPLEX_LETTERS.get(dtype.name)
    if letter is None:
        return gemm_text(dtype)
    symbol = openblas.find_symbol(f"cblas_{letter}gemm")
    return None if symbol is None else COMPLEX_GEMM.format(type=dtype.name, symbol=symbol)


def gemv_text(dtype: Any) -> str | None:
    """The declaration of the product of a matrix and a vector."""
    return _declaration(GEMV, "gemv", dtype)


def alone_text(declaration: str | None) -> str | None:
    """A declared product together with what lets it run on the calling thread alone."""
    get, put = (openblas.find_symbol(f"openblas_{verb}_num_threads") for verb in ("get", "set"))
    if declaration is None or get is None or put is None:
        return None
    return declaration + ALONE.format(get=get, set=put)


def _declaration(text: str, name: str, dtype: Any) -> str | None:
    letter = LETTERS.get(dtype.name)
    symbol = None if letter is None else openblas.find_symbol(f"cblas_{letter}{name}")
    return None if symbol is None else text.format(type=dtype.name, symbol=symbol)
