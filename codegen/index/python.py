"""Prints launches as plain Python functions over flat memory, which kernels are compiled from.

A function gets a range of items, then flat arrays, then for each array where it begins, its row of
strides along the dims of `...`, and the strides of its places; extents and numbers come last. The
backend makes those constants that it compiles for. `plus` and `times` put together what a fold has
so far and an element: these may be reordered, formulas not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ..model import place as places
from ..model.index import Access, Source, Test
from ..model.loops import Loop, LoopProgram
from ..model.place import Element, Function, Place
from .edges import Edges
from .folds import is_located
from .product_texts import product_text
from .scan_texts import ScanWriter
from .scans import scans_of
from .scatter_texts import is_looked_at
from .sizes import size_of
from .writer import LaunchText, Writer, python_name


def launch_texts(
    loops: LoopProgram, name: str, exact: Collection[str] = (), has_mask: bool = False
) -> Iterator[LaunchText]:
    """All launches of a program.

    exact: the arguments that are of the compute type for certain, without a conversion. has_mask:
    whether a call says which results it needs.
    """
    for number, phase in enumerate(loops.phases):
        given = loops, phase, f"{name}_{number}", exact, has_mask
        yield replace(HostWriter(*given).launch(), product=product_text(HostWriter(*given)))


class HostWriter(Writer):
    """One launch on the host: indices are counted, as a division takes as long as a short row."""

    @property
    def all_counters(self) -> list[str]:
        """What an item is told by, the fastest first: of a tile, where it begins."""
        return [*(["begin"] if self.phase.tile else []), *self.counters]

    def items(self) -> None:
        if self.phase.tile:
            self.put(f"tiles = ({self.extent(self.phase.tile)} + TILE - 1) // TILE")
        is_counted = len(self.all_counters) > 1
        if is_counted:
            self.decode("start")
        bounds = "item_start, item_stop" if self.shares_vector else "start, stop"
        is_told = not is_counted and (self.all_counters or self.program.draws)
        self.indent(f"for {'item' if is_told else '_'} in range({bounds}):")
        if not is_counted:
            self.decode("item")
        if self.phase.tile:
            self.put(f"end = lesser(begin + TILE, {self.extent(self.phase.tile)})")
        self.row_starts()

    def decode(self, item: str) -> None:
        """The item's indices; before them, where its part of the tiled index begins."""
        if self.phase.tile:
            is_last = not self.counters
            self.put(f"begin = {item if is_last else f'{item} % tiles'} * TILE")
            if is_last:
                return
            self.put(f"rest = {item} // tiles")
            item = "rest"
        super().decode(item)

    @property
    def looked_at(self) -> list[Place]:
        """The places of a scatter that must be inside its result."""
        scattered = self.phase.nests[0].scattered or {}
        return [place for place in scattered.values() if is_looked_at(place)]

    @property
    def looks(self) -> str | None:
        """The index of whose range threads look at a part; None if there is nothing to look at."""
        outer = [place.indices[0] if place.indices else "" for place in self.looked_at]
        return None if not outer else outer[0] if len(outer) == 1 else ""

    @property
    def shares_vector(self) -> bool:
        """Whether threads can share the innermost index, where there are few items."""
        vector, phase = self.phase.nests[0].vector, self.phase
        return self.looks is not None and vector is not None and phase.has_batch and not phase.items

    @property
    def first_parameters(self) -> tuple[str, ...]:
        """What a launch takes before its arrays."""
        return ("start", "stop") if self.looks is None else ("start", "stop", "mode")

    def look_first(self) -> None:
        """Look at all places before anything is written; perhaps do no more, or leave that out."""
        self.indent("if mode <= LOOK:")
        self.put("outside: bool | np.bool_ = False")
        if self.looks:
            count = self.extent(self.looks)
            self.put(f"first, end = (start, stop) if mode == LOOK else (0, {count})")
        for place in self.looked_at:
            depth = self.depth
            if any(isinstance(atom, Element) and atom.has_batch for atom in place.atoms):
                self.indent(f"for row in range({self.rows_to_look_at(place)}):")
                self.rows_of(place)
            for index in place.indices:
                own = "first, end" if index == self.looks else self.extent(index)
                self.indent(f"for {python_name(index)} in range({own}):")
            self.look_at_told(place)
            self.put(f"outside |= {self.is_outside(place)}")
            self.depth, self.over_batch = depth, {}
        self.indent("if outside:")
        self.put("return False")
        self.depth -= 1
        self.indent("if mode == LOOK:")
        self.put("return True")
        self.depth = 1

    def rows_to_look_at(self, place: Place) -> str:
        """How many rows there are; if each begins where the one before ends, all are one."""
        elements = [atom for atom in place.atoms if isinstance(atom, Element)]
        if self.looks is None or [e.places for e in elements] != [(places.index(self.looks),)]:
            return "batches"
        name, count = elements[0].tensor, self.extent(self.looks)
        follow = f"batch[U({name}_row)] == {count} * {name}_s0"
        self.put("rows_seen = batches")
        self.indent(f"if dims == 1 and end - first == {count} and {follow}:")
        self.put(f"rows_seen, end = 1, batches * {count}")
        self.depth -= 1
        return "rows_seen"

    def rows_of(self, place: Place) -> None:
        """Where the elements of the row at hand begin."""
        for atom in place.atoms:
            if isinstance(atom, Element) and atom.has_batch:
                name = atom.tensor
                self.arrays.setdefault(name)
                self.put(f"{name}_b = {name}_at + row_start(batch, dims, {name}_row, row)")
                self.over_batch[name] = f"{name}_b"

    def is_outside(self, place: Place) -> str:
        """The test whether a place is no place of its dim: negative positions are large."""
        (rule,) = place.atoms[:1]
        assert isinstance(rule, Function)
        first, size = rule.operands
        if rule.name == "checked":
            return f"U({self.place(first)}) >= U({self.place(size)})"
        return f"U({self.place(first)} + {self.place(size, 1)}) >= U(2 * {self.place(size, 1)})"

    def look_at_told(self, place: Place) -> None:
        """Look at the places of elements that others tell, before these are read."""
        for atom in reversed(place.atoms):
            inner = atom.places if isinstance(atom, Element) else ()
            for dim, told in enumerate(inner):
                if isinstance(atom, Element) and any(isinstance(a, Element) for a in told.atoms):
                    size = self.place(size_of(self.program, atom.tensor, dim))
                    self.indent(f"if U({self.place(told)}) >= U({size}):")
                    self.put("return False")
                    self.depth -= 1

    def body(self) -> None:
        if self.looked_at:
            self.look_first()
        vector = self.phase.nests[0].vector
        if self.shares_vector and vector is not None:
            count = self.extent(vector.index)
            self.put("is_along = mode == ALONG")
            self.put("item_start, item_stop = (0, batches) if is_along else (start, stop)")
            self.put(f"range_start, range_stop = (start, stop) if is_along else (0, {count})")
        super().body()
        if self.phase.spread is None and len(self.all_counters) > 1:
            self.next_item()

    def next_item(self) -> None:
        """Count on."""
        counters, self.depth = self.all_counters, 2
        tile = self.phase.tile
        self.put(f"{counters[0]} += {'TILE' if tile else '1'}")
        names = [*([tile] if tile else []), *reversed(self.counted)]
        for name, counter, following in zip(names, counters, counters[1:], strict=False):
            symbol = ">=" if name == tile else "=="
            self.indent(f"if {counter} {symbol} {self.extent(name)}:")
            self.put(f"{counter} = 0")
            self.put(f"{following} += 1")
        self.depth = 1

    def indent(self, line: str) -> None:
        self.put(line)
        self.depth += 1

    @property
    def nest_writer(self) -> type[NestWriter]:
        """What prints a nest."""
        return NestWriter


class NestWriter(ScanWriter):
    """One nest of a launch."""

    def write(self) -> None:
        writer, nest = self.writer, self.nest
        if writer.phase.runs_items:
            self.indent("for run in range(run_size):")
        carried = scans_of(nest)
        if not carried:
            for loop in nest.outer[:-1]:
                self.loop(loop)
            if nest.outer:
                self.innermost(nest.outer[-1])
        if carried:
            self.scan(carried)
        elif nest.scattered is not None:
            self.scatter()
        elif not nest.is_fold:
            self.guarded()
            self.elements()
        elif is_located(nest.statements[0]):
            self.locate()
        elif self.is_searched():
            self.search()
        elif nest.vector is not None:
            self.vector_fold()
        else:
            self.scalar_fold()
        writer.depth = self.depth
        writer.loaded = {}
        if nest.outer:
            writer.limits = {}

    def innermost(self, loop: Loop) -> None:
        """The last of the statements' own loops: in blocks, turn by turn, or as it is."""
        if not self.nest.is_fold:
            self.load_places(loop)
        if self.in_blocks():
            self.blocks(loop)
        elif (turning := self.turning(loop)) is not None:
            self.go_round(loop, turning)
        elif (edges := self.edges_along(loop)) is not None:
            self.cut_edges(loop, edges)
        else:
            self.loop(loop)

    def cut_edges(self, loop: Loop, edges: Edges) -> None:
        """The loop in parts: inside nothing is asked; the last of them has its body still to come.

        Where all that is outside is known, what comes before and behind are fills.
        """
        writer, depth, whole = self.writer, self.writer.depth, self.nest
        first, last = self.bounds(loop, "0", "")
        begin, end = self.inside_bounds(loop, edges, first, last)
        name = python_name(loop.index)
        self.nest, self.certain = edges.inside(whole), edges.tests
        self.part(_range(name, begin, end))
        self.nest, self.certain = whole, ()
        writer.depth = depth
        if edges.only is None:
            count = f"{last} - {end} + {begin}"
            bounds = count if first == "0" else f"{first}, {count}"
            self.indent(f"for edge in range({bounds}):")
            self.put(f"{name} = edge if edge < {begin} else edge + {end} - {begin}")
            return
        self.nest, self.values = edges.outside(whole), self.filler(edges.only)
        *before, (start, stop) = [
            each for each in ((first, begin), (end, last)) if len({*each}) > 1
        ]
        for each in before:
            self.part(_range(name, *each))
            self.values = self.filler(edges.only)
        self.indent(_range(name, start, stop))

    def filler(self, only: Access | Test) -> dict[Source, str]:
        """What an element is that is outside."""
        if isinstance(only, Test):
            return {}
        assert only.outside is not None
        return {only: self.literal(only.outside, self.writer.tensors[only.tensor].type)}

    def part(self, line: str) -> None:
        """A loop over part of an index, with its body."""
        depth = self.writer.depth
        self.indent(line)
        self.guarded()
        self.elements()
        self.writer.depth = depth
        self.values = {}
        self.made.clear()

    def elements(self) -> None:
        """Everything is loaded, then stored: what is stored could be what is loaded."""
        stores = [(each, self.made_element(each)) for each in self.nest.statements]
        for statement, variable in stores:
            if statement.target not in self.writer.phase.numbers:
                self.store(statement, variable)


def _range(name: str, first: str, end: str) -> str:
    """The loop of a variable from a number on."""
    return f"for {name} in range({end if first == '0' else f'{first}, {end}'}):"
