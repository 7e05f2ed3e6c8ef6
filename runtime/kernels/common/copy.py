"""What copies of every backend warn of, and as what views they see their operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.kernels.common.folded import merged_stride
from torchgen_out._runtime.kernels.common.index import InTurn, Turn, View
from torchgen_out._runtime.kernels.common.indexing import around


def warn_of_discarding() -> None:
    """Warn that a cast leaves out imaginary parts."""
    warn("Casting complex values to real discards the imaginary part", UserWarning)


def repeat(out: Any, self: Any, repeats: Sequence[int]) -> dict[str, View]:
    """A dim for each repeat before each dim of self, which is there once."""
    missing = len(repeats) - len(self.sizes)
    own = (1,) * missing + tuple(self.sizes), (0,) * missing + tuple(self.strides)
    sizes = [each for pair in zip(repeats, own[0], strict=True) for each in pair]
    steps = zip(own[0], out.strides, strict=True)
    to = tuple([each for size, step in steps for each in (size * step, step)])
    source = tuple([each for step in own[1] for each in (0, step)])
    return {"out": View(tuple(sizes), to), "self": View(tuple(sizes), source)}


SHORT_SLICE = 8
"""Elements of a slice from which one is copied after the other."""
MOST_CHUNKED = 1024
"""Short slices that are copied side by side."""


def repeat_interleave(
    out: Any, self: Any, repeats: int, dim: int | None = None, output_size: int | None = None
) -> dict[str, View] | None:
    """A dim of copies behind the one whose slices are repeated.

    Short slices are copied side by side, so many that they stay in the cache until the last copy.
    """
    sizes, strides = tuple(self.sizes), tuple(self.strides)
    if dim is None or not sizes:
        step = merged_stride(sizes, strides)
        if step is None:
            return None
        sizes, strides, dim = (self.numel,), (step,), 0
    at = dim % len(sizes)
    size, inner = sizes[at], prod(sizes[at + 1 :])
    to = shapes.contiguous_strides((*sizes[: at + 1], repeats, *sizes[at + 1 :]))
    lines = list(zip((*sizes[: at + 1], repeats), (*strides[: at + 1], 0), to, strict=False))
    within = list(zip(sizes[at + 1 :], strides[at + 1 :], to[at + 2 :], strict=True))
    if inner < SHORT_SLICE:
        _, source, step = lines.pop(at)
        some = next((n for n in range(MOST_CHUNKED, 0, -1) if size % n == 0), 1)
        some = size if some < SHORT_SLICE else some
        lines.insert(at, (size // max(some, 1), source * some, step * some))
        within.append((some, source, step))
    seen, source_steps, steps = zip(*lines, *within, strict=True)
    return {"out": View(seen, steps), "self": View(seen, source_steps)}


def diag_embed(
    out: Any, self: Any, offset: int = 0, dim1: int = -2, dim2: int = -1
) -> dict[str, View | int]:
    """The new dims last; how long they are, and where the first element is."""
    ndim = len(out.sizes)
    last = dim1 % ndim, dim2 % ndim
    order = [*(dim for dim in range(ndim) if dim not in last), *last]
    sizes, strides = (tuple([each[dim] for dim in order]) for each in (out.sizes, out.strides))
    first = {"top": max(-offset, 0), "left": max(offset, 0)}
    return {"out": View(sizes, strides), "side": sizes[-1], **first}


def put_slice(
    out: Any, self: Any, sizes: Sequence[int], dim: int, start: int
) -> dict[str, View | int]:
    """The dim along which there is more than the slice, and where that begins."""
    own, count = self, out.sizes[dim]
    if len(self.sizes) < len(out.sizes):
        dim %= len(out.sizes)
        own = self._replace(
            sizes=(*self.sizes[:dim], 1, *self.sizes[dim:]),
            strides=(*self.strides[:dim], 1, *self.strides[dim:]),
        )
    first = start + count if start < 0 else start
    return {**around(dim, out=out, self=own), "count": count, "first": first}


def flip(out: Any, self: Any, dims: Sequence[int]) -> dict[str, View]:
    """Self from its last element on along each of `dims`."""
    strides, offset = list(self.strides), 0
    for dim in dims if self.sizes else ():
        offset += (self.sizes[dim] - 1) * strides[dim]
        strides[dim] = -strides[dim]
    return {"self": View(tuple(self.sizes), tuple(strides), offset)}


MOST_SHIFTED = 3
"""Dims along which one text shifts elements; those of more dims are shifted in turn."""
SHORT_RUN = 256
"""Elements that lie densely within a shifted dim up to which they are part of it."""


ROLLED_ROW, PADDED_ROW, MANY_ROWS = 24, 10, 16
"""Elements of a row below which, and rows from which on, columns are copied."""
TURNED_BYTES = 1 << 14
"""Bytes of rows that are copied column by column."""


class Line(NamedTuple):
    """A dim, or several as one: how long it is and how elements follow, in result and operand."""

    size: int
    step: int
    size_of_self: int
    step_of_self: int
    shift: int = 0

    @property
    def is_moved(self) -> bool:
        """Whether elements have other numbers in the result."""
        return self.shift != 0 or self.size != self.size_of_self

    def holds(self, inner: Line) -> bool:
        """Whether both are walked as one."""
        return (
            self.step == inner.size * inner.step
            and self.step_of_self == inner.size_of_self * inner.step_of_self
        )

    def joined(self, inner: Line) -> Line:
        """Both as one, whose shift is the outer one's."""
        count = inner.size
        return Line(
            self.size * count,
            inner.step,
            self.size_of_self * count,
            inner.step_of_self,
            self.shift * count,
        )


def shifted(
    out: Any, self: Any, shifts: Mapping[int, int], narrow: int = 0
) -> dict[str, View | int]:
    """Views whose last three dims have all that are shifted, the fastest last; by how much.

    All others are one dim where they are walked as one. narrow: below how many elements many rows
    are turned into columns.
    """
    moved, rest, run = [], [], None
    for dim in sorted(range(len(out.sizes)), key=lambda dim: (out.strides[dim], -dim)):
        line = Line(out.sizes[dim], out.strides[dim], self.sizes[dim], self.strides[dim])
        is_moved = dim in shifts
        if not is_moved and line.size == 1:
            continue
        line = line._replace(shift=shifts.get(dim, 0))
        fits = run is not None and line.holds(run)
        if run is not None and fits and (not is_moved or run.size <= SHORT_RUN):
            line, run = line.joined(run), None
        rest += [run] if run is not None else []
        run = None if is_moved else line
        moved += [line] if is_moved else []
    rest += [run] if run is not None else []
    free = MOST_SHIFTED - len(moved)
    lines = [*rest[free:][::-1], *[Line(1, 0, 1, 0)] * (free - len(rest))]
    lines += sorted([*moved, *rest[:free]], key=lambda line: -line.step)
    lines = _side_by_side(lines, out.dtype.itemsize, narrow) if narrow else lines
    by = dict(zip(("back", "down", "right"), (line.shift for line in lines[-3:]), strict=True))
    to = View(tuple([line.size for line in lines]), tuple([line.step for line in lines]))
    sizes, steps = zip(*((line.size_of_self, line.step_of_self) for line in lines), strict=True)
    return {"out": to, "self": View(sizes, steps), **by}


def _side_by_side(lines: list[Line], itemsize: int, narrow: int) -> list[Line]:
    """The lines; many rows of a few shifted elements as columns, of so many rows that these stay
    in the first cache until the last column."""
    *outer, rows, row = lines
    is_alone = row.is_moved and not any(line.is_moved for line in (*outer, rows))
    if not is_alone or row.size >= narrow or rows.size < MANY_ROWS:
        return lines
    most = TURNED_BYTES // (row.size * itemsize)
    some = next((n for n in range(min(most, rows.size), 0, -1) if rows.size % n == 0), 1)
    if some < MANY_ROWS:
        return lines
    chunks = Line(rows.size // some, rows.step * some, rows.size // some, rows.step_of_self * some)
    return [*outer, chunks, row, rows._replace(size=some, size_of_self=some)]


def roll(
    out: Any, self: Any, shifts: int | Sequence[int], dims: int | Sequence[int] = ()
) -> dict[str, View | int] | InTurn | None:
    """The dims that are rolled, or all elements along one."""
    by = [shifts] if isinstance(shifts, int) else shifts
    along = [dims] if isinstance(dims, int) else dims
    if not along or not self.sizes:
        step = merged_stride(self.sizes, self.strides)
        flat = None if step is None else View((self.numel,), (step,))
        return flat and shifted(View((self.numel,), (1,)), flat, {0: by[0] % max(self.numel, 1)})
    sums: dict[int, int] = {}
    for dim, shift in zip(along, by, strict=True):
        sums[dim % len(self.sizes)] = sums.get(dim % len(self.sizes), 0) + shift
    moves = {dim: by % max(self.sizes[dim], 1) for dim, by in sums.items()}
    moves = {dim: by for dim, by in moves.items() if by}
    if len(moves) <= MOST_SHIFTED:
        return shifted(out, self, moves, ROLLED_ROW)
    parts = [dict(list(moves.items())[i : i + 3]) for i in range(0, len(moves), 3)]
    return InTurn(tuple([Turn(self.sizes, {"shifts": [*p.values()], "dims": [*p]}) for p in parts]))


def pixel_shuffle(out: Any, self: Any, r: int) -> dict[str, View]:
    """The result with its columns last, of which there are more than parts of a pixel."""
    dims = (*range(len(out.sizes) - 2), -1, -2)
    sizes, strides = (tuple([each[dim] for dim in dims]) for each in (out.sizes, out.strides))
    return {"out": View(sizes, strides), "self": View(tuple(self.sizes), tuple(self.strides))}


def constant_pad_nd(
    out: Any, self: Any, pad: Sequence[int], value: Any = 0
) -> dict[str, View | int] | InTurn:
    """The dims that are padded, and how long they become."""
    ndim = len(self.sizes)
    padded = [i for i in range(0, len(pad), 2) if pad[i] or pad[i + 1]]
    if len(padded) > MOST_SHIFTED:
        first, rest = list(pad), list(pad)
        for place, i in enumerate(padded):
            (rest if place < MOST_SHIFTED else first)[i : i + 2] = 0, 0
        grown = [sum(first[i : i + 2]) for i in range(0, len(pad), 2)]
        grown = [*grown, *[0] * (ndim - len(grown))][::-1]
        sizes = tuple([size + more for size, more in zip(self.sizes, grown, strict=True)])
        return InTurn((Turn(sizes, {"pad": first}), Turn(out.sizes, {"pad": rest})))
    found = shifted(out, self, {ndim - 1 - i // 2: pad[i] for i in padded}, PADDED_ROW)
    planes, rows, columns = found["out"].sizes[-3:]  # type: ignore[union-attr]
    return {**found, "planes": planes, "rows": rows, "columns": columns}
