"""The text of folds whose elements threads share.

A group of threads owns a slice of an item: a thread, some of a warp, a warp or a block; or, where
items lie side by side, a column of a block, whose rows of threads read neighbours. Each thread
folds its own elements, of which it reads a few before it waits for the first; then the group folds
what its threads have. Few long items are cut into slices, whose values another fold puts together.
The order of operations depends on sizes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torchgen_out._runtime.kernels.cuda.rows import WARP, Group

AT_ONCE = 4
"""Elements that a thread reads before it waits for the first."""


class Part(NamedTuple):
    """A part of what is folded.

    cast: its type. exchanged: the expression that gets it from the lane whose number differs in
    some bits, a format of both. stored: the type in which shared memory holds it.
    """

    cast: str
    exchanged: str
    stored: str

    @classmethod
    def of(cls, cast: str) -> Part:
        """A part of the compute type, 'T', or a whole number of 32 or 64 bits."""
        exchanged = f"{cast}(cuda.shfl_xor_sync(0xFFFFFFFF, {{}}, {{}}))"
        return cls(cast, "shuffled_across({}, {})" if cast == "T" else exchanged, cast)


class Fold(NamedTuple):
    """What is folded, in variables acc0, acc1 ..., one for each part.

    joined: the expression of what two values come to, from the expressions of both. start: what
    stands before the first element, of each part; None if that begins. element: the expression of
    the element of an index. put: that of a value and an element behind it; None if elements are
    values.
    """

    parts: tuple[Part, ...]
    joined: Callable[[str, str], str]
    start: tuple[str, ...] | None
    element: Callable[[str], str]
    put: Callable[[str, str], str] | None = None


def folded(
    fold: Fold, group: Group, block: int, decoded: Sequence[str], ended: Sequence[str]
) -> list[str]:
    """The lines of a kernel's body, for blocks of `block` threads.

    decoded: what follows from the number of an `item`. ended: what becomes of the value of its
    slice `part`. The kernel knows `count`, the items; `length`, the elements of each; and `slices`
    of `chunk` elements, into which these are cut.
    """
    is_first = ["lane == 0"] * (group.threads > 1) + ["piece < pieces"] * group.goes_on
    body = [
        *_own_elements(fold, group),
        *across_group(fold, group, block),
        f"if {' and '.join(is_first) or 'True'}:",
        *indented(ended),
    ]
    return [*shared_arrays(fold, group, block), *over_slices(group, [*decoded, *body])]


def over_slices(group: Group, body: Sequence[str]) -> list[str]:
    """The lines of a loop over the slices that a thread's group owns.

    body: of the slice `part` of `item`, its elements `begin` to `stop`, where the thread is `lane`
    of its group.
    """
    return [
        "pieces = I(count * slices)",
        *_pieces(group),
        f"while {'I(piece - before)' if group.goes_on else 'piece'} < pieces:",
        f"    own = {'I(min(piece, I(pieces - 1)))' if group.goes_on else 'piece'}",
        *indented(_slice_of_piece(group)),
        "    begin = I(part * chunk)",
        "    stop = I(min(I(begin + chunk), length))",
        *indented(body),
        "    piece = I(piece + step)",
    ]


def _pieces(group: Group) -> list[str]:
    """The first slice of a thread's group, how far the next is, and the thread's number in it."""
    if group.is_of_columns:
        return [
            f"lane = I(cuda.threadIdx.x // {WARP})",
            f"before = I(cuda.threadIdx.x % {WARP})",
            f"piece = I(cuda.blockIdx.x * {WARP} + before)",
            f"step = I(cuda.gridDim.x * {WARP})",
        ]
    shift = group.threads.bit_length() - 1
    return [
        f"lane = I(cuda.threadIdx.x & {group.threads - 1})",
        f"before = I(cuda.threadIdx.x % {WARP} // {group.threads})",
        f"piece = I(I(cuda.grid(1)) >> I({shift}))",
        f"step = I(I(cuda.gridsize(1)) >> I({shift}))",
    ]


def _slice_of_piece(group: Group) -> list[str]:
    """Neighbouring groups own slices of one item, or of neighbouring columns."""
    if group.is_of_columns:
        return ["part = I(U(own) // U(count))", "item = I(own - part * count)"]
    return ["item = I(U(own) // U(slices))", "part = I(own - item * slices)"]


def _own_elements(fold: Fold, group: Group) -> list[str]:
    """Each thread folds its elements, those at the distance of the group."""
    ahead, together = [], []
    for u in range(AT_ONCE):
        ahead += [f"j = I(i + {u * group.threads})", *_read(fold, f"e{u}_", "j")]
        together += _put(fold, f"e{u}_")
    return [
        *_started(fold, group),
        f"while I(i + {(AT_ONCE - 1) * group.threads}) < stop:",
        *indented([*ahead, *together, f"i = I(i + {AT_ONCE * group.threads})"]),
        "while i < stop:",
        *indented([*_read(fold, "e0_", "i"), *_put(fold, "e0_"), f"i = I(i + {group.threads})"]),
    ]


def _started(fold: Fold, group: Group) -> list[str]:
    """What a thread begins with, and at which element."""
    if fold.start is not None:
        starts = enumerate(zip(fold.parts, fold.start, strict=True))
        return [
            *(f"acc{n} = {part.cast}({start})" for n, (part, start) in starts),
            "i = I(begin + lane)",
        ]
    return [
        f"valid = I(min(I(stop - begin), {group.threads}))",
        "i = I(begin + min(lane, I(valid - 1)))",
        *assigned(fold.parts, "acc", fold.element("i")),
        f"i = I(begin + lane + {group.threads})",
    ]


def _read(fold: Fold, name: str, index: str) -> list[str]:
    """An element, in variables."""
    if fold.put is not None:
        return [f"{name} = {fold.element(index)}"]
    return assigned(fold.parts, name, fold.element(index))


def _put(fold: Fold, name: str) -> list[str]:
    """That element behind the thread's value."""
    if fold.put is not None:
        return assigned(fold.parts, "acc", fold.put(numbered(fold.parts, "acc"), name))
    return _joined(fold, numbered(fold.parts, name))


# -- together -------------------------------------------------------------------------------------


def across_group(fold: Fold, group: Group, block: int) -> list[str]:
    """All threads of a group, or the first of a column, get what the group's have together."""
    if group.is_of_columns:
        return _across_rows(fold, group.threads)
    if group.threads <= WARP:
        return _across_lanes(fold, group.threads, "lane", "valid")
    own = f"I(lane % {WARP})"
    lanes = _across_lanes(fold, WARP, own, f"I(valid - I(lane - {own}))")
    return [*lanes, *_across_warps(fold, block // WARP)]


def _across_lanes(fold: Fold, count: int, lane: str, valid: str) -> list[str]:
    """Neighbouring lanes, which all exchange even if only the first `valid` have a value."""
    if count == 1:
        return []
    pairs = enumerate(fold.parts)
    exchange = [f"other{n} = {part.exchanged.format(f'acc{n}', 'bits')}" for n, part in pairs]
    join = _joined(fold, numbered(fold.parts, "other"))
    if fold.start is None:
        join = [f"if ({lane} ^ bits) < {valid}:", *indented(join)]
    bits = ", ".join(str(1 << bit) for bit in range(count.bit_length() - 2, -1, -1))
    return [f"for bits in ({bits},):", *indented([*exchange, *join])]


def _across_warps(fold: Fold, warps: int) -> list[str]:
    """The warps of a block, by each thread for itself."""
    count = f"(valid + {WARP - 1}) // {WARP}" if fold.start is None else str(warps)
    return [
        f"if lane % {WARP} == 0:",
        *indented(_to_shared(fold, f"lane // {WARP}")),
        "cuda.syncthreads()",
        *assigned(fold.parts, "acc", _from_shared(fold, "0")),
        f"for warp in range(1, {count}):",
        *indented(_joined(fold, _from_shared(fold, "warp"))),
        "cuda.syncthreads()",
    ]


def _across_rows(fold: Fold, rows: int) -> list[str]:
    """The rows of a block's threads, by the first."""
    return [
        *_to_shared(fold, f"lane * {WARP} + before"),
        "cuda.syncthreads()",
        "if lane == 0:",
        f"    for row in range(1, {'valid' if fold.start is None else rows}):",
        *indented(_joined(fold, _from_shared(fold, f"row * {WARP} + before")), 2),
        "cuda.syncthreads()",
    ]


def shared_arrays(fold: Fold, group: Group, block: int) -> list[str]:
    """What a group tells each other by: a value of each thread of a column, or of each warp."""
    if not group.is_of_block:
        return []
    cells = block if group.is_of_columns else block // WARP
    arrays = enumerate(fold.parts)
    return [f"shared{n} = cuda.shared.array({cells}, {part.stored})" for n, part in arrays]


def _to_shared(fold: Fold, at: str) -> list[str]:
    return [f"shared{n}[{at}] = {part.stored}(acc{n})" for n, part in enumerate(fold.parts)]


def _from_shared(fold: Fold, at: str) -> str:
    parts = enumerate(fold.parts)
    return ", ".join(f"{part.cast}(shared{n}[{at}])" for n, part in parts)


def _joined(fold: Fold, other: str) -> list[str]:
    """The value and one behind it."""
    return assigned(fold.parts, "acc", fold.joined(numbered(fold.parts, "acc"), other))


# -- lines ----------------------------------------------------------------------------------------


def numbered(parts: Sequence[Part], name: str) -> str:
    """The variables of a value, one for each part."""
    return ", ".join(f"{name}{n}" for n in range(len(parts)))


def assigned(parts: Sequence[Part], name: str, value: str) -> list[str]:
    """The variables of a value, each of its own type."""
    if len(parts) == 1:
        return [f"{name}0 = {parts[0].cast}({value})"]
    casts = ", ".join(f"{part.cast}(w{n})" for n, part in enumerate(parts))
    return [f"{numbered(parts, 'w')} = {value}", f"{numbered(parts, name)} = {casts}"]


def indented(lines: Sequence[str], by: int = 1) -> list[str]:
    """Lines of a block of a text."""
    return ["    " * by + line for line in lines]
