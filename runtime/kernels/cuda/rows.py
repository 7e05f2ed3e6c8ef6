"""Rows, how many threads own one, and where they are cut into slices.

A row is a run of elements that are folded or scanned together: `count` elements at the distance
`inner`. A thread owns a row if neighbouring rows lie side by side, as their reads then join; else
a warp, or for long rows a block.
"""

from __future__ import annotations

from typing import NamedTuple

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import THREADS
from torchgen_out._runtime.kernels.cuda.queue import Queue

WARP = 32
WARPS = THREADS // WARP
SHORT = 1024
"""Elements of a row that a warp owns, at most."""
LEAST_PER_THREAD = WARP
"""Elements up to which a thread owns a row beside others, however few there are."""
COLUMN_ROWS = WARPS
"""Threads of a block that own one of so many neighbouring rows as a warp has lanes."""
LEAST_PER_SLICE = 4096
"""Elements of a slice: fewer are not worth another kernel."""
LEAST_PER_COLUMN = 256
"""The same of a slice that few threads own, beside others."""
BLOCKS_WANTED = 4
"""Blocks per multiprocessor below which rows are cut into slices."""
MOST_SLICES = 1024

GROUPS = (8, 1), (WARP, 8), (SHORT, WARP)
"""(elements of a row up to which, how many threads fold it): each has some to read at once."""
LEAST_PER_BLOCK = 256
"""Elements of a row from which a block folds it where there are too few for warps."""
WARPS_WANTED = 8
"""Warps per multiprocessor below which blocks fold rows that are not short."""

assert THREADS % WARP == 0, "whole warps are folded"


class Group(NamedTuple):
    """So many threads own a row, or a slice of one: neighbours, or a column of a block."""

    threads: int
    is_of_columns: bool = False

    @property
    def is_of_block(self) -> bool:
        """Whether a block's threads wait for each other."""
        return self.is_of_columns or self.threads > WARP

    @property
    def goes_on(self) -> bool:
        """Whether those beyond the last slice fold that one, too, as others wait for them."""
        return self.is_of_columns or 1 < self.threads < WARP


class Cut(NamedTuple):
    """How rows are cut: group threads own a slice of `chunk` elements, `splits` make a row."""

    group: int
    splits: int
    chunk: int


def group_for(queue: Queue, folded: Folded) -> int:
    """How many threads own a row."""
    rows = folded.outer * folded.inner
    if folded.inner > 1 and (folded.count < LEAST_PER_THREAD or rows >= queue.processors * THREADS):
        return 1
    return WARP if folded.count <= SHORT else THREADS


def cut(queue: Queue, folded: Folded) -> Cut:
    """Slices enough for all processors, where rows are few and long."""
    rows = folded.outer * folded.inner
    sizes = sliced(queue.processors, rows, folded.count, LEAST_PER_SLICE)
    return Cut(group_for(queue, folded), *sizes)


def sliced(processors: int, blocks: int, count: int, least: int) -> tuple[int, int]:
    """(slices of rows of `count` elements, elements of each), where so many blocks own rows."""
    wanted = -(-processors * BLOCKS_WANTED // max(blocks, 1))
    splits = max(1, min(wanted, count // least, MOST_SLICES))
    chunk = max(-(-count // splits), 1)
    return max(-(-count // chunk), 1), chunk


def sliced_columns(processors: int, columns: int, count: int) -> tuple[int, int]:
    """The same where a block owns slices of neighbouring columns."""
    return sliced(processors, -(-columns // WARP), count, LEAST_PER_COLUMN)


def group_of(processors: int, rows: int, count: int) -> Group:
    """How many threads fold a row of so many elements: some of a warp, a warp or a block."""
    if count > LEAST_PER_BLOCK and rows < processors * WARPS_WANTED:
        return Group(THREADS)
    return Group(next((threads for most, threads in GROUPS if count <= most), THREADS))
