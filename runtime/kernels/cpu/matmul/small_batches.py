"""Products of many small matrices, whose sizes are constants of the code: LLVM unrolls the loops.

OpenBLAS takes 20 ns for a product of 3 x 3 matrices, 60 if the second one lies turned, and 200 for
complex ones; a loop of known length 8, 8 and 25. Turned matrices of middle size are copied, which
OpenBLAS would take longer to read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cpu.matmul import blas, shared
from torchgen_out._runtime.kernels.plan import LaunchPlan

FEWEST = 16  # matrices that are worth a kernel for their sizes
LARGEST = {"f": 4, "c": 8}
"""The sizes up to which loops take less time, by kinds of dtypes."""
LARGEST_TURNED = 12  # real matrices that are copied before they are multiplied
SMALLEST_TURNED = 5

BEGIN = '''\
@entry
def part(first, last, out, a, b, at_a, at_b, plan):
    """out[i] = a[i] @ b[i] for i from first to last, each b being copied first.

    plan: how many there are, distances of rows, columns and matrices of both, how BLAS reads a.
    """
    panel = np.empty(K * N, T)
    for i in range(first, min(last, plan[0])):
        start, begin = at_b + i * plan[6], at_a + i * plan[3]
        for k in range(K):
            for j in range(N):
                panel[k * N + j] = b[start + k * plan[4] + j * plan[5]]
'''

BY_LOOPS = """\
        for r in range(M):
            own = out[(i * M + r) * N : (i * M + r + 1) * N]
            for j in range(N):
                total = T(0)
                for k in range(K):
                    total += a[begin + r * plan[1] + k * plan[2]] * panel[k * N + j]
                own[j] = total
"""

BY_BLAS = """\
        left, right = a.ctypes.data + begin * a.itemsize, panel.ctypes.data
        to, flag = out.ctypes.data + i * M * N * out.itemsize, types.int32(plan[7])
        order, plain = types.int32(ROW_MAJOR), types.int32(PLAIN)
        gemm(order, flag, plain, M, N, K, T(1), left, plan[8], right, N, T(0), to, N)
"""

ALL = '''\


@entry
def kernel(out, a, b, at_a, at_b, plan):
    """All of them."""
    part(0, 1 << 40, out, a, b, at_a, at_b, plan)
'''


def plan_batch(
    dtype: Any,
    batch: int,
    sizes: tuple[int, int, int],
    strides_a: tuple[int, ...],
    strides_b: tuple[int, ...],
    leading_a: tuple[int, int] | None,
) -> LaunchPlan | None:
    """Plan a batch of products of (m, k) and (k, n), where that is worth it.

    strides_a, strides_b: of rows, of columns, and from matrix to matrix. leading_a: how BLAS reads
    the first ones; None if it does not.
    """
    if batch < FEWEST or not min(sizes) or dtype.kind not in LARGEST:
        return None
    largest, is_turned = max(sizes), strides_b[1] != 1
    if largest <= LARGEST[dtype.kind]:
        body = BY_LOOPS
    elif (
        dtype.kind == "f"
        and is_turned
        and leading_a is not None
        and min(sizes) >= SMALLEST_TURNED
        and largest <= LARGEST_TURNED
    ):
        body = BY_BLAS
    else:
        return None
    m, k, n = sizes
    text = f"M, K, N = {m}, {k}, {n}\n{build.apart(['out'])}\n\n{BEGIN}{body}{ALL}"
    numbers = np.array([batch, *strides_a, *strides_b, *(leading_a or (0, 0))], np.int64)
    work = batch * m * k * n // shared.PRODUCTS_PER_ELEMENT
    name = f"products_{m}_{k}_{n}"
    return shared.plan_parts(name, (blas.product_text(dtype), text), dtype, 2, numbers, batch, work)
