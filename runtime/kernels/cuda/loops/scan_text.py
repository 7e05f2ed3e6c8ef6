"""The text of a scan whose rows are shared: by a warp, by a block, or in slices by many of them.

A group of threads goes along its slice some elements at a time; each warp scans its own by
shuffles, the warps tell each other by shared memory what theirs come to, and all carry the total
on. Where rows are few and long, a first kernel makes the totals of all slices, with which the
second begins. Where the order of elements is nothing to a fold, `fold_text` says how it is shared.
The order of operations depends on sizes alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torchgen_out._runtime.kernels.common.index import Scan
from torchgen_out._runtime.kernels.cuda.compiling.typed import SHUFFLES
from torchgen_out._runtime.kernels.cuda.loops.fold_text import (
    AT_ONCE,
    Fold,
    Part,
    assigned,
    folded,
    indented,
    numbered,
    over_slices,
)
from torchgen_out._runtime.kernels.cuda.rows import THREADS, WARP, WARPS, Group

CASTS = {"number": "T", "int": "np.int64"}


class Rows(NamedTuple):
    """What is folded or scanned along rows, and which threads own a row or a slice of one.

    makes_totals: whether slices' totals are all that is made. is_cut: whether rows are cut into
    slices. called, given: what a step takes before and behind its own index.
    """

    scan: Scan
    group: Group
    makes_totals: bool
    is_cut: bool
    called: Sequence[str]
    given: Sequence[str]

    def lines(self, decoded: Sequence[str]) -> list[str]:
        """The lines of a kernel's body.

        decoded: what makes indices of an `item`. The kernel knows `count`, the items, `length` of a
        row, `slices` and `chunk`, and the arrays `total0`, `total1` ... if rows are cut.
        """
        return self._folded(decoded) if self.scan.folds else _Scanned(self).lines(decoded)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is carried on."""
        return tuple([Part.of(CASTS[each]) for each in self.scan.types])

    def step(self, index: str, value: str | None = None) -> str:
        """A call of the function of one step, which reads, or does with a value what follows."""
        nothing = ", ".join(f"{part.cast}(0)" for part in self.parts)
        arguments = [*self.called, index, str(value is None), value or nothing, *self.given]
        return f"{self.scan.launch.function.__name__}({', '.join(arguments)})"

    def joined(self, one: str, other: str) -> str:
        """What two neighbours come to."""
        return f"{self.scan.joined.__name__}({one}, {other})"

    def _folded(self, decoded: Sequence[str]) -> list[str]:
        """Elements in any order: those of rows, or their slices' totals."""
        totals = range(len(self.parts))
        ended = [self.step("I(0)", numbered(self.parts, "acc"))]
        fold = Fold(self.parts, self.joined, self.scan.starts, self.step)
        if self.makes_totals:
            ended = [f"total{n}[I(item * slices + part)] = acc{n}" for n in totals]
        elif self.is_cut:
            read = ", ".join(f"total{n}[I(item * length + {{0}})]" for n in totals)
            fold = fold._replace(element=read.format)
        return folded(fold, self.group, THREADS, decoded, ended)


class _Scanned:
    """The same of a scan, whose elements are joined in their order."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.scan, self.parts = rows.scan, rows.parts
        self.group = rows.group.threads
        self.makes_totals, self.is_cut = rows.makes_totals, rows.is_cut
        self.numbers = range(len(self.parts))

    def lines(self, decoded: Sequence[str]) -> list[str]:
        """The whole loop over slices."""
        cells = AT_ONCE * WARPS
        shared = [
            f"shared{n} = cuda.shared.array({cells}, {self.parts[n].cast})"
            for n in self.numbers
            if self.group > WARP
        ]
        body = [*decoded, *self.carried_in(), "while begin < stop:", *indented(self.tile())]
        return [*shared, *over_slices(self.rows.group, body)]

    def put(self, name: str, one: str, other: str) -> list[str]:
        """Assign what two neighbours come to."""
        return assigned(self.parts, name, self.rows.joined(one, other))

    def named(self, name: str, at: str = "") -> str:
        """Variables of all parts, or elements of arrays."""
        return ", ".join(f"{name}{n}{at}" for n in self.numbers)

    def carried_in(self) -> list[str]:
        """What stands before a slice."""
        pairs = enumerate(zip(self.parts, self.scan.starts, strict=True))
        starts = [f"carry{n} = {part.cast}({start})" for n, (part, start) in pairs]
        if self.makes_totals:
            return [*starts, "has = False"]
        if not self.is_cut:
            return starts
        join = self.put("carry", self.named("carry"), self.named("total", "[item * slices + k]"))
        return [*starts, "for k in range(part):", *indented(join)]

    def tile(self) -> list[str]:
        """So many elements of a slice."""
        numbers = range(AT_ONCE)
        lines = ["# 1. Each warp scans its lanes: all are read before the first is waited for."]
        for u in numbers:
            lines += [
                f"position{u} = I(begin + lane + {u * self.group})",
                f"at = I(min(position{u}, I(stop - 1)))",
                f"j{u} = {'I(length - 1 - at)' if self.scan.is_reversed else 'at'}",
                *assigned(self.parts, f"v{u}_", self.rows.step(f"j{u}")),
            ]
        for u in numbers:
            lines += self.scanned(f"v{u}_")
        if self.group > WARP:
            lines += ["# 2. The warps tell each other what they make."]
            last = [f"shared{n}[{u * WARPS} + lane // {WARP}] = v{u}_{n}"
                    for u in numbers for n in self.numbers]  # fmt: skip
            lines += [f"if lane % {WARP} == {WARP - 1}:", *indented(last), "cuda.syncthreads()"]
        for u in numbers:
            lines += self.carried(f"v{u}_", u)
        lines += ["cuda.syncthreads()"] if self.group > WARP else []
        lines += ["# 3. The results."]
        for u in numbers:
            lines += self.result(f"v{u}_", u)
        return [*lines, f"begin = I(begin + {AT_ONCE * self.group})"]

    def scanned(self, name: str) -> list[str]:
        """A warp's scan of one value of each lane."""
        return [
            "for delta in (1, 2, 4, 8, 16):",
            *indented(self.shuffled("before", name, "shuffled_up", "delta")),
            f"    if lane % {WARP} >= delta:",
            *indented(self.put(name, self.named("before"), self.named(name)), 2),
        ]

    def shuffled(self, name: str, value: str, way: str, by: str) -> list[str]:
        """The value of another lane, in variables."""
        lines = []
        for n, part in enumerate(self.parts):
            own = f"{way}({value}{n}, {by})"
            if part.cast != "T":
                own = f"{part.cast}(cuda.{SHUFFLES[way]}(0xFFFFFFFF, {value}{n}, {by}))"
            lines.append(f"{name}{n} = {own}")
        return lines

    def carried(self, name: str, number: int) -> list[str]:
        """What stands before a value is put before it; the total is carried on."""
        if self.group == WARP:
            last = self.shuffled("carry", name, "shuffled_from", str(WARP - 1))
            return [*self.put_before(name, "carry", "has"), *last, *self.now_has()]
        other = self.named("shared", f"[{number * WARPS} + warp]")
        join = self.put("carry", self.named("carry"), other)
        if self.makes_totals:
            first = f"{self.named('carry')} = {other}"
            join = ["if has:", *indented(join), "else:", f"    {first}", *self.now_has()]
        own = [f"{self.named('own')} = {self.named('carry')}"]
        own += ["own_has = has"] if self.makes_totals else []
        return [
            *own,
            f"for warp in range({WARPS}):",
            f"    if warp == lane // {WARP}:",
            *indented(own, 2),
            *indented(join),
            *self.put_before(name, "own", "own_has"),
        ]

    def put_before(self, name: str, before: str, has: str) -> list[str]:
        """One total before one value."""
        lines = self.put(name, self.named(before), self.named(name))
        return [f"if {has}:", *indented(lines)] if self.makes_totals else lines

    def now_has(self) -> list[str]:
        return ["has = True"] if self.makes_totals else []

    def result(self, name: str, number: int) -> list[str]:
        """What becomes of a value: it is stored, or the slice's last is its total."""
        if self.makes_totals:
            totals = [f"total{n}[piece] = {name}{n}" for n in self.numbers]
            return [f"if position{number} == stop - 1:", *indented(totals)]
        call = self.rows.step(f"j{number}", self.named(name))
        return [f"if position{number} < stop:", f"    {call}"]
