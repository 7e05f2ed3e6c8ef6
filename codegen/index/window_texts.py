"""Prints launches over windows: rows of neighbours whose folds are written out.

A row is cut: where all that a window reads is there, nothing is asked; what hangs over an edge is
computed one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..model import place as places
from ..model.index import Statement, Test
from ..model.loops import LoopProgram, Nest, Phase, Window
from ..model.place import Index, Parameter, Place
from .argument_texts import order_of
from .folds import is_argument, tells_where
from .python import HostWriter, NestWriter
from .writer import WindowText, python_name


def window_text(
    loops: LoopProgram, phase: Phase, name: str, exact: Collection[str], has_mask: bool
) -> WindowText | None:
    """The launch of a phase over windows, if it is one."""
    window = phase.window
    if window is None:
        return None
    own = replace(phase, items=window.items, numbers=window.numbers, rows=(), nests=window.nests)
    writer = WindowWriter(loops, own, name, exact, has_mask, window)
    launch = replace(writer.launch(), phase=replace(phase, items=window.items[:-1]))
    return WindowText(launch, window.folded, tuple(writer.literals()))


class WindowWriter(HostWriter):
    """One launch: for each row, what is inside, and what is not."""

    def __init__(
        self,
        loops: LoopProgram,
        phase: Phase,
        name: str,
        exact: Collection[str],
        has_mask: bool,
        window: Window,
    ) -> None:
        super().__init__(loops, phase, name, exact, has_mask)
        self.window = window

    @property
    def counted(self) -> tuple[str, ...]:
        """The indices that tell a row."""
        return self.phase.items[:-1]

    def literals(self) -> list[str]:
        """What is compiled for: the extents of windows, and how far apart they are."""
        found = [name for name in self.window.folded if name in self.extents]
        steps = {
            atom
            for nest in self.phase.nests
            for each in nest.statements
            for place in each.all_places
            for name in (self.window.index, *self.window.folded)
            for atom in place.coefficient(name).atoms
            if isinstance(atom, Parameter)
        }
        names = {self.whole(step) for step in steps}
        found += [name for name in self.extents if f"n_{name}" in names and name not in found]
        return [*found, *(str(place) for place, name in self.integers.items() if name in names)]

    def body(self) -> None:
        name, extent = python_name(self.window.index), self.extent(self.window.index)
        tests = self.window.certain
        if not tests:
            self.items()
            self.limit_rows()
            self.each(f"for {name} in range({extent}):", self.window.inside)
            self.finish()
            return
        cuts = [test for test in tests if self.slope(test) != Place()]
        self.put(f"first, final = 0, {extent}")
        self.cut([test for test in cuts if not self.depends(test)], "first", "final")
        self.items()
        self.put("begin, end = first, final")
        self.cut([test for test in cuts if self.depends(test)], "begin", "end")
        self.put(f"begin = lesser(begin, {extent})")
        rows = [f"({self.place(self.worst(t))} >= 0)" for t in tests if t not in cuts]
        whole = "greater(begin, end)"
        if rows:
            self.put(f"is_whole = {' & '.join(rows)}")
            self.put(f"end = {whole} if is_whole else begin")
        else:
            self.put(f"end = {whole}")
        self.each(f"for {name} in range(begin, end):", self.window.inside, tests)
        line = f"for edge in range({extent} - end + begin):"
        self.each(
            line, self.window.nests, (), f"{name} = edge if edge < begin else edge + end - begin"
        )
        self.finish()

    def each(
        self, loop: str, nests: Sequence[Nest], certain: tuple[Test, ...] = (), first: str = ""
    ) -> None:
        """A loop over windows. first: what stands at its beginning."""
        self.indent(loop)
        if first:
            self.put(first)
        limits = self.limits
        self.limits = dict(limits)
        for nest in nests:
            writer = WindowNestWriter(self, nest)
            writer.certain = certain
            writer.write()
        self.limits = limits
        self.depth -= 1

    def limit_rows(self) -> None:
        """Keep what all windows of a row have in common."""
        self.limits = {}
        for nest in self.window.inside:
            WindowNestWriter(self, nest).limit({self.window.index})

    def finish(self) -> None:
        """End the loop over rows."""
        if len(self.counters) > 1:
            self.next_item()
        self.depth = 1

    # Cuts

    def slope(self, test: Test) -> Place:
        """By how much a test's number changes with each step along a row."""
        return test.place.coefficient(self.window.index)

    def worst(self, test: Test) -> Place:
        """A test's number at the beginning of a row, the least of a window's."""
        place, zero = test.place, Place()
        for name in place.indices:
            if name in self.window.folded:
                factor = place.coefficient(name)
                most = factor * (self.program.extent[name] - places.number(1))
                place = place.substitute({Index(name): zero})
                is_positive = (factor.constant or 0) > 0
                place = place + (zero if is_positive else places.apply("least", zero, most))
        return place.substitute({Index(self.window.index): zero})

    def depends(self, test: Test) -> bool:
        """Whether rows differ in where a test holds."""
        return any(name in self.counted for name in test.place.indices)

    def cut(self, tests: Sequence[Test], begin: str, end: str) -> None:
        """Leave of a row the part where tests hold."""
        for test in tests:
            slope, rest = self.slope(test), self.worst(test)
            given = f"({self.place(slope)}, {self.place(rest)})"
            if (slope.constant or 1) > 0:
                self.put(f"{begin} = greater({begin}, first_inside{given})")
            if (slope.constant or -1) < 0:
                self.put(f"{end} = lesser({end}, end_inside{given})")


class WindowNestWriter(NestWriter):
    """One nest within a window: totals are numbers, and elements are put together in order."""

    def is_cut(self) -> bool:
        """Whether windows have any length."""
        assert isinstance(self.writer, WindowWriter)
        return self.writer.window.is_cut

    def is_ordered(self, statement: Statement) -> bool:
        """Whether a fold compares keys: neighbours compare numbers side by side."""
        return False

    def twin(self, statement: Statement) -> Statement | None:
        """The statement that says where the same extreme is, and so what it is."""
        return next((each for each in self.nest.statements if tells_where(each, statement)), None)

    def has_keys(self, statement: Statement) -> bool:
        """Whether numbers are compared as keys: each element waits for the one before it, and whole
        numbers are chosen from in a third of the time."""
        told = statement.fold is not None and statement.fold.told is not None
        return self.is_cut() and is_argument(statement) and told and not self.notes_seen(statement)

    def begin_argument(self, statement: Statement, total: str) -> None:
        """What is known before the first element, its key too."""
        super().begin_argument(statement, total)
        if self.has_keys(statement):
            key, end = order_of(statement)
            self.put(f"{total}_key = {key}({end})")

    def accumulate(self, statement: Statement, total: str, value: str) -> None:
        """Put an element to what a fold has; of arguments the last NaN is told."""
        if not self.has_keys(statement):
            super().accumulate(statement, total, value)
            return
        names = ("candidate", "candidate_key", "beats")
        variable, own, better = map(self.writer.fresh, names)
        self.put(f"{variable} = {value}")
        self.put(f"{own} = {order_of(statement)[0]}({variable})")
        self.put(f"{better} = ({own} > {total}_key) | ({variable} != {variable})")
        position = self.fold_position(statement)
        for kept, new in ((f"{total}_key", own), (total, variable), (f"{total}_at", position)):
            self.put(f"{kept} = {new} if {better} else {kept}")

    def sums_in_runs(self) -> bool:
        """Whether sums are made of runs: there are few elements, unless windows may be long."""
        return self.is_cut() and super().sums_in_runs()

    def reorders(self) -> bool:
        """Whether the order of a sum is left open: it is that of its neighbours."""
        return False
