"""Prints launches as plain Python functions over flat memory, which kernels are compiled from.

A function gets a range of items, then flat arrays, then for each array where it begins, its row of
strides along the dims of `...`, and the strides of its places; extents and numbers come last. The
backend makes those constants that it compiles for. `plus` and `times` put together what a fold has
so far and an element: these may be reordered, formulas not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ..model.loops import LoopProgram
from .product_texts import product_text
from .scan_texts import ScanWriter
from .scans import scans_of
from .writer import LaunchText, Writer


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
        self.indent(f"for {'_' if is_counted else 'item'} in range(start, stop):")
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

    def body(self) -> None:
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
        staged = self.in_blocks() and not carried
        for number, loop in enumerate(
            nest.outer[: len(nest.outer) - staged] if not carried else ()
        ):
            if number == len(nest.outer) - 1 and not nest.is_fold:
                self.load_places(loop)
            self.loop(loop)
        if staged:
            self.blocks(nest.outer[-1])
        if carried:
            self.scan(carried)
        elif nest.scattered is not None:
            self.scatter()
        elif not nest.is_fold:
            self.guarded()
            self.elements()
        elif nest.vector is not None:
            self.vector_fold()
        else:
            self.scalar_fold()
        writer.depth = self.depth
        writer.loaded = {}
        if nest.outer:
            writer.limits = {}

    def elements(self) -> None:
        """Everything is loaded, then stored: what is stored could be what is loaded."""
        stores = [(each, self.made_element(each)) for each in self.nest.statements]
        for statement, variable in stores:
            if statement.target not in self.writer.phase.numbers:
                self.store(statement, variable)
