"""Prints launches for devices: functions of the indices of an item, a thread's or a warp's.

The functions are those of `python` otherwise. Indices and places are of the type `I`, in which a
launch counts: 32 bits where these do. Where a warp shares a loop, a function is given its `lane`,
and joins the lanes' totals; of a scatter it writes the value of each item and where that goes, and
the runtime combines them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from ..formula.expressions import ZERO
from ..model import place as places
from ..model.index import ALL, ANY, ARGMAX, LAST, MAX, MIN, PROD, Access, Statement
from ..model.loops import Loop, LoopProgram
from ..model.place import Atom, Element, Function, Index, Place
from .edges import Edges
from .folds import is_argument
from .product_texts import product_text
from .python import NestWriter
from .rewrite import map_places
from .scans import Carried
from .scatter_texts import is_looked_at
from .writer import LaunchText, Writer, own_places, python_name

JOINED = {PROD: "product", MAX: "larger", MIN: "smaller", ANY: "any", ALL: "all"}


def launch_texts(
    loops: LoopProgram, name: str, exact: Collection[str] = (), has_mask: bool = False
) -> Iterator[LaunchText]:
    """All launches of a program; exact, has_mask: as for `python.launch_texts`."""
    for number, phase in enumerate(loops.phases):
        given = loops, phase, f"{name}_device_{number}", exact, has_mask
        yield replace(DeviceWriter(*given).launch(), product=product_text(DeviceWriter(*given)))


@dataclass
class DeviceWriter(Writer):
    """One launch."""

    reach: dict[tuple[str, ...], int] = field(default_factory=dict)
    """Products of names that places are sums of, and the greatest factor of each."""
    refused: list[str] = field(default_factory=list)
    """What must hold of the places that are looked at."""
    known: list[str] = field(default_factory=list)
    """Whether those of the element that is being read are inside."""

    @property
    def nest_writer(self) -> type[NestWriter]:
        """What prints a nest."""
        return DeviceNestWriter

    @property
    def scatter(self) -> Statement | None:
        """The only statement, if it is a scatter whose values are combined afterwards."""
        nest = self.phase.nests[0]
        is_scatter = nest.scattered is not None and not is_last(nest.statements[0])
        return nest.statements[0] if is_scatter else None

    @property
    def first_parameters(self) -> tuple[str, ...]:
        """What a launch takes before its arrays: the item's indices come first."""
        phase = self.phase
        found = [*map(python_name, phase.items), *(["rest"] if phase.has_batch else [])]
        found += [] if phase.lanes is None else ["lane"]
        found += ["faults", "first_check"] if self.refused else []
        scattered = ["item", "key", "is_first", "scattered_values", "scattered_places"]
        return (*found, *(scattered if self.scatter is not None else []))

    def items(self) -> None:
        """The runtime gives each thread its item."""
        self.row_starts()

    def closing(self) -> list[str]:
        """Nothing is said: a fault is noted where it is found."""
        return []

    def launch(self) -> LaunchText:
        made = super().launch()
        reach = tuple((factor, names) for names, factor in self.reach.items())
        return replace(made, reach=reach, refused=tuple(self.refused))

    def batched(self) -> list[str]:
        """The tensors in memory that have a dim for each of `...`; not what a scatter begins from,
        which is copied before."""
        nest = self.phase.nests[0]
        left: set[str] = set()
        if nest.scattered is not None:
            (statement,) = nest.statements
            read = {each.source for each in statement.reads}
            start = statement.fold.start if statement.fold else None
            left |= {start.tensor} if start is not None and start not in read else set()
        return [name for name in super().batched() if name not in left]

    # Whole numbers, of the type in which a launch counts: an element of a tensor has 64 bits

    def place(self, place: Place, strength: int = 0) -> str:
        """A place, of the type `I` unless an element of a tensor stands in its sum."""
        if _has_element(place):
            return super().place(place, strength)
        text = super().place(place)
        if text.isidentifier() or text.isdecimal():
            return text
        self.note_reach(place)
        return text if text.startswith("I(") and len(place.terms) == 1 else f"I({text})"

    def atom(self, atom: Atom) -> str:
        if not isinstance(atom, Function) or any(map(_has_element, atom.operands)):
            return super().atom(atom)
        first, second = map(self.place, atom.operands)
        match atom.name:
            case "quotient":
                return f"quotient({first}, {second})"
            case "remainder" | "wrap":
                return f"modulus({first}, {second})"
        return f"I({super().atom(atom)})"

    def step(self, place: str, stride: str) -> str:
        return f"I({super().step(place, stride)})"

    def row_of(self, name: str, number: str) -> str:
        return f"I({super().row_of(name, number)})"

    def batch_number(self) -> str:
        """Of 64 bits, as elements of what is drawn are numbered."""
        return f"np.int64({'row' if self.over_batch else 'rest'})"

    def note_reach(self, place: Place) -> None:
        """Note how far a place may be from 0, in the type in which it is computed."""
        for monomial, factor in self.magnitude(place).terms:
            names = tuple(map(self.measured_name, monomial))
            self.reach[names] = max(self.reach.get(names, 0), factor)

    def measured_name(self, atom: Atom) -> str:
        """What the runtime calls an extent, a size or an argument."""
        if isinstance(atom, Index):
            return atom.name
        name = self.whole(atom)
        return name.removeprefix("n_") if name[2:] in self.extents else str(places.of(atom))

    def magnitude(self, place: Place) -> Place:
        """A bound of the absolute value, over extents, sizes and arguments."""
        total = Place()
        for monomial, factor in place.terms:
            product = places.number(abs(factor))
            for atom in monomial:
                product = product * self.magnitude_of(atom)
            total = total + product
        return total

    def magnitude_of(self, atom: Atom) -> Place:
        match atom:
            case Index(name) if name not in self.program.extent:
                return self.magnitude(self.sizes.extent[name])
            case Function(_, (first, second)):
                return self.magnitude(first) + self.magnitude(second) * places.number(2)
            case Element():
                return Place()
        return places.of(atom)


class DeviceNestWriter(NestWriter):
    """One nest of a launch."""

    def loop(self, loop: Loop, first: str = "0", last: str = "") -> None:
        """`for` over an index; the innermost one of a row is shared by the lanes."""
        first, last = self.bounds(loop, first, last)
        bounds = [first, last]
        rows = self.nest.inner if self.nest.is_fold else self.nest.outer
        if loop in rows[-1:] and self.writer.phase.lanes is not None:
            bounds = ["lane" if first == "0" else f"{first} + lane", last, "LANES"]
        elif loop.is_reversed:
            bounds = [f"{last} - 1", f"{first} - 1", "-1"]
        elif first == "0":
            bounds = [last]
        counted = [each if each.isidentifier() else f"I({each})" for each in bounds]
        self.indent(f"for {python_name(loop.index)} in range({', '.join(counted)}):")

    def as_element(self, count: str) -> str:
        """What has been counted, of the type that memory holds."""
        return f"np.int64({count})"

    def as_count(self, bound: str) -> str:
        """A bound, of the type that loops count in."""
        return f"I({bound})"

    def checked(self, place: Place, size: Place) -> Place:
        """A place that is known to be inside; what is not is noted, and 0 instead.

        Other lanes wait for this one, which goes on.
        """
        writer, place = self.writer, self.settled(place)
        assert isinstance(writer, DeviceWriter)
        variable = writer.fresh("place")
        self.put(f"{variable} = {writer.place(place)}")
        known = self.noted(variable, place, self.is_inside(variable, size), size)
        self.put(f"{variable} = I({variable}) if {known} else I(0)")
        writer.known.append(known)
        writer.sizes.extent[variable] = size
        return places.of(Index(variable))

    def load(self, access: Access) -> str:
        """The element, zero if a place is not inside: nothing outside is touched."""
        writer = self.writer
        assert isinstance(writer, DeviceWriter)
        before, writer.known = writer.known, []
        text = super().load(access)
        known, writer.known = writer.known, before
        if not known:
            return text
        zero = self.literal(ZERO, writer.tensors[access.tensor].type)
        text = f"({text})" if " if " in text else text
        return f"{text} if {' & '.join(known)} else {zero}"

    def noted(self, variable: str, place: Place, test: str, size: Place) -> str:
        """Whether a place is inside; what is not is noted."""
        writer = self.writer
        assert isinstance(writer, DeviceWriter)
        known = writer.fresh("is_inside")
        self.put(f"{known} = {test}")
        self.put(f"if not {known}:")
        number = f"first_check + {len(writer.refused)}"
        self.put(f"    note_outside(faults, {number}, {variable}, {writer.place(size)})")
        writer.refused.append(f"0 <= {place} < {size}")
        return known

    def refuse_unordered(self, one: Place, other: Place) -> None:
        """Note where a range begins or ends before the one that stands before it."""
        writer = self.writer
        assert isinstance(writer, DeviceWriter)
        behind, before = writer.place(other), writer.place(one)
        self.indent(f"if {behind} < {before}:")
        number = f"first_check + {len(writer.refused)}"
        self.put(f"note_outside(faults, {number}, {behind}, {before})")
        writer.refused.append(f"{one} <= {other}")
        writer.depth -= 1

    def turning(self, loop: Loop) -> Function | None:
        """What is read turn by turn: here each element is a thread's own."""
        return None

    def edges_along(self, loop: Loop) -> Edges | None:
        """What is outside along a loop: here each element is a thread's own."""
        return None

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

    def is_searched(self) -> bool:
        """Whether places of extremes are found by themselves: here each lane keeps its own."""
        return False

    def is_widened(self, each: Carried) -> bool:
        """Whether a running sum or product is of the wider type: here sums are not."""
        return False

    def join(self, statement: Statement, total: str) -> None:
        """Put together what the lanes have accumulated."""
        assert statement.fold is not None
        if not self.nest.inner or self.writer.phase.lanes is None:
            return
        kind = statement.fold.kind
        if is_argument(statement):
            best = self.writer.fresh(f"{statement.target}_best")
            self.put(f"{best} = joined_{'larger' if kind == ARGMAX else 'smaller'}({total})")
            self.put(f"{total}_at = joined_first({total}, {best}, {total}_at)")
        else:
            self.put(f"{total} = joined_{JOINED.get(kind, 'sum')}({total})")

    def conditions(self, statement: Statement) -> list[str]:
        """One thread writes of those that share the item, but what each makes of its own elements,
        perhaps in the loop that folds them."""
        lanes = self.writer.phase.lanes
        is_own = not self.nest.is_fold and bool(self.nest.outer)
        is_shared = lanes is not None and not is_own and lanes.index not in statement.indices
        return [*(["lane == 0"] if is_shared else []), *super().conditions(statement)]

    def scatter(self) -> None:
        """The item's value, and where in the result it goes; nowhere is -1.

        Of items that go to one place each, beside each other, the first one tells it.
        """
        writer, nest = self.writer, self.nest
        (statement,) = nest.statements
        assert nest.scattered is not None
        start = writer.depth
        if not is_last(statement):
            self.put("position = np.int64(-1)")
        moved: dict[Atom, Place] = {}
        for name, place in nest.scattered.items():
            variable = writer.fresh(f"to_{name}_place")
            moved[Index(name)] = places.of(Index(variable))
            writer.sizes.extent[variable] = writer.sizes.extent[name]
            self.put(f"{variable} = {writer.place(self.settled(place))}")
            test = self.is_inside(variable, writer.sizes.extent[name], place)
            if is_looked_at(place):
                test = self.noted(variable, place, test, writer.sizes.extent[name])
            is_last_one = len(moved) == len(nest.scattered)
            known = map(self.test, self.guards) if is_last_one else ()
            self.indent(f"if {' and '.join([test, *known])}:")
        at = map_places(statement, lambda place: place.substitute(moved))
        value = self.value(at)
        own = tuple(place.substitute(moved) for place in own_places(statement))
        target = replace(self.target(statement), places=own)
        if is_last(statement):  # any of those that meet: there is no order among threads
            self.put(f"{writer.memory(target)} = {value}")
        else:
            self.put(f"scattered_values[U(item)] = {value}")
            self.put(f"position = np.int64({writer.offset(target)})")
        writer.depth = start
        if not is_last(statement):
            self.put("if is_first:")
            self.put("    scattered_places[U(key)] = position")


def _has_element(place: Place) -> bool:
    """Whether an element of a tensor stands in the sums that make a place."""
    return any(isinstance(atom, Element) for atom in place.atoms)


def is_last(statement: Statement) -> bool:
    """Whether values only replace each other."""
    return statement.fold is not None and statement.fold.kind == LAST
