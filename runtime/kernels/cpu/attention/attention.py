"""Attention on the CPU, block by block of queries: no matrix of all weights is ever written.

Arrays are (batch, time, heads, size) of any strides, which the products on register tiles read in
place. A block's scores stay in the second cache between the product with the keys, the softmax of
their rows, and the product with the values. The gradients compute the weights again, from the
logarithms of the sums that the softmax divided by.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime.dispatch.launch_cache import LAUNCHES_KEPT
from torchgen_out._runtime.kernels import build, threads
from torchgen_out._runtime.kernels.cpu.folding import broadcast, contiguous
from torchgen_out._runtime.kernels.cpu.matmul.tile_product import product_text
from torchgen_out._runtime.kernels.cpu.planned import or_arrays
from torchgen_out._runtime.kernels.cpu.softmax.softmax import row_max
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec, expanded_strides
from torchgen_out._runtime.kernels.typed import TypedKernel, joint_text, typed, typed_sum

Array = Any
BLOCK_NUMEL = 1 << 15  # scores of a block
ROWS_AT_MOST, ROWS_AT_LEAST = 128, 12
FEW_QUERIES = 3  # for which keys and values are read where they lie: packing costs as much
FEW_VECTORS, LONG_VECTOR = 8, 32  # queries and keys, and their size, for which it is so, too
CAUSAL_ROWS = 24  # fewer: a block computes the columns that its last row sees
PRODUCTS_PER_ELEMENT = 8  # products that take as long as an element of element-wise work
NUMBERS = np.dtype(np.int64)
MASK = 3  # which of the arrays is the mask


def plan_attention(
    output: TensorSpec,
    logsumexp: TensorSpec,
    query: TensorSpec,
    key: TensorSpec,
    value: TensorSpec,
    mask: TensorSpec | None,
    scale: float,
    causal: bool,
) -> LaunchPlan | None:
    """Plan `attention` over flat memory, where all is of one dtype."""
    own, given = query.dtype, [each for each in (key, value, mask, output) if each is not None]
    if any(each.dtype != own for each in given):
        return None
    batch, length, heads, _ = query.sizes
    sizes = _sizes(query.sizes, key.sizes[1], value.sizes[3], causal)
    units, work = _effort(sizes, batch)
    strides, note = [*query.strides, *key.strides, *value.strides], _notes(own, mask is not None)
    if mask is not None:
        full = batch, heads, length, key.sizes[1]
        strides += expanded_strides((mask.sizes, mask.strides), full)
    else:
        strides += (0,) * 4
    numbers = sizes, np.array([*strides, *output.strides], NUMBERS), float(scale)
    entry, is_large = _entry(attend, own), work >= 2 * threads.GRAIN

    def run(*args: Any) -> None:
        memory = np.zeros(6, NUMBERS)
        note(memory, *args[:-1])
        if is_large:
            threads.run_ranges(entry, units, work, memory, *numbers)
        else:
            entry(0, units, memory, *numbers)

    return LaunchPlan(run, None)


@cache
def _notes(dtype: Any, has_mask: bool) -> Any:
    """kernel(memory, output, logsumexp, query, key, value, mask, *offsets) that notes where each
    begins: compiled code sees that at once, NumPy takes 0.8 us for each."""
    names = ["query", "key", "value", *["mask"] * has_mask]
    lines = [
        f"    memory[{i}] = {name}.ctypes.data + {name}_at * {name}.itemsize"
        for i, name in enumerate(names)
    ]
    lines += ["    memory[4] = output.ctypes.data", "    memory[5] = sums.ctypes.data"]
    offsets = [f"{name}_at" for name in names]
    text = build.HEADER.format(title="Addresses of what attention reads and writes.")
    head = f"def kernel({', '.join(['memory', 'output', 'sums', *names, *offsets])}):"
    text += "\n".join(["@entry", head, *lines, ""])
    kinds = (NUMBERS, *[dtype] * (2 + len(names)), *[int] * len(names))
    return build.entry_point("attention_addresses", text, kinds)


def _effort(sizes: Array, batch: int) -> tuple[int, int]:
    """How many blocks of queries there are, and what they take in elements of element-wise work."""
    heads, length, columns, size, width, rows, _ = sizes.tolist()
    work = batch * heads * length * columns * (size + width) // PRODUCTS_PER_ELEMENT
    return batch * heads * -(-length // rows), work


@or_arrays(plan_attention, results=2, any_order=True)
def attention(
    output: Array,
    logsumexp: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    causal: bool,
) -> None:
    """Write softmax(scale * query key^T + mask) value, and the logarithms of the rows' sums.

    A row that sees nothing gives 0, and its logarithm is inf.
    """
    arrays = query, key, value, _spread(mask, query, key), output
    _run(attend, arrays, logsumexp, scale, causal)


def attention_backward(
    grad_query: Array,
    grad_key: Array,
    grad_value: Array,
    grad_output: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    logsumexp: Array,
    scale: float,
    causal: bool,
) -> None:
    """Write the gradients of query, key and value."""
    arrays = query, key, value, _spread(mask, query, key), grad_output
    results = grad_query, grad_key, grad_value
    _run(attend_back, arrays + results, contiguous(logsumexp), scale, causal)


def _run(
    kernel: TypedKernel, arrays: tuple[Array, ...], logsumexp: Array, scale: float, causal: bool
) -> None:
    """Run a kernel over its heads, or over blocks of queries of these."""
    query, key, value = arrays[:3]
    sizes = _sizes(query.shape, key.shape[1], value.shape[3], causal)
    units, work = _effort(sizes, query.shape[0])
    if kernel is not attend:
        units = query.shape[0] * query.shape[2]
    threads.run_ranges(
        _entry(kernel, query.dtype),
        units,
        work,
        *(_addresses((*arrays, logsumexp)), sizes, _strides(arrays), float(scale)),
    )


def _spread(mask: Array | None, query: Array, key: Array) -> Array | None:
    """The mask, (batch, heads, queries, keys), repeated by strides of 0."""
    if mask is None:
        return None
    batch, length, heads, _ = query.shape
    mask = mask.astype(query.dtype, copy=False)
    return broadcast(mask, (batch, heads, length, key.shape[1]))


@lru_cache(maxsize=LAUNCHES_KEPT)
def _sizes(queries: tuple[int, ...], columns: int, width: int, causal: bool) -> Array:
    """What the kernels read: heads, queries, keys, both sizes, rows of a block, is it causal."""
    _, length, heads, size = queries
    rows = CAUSAL_ROWS if causal else BLOCK_NUMEL // max(columns, 1)
    rows = min(max(rows // ROWS_AT_LEAST * ROWS_AT_LEAST, ROWS_AT_LEAST), ROWS_AT_MOST)
    return np.array([heads, length, columns, size, width, rows, causal], NUMBERS)


def _addresses(arrays: tuple[Array | None, ...]) -> Array:
    """Where the arrays begin; 0 for the mask if it is not there.

    To ask NumPy for each takes 0.8 us; compiled code sees them at once.
    """
    found = np.empty(len(arrays), NUMBERS)
    has_mask = arrays[MASK] is not None
    given = arrays if has_mask else (*arrays[:MASK], arrays[0], *arrays[MASK + 1 :])
    _addresses_of(arrays[0].dtype, len(arrays))(found, *given)
    if not has_mask:
        found[MASK] = 0
    return found


@cache
def _addresses_of(dtype: Any, count: int) -> Any:
    """kernel(found, *arrays) that notes where so many arrays begin; the last has three dims."""
    names = [f"array{i}" for i in range(count)]
    lines = [f"    found[{i}] = {name}.ctypes.data" for i, name in enumerate(names)]
    text = build.HEADER.format(title=f"Addresses of {count} arrays.")
    text += "\n".join(["@entry", f"def kernel(found, {', '.join(names)}):", *lines, ""])
    kinds = (NUMBERS, *[f"{dtype.name}[4A]"] * (count - 1), f"{dtype.name}[3A]")
    return build.entry_point("addresses", text, kinds)


def _strides(arrays: tuple[Array | None, ...]) -> Array:
    """The strides of arrays of one dtype in elements, four each."""
    strides = tuple([None if array is None else array.strides for array in arrays])
    return _in_elements(strides, arrays[0].itemsize)


@lru_cache(maxsize=LAUNCHES_KEPT)
def _in_elements(strides: tuple[tuple[int, ...] | None, ...], size: int) -> Array:
    found = [stride // size for each in strides for stride in each or (0,) * 4]
    return np.array(found, NUMBERS)


@cache
def _entry(kernel: TypedKernel, dtype: Any) -> Any:
    """The compiled kernel for one element type."""
    functions = attend.function, attend_back.function
    text = joint_text(functions, dtype.name, True, product_text(dtype))
    arguments = (int, int, NUMBERS, NUMBERS, NUMBERS, float)
    return build.entry_point(f"attend_{dtype.name}", text, arguments, kernel.__name__)


# Compiled. Addresses are int64, distances in elements. `memory` holds the addresses of query, key,
# value, mask (0: none), output or its gradient, the gradients of query, key and value, and last the
# logarithms of sums; `strides` has four numbers for each but the last.


@typed
def padded(n):
    """n, or the next multiple of WIDTH."""
    return (n + WIDTH - 1) // WIDTH * WIDTH


@typed
def place_of(memory, strides, array, heads, head, i):
    """The address of element i of a head; the heads of all batches are numbered through."""
    n, h = divmod(head, heads)
    first = 4 * array
    offset = n * strides[first] + i * strides[first + 1] + h * strides[first + 2]
    return memory[array] + offset * SIZE


@typed
def place_of_mask(memory, strides, heads, head, i):
    """The address of a row of the mask, (batch, head, query, key); 0 if there is none."""
    n, h = divmod(head, heads)
    offset = n * strides[12] + h * strides[13] + i * strides[14]
    return memory[3] + offset * SIZE if memory[3] else memory[3]


@typed
def clear_edge(edge):
    """Write the line of zeros that products begin with."""
    for j in range(WIDTH):
        put(edge, ROWS * WIDTH + j, T(0))


@typed
def clear_rows(to, gap, rows, n):
    """Write zeros, while the rows are about to be used."""
    for r in range(rows):
        for j in range(n):
            put(to, r * gap + j, T(0))


@typed
def finish_scores(lines, r, seen, scale, mask, step, allowed):
    """Line r = scale * line + mask (at an address, or at 0 none), -inf for what is not allowed."""
    if mask == 0:
        for i in range(seen):
            lines[r, i] *= scale
    else:
        for i in range(seen):
            lines[r, i] = lines[r, i] * scale + element(mask, i * step)
    for i in range(allowed, seen):
        lines[r, i] = T(-np.inf)


@typed_sum
def dot(first, second, n):
    """The sum of the products of the elements at two addresses."""
    total = T(0)
    for i in range(n):
        total += element(first, i) * element(second, i)
    return total


@typed_sum
def write_products(lines, r, query, key, gap, count, n):
    """lines[r, j] = query key[j], for elements side by side, keys a gap apart."""
    for j in range(count):
        lines[r, j] = dot(query, key + j * gap * SIZE, n)


@typed_sum
def add_values(out, lines, r, value, gap, count, n):
    """out = the sum of lines[r, j] * value[j], four at a time, for elements side by side."""
    for i in range(n):
        put(out, i, T(0))
    for j in range(0, count - 3, 4):
        a, b = value + j * gap * SIZE, value + (j + 1) * gap * SIZE
        c, d = value + (j + 2) * gap * SIZE, value + (j + 3) * gap * SIZE
        of_a, of_b, of_c, of_d = lines[r, j], lines[r, j + 1], lines[r, j + 2], lines[r, j + 3]
        for i in range(n):
            first = of_a * element(a, i) + of_b * element(b, i)
            second = of_c * element(c, i) + of_d * element(d, i)
            put(out, i, element(out, i) + (first + second))
    for j in range(count // 4 * 4, count):
        own, weight = value + j * gap * SIZE, lines[r, j]
        for i in range(n):
            put(out, i, element(out, i) + weight * element(own, i))


@typed
def write_scores(lines, rows, seen, begin, head, memory, sizes, strides, scale, keys, start, edge):
    """lines[r, j] = scale * query[begin + r] key[j] + mask, for r < rows and j < seen.

    Rows are whole panels. start: the address of lines. keys: that of packed ones, 0 for those that
    are read where they lie.
    """
    heads, _, columns, size, _, _, causal = sizes
    far = padded(columns)
    query = place_of(memory, strides, 0, heads, head, begin)
    if keys:
        multiply(
            *(start, far, 0, 0, rows, padded(seen), query, strides[1], strides[3]),
            *(keys, size, size, edge),
        )
    else:
        key = place_of(memory, strides, 1, heads, head, 0)
        for r in range(rows):
            row = query + r * strides[1] * SIZE
            write_products(lines, r, row, key, strides[5], seen, size)
    for r in range(rows):
        mask = place_of_mask(memory, strides, heads, head, begin + r)
        allowed = min(begin + r + 1, seen) if causal else seen
        finish_scores(lines, r, seen, scale, mask, strides[15], allowed)


@typed_sum
def exponentials(lines, bits, r, seen):
    """Line r = exp(line - its maximum); return the maximum, 0 for -inf, and the sum."""
    top = row_max(bits, r, seen)
    top = T(0) if top == T(-np.inf) else top
    total = T(0)
    for i in range(seen):
        value = exp(lines[r, i] - top)
        lines[r, i] = value
        total += value
    return top, total


@typed
def finish_sums(tops, totals, logsumexp):
    """Write tops + log(totals), inf for a sum of 0, to an address; totals = 1 / totals, or 0."""
    for r in range(totals.size):
        total = totals[r]
        is_empty = total == T(0)
        put(logsumexp, r, T(np.inf) if is_empty else tops[r] + log(total))
        totals[r] = T(0) if is_empty else T(1) / total


@typed_sum
def attend(first, last, memory, sizes, strides, scale):
    """The output's blocks of queries from first to last, counted through all heads."""
    heads, length, columns, size, width, block, causal = sizes
    far, blocks = padded(columns), (length + block - 1) // block
    are_rows = strides[3] == 1 and strides[7] == 1 and strides[11] == 1
    is_small = max(length, columns) <= FEW_VECTORS and size >= LONG_VECTOR
    is_short = are_rows and (length <= FEW_QUERIES or is_small)  # nothing is packed
    packing = 0 if is_short else size * far + columns * padded(width)
    room = np.empty(block * far + packing + (ROWS + 2) * WIDTH, T)
    tops, totals = np.empty(block, T), np.empty(block, T)
    start = np.int64(room.ctypes.data)
    scores = (-start // SIZE) % WIDTH  # the first element of a cache line
    keys = np.int64(0) if is_short else start + (scores + block * far) * SIZE
    values = keys + size * far * SIZE
    edge = start + (scores + block * far + packing) * SIZE
    clear_edge(edge)
    lines = room[scores : scores + block * far].reshape(block, far)
    bits = lines.view(BITS)  # no line is taken out: a view counts references, at 15 ns each
    packed = -1
    for unit in range(first, last):
        head, begin = unit // blocks, unit % blocks * block
        if head != packed and not is_short:
            key = place_of(memory, strides, 1, heads, head, 0)
            value = place_of(memory, strides, 2, heads, head, 0)
            pack(keys, key, strides[7], strides[5], size, columns)
            pack(values, value, strides[9], strides[11], columns, width)
            packed = head
        rows = min(block, length - begin)
        seen = min(columns, begin + rows) if causal else columns
        write_scores(
            *(lines, rows, seen, begin, head),
            *(memory, sizes, strides, T(scale), keys, start + scores * SIZE, edge),
        )
        for r in range(rows):
            tops[r], totals[r] = exponentials(lines, bits, r, seen)
        sums = memory[5] + (head * length + begin) * SIZE
        finish_sums(tops[:rows], totals[:rows], sums)
        out, gap = place_of(memory, strides, 4, heads, head, begin), strides[17]
        if is_short:
            value = place_of(memory, strides, 2, heads, head, 0)
            for r in range(rows):
                row = out + r * gap * SIZE
                add_values(row, lines, r, value, strides[9], seen, width)
        else:
            multiply(
                *(out, gap, 0, 0, rows, width, start + scores * SIZE, far, np.int64(1)),
                *(values, columns, seen, edge),
            )
        for r in range(rows):
            for j in range(width):
                put(out, r * gap + j, element(out, r * gap + j) * totals[r])
    return room[0]


@typed_sum
def slope_line(lines, slopes, r, seen, logsumexp, scale):
    """In line r scores become weights; the weights' gradients those of the scores, times scale."""
    total = T(0)
    for i in range(seen):
        weight = exp(lines[r, i] - logsumexp)
        lines[r, i] = weight
        total += weight * slopes[r, i]
    for i in range(seen):
        slopes[r, i] = lines[r, i] * (slopes[r, i] - total) * scale


@typed_sum
def attend_back(first, last, memory, sizes, strides, scale):
    """The gradients of query, key and value for the heads from first to last."""
    heads, length, columns, size, width, block, causal = sizes
    far, wide = padded(columns), padded(size) + padded(width)
    numel = (2 * block + size + width) * far + columns * padded(size) + block * wide
    room = np.empty(numel + (ROWS + 2) * WIDTH, T)
    start = np.int64(room.ctypes.data)
    weights = (-start // SIZE) % WIDTH  # the first element of a cache line
    slopes = weights + block * far
    keys = start + (slopes + block * far) * SIZE
    values = keys + size * far * SIZE
    key_lines = values + width * far * SIZE
    grad_lines = key_lines + columns * padded(size) * SIZE
    query_lines = grad_lines + block * padded(width) * SIZE
    edge = query_lines + block * padded(size) * SIZE
    clear_edge(edge)
    lines = room[weights:slopes].reshape(block, far)
    sloping = room[slopes : slopes + block * far].reshape(block, far)
    for head in range(first, last):
        key = place_of(memory, strides, 1, heads, head, 0)
        value = place_of(memory, strides, 2, heads, head, 0)
        grad_key = place_of(memory, strides, 6, heads, head, 0)
        grad_value = place_of(memory, strides, 7, heads, head, 0)
        clear_rows(grad_key, strides[25], columns, size)
        clear_rows(grad_value, strides[29], columns, width)
        pack(keys, key, strides[7], strides[5], size, columns)
        pack(values, value, strides[11], strides[9], width, columns)
        pack(key_lines, key, strides[5], strides[7], columns, size)
        for begin in range(0, length, block):
            rows = min(block, length - begin)
            seen = min(columns, begin + rows) if causal else columns
            write_scores(
                *(lines, rows, seen, begin, head),
                *(memory, sizes, strides, T(scale), keys, start + weights * SIZE, edge),
            )
            grad = place_of(memory, strides, 4, heads, head, begin)
            query = place_of(memory, strides, 0, heads, head, begin)
            grad_query = place_of(memory, strides, 5, heads, head, begin)
            pack(grad_lines, grad, strides[17], strides[19], rows, width)
            pack(query_lines, query, strides[1], strides[3], rows, size)
            weight, slope = start + weights * SIZE, start + slopes * SIZE
            multiply(
                *(slope, far, 0, 0, rows, padded(seen), grad, strides[17], strides[19]),
                *(values, width, width, edge),
            )
            for r in range(rows):
                logarithm = element(memory[8], head * length + begin + r)
                slope_line(lines, sloping, r, seen, logarithm, T(scale))
            multiply(
                *(grad_query, strides[21], 0, 0, rows, size, slope, far, np.int64(1)),
                *(key_lines, columns, seen, edge),
            )
            multiply(
                *(grad_key, strides[25], grad_key, strides[25], seen, size, slope, np.int64(1)),
                *(far, query_lines, rows, rows, edge),
            )
            multiply(
                *(grad_value, strides[29], grad_value, strides[29], seen, width, weight),
                *(np.int64(1), far, grad_lines, rows, rows, edge),
            )
    return room[0]
