"""Running sums, of which sorts and what is compacted tell places.

They are the index language's scans: a warp or a block owns a row, and few long rows are cut into
slices whose totals are made first. The order of operations depends on sizes alone.
"""

from __future__ import annotations

from functools import cache

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.common.index import Launch, Scan
from torchgen_out._runtime.kernels.cuda.compiling import typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.loops.pointwise import INDEX_TYPES, inlined
from torchgen_out._runtime.kernels.cuda.loops.scan_text import shared_rows
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue
from torchgen_out._runtime.kernels.cuda.rows import THREADS, cut


def summed(queue: Queue, x: Array, rows: int = 1) -> Array:
    """x[0] + ... x[j], along the rows of a contiguous array of int64 or float64."""
    out = queue.empty(x.sizes, x.dtype)
    if not x.numel:
        return out
    length = x.numel // rows
    group, slices, chunk = cut(queue, Folded(rows, length, 1))
    totals = [queue.empty((rows * slices,), x.dtype)] if slices > 1 else []
    blocks = -(-rows * slices * group // THREADS)
    grid = min(blocks, queue.processors * typed.BLOCKS_PER_PROCESSOR)
    wide = x.numel > typed.NARROW
    for makes_totals in (True, False)[not totals :]:
        source = _sums(x.dtype, group, makes_totals, bool(totals), wide)
        addresses = [each.address for each in (*totals, out, x)]
        queue.launch(source, grid, (THREADS, 1), [*addresses, rows, length, slices, chunk])
    return out


@cache
def _sums(dtype: dtypes.dtype, group: int, makes_totals: bool, is_cut: bool, wide: bool) -> Source:
    """kernel(*totals, out, x, count, length, slices, chunk), of `count` rows."""
    given = ["out", "x", "length"]
    lines = shared_rows(SCAN, group, makes_totals, is_cut, False, (), ["item"], given)
    functions = "\n\n".join(build.plain_source(each) for each in (quotient, element, joined))
    totals = "total0, " if is_cut else ""
    kernel = "\n    ".join([f"def kernel({totals}out, x, count, length, slices, chunk):", *lines])
    text = typed.text_of("summed", dtype, f"{inlined(functions)}\n\n{kernel}\n", wide)
    pointers = [f"{dtype.name}*"] * (2 + is_cut)
    return Source("summed", text, (*pointers, *[INDEX_TYPES[wide]] * 4), THREADS)


def quotient(a, b):
    return divided(a, b)


def element(item, j, reads, part0, out, x, length):
    """One element: read, or the sum of all up to it written."""
    at = I(item * length + j)
    if reads:
        part0 = x[at]
    else:
        out[at] = part0
    return part0


def joined(a0, b0):
    return T(a0 + b0)


SCAN = Scan(Launch(element, ("x",), ("x",), ()), joined, "j", False, True, ("T(0)",), ("number",))
