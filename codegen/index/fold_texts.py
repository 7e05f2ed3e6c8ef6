"""Prints folds: into a number, into a block along an index of the result, or scattered."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..model import place as places
from ..model.index import (
    ALL,
    ANY,
    ARGMAX,
    ARGMIN,
    LAST,
    MAX,
    MIN,
    NAMED,
    PROD,
    SUM,
    Statement,
    gives_part,
)
from ..model.loops import Loop
from ..model.place import Atom, Index, Place, Size
from .folds import is_argument
from .loop_texts import LoopWriter
from .writer import python_name

JAMMED = 4
"""Elements of a fold that are put to a block along the innermost index at a time."""


class FoldWriter(LoopWriter):
    """One nest whose values are put together."""

    def scalar_fold(self) -> None:
        """Accumulators are numbers; the innermost loop is one of the fold's."""
        writer = self.writer
        start = writer.depth
        self.limit()
        if self.count_all():
            return
        folds = self.nest.folds
        totals = [writer.fresh(f"{s.target}_total") for s in folds]
        for statement, total in zip(folds, totals, strict=True):
            if self.twin(statement) is not None:
                continue
            self.put(f"{total} = {self.first_total(statement)}")
            if is_argument(statement):
                self.begin_argument(statement, total)
        runs = {s.target: t for s, t in zip(folds, totals, strict=True)}
        if self.sums_in_runs():
            runs = self.run_loops(runs)
        else:
            self.fold_loops()
        self.guarded()
        self.each_item(lambda each, value: self.accumulate(each, runs[each.target], value))
        for statement, total in zip(folds, totals, strict=True):
            if runs[statement.target] != total:
                writer.depth = self.run_depth
                self.put(f"{total} = plus({total}, WIDE({runs[statement.target]}))")
        writer.depth = start
        for statement, total in zip(folds, totals, strict=True):
            self.join(statement, total)
            twin = self.twin(statement)
            found = total if twin is None else totals[folds.index(twin)]
            self.store(statement, self.result(statement, found))
        writer.over_batch = {}

    def each_item(self, accumulate: Callable[[Statement, str], None]) -> None:
        """All that is done for one item of the folds: elements are stored after all is read."""
        stores = []
        for statement in self.nest.statements:
            if statement.fold is None:
                stores.append((statement, self.made_element(statement)))
            elif self.twin(statement) is None:
                accumulate(statement, self.value(statement))
        for statement, variable in stores:
            self.store(statement, variable)

    def count_all(self) -> bool:
        """Sums of what no index of theirs changes: it is multiplied by how many values these have.

        Says whether nothing else is folded.
        """
        nest = self.nest
        counted = [each for each in nest.statements if self.is_counted(each)]
        if counted:
            sides = [self.length(loop) for loop in nest.inner]
        for statement in counted:
            count, each = f"T({' * '.join(sides)})", self.value(statement)
            self.store(statement, count if each == "T(1)" else f"{count} * {each}")
        rest = tuple(each for each in nest.statements if each not in counted)
        self.nest = replace(nest, statements=rest)
        return not rest

    def is_counted(self, statement: Statement) -> bool:
        """Whether a sum has as many equal terms as its loops have steps."""
        nest = self.nest
        names = {loop.index for loop in nest.inner}
        bounds = [place for loop in nest.inner for place in (*loop.lower, *loop.upper)]
        reads = [read.source for read in statement.reads]
        return (
            _is_sum(statement)
            and statement.fold is not None
            and statement.fold.start is None
            and bool(names)
            and not (nest.guards or nest.over_batch or reads)
            and not any(names & set(place.indices) for place in bounds)
        )

    def length(self, loop: Loop) -> str:
        """How many steps a loop has."""
        first, last = self.bounds(loop, "0", "")
        return last if first == "0" and not loop.upper else f"greater({last} - {first}, 0)"

    def first_total(self, statement: Statement) -> str:
        """What a fold has before its first element."""
        if self.is_ordered(statement):
            return f"ordered({self.ends('T(-inf)')})"
        return "WIDE(0)" if self.is_wide(statement) else self.beginning(statement)

    def beginning(self, statement: Statement) -> str:
        """What an element is before the first that is put to it."""
        start = statement.fold.start if statement.fold else None
        return self.ends(identity(statement)) if start is None else self.load(start)

    def ends(self, value: str) -> str:
        """An infinity as what whole numbers have for it, too, where these are only compared."""
        ends = {"T(-inf)": "LOWEST", "T(inf)": "HIGHEST"}
        return ends.get(value, value) if self.writer.program.serves_integers else value

    def result(self, statement: Statement, total: str) -> str:
        """What a fold has come to, as an element."""
        if self.is_ordered(statement):
            self.put(f"{total}_value = {_signed(statement, f'unordered({total})')}")
            return f"{total}_value"
        if self.is_wide(statement):
            return f"T({total})"
        if not is_argument(statement):
            return total
        assert statement.fold is not None
        if statement.fold.told is not None:
            common = self.common(statement)
            rest = f"{self.writer.place(common)} + " if common != Place() else ""
            found = self.as_element(f"{rest}{total}_at")
            is_asked = self.nest.ranges is not None and self.notes_seen(statement)
            return f"{found} if {total}_seen else {self.as_element('0')}" if is_asked else found
        if not self.may_be_empty():
            return self.as_element(f"{total}_at")
        start = self.first_position(statement)
        return self.as_element(f"0 if {total}_at == {start} else {total}_at")

    # Where the largest element is

    def begin_argument(self, statement: Statement, total: str) -> None:
        """What is known before the first element."""
        self.put(f"{total}_at = {self.first_position(statement)}")
        if self.notes_seen(statement):
            self.put(f"{total}_seen = False")

    def notes_seen(self, statement: Statement) -> bool:
        """Whether it is noted if there has been an element: what is told of it says nothing."""
        told = statement.fold is not None and statement.fold.told is not None
        return told and self.may_be_empty() and self.firsts() is None

    def firsts(self) -> dict[Atom, Place] | None:
        """Where each loop begins, if that is known and nothing else is asked."""
        limits, inner = self.writer.limits, self.nest.inner
        known = [limits.get((loop.index, loop.lower, loop.upper)) for loop in inner]
        if self.nest.guards or self.nest.ranges or None in known:
            return None
        pairs = zip(inner, filter(None, known), strict=True)
        return {Index(loop.index): places.index(first) for loop, (first, _) in pairs}

    def may_be_empty(self) -> bool:
        """Whether conditions may leave no element."""
        nest = self.nest
        return bool(nest.guards) or any(loop.lower or loop.upper for loop in nest.inner)

    def twin(self, statement: Statement) -> Statement | None:
        """The statement that says where the same extreme is, and so what it is."""
        return None

    def first_position(self, statement: Statement) -> str:
        """What tells that no element has been seen, if there may be none: how many there are."""
        assert statement.fold is not None
        firsts = self.firsts() if self.may_be_empty() else None
        if statement.fold.told is not None and firsts is not None:
            told = statement.fold.told - self.common(statement)
            return self.writer.place(told.substitute(firsts))
        if statement.fold.told is not None:
            return self.as_count("0")
        if not self.may_be_empty():
            return "0"
        return " * ".join(self.writer.extent(name) for name in statement.fold.indices)

    def fold_position(self, statement: Statement) -> str:
        """Which of a fold's elements is at hand, the last index fastest."""
        assert statement.fold is not None
        if statement.fold.told is not None:
            told = self.writer.place(statement.fold.told - self.common(statement))
            return self.as_count(told) if told.isidentifier() else told
        first, *rest = statement.fold.indices
        place = places.index(first)
        for name in rest:
            place = place * self.writer.program.extent[name] + places.index(name)
        return self.writer.place(place)

    def common(self, statement: Statement) -> Place:
        """The part of what is told that is the same for all elements."""
        fold = statement.fold
        assert fold is not None and fold.told is not None
        atoms = [Place((term,)) for term in fold.told.terms]
        same = [each for each in atoms if not set(each.indices) & set(fold.indices)]
        return sum(same, Place())

    def beats(self, statement: Statement, value: str, total: str) -> str:
        """Whether an element is larger than the largest before, or the first NaN; if something
        else is told than which it is, each NaN."""
        assert statement.fold is not None
        symbol = ">" if statement.fold.kind == ARGMAX else "<"
        if statement.fold.told is not None:
            return f"({value} {symbol} {total}) | ({value} != {value})"
        is_first_nan = f"(({value} != {value}) & ({total} == {total}))"
        return f"({value} {symbol} {total}) | {is_first_nan}"

    # Sums are made of runs, which a wider type puts together

    def sums_in_runs(self) -> bool:
        """Whether the nest has sums, of more elements than a text says."""
        nest = self.nest
        is_long = nest.over_batch or any(
            self.writer.sizes.extent[loop.index].constant is None for loop in nest.inner
        )
        return is_long and any(map(_is_sum, nest.folds))

    def is_wide(self, statement: Statement) -> bool:
        """Whether a total is of the wider type."""
        return _is_sum(statement) and self.sums_in_runs()

    def run_loops(self, totals: dict[str, str]) -> dict[str, str]:
        """The loops of a fold, the innermost over a run; what each statement adds up there."""
        writer, nest = self.writer, self.nest
        loop = nest.inner[-1] if nest.inner else None
        if self.is_short(loop):
            self.fold_loops()
            return totals
        self.fold_loops(without_last=True)
        first, last = ("0", "run_size") if loop is None else self.bounds(loop, "0", "")
        if loop is None or self.goes_far(loop.index):
            self.indent(f"for begin in range({first}, {last}, BLOCK):")
            first, last = "begin", f"lesser(begin + BLOCK, {last})"
        runs = dict(totals)
        for statement in self.nest.folds:
            if self.is_wide(statement):
                runs[statement.target] = writer.fresh(f"{statement.target}_run")
                self.put(f"{runs[statement.target]} = T(0)")
        self.run_depth = writer.depth
        if loop is None:
            self.indent(f"for run in range({first}, {last}):")
        else:
            self.loop(replace(loop, lower=(), upper=()), first, last)
        return runs

    def is_short(self, loop: Loop | None) -> bool:
        """Whether a loop goes over a part that conditions cut out: then each element is widened."""
        return loop is not None and bool(loop.lower and loop.upper)

    def reorders(self) -> bool:
        """Whether the elements of sums and products are put together in any order."""
        return bool(self.nest.inner) or self.nest.over_batch

    def goes_far(self, index: str) -> bool:
        """Whether an index goes through a tensor, not a window."""
        return any(isinstance(atom, Size) for atom in self.writer.sizes.extent[index].atoms)

    def is_ordered(self, statement: Statement) -> bool:
        """Whether a fold is that of keys which a backend may compare faster than numbers."""
        has_loop = bool(self.nest.inner) or self.nest.over_batch
        return has_loop and statement.fold is not None and statement.fold.kind in (MAX, MIN)

    def join(self, statement: Statement, total: str) -> None:
        """Put together what several threads have accumulated: here there is one."""

    def accumulate(self, statement: Statement, total: str, value: str) -> None:
        assert statement.fold is not None
        kind = statement.fold.kind
        if is_argument(statement):
            variable = self.writer.fresh("candidate")
            self.put(f"{variable} = {value}")
            beats, is_first = self.beats(statement, variable, total), ""
            if self.notes_seen(statement):
                is_first = f" | (not {total}_seen)"
            elif statement.fold.told is None and self.may_be_empty():
                is_first = f" | ({total}_at == {self.first_position(statement)})"
            self.put(f"if {beats}{is_first}:")
            self.put(f"    {total} = {variable}")
            self.put(f"    {total}_at = {self.fold_position(statement)}")
            if self.notes_seen(statement):
                self.put(f"    {total}_seen = True")
            return
        item = self.writer.fresh(f"{statement.target}_item")
        is_wider = (
            self.is_wide(statement) and self.nest.inner and self.is_short(self.nest.inner[-1])
        )
        self.put(f"{item} = {f'WIDE({value})' if is_wider else value}")
        if self.is_ordered(statement):
            self.put(f"{total} = larger({total}, ordered({_signed(statement, item)}))")
            return
        function = {SUM: "plus", PROD: "times"}.get(kind)
        if function and self.reorders():
            self.put(f"{total} = {function}({total}, {item})")
        else:
            self.put(f"{total} = {combined(statement, total, item)}")

    def vector_fold(self) -> None:
        """Accumulators are blocks along an index of the statement, which is innermost."""
        writer, vector = self.writer, self.nest.vector
        assert vector is not None
        start = writer.depth
        if self.nest.ranges:
            self.limit({vector.index})
        name = python_name(vector.index)
        folds = self.nest.folds
        blocks = {each.target: self.block_of(each) for each in folds}
        self.begin_blocks(vector.index)
        totals = self.wide_blocks()
        self.fill_blocks(name, blocks, totals.values())
        within = writer.depth
        if totals:
            self.put("kept = 0")
        seen = [f"{blocks[each.target]}_seen" for each in folds if self.notes_seen(each)]
        for block in seen:
            self.put(f"{block} = False")
        wide = {blocks[target]: total for target, total in totals.items()}
        jammed = self.jammed(vector)
        if jammed is None:
            self.fold_loops()
        else:
            self.fold_loops(without_last=True)
            within_last = writer.depth
            self.several(jammed, vector, blocks, wide)
            writer.depth = within_last
            extent = writer.extent(jammed.index)
            self.loop(jammed, f"{extent} // {JAMMED} * {JAMMED}", extent)
        if totals and jammed is None:
            self.flush(name, wide)
        self.stage(vector)
        if self.nest.ranges:
            self.load_settled(vector)
        settled = writer.depth
        self.loop(vector, "begin", "end")
        self.guarded()
        self.each_item(lambda each, value: self.combine_in(blocks[each.target], each, value))
        writer.depth = settled
        for block in seen:
            self.put(f"{block} = True")
        writer.depth = within
        writer.over_batch = {}
        results = {each.target: f"{blocks[each.target]}[U({name} - begin)]" for each in folds}
        for target, total in totals.items():
            results[target] = f"T({total}[U({name} - begin)] + WIDE({results[target]}))"
        for each in filter(is_argument, folds):
            results[each.target] = self.best_of_block(each, blocks[each.target], name)
        made = [each for each in folds if each.target in totals or not self.is_block(each)]
        if made:
            self.indent(f"for {name} in range(begin, end):")
        for each in made:
            self.store(each, results[each.target])
        writer.depth = start

    def fill_blocks(self, name: str, blocks: dict[str, str], totals: Iterable[str]) -> None:
        """What blocks have before the first element of a fold."""
        self.indent(f"for {name} in range(begin, end):")
        for each in self.nest.folds:
            self.put(f"{blocks[each.target]}[U({name} - begin)] = {self.beginning(each)}")
            if is_argument(each):
                first = self.first_position(each)
                self.put(f"{blocks[each.target]}_at[U({name} - begin)] = {first}")
        for total in totals:
            self.put(f"{total}[U({name} - begin)] = WIDE(0)")
        self.writer.depth -= 1

    def best_of_block(self, statement: Statement, block: str, name: str) -> str:
        """What is told of the best element, or which it is; 0 if there is none."""
        at, first = f"{block}_at[U({name} - begin)]", self.first_position(statement)
        if statement.fold is not None and statement.fold.told is not None:
            common = self.common(statement)
            told = f"{self.writer.place(common)} + {at}" if common != Place() else at
            return f"{told} if {block}_seen else 0" if self.notes_seen(statement) else told
        return at if first == "0" else f"0 if {at} == {first} else {at}"

    # Several elements of the folds at once

    def jammed(self, vector: Loop) -> Loop | None:
        """The innermost loop of the folds, if blocks take several of its elements each time."""
        nest = self.nest
        loop = nest.inner[-1] if nest.inner else None
        if loop is None or nest.guards or not self.goes_far(loop.index):
            return None
        if loop != Loop(loop.index) or vector != Loop(vector.index):
            return None
        is_plain = all(each.fold is not None and not is_argument(each) for each in nest.statements)
        return loop if is_plain and not self.stages(vector.index) else None

    def several(
        self, loop: Loop, vector: Loop, blocks: dict[str, str], totals: dict[str, str]
    ) -> None:
        """Put some elements together before they are put to a block: that is read and written
        once for all of them."""
        writer, name = self.writer, python_name(vector.index)
        first = writer.fresh(f"{loop.index}_first")
        extent = writer.extent(loop.index)
        self.indent(f"for {first} in range(0, {extent} - {JAMMED - 1}, {JAMMED}):")
        if totals:
            self.flush(name, totals, JAMMED)
        self.loop(vector, "begin", "end")
        self.put(f"at = U({name} - begin)")
        here = {block: writer.fresh(f"{block}_here") for block in blocks.values()}
        for block, value in here.items():
            self.put(f"{value} = {block}[at]")
        depth, known = writer.depth, dict(self.values)
        self.loop(loop, first, f"{first} + {JAMMED}")
        self.each_item(
            lambda each, value: self.combine_here(here[blocks[each.target]], each, value)
        )
        writer.depth, self.values = depth, known
        for block, value in here.items():
            self.put(f"{block}[at] = {value}")

    def combine_here(self, total: str, statement: Statement, value: str) -> None:
        """Put a value to what has been taken from a block."""
        assert statement.fold is not None
        item = self.writer.fresh(f"{statement.target}_item")
        self.put(f"{item} = {value}")
        self.put(f"{total} = {combined(statement, total, item)}")

    def is_block(self, statement: Statement) -> bool:
        """Whether a fold's own row is a block along the innermost index."""
        phase = self.writer.phase
        own = statement.indices[len(phase.items) :]
        if is_argument(statement):
            return False
        return statement.target in phase.rows and phase.tile is not None and own == (phase.tile,)

    def block_of(self, statement: Statement) -> str:
        """What a fold has so far, along the innermost index."""
        if self.is_block(statement):
            return python_name(statement.target)
        block = self.writer.fresh(f"{statement.target}_block")
        if is_argument(statement):
            self.make_block(f"{block}_at", "np.int64")
        self.make_block(
            block, "T" if is_argument(statement) else self.writer.dtype(statement.target)
        )
        return block

    def combine_in(self, block: str, statement: Statement, value: str) -> None:
        """Put a value to what a block has for the element at hand."""
        vector = self.nest.vector
        assert statement.fold is not None and vector is not None
        item = self.writer.fresh(f"{statement.target}_item")
        self.put(f"{item} = {value}")
        self.put(f"at = U({python_name(vector.index)} - begin)")
        self.put(f"before = {block}[at]")
        if not is_argument(statement):
            self.put(f"{block}[at] = {combined(statement, 'before', item)}")
            return
        first = self.first_position(statement)
        is_first = "" if first == "0" else f" | ({block}_at[at] == {first})"
        if self.notes_seen(statement):
            is_first = f" | (not {block}_seen)"
        self.put(f"is_better = {self.beats(statement, item, 'before')}{is_first}")
        self.put(f"{block}[at] = {item} if is_better else before")
        position = self.fold_position(statement)
        self.put(f"{block}_at[at] = {position} if is_better else {block}_at[at]")

    def wide_blocks(self) -> dict[str, str]:
        """Blocks for what runs of sums have come to, by statement."""
        nest, found = self.nest, {}
        if nest.over_batch or any(self.goes_far(loop.index) for loop in nest.inner):
            for statement in filter(_is_sum, nest.statements):
                found[statement.target] = self.writer.fresh(f"{statement.target}_totals")
        for total in found.values():
            self.make_block(total, "WIDE")
        return found

    def flush(self, name: str, totals: dict[str, str], step: int = 1) -> None:
        """Add blocks that have taken a run of elements to their totals, and begin anew."""
        writer = self.writer
        depth = writer.depth
        self.indent("if kept == RUN:")
        self.indent(f"for {name} in range(begin, end):")
        self.put(f"at = U({name} - begin)")
        for block, total in totals.items():
            self.put(f"{total}[at] += WIDE({block}[at])")
            self.put(f"{block}[at] = T(0)")
        writer.depth -= 1
        self.put("kept = 0")
        writer.depth = depth
        self.put(f"kept = kept + {step}")


def _is_sum(statement: Statement) -> bool:
    return statement.fold is not None and statement.fold.kind == SUM


def identity(statement: Statement) -> str:
    assert statement.fold is not None
    kinds = {
        PROD: "T(1)", MAX: "T(-inf)", ARGMAX: "T(-inf)", MIN: "T(inf)", ARGMIN: "T(inf)",
        ANY: "False", ALL: "True",
    }  # fmt: skip
    return kinds.get(statement.fold.kind, "T(0)")


def _signed(statement: Statement, value: str) -> str:
    """A minimum is the maximum of what is turned round."""
    is_least = statement.fold is not None and statement.fold.kind == MIN
    return f"opposite({value})" if is_least else value


def combined(statement: Statement, total: str, value: str) -> str:
    """What a fold has come to with another value; complex numbers compare by their real parts."""
    assert statement.fold is not None
    kind = statement.fold.kind
    if kind in (MAX, MIN) and gives_part(statement):
        return f"{'larger' if kind == MAX else 'smaller'}({total}, {value})"
    operators = {PROD: "*", ANY: "|", ALL: "&"}
    if kind in (MAX, MIN):
        symbol = ">" if kind == MAX else "<"
        return f"{value} if ({value} {symbol} {total}) | ({value} != {value}) else {total}"
    if kind == LAST:
        return value
    if kind == NAMED:
        return f"joined({total}, {value})"
    return f"{total} {operators.get(kind, '+')} {value}"
