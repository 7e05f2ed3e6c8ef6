"""The text of a scan whose rows are shared: by a warp, by a block, or in slices by many of them.

A group of threads goes along its slice some elements at a time; each warp scans its own by
shuffles, the warps tell each other by shared memory what theirs come to, and all carry the total
on. Where rows are few and long, a first kernel makes the totals of all slices, with which the
second begins; where rows are columns, beside each other in memory, a thread folds a slice of one.
The order of operations depends on sizes alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.kernels.common.index import Scan
from torchgen_out._runtime.kernels.cuda.rows import WARP, WARPS

AT_ONCE = 4
"""Elements that a thread reads before it waits for the first."""

CASTS = {"number": "T", "int": "np.int64"}


def shared_rows(
    scan: Scan,
    group: int,
    makes_totals: bool,
    is_cut: bool,
    is_of_columns: bool,
    decoded: Sequence[str],
    called: Sequence[str],
    given: Sequence[str],
) -> list[str]:
    """The lines of a kernel's body: a group of threads owns a slice of a row.

    is_of_columns: whether neighbouring groups own slices of neighbouring rows, not of one.
    decoded: what makes indices of an item. called, given: what a step takes before and behind its
    own index. The kernel knows `count`, the items, `length` of a row, `slices` and `chunk`, and
    the arrays `total0`, `total1` ... if rows are cut.
    """
    rows = _Folds if scan.folds else _Rows
    return rows(scan, group, makes_totals, is_cut, is_of_columns, called, given).lines(decoded)


class _Rows:
    def __init__(
        self,
        scan: Scan,
        group: int,
        makes_totals: bool,
        is_cut: bool,
        is_of_columns: bool,
        called: Sequence[str],
        given: Sequence[str],
    ) -> None:
        self.scan, self.group = scan, group
        self.makes_totals, self.is_cut, self.is_of_columns = makes_totals, is_cut, is_of_columns
        self.called, self.given = called, given
        self.casts = [CASTS[each] for each in scan.types]

    def lines(self, decoded: Sequence[str]) -> list[str]:
        """The whole loop over slices."""
        shared = [
            f"shared{n} = cuda.shared.array({AT_ONCE * WARPS}, {cast})"
            for n, cast in enumerate(self.casts)
            if self.group > WARP
        ]
        return [
            f"lane = I(cuda.threadIdx.x & {self.group - 1})",
            *shared,
            f"piece = I(I(cuda.grid(1)) >> I({self.group.bit_length() - 1}))",
            f"step = I(I(cuda.gridsize(1)) >> I({self.group.bit_length() - 1}))",
            "while piece < count * slices:",
            *_indented(
                [
                    *self.slice_of_piece(),
                    *decoded,
                    "begin = I(part * chunk)",
                    "stop = I(min(I(begin + chunk), length))",
                    *self.carried_in(),
                    "while begin < stop:",
                    *_indented(self.tile()),
                    "piece = I(piece + step)",
                ]
            ),
        ]

    def slice_of_piece(self) -> list[str]:
        """Which slice of which item a group owns."""
        if self.is_of_columns:
            return ["part = quotient(piece, count)", "item = I(piece - part * count)"]
        return ["item = quotient(piece, slices)", "part = I(piece - item * slices)"]

    def parts(self, name: str, at: str = "") -> str:
        """Variables of all parts, one after the other."""
        return ", ".join(f"{name}{n}{at}" for n in range(len(self.casts)))

    def put(self, name: str, value: str) -> list[str]:
        """Assign all parts of a value, each of its own type."""
        casts = ", ".join(f"{cast}(w{n})" for n, cast in enumerate(self.casts))
        return [f"{self.parts('w')} = {value}", f"{self.parts(name)} = {casts}"]

    def joined(self, one: str, other: str) -> str:
        """What two neighbours come to."""
        return f"{self.scan.joined.__name__}({one}, {other})"

    def carried_in(self) -> list[str]:
        """What stands before a slice."""
        pairs = enumerate(zip(self.casts, self.scan.starts, strict=True))
        starts = [f"carry{n} = {cast}({start})" for n, (cast, start) in pairs]
        if self.makes_totals:
            return [*starts, "has = False"]
        if not self.is_cut:
            return starts
        before = self.parts("total", "[item * slices + before]")
        join = self.put("carry", self.joined(self.parts("carry"), before))
        return [*starts, "for before in range(part):", *_indented(join)]

    def tile(self) -> list[str]:
        """So many elements of a slice."""
        numbers = range(AT_ONCE)
        lines = ["# 1. Each warp scans its lanes: all are read before the first is waited for."]
        for u in numbers:
            lines += [
                f"position{u} = I(begin + lane + {u * self.group})",
                f"at = I(min(position{u}, I(stop - 1)))",
                f"j{u} = {'I(length - 1 - at)' if self.scan.is_reversed else 'at'}",
                *self.put(f"v{u}_", self.called_step(f"j{u}", True, self.empty())),
            ]
        for u in numbers:
            lines += self.scanned(f"v{u}_")
        if self.group > WARP:
            lines += ["# 2. The warps tell each other what they make."]
            last = [f"shared{n}[{u * WARPS} + lane // {WARP}] = v{u}_{n}"
                    for u in numbers for n in range(len(self.casts))]  # fmt: skip
            lines += [f"if lane % {WARP} == {WARP - 1}:", *_indented(last), "cuda.syncthreads()"]
        for u in numbers:
            lines += self.carried(f"v{u}_", u)
        lines += ["cuda.syncthreads()"] if self.group > WARP else []
        lines += ["# 3. The results."]
        for u in numbers:
            lines += self.result(f"v{u}_", u)
        return [*lines, f"begin = I(begin + {AT_ONCE * self.group})"]

    def empty(self) -> str:
        return ", ".join(f"{cast}(0)" for cast in self.casts)

    def called_step(self, index: str, reads: bool, values: str) -> str:
        """A call of the function of one step."""
        arguments = [*self.called, index, str(reads), values, *self.given]
        return f"{self.scan.launch.function.__name__}({', '.join(arguments)})"

    def scanned(self, name: str) -> list[str]:
        """A warp's scan of one value of each lane."""
        lines = []
        for delta in (1, 2, 4, 8, 16):
            for n, cast in enumerate(self.casts):
                shuffled = f"shuffled_up({name}{n}, {delta})"
                if cast != "T":
                    shuffled = f"{cast}(cuda.shfl_up_sync(0xFFFFFFFF, {name}{n}, {delta}))"
                lines.append(f"before{n} = {shuffled}")
            lines.append(f"if lane % {WARP} >= {delta}:")
            joined = self.joined(self.parts("before"), self.parts(name))
            lines += _indented(self.put(name, joined))
        return lines

    def carried(self, name: str, number: int) -> list[str]:
        """What stands before a value is put before it; the total is carried on."""
        if self.group == WARP:
            last = []
            for n, cast in enumerate(self.casts):
                shuffled = f"shuffled_from({name}{n}, {WARP - 1})"
                if cast != "T":
                    shuffled = f"{cast}(cuda.shfl_sync(0xFFFFFFFF, {name}{n}, {WARP - 1}))"
                last.append(f"carry{n} = {shuffled}")
            return [*self.put_before(name, "carry", "has"), *last, *self.now_has()]
        other = self.parts("shared", f"[{number * WARPS} + warp]")
        join = self.put("carry", self.joined(self.parts("carry"), other))
        if self.makes_totals:
            first = f"{self.parts('carry')} = {other}"
            join = ["if has:", *_indented(join), "else:", f"    {first}", *self.now_has()]
        own = [f"{self.parts('own')} = {self.parts('carry')}"]
        own += ["own_has = has"] if self.makes_totals else []
        return [
            *own,
            f"for warp in range({WARPS}):",
            f"    if warp == lane // {WARP}:",
            *_indented(own, 2),
            *_indented(join),
            *self.put_before(name, "own", "own_has"),
        ]

    def put_before(self, name: str, before: str, has: str) -> list[str]:
        """One total before one value."""
        lines = self.put(name, self.joined(self.parts(before), self.parts(name)))
        return [f"if {has}:", *_indented(lines)] if self.makes_totals else lines

    def now_has(self) -> list[str]:
        return ["has = True"] if self.makes_totals else []

    def result(self, name: str, number: int) -> list[str]:
        """What becomes of a value: it is stored, or the slice's last is its total."""
        if self.makes_totals:
            totals = [f"total{n}[piece] = {name}{n}" for n in range(len(self.casts))]
            return [f"if position{number} == stop - 1:", *_indented(totals)]
        call = self.called_step(f"j{number}", False, self.parts(name))
        return [f"if position{number} < stop:", f"    {call}"]


class _Folds(_Rows):
    """The same of folds: each thread puts its own elements together, then the group its threads."""

    def carried_in(self) -> list[str]:
        pairs = enumerate(zip(self.casts, self.scan.starts, strict=True))
        return [*(f"carry{n} = {cast}({start})" for n, (cast, start) in pairs), *self.elements()]

    def elements(self) -> list[str]:
        """All elements of the slice: those of the row, or the totals of its slices."""
        value = self.called_step("j", True, self.empty())
        if self.is_cut and not self.makes_totals:
            at = "[j * count + item]" if self.is_of_columns else "[item * length + j]"
            value = self.parts("total", at)
        return [
            "j = I(begin + lane)",
            "while j < stop:",
            *_indented(self.put("v", value)),
            *_indented(self.put("carry", self.joined(self.parts("carry"), self.parts("v")))),
            f"    j = I(j + {self.group})",
            *(self.across_warp() if self.group > 1 else []),
            *(self.across_block() if self.group > WARP else []),
            "if lane == 0:",
            *_indented(self.ended()),
            "begin = stop",
        ]

    def across_warp(self) -> list[str]:
        lines = []
        for bits in (16, 8, 4, 2, 1):
            for n, cast in enumerate(self.casts):
                shuffled = f"shuffled_across(carry{n}, {bits})"
                if cast != "T":
                    shuffled = f"{cast}(cuda.shfl_xor_sync(0xFFFFFFFF, carry{n}, {bits}))"
                lines.append(f"v{n} = {shuffled}")
            lines += self.put("carry", self.joined(self.parts("carry"), self.parts("v")))
        return lines

    def across_block(self) -> list[str]:
        numbers = range(len(self.casts))
        first = [f"shared{n}[lane // {WARP}] = carry{n}" for n in numbers]
        join = self.put("carry", self.joined(self.parts("carry"), self.parts("shared", "[warp]")))
        return [
            f"if lane % {WARP} == 0:",
            *_indented(first),
            "cuda.syncthreads()",
            f"{self.parts('carry')} = {self.parts('shared', '[0]')}",
            f"for warp in range(1, {WARPS}):",
            *_indented(join),
            "cuda.syncthreads()",
        ]

    def ended(self) -> list[str]:
        """What becomes of the slice's value."""
        if self.makes_totals:
            return [f"total{n}[piece] = carry{n}" for n in range(len(self.casts))]
        return [self.called_step("I(0)", False, self.parts("carry"))]

    def tile(self) -> list[str]:
        return ["begin = stop"]


def _indented(lines: Sequence[str], by: int = 1) -> list[str]:
    return ["    " * by + line for line in lines]
