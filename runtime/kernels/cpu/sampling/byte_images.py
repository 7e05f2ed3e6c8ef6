"""Images of bytes of another size on the CPU, in whole numbers.

Bytes of a column do not lie together, and a machine gathers no bytes. So some rows at a time are
turned, eight bytes of a column to a word; columns are mixed as rows are, and turned back.
"""

from __future__ import annotations

from math import prod

import numpy as np

from torchgen_out._runtime.kernels.common.sampling import BITS_BEHIND_POINT
from torchgen_out._runtime.kernels.cpu.loop_plans import (
    NOTHING,
    operand,
    out,
    plan_loop,
    plan_ranges,
    refusing,
)
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.cpu.sampling.upsample import BAND, longest_reach, take
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed

HALF = 1 << (BITS_BEHIND_POINT - 1)
DEEP = 64
"""Rows that are turned together."""
WORK = 2
"""How much more an element costs than in element-wise work."""


@planned()
def resample_bytes(
    result: TensorSpec,
    self: TensorSpec,
    rows: TensorSpec | None,
    row_weights: TensorSpec | None,
    columns: TensorSpec | None,
    column_weights: TensorSpec | None,
) -> LaunchPlan:
    """Write the weighted sums, rounded after each step.

    Shape: self (*B, H, W, C), tables (taps, rows) and (taps, columns) -> (*B, rows, columns, C)
    """
    if not result.numel:
        return NOTHING
    *batch, high, wide, inner = result.sizes
    planes, operands = prod(batch), (self, rows, row_weights, columns, column_weights)
    tables = [operand(n, *each.sizes) for n, each in enumerate(operands) if n and each is not None]
    if not tables:
        return plan_loop(take, [result], operands, out(0, result.numel), operand(0, result.numel))
    if columns is None:
        loop = mix_rows_of_bytes
    else:
        loop = mix_columns_of_bytes if rows is None else mix_both_of_bytes
    bands = planes * -(-high // BAND)
    made = out(0, planes, high, wide * inner)
    given = operand(0, planes, self.sizes[-3], self.sizes[-2] * inner)
    steps = () if columns is None else (inner,)
    work = WORK * result.numel
    plan = plan_ranges(loop, bands, work, [result], operands, made, given, *tables, *steps)
    return refusing(plan, lambda *_: IndexError("_resample_bytes(): a place is outside the image"))


@typed
def mix_rows_of_bytes(start, stop, out, x, rows, weights):
    """Some of all planes' bands, of other rows alone."""
    if not are_places(rows, x.shape[1]):
        return False
    high = out.shape[1]
    bands = (high + BAND - 1) // BAND
    sums = np.empty(out.shape[2], np.int32)
    for item in range(start, stop):
        p = item // bands
        first = (item - p * bands) * BAND
        for i in range(first, min(first + BAND, high)):
            mix_line(out[p, i], x[p], rows, weights, i, 0, sums)
    return True


@typed
def mix_columns_of_bytes(start, stop, out, x, columns, weights, inner):
    """The same of other columns alone."""
    if not are_places(columns, x.shape[2] // inner):
        return False
    high = out.shape[1]
    bands = (high + BAND - 1) // BAND
    groups = groups_of(min(BAND, high))
    turned = np.empty((x.shape[2], groups), np.uint64)
    mixed = np.empty((out.shape[2], groups), np.uint64)
    words = np.empty(max(x.shape[2], out.shape[2]), np.uint64)
    sums = np.empty(8 * groups * inner, np.int32)
    for item in range(start, stop):
        p = item // bands
        first = (item - p * bands) * BAND
        last = min(first + BAND, high)
        made, given = out[p, first:last], x[p, first:last]
        mix_columns(made, given, columns, weights, turned, mixed, words, sums)
    return True


@typed
def mix_both_of_bytes(start, stop, out, x, rows, row_weights, columns, weights, inner):
    """The same of both: columns first, a band at a time, so that what lies between stays near."""
    if not are_places(rows, x.shape[1]) or not are_places(columns, x.shape[2] // inner):
        return False
    high = out.shape[1]
    bands = (high + BAND - 1) // BAND
    reach = longest_reach(rows)
    groups = groups_of(reach)
    lines = np.empty((reach, out.shape[2]), np.uint8)
    turned = np.empty((x.shape[2], groups), np.uint64)
    mixed = np.empty((out.shape[2], groups), np.uint64)
    words = np.empty(max(x.shape[2], out.shape[2]), np.uint64)
    sums = np.empty(max(out.shape[2], 8 * groups * inner), np.int32)
    for item in range(start, stop):
        p = item // bands
        first = (item - p * bands) * BAND
        last = min(first + BAND, high)
        low, top = rows[0, first], rows[-1, last - 1] + 1
        between = lines[: top - low]
        mix_columns(between, x[p, low:top], columns, weights, turned, mixed, words, sums)
        for i in range(first, last):
            mix_line(out[p, i], between, rows, row_weights, i, low, sums)
    return True


@typed
def are_places(table, count):
    """Whether all places are from 0 to below count, and none lies before that of the tap before."""
    fine = True
    for j in range(table.shape[1]):
        last = np.int64(0)
        for k in range(table.shape[0]):
            fine = fine and last <= table[k, j] < count
            last = table[k, j]
    return fine


@typed
def groups_of(rows):
    """Of how many groups of eight rows those are that are turned together."""
    parts = (rows + DEEP - 1) // DEEP
    return (rows + 8 * parts - 1) // (8 * parts)


@typed
def mix_columns(out, x, columns, weights, turned, mixed, words, sums):
    """out[:, j] = the sum over taps of weights[:, j] * x[:, columns[:, j]], each of some bytes."""
    deep = 8 * turned.shape[1]
    lanes = deep * (out.shape[1] // columns.shape[1])
    given = turned.view(np.uint8).reshape(-1, lanes)
    made = mixed.view(np.uint8).reshape(-1, lanes)
    for first in range(0, x.shape[0], deep):
        last = min(first + deep, x.shape[0])
        turn(turned, x[first:last], words[: x.shape[1]])
        for j in range(columns.shape[1]):
            mix_line(made[j], given, columns, weights, j, 0, sums)
        turn_back(out[first:last], mixed, words[: out.shape[1]])


@typed
def mix_line(line, x, places, weights, place, low, sums):
    """line = the sum over taps of weights[:, place] * x[places[:, place] - low]."""
    a, b = np.int32(weights[0, place]), np.int32(weights[1, place])
    one, other = x[places[0, place] - low], x[places[1, place] - low]
    if places.shape[0] == 2:
        for j in range(line.size):
            line[j] = rounded(a * np.int32(one[j]) + b * np.int32(other[j]))
        return
    for j in range(line.size):
        sums[j] = a * np.int32(one[j]) + b * np.int32(other[j])
    for k in range(2, places.shape[0], 2):
        a, b = np.int32(weights[k, place]), np.int32(weights[k + 1, place])
        one, other = x[places[k, place] - low], x[places[k + 1, place] - low]
        if a != 0 or b != 0:
            for j in range(line.size):
                sums[j] += a * np.int32(one[j]) + b * np.int32(other[j])
    for j in range(line.size):
        line[j] = rounded(sums[j])


@typed
def rounded(total):
    """A sum as the nearest byte."""
    whole = np.int32(total + np.int32(HALF)) >> np.int32(BITS_BEHIND_POINT)
    return np.uint8(min(max(whole, np.int32(0)), np.int32(255)))


@typed
def turn(turned, x, words):
    """turned[j, g] = the bytes x[8 * g : 8 * g + 8, j] as one word, the first one lowest."""
    last = x.shape[0] - 1
    for g in range((x.shape[0] + 7) // 8):
        r = 8 * g
        a, b, c, d = x[r], x[min(r + 1, last)], x[min(r + 2, last)], x[min(r + 3, last)]
        for j in range(words.size):
            low = np.uint64(a[j]) | np.uint64(b[j]) << np.uint64(8)
            words[j] = low | np.uint64(c[j]) << np.uint64(16) | np.uint64(d[j]) << np.uint64(24)
        a, b = x[min(r + 4, last)], x[min(r + 5, last)]
        c, d = x[min(r + 6, last)], x[min(r + 7, last)]
        for j in range(words.size):
            high = np.uint64(a[j]) | np.uint64(b[j]) << np.uint64(8)
            high |= np.uint64(c[j]) << np.uint64(16) | np.uint64(d[j]) << np.uint64(24)
            words[j] |= high << np.uint64(32)
        for j in range(words.size):
            turned[j, g] = words[j]


@typed
def turn_back(out, turned, words):
    """The same the other way round: out[8 * g : 8 * g + 8, j] = the bytes of turned[j, g]."""
    for g in range((out.shape[0] + 7) // 8):
        for j in range(words.size):
            words[j] = turned[j, g]
        for r in range(8 * g, min(8 * g + 8, out.shape[0])):
            line, shift = out[r], np.uint64(8 * (r - 8 * g))
            for j in range(line.size):
                line[j] = np.uint8(words[j] >> shift)
