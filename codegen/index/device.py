"""Prints launches for devices: a thread goes through one item, or shares its folds with a warp.

The functions are those of `python` otherwise. Where a warp shares a loop, a function is given its
`lane`, and joins the lanes' totals; of a scatter it writes the value of each item and where that
goes, and the runtime combines them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ..model import place as places
from ..model.index import ALL, ANY, ARGMAX, MAX, MIN, PROD, Statement
from ..model.loops import Loop, LoopProgram
from ..model.place import Atom, Index, Place
from .fold_texts import is_argument
from .product_texts import product_text
from .python import NestWriter
from .rewrite import map_places
from .writer import LaunchText, Writer, own_places, python_name

JOINED = {PROD: "product", MAX: "larger", MIN: "smaller", ANY: "any", ALL: "all"}


def launch_texts(
    loops: LoopProgram, name: str, exact: Collection[str] = (), has_mask: bool = False
) -> Iterator[LaunchText]:
    """All launches of a program; exact, has_mask: as for `python.launch_texts`."""
    for number, phase in enumerate(loops.phases):
        given = loops, phase, f"{name}_device_{number}", exact, has_mask
        yield replace(DeviceWriter(*given).launch(), product=product_text(DeviceWriter(*given)))


class DeviceWriter(Writer):
    """One launch."""

    @property
    def nest_writer(self) -> type[NestWriter]:
        """What prints a nest."""
        return DeviceNestWriter

    @property
    def scatter(self) -> Statement | None:
        """The only statement, if it is a scatter."""
        nest = self.phase.nests[0]
        return None if nest.scattered is None else nest.statements[0]

    @property
    def first_parameters(self) -> tuple[str, ...]:
        """What a launch takes before its arrays."""
        if self.scatter is not None:
            return ("start", "stop", "scattered_values", "scattered_places")
        return ("start", "stop") if self.phase.lanes is None else ("start", "stop", "lane")

    def batched(self) -> list[str]:
        """The tensors in memory that have a dim for each of `...`; not what is scattered into."""
        own = None if self.scatter is None else self.scatter.target
        return [name for name in super().batched() if name != own]


class DeviceNestWriter(NestWriter):
    """One nest of a launch."""

    def loop(self, loop: Loop, first: str = "0", last: str = "") -> None:
        """`for` over an index; the innermost one of a fold is shared by the lanes."""
        if loop not in self.nest.inner[-1:]:
            super().loop(loop, first, last)
            return
        first, last = self.bounds(loop, first, last)
        begin = "lane" if first == "0" else f"{first} + lane"
        self.indent(f"for {python_name(loop.index)} in range({begin}, {last}, LANES):")

    def check_before(self, place: Place, size: Place) -> bool:
        """Whether places are looked at before: each thread looks at its own."""
        return False

    def refuse_outside(self, place: str, size: Place) -> None:
        """Note a place that is outside, and go on at 0: other lanes wait for this one."""
        self.writer.checks = True
        known = self.writer.fresh("is_inside")
        self.put(f"{known} = {self.is_inside(place, size)}")
        self.put(f"fine &= {known}")
        self.put(f"{place} = {place} if {known} else np.int64(0)")

    def in_blocks(self) -> bool:
        """Whether elements are computed in blocks: here each is a thread's own."""
        return False

    def is_ordered(self, statement: Statement) -> bool:
        """Whether a fold compares keys: here it compares numbers."""
        return False

    def sums_in_runs(self) -> bool:
        """Whether sums are made of runs: here each lane has a part."""
        return False

    def wide_blocks(self) -> dict[str, str]:
        """Blocks for what runs of sums have come to: there are no blocks."""
        return {}

    def join(self, statement: Statement, total: str) -> None:
        """Put together what the lanes have accumulated."""
        assert statement.fold is not None
        if not self.nest.inner:
            return
        kind = statement.fold.kind
        if is_argument(statement):
            best = self.writer.fresh(f"{statement.target}_best")
            self.put(f"{best} = joined_{'larger' if kind == ARGMAX else 'smaller'}({total})")
            self.put(f"{total}_at = joined_first({total}, {best}, {total}_at)")
        else:
            self.put(f"{total} = joined_{JOINED.get(kind, 'sum')}({total})")

    def conditions(self, statement: Statement) -> list[str]:
        """One thread writes of those that share the item."""
        is_shared = self.writer.phase.lanes is not None
        return [*(["lane == 0"] if is_shared else []), *super().conditions(statement)]

    def loaded(self, element: str, kind: str) -> str:
        """An element of memory as what formulas compute with: truth values are bytes there."""
        return f"({element} != 0)" if kind == "bool" else element

    def stored(self, value: str, kind: str) -> str:
        """A value as what memory holds."""
        return f"np.uint8({value})" if kind == "bool" else value

    def scatter(self) -> None:
        """The item's value, and where in the result it goes; nowhere is -1."""
        writer, nest = self.writer, self.nest
        (statement,) = nest.statements
        assert nest.scattered is not None
        start = writer.depth
        self.put("scattered_places[U(item)] = -1")
        moved: dict[Atom, Place] = {}
        for name, place in nest.scattered.items():
            variable = writer.fresh(f"to_{name}_place")
            moved[Index(name)] = places.of(Index(variable))
            writer.sizes.extent[variable] = writer.sizes.extent[name]
            self.put(f"{variable} = {writer.place(place)}")
            self.indent(f"if {self.is_inside(variable, writer.sizes.extent[name], place)}:")
        self.guarded()
        at = map_places(statement, lambda place: place.substitute(moved))
        value = self.stored(self.value(at), statement.type)
        self.put(f"scattered_values[U(item)] = {value}")
        own = [place.substitute(moved) for place in own_places(statement)]
        self.put(f"scattered_places[U(item)] = {self.linear(statement, own)}")
        writer.depth = start

    def linear(self, statement: Statement, own: list[Place]) -> str:
        """The position of an element in the contiguous result."""
        writer = self.writer
        text = ("rest" if writer.phase.items else "item") if statement.has_batch else ""
        for name, place in zip(statement.indices, own, strict=True):
            last = writer.place(place)
            text = f"({text}) * {writer.extent(name)} + {last}" if text else last
        return text or "0"
