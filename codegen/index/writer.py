"""Prints one launch: its parameters, its items, and the arithmetic of places."""

from __future__ import annotations

import builtins
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..formula.printer import LINE_LENGTH, parameter_name
from ..model import place as places
from ..model.index import DRAW_KEY, Access, IndexProgram, RandomArray, Statement, Type
from ..model.loops import LoopProgram, Nest, Phase
from ..model.place import Atom, BatchSize, Element, Function, Index, Parameter, Place, Size
from ..record import record
from .rewrite import fresh
from .sizes import Sizes, size_of
from .text import statement_text
from .tidy_texts import bare, tidied

_RESERVED = frozenset(
    (
        *("start", "stop", "item", "rest", "fine", "at", "before", "begin", "end", "row", "run"),
        *("batch", "dims", "batches", "batch_size", "run_size", "plan", "last", "row_start"),
        *("U", "T", "BLOCK", "TILE", "RUN", "WIDE", "kept", "tiles", "width"),
        *("COLUMNS", "LOWEST", "HIGHEST"),
        *("SEARCHED", "SHORTEST", "rising", "falling"),
        *("reads", "part0", "part1", "part2", "part3"),
        *("lesser", "greater", "clamped", "reflected", "around", "counted"),
        *("plus", "times"),
        *("lane", "LANES", "scattered_values", "scattered_places"),
        *("key", "is_first", "position"),
        *("I", "quotient", "modulus", "note_outside", "faults", "first_check"),
        *("larger", "ordered", "unordered", "opposite", "drawn", "IS_DOUBLE"),
        *("first", "final", "edge", "is_whole", "is_better", "is_behind"),
        *("first_inside", "end_inside"),
        *("mode", "LOOK", "WRITE", "ALONG", "outside", "rows_seen", "is_apart", "is_along"),
        *("item_start", "item_stop", "range_start", "range_stop"),
        *("first_turn", "end_turn"),
        *("agree", "apart", "holds", "nonzero", "some", "within", "np"),
        *("l", "O"),  # which are taken for 1 and 0
        *dir(builtins),
    )
)
"""Names that loops use themselves."""
_OF_TENSOR = re.compile(r"_(at|row|run|p|b|s\d+)$|^(n|needs)_")
"""What names end or begin with that loops make of those of tensors and indices."""


_WIDTH = re.compile(r"\bwidth\b(?! = )")
"""Where the number of elements of a tile is read."""


def python_name(name: str) -> str:
    """What an index or a tensor is called in the text."""
    is_taken = name in _RESERVED or _OF_TENSOR.search(name) is not None
    return f"{name}_" if is_taken else parameter_name(name)


@record
class LaunchText:
    """One launch as a function, and what it takes."""

    name: str
    text: str
    arrays: tuple[str, ...]
    """The tensors that it reads and writes, in order."""
    writes: tuple[str, ...]
    """Those of them that it writes."""
    extents: tuple[str, ...]
    """The indices whose extents it takes."""
    integers: tuple[str, ...]
    """The whole numbers that it takes, as expressions of the operator's arguments."""
    numbers: tuple[str, ...]
    """The other arguments."""
    phase: Phase
    product: ProductText | None = None
    """The places of a contraction."""
    window: WindowText | None = None
    """The same for folds over few elements."""
    reach: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """On a device, products of extents and whole numbers whose sum no place exceeds."""
    refused: tuple[str, ...] = ()
    """On a device, what must hold of the places that it looks at, by number."""
    scan: ScanText | None = None
    """On a device, the steps of a scan whose rows threads share."""
    looks: str | None = None
    """The index of whose range threads look at a part, before anything is written."""
    along: str | None = None
    """The innermost index, if threads may share it in place of items."""


@record
class ScanText:
    """A scan as steps that may be grouped."""

    launch: LaunchText
    """One step: what an element alone comes to, or its value stored."""
    joined: str
    """What the function is called that puts two neighbours together."""
    joined_text: str
    index: str
    is_reversed: bool
    is_dense: bool
    """Whether neighbours along the index lie side by side in most of what is read."""
    starts: tuple[str, ...]
    """What stands before the first element, as text."""
    types: tuple[Type, ...]
    """Of what is carried."""
    folds: bool = False
    """Whether only the last value is stored: elements may be put together in any order."""
    columns: str | None = None
    """The index of items along which neighbours do, if a fold's own is none."""


@record
class ProductText:
    """Where the elements of a contraction are, as a function of its indices."""

    name: str
    text: str
    tensors: tuple[str, str, str]
    """What it writes, and the two that it multiplies."""
    indices: tuple[str, ...]
    extents: tuple[str, ...]
    """The indices whose extents the function takes, behind the indices."""
    integers: tuple[str, ...]
    """The whole numbers that it takes, as expressions of the operator's arguments."""


@record
class WindowText:
    """A launch over windows, and what it should be compiled for."""

    launch: LaunchText
    folded: tuple[str, ...]
    """The indices whose extents say how much there is to write out."""
    literals: tuple[str, ...]
    """What of extents and whole numbers is part of the text."""


class PrintsNest(Protocol):
    """What prints a nest."""

    def __init__(self, writer: Writer, nest: Nest) -> None: ...

    def write(self) -> None:
        """Add the lines of the nest to the writer."""


@dataclass
class Writer(ABC):
    """One launch."""

    loops: LoopProgram
    phase: Phase
    name: str
    exact: Collection[str] = ()
    has_mask: bool = False
    lines: list[str] = field(default_factory=list)
    depth: int = 1
    arrays: dict[str, None] = field(default_factory=dict)
    extents: dict[str, None] = field(default_factory=dict)
    integers: dict[Place, str] = field(default_factory=dict)
    checks: bool = False

    def __post_init__(self) -> None:
        self.program: IndexProgram = self.loops.program
        self.sizes = Sizes(self.program)
        self.tensors = self.program.tensors
        self.inputs = {each.name for each in self.program.inputs}
        self.local = {*self.phase.numbers, *self.phase.rows}
        self.taken = {python_name(name) for name in (*self.tensors, *self.program.extent)}
        self.taken |= {python_name(name) for name in self.program.numbers} | _RESERVED
        self.held = {
            each.target
            for nest in self.phase.nests
            for each in nest.statements
            if each.indices == self.phase.items
            and self.phase.spread is None
            and nest.scattered is None
            and not self.phase.runs_items
        }
        self.at_hand: dict[str, str] = {}
        """Elements of the nest's own statements, which are variables before they are stored."""
        self.numbers: dict[str, None] = {}
        self.over_batch: dict[str, str] = {}
        self.loaded: dict[Atom, str] = {}
        self.limits: dict[tuple[str, tuple[Place, ...], tuple[Place, ...]], tuple[str, str]] = {}
        """Where loops begin and end, as variables."""
        self.checked: set[tuple[Element, Place]] = set()
        self.borrowed = {} if self.has_mask else self.phase.borrowed
        """Rows that live in a result; not where a call may do without that."""

    @property
    @abstractmethod
    def nest_writer(self) -> type[PrintsNest]:
        """What prints a nest."""

    @property
    def looks(self) -> str | None:
        """Of what places are looked at before anything is written; None if no place is."""
        return None

    @property
    def shares_vector(self) -> bool:
        """Whether threads can share the innermost index, where there are few items."""
        return False

    @property
    def first_parameters(self) -> tuple[str, ...]:
        """What a launch takes before its arrays."""
        return ("start", "stop")

    def put(self, line: str) -> None:
        """Add a line; one that is too long gets brackets, inside which it may be broken."""
        target, equals, value = line.partition(" = ")
        if equals:
            value = bare(value)
            line = f"{target} = {value}"
        room = LINE_LENGTH - 4 * self.depth
        has_room = not value.isidentifier() or len(f"{target} = (") <= room
        if equals and len(line) > room and has_room and not _is_call(value):
            line = f"{target} = ({value})"
        self.lines.append("    " * self.depth + line)

    def fresh(self, wanted: str) -> str:
        return fresh(wanted, self.taken)

    # The function

    def launch(self) -> LaunchText:
        phase = self.phase
        rows = [name for name in phase.rows if name in self.local]
        if phase.tile:
            self.put(f"width = lesser(TILE, {self.extent(phase.tile)})")
        for name in [each for each in rows if each not in self.borrowed]:
            self.put(f"{python_name(name)} = np.empty({self.row_size(name)}, {self.dtype(name)})")
        self.body()
        if phase.tile and not any(_WIDTH.search(line) for line in self.lines[1:]):
            self.lines = [line for line in self.lines if not line.startswith("    width = ")]
        arrays = tuple(self.arrays)
        parameters = [*self.first_parameters, *map(python_name, arrays)]
        for name in arrays:
            parameters.append(f"{name}_at")
            if self.tensors[name].has_batch:
                parameters.append(f"{name}_row")
            if phase.runs_batch and self.tensors[name].has_batch:
                parameters.append(f"{name}_run")
            parameters += [f"{name}_s{dim}" for dim in range(self.tensors[name].rank)]
        has_batch = phase.has_batch or any(nest.over_batch for nest in phase.nests)
        parameters += ["batch", "dims", "batches"] if has_batch else []
        parameters += ["run_size"] if phase.runs_batch else []
        parameters += [f"n_{name}" for name in self.extents]
        parameters += list(self.integers.values())
        parameters += [python_name(name) for name in self.numbers]
        parameters += [f"needs_{name}" for name in arrays if self.is_optional(name)]
        statements = [each for nest in phase.nests for each in nest.statements]
        vector = phase.nests[0].vector
        text = "\n".join(
            [
                f"def {self.name}({', '.join(parameters)}):",
                *_docstring([statement_text(each) for each in statements]),
                *(["    fine = True"] if self.checks else []),
                *tidied(self.lines),
                *self.closing(),
            ]
        )
        return LaunchText(
            self.name,
            text + "\n",
            arrays,
            tuple(n for n in dict.fromkeys(each.target for each in statements) if n in arrays),
            tuple(self.extents),
            tuple(str(place) for place in self.integers),
            tuple(self.numbers),
            phase,
            looks=self.looks,
            along=vector.index if vector is not None and self.shares_vector else None,
        )

    def closing(self) -> list[str]:
        """What a launch ends with."""
        return [f"    return {'fine' if self.checks else 'True'}"]

    def is_optional(self, name: str) -> bool:
        """Whether a call may do without a tensor."""
        return self.has_mask and name in self.program.results

    def row_size(self, name: str) -> str:
        rest = self.program.statement(name).indices[len(self.phase.items) :]
        return " * ".join(self.row_extent(each) for each in rest)

    def row_extent(self, index: str) -> str:
        """How many elements along an index are kept in a row."""
        return "width" if index == self.phase.tile else self.extent(index)

    def dtype(self, name: str) -> str:
        return {"number": "T", "int": "np.int64", "bool": "np.bool_"}[self.tensors[name].type]

    def extent(self, index: str) -> str:
        self.extents.setdefault(index)
        return f"n_{index}"

    def body(self) -> None:
        phase = self.phase
        if phase.spread is None:
            self.items()
        for nest in phase.nests:
            self.nest_writer(self, nest).write()
        self.depth = 1

    def items(self) -> None:
        """Begin the loop over items."""
        self.put("for item in range(start, stop):")
        self.depth += 1
        self.decode("item")
        self.row_starts()

    @property
    def counted(self) -> tuple[str, ...]:
        """The indices that an item is told by, the last of them fastest."""
        return self.phase.items

    @property
    def counters(self) -> list[str]:
        """What an item is told by, the fastest first; the last has no extent."""
        names = [python_name(name) for name in reversed(self.counted)]
        return [*names, "rest"] if self.phase.has_batch else names

    def decode(self, item: str) -> None:
        """The item's indices, the last of them fastest, and its number among all of `...`."""
        counters = self.counters
        for name, counter in zip(reversed(self.counted), counters[:-1], strict=False):
            extent = self.extent(name)
            self.put(f"{counter} = {item} % {extent}")
            self.put(f"rest = {item} // {extent}")
            item = "rest"
        if counters and counters[-1] != item:
            self.put(f"{counters[-1]} = {item}")

    def row_starts(self) -> None:
        """Where the item's elements begin."""
        for name in self.batched() if self.phase.has_batch else ():
            self.put(f"{name}_p = {self.row_of(name, 'rest')}")

    def row_of(self, name: str, number: str) -> str:
        """Where a row of a tensor begins."""
        return f"{name}_at + row_start(batch, dims, {name}_row, {number})"

    def batched(self) -> list[str]:
        """The tensors in memory that have a dim for each of `...`."""
        found: dict[str, None] = {}
        for nest in self.phase.nests:
            for each in nest.statements:
                for access in (*each.accesses, Access(each.target, each.has_batch, ())):
                    is_made = access.tensor in self.local or access.tensor in self.program.drawn
                    if access.has_batch and not is_made:
                        found.setdefault(access.tensor)
        return list(found)

    # Whole numbers

    def place(self, place: Place, strength: int = 0) -> str:
        """A place as an expression: of 1 a factor, of 2 what something is divided by."""
        text = ""
        for monomial, factor in sorted(place.terms, key=lambda t: (not t[0], t[1] < 0)):
            part = self.product(monomial, factor)
            sign = "-" if factor < 0 else "+"
            text = f"{text} {sign} {part}" if text else part if factor > 0 else f"-{part}"
        is_sum = len(place.terms) > 1 or text.startswith("-")
        if (strength and is_sum) or (strength > 1 and " * " in text):
            return f"({text})"
        return text or "0"

    def product(self, monomial: Sequence[Atom], factor: int) -> str:
        """A term of a place, without its sign."""
        parts = [self.atom(atom) for atom in monomial]
        if abs(factor) != 1 or not parts:
            parts.append(str(abs(factor)))
        return " * ".join(parts)

    def atom(self, atom: Atom) -> str:
        match atom:
            case Index(name):
                return python_name(name)
            case Parameter() | Size() | BatchSize():
                return self.whole(atom)
            case Element() | Function() if atom in self.loaded:
                return self.loaded[atom]
            case Element(tensor, has_batch, inner, outside):
                text = f"np.int64({self.element(Access(tensor, has_batch, inner))})"
                known = "" if outside is None else self.are_inside(tensor, inner)
                if outside is None or not known:
                    return text
                return f"({text} if {known} else np.int64({self.place(outside)}))"
            case Function("quotient", (first, second)) if _power_of_two(second):
                return f"({self.place(first, 1)} >> {_power_of_two(second)})"
            case Function("remainder" | "wrap", (first, second)) if _power_of_two(second):
                return f"({self.place(first, 1)} & {(1 << _power_of_two(second)) - 1})"
            case Function("quotient", (first, second)):
                return f"({self.place(first, 1)} // {self.place(second, 2)})"
            case Function("remainder", (first, second)):
                return f"({self.place(first, 1)} % {self.place(second, 2)})"
            case Function("wrap", (first, second)):
                return f"around({self.place(first)}, {self.place(second)})"
            case Function("least", (first, second)):
                return f"lesser({self.place(first)}, {self.place(second)})"
            case Function("greatest", (first, second)):
                return f"greater({self.place(first)}, {self.place(second)})"
            case Function("clamp", (first, second)):
                return f"clamped({self.place(first)}, {self.place(second)})"
            case Function("reflect", (first, second)):
                return f"reflected({self.place(first)}, {self.place(second)})"
            case Function("signed", (first, second)):
                return f"counted({self.place(first)}, {self.place(second)})"
            case Function("checked", (first, _)):
                return self.place(first, 1)
        raise AssertionError(atom)

    def are_inside(self, tensor: str, inner: Sequence[Place]) -> str:
        """The test whether places are in a tensor, of those that are not for certain."""
        tests: list[str] = []
        for dim, place in enumerate(inner):
            size = size_of(self.program, tensor, dim)
            if self.sizes.is_inside(place, size):
                continue
            if not self.sizes.is_never_negative(place):
                tests.append(f"({self.place(place, 1)} >= 0)")
            tests.append(f"({self.place(place, 1)} < {self.place(size, 1)})")
        return " & ".join(tests)

    def whole(self, atom: Atom) -> str:
        """A size or a whole number among the arguments."""
        place = self.sizes.canonical(places.of(atom))
        for name in self.program.extent:
            if self.sizes.extent[name] == place:
                return self.extent(name)
        if isinstance(atom, Parameter):
            name = python_name(atom.name)
        elif isinstance(atom, BatchSize):
            name = "batch_size"
        else:
            assert isinstance(atom, Size)
            name = f"{atom.tensor}_size{-atom.dim}"
        return self.integers.setdefault(places.of(atom), name)

    # Elements

    def element(self, access: Access) -> str:
        """An element in memory, or a number or part of a row within the item."""
        if access.tensor in self.held:
            return self.held_name(access.tensor)
        return self.at_hand.get(access.tensor) or self.memory(access)

    def held_name(self, tensor: str) -> str:
        """What the number within the item is called."""
        is_local = tensor in self.phase.numbers
        return python_name(tensor) if is_local else f"{python_name(tensor)}_here"

    def memory(self, access: Access) -> str:
        """An element in memory."""
        if access.tensor in self.borrowed:
            access = replace(access, tensor=self.borrowed[access.tensor])
        return f"{python_name(access.tensor)}[U({self.offset(access)})]"

    def offset(self, access: Access) -> str:
        if access.tensor in self.phase.rows:
            first = len(self.phase.items)
            own = self.program.statement(access.tensor).indices[first:]
            dense = self.loops.dense.get(access.tensor)
            pairs = sorted(
                zip(own, access.places[first:], strict=True), key=lambda pair: pair[0] == dense
            )
            indices, rest = [name for name, _ in pairs], [place for _, place in pairs]
            text = self.place(rest[0], len(rest) - 1)
            for number, (place, index) in enumerate(zip(rest[1:], indices[1:], strict=True)):
                text = f"{text} * {self.row_extent(index)} + {self.place(place)}"
                text = f"({text})" if number < len(rest) - 2 else text
            return f"{text} - begin" if indices[-1] == self.phase.tile else text
        self.arrays.setdefault(access.tensor)
        name = access.tensor
        parts = [self.start_of(access)]
        for dim, place in enumerate(access.places):
            if place != Place():
                parts.append(self.step(self.place(place, 1), f"{name}_s{dim}"))
        if self.phase.runs_batch and access.has_batch:
            parts.append(f"run * {name}_run")
        return " + ".join(parts)

    def step(self, place: str, stride: str) -> str:
        """How far a place lies from the first one."""
        return f"{place} * {stride}"

    def drawn(self, access: Access) -> str:
        """A random number: a function of the key and of the number of its element."""
        draw = self.program.drawn[access.tensor]
        key = Access(DRAW_KEY, False, (places.number(0),))
        return f"drawn({self.memory(key)}, {self.number_of(access, draw)}, {draw.number})"

    def number_of(self, access: Access, draw: RandomArray) -> str:
        """Which element of a random tensor it is, the last dim fastest."""
        text = self.batch_number() if draw.has_batch else ""
        for size, place in zip(draw.sizes, access.places, strict=True):
            text = (
                f"({text}) * {self.place(size, 1)} + {self.place(place)}"
                if text
                else (self.place(place))
            )
        return text or "0"

    def batch_number(self) -> str:
        """Which of all that `...` stands for is at hand."""
        if self.over_batch:
            return "row"
        number = "rest" if self.phase.items else "item"
        return f"{number} * run_size + run" if self.phase.runs_batch else number

    def start_of(self, access: Access) -> str:
        if not access.has_batch:
            return f"{access.tensor}_at"
        return self.over_batch.get(access.tensor, f"{access.tensor}_p")


def _is_call(text: str) -> bool:
    """Whether a text is one call or element, which has brackets."""
    name, _, rest = text.replace("[", "(", 1).partition("(")
    depth = 1
    for number, each in enumerate(rest):
        depth += (each in "([") - (each in ")]")
        if not depth:
            return name.replace(".", "_").isidentifier() and number == len(rest) - 1
    return False


def own_places(statement: Statement) -> tuple[Place, ...]:
    return tuple(map(places.index, statement.indices))


def _power_of_two(place: Place) -> int:
    """The exponent of a constant power of two, which divides by a shift; else 0."""
    value = place.constant or 0
    return value.bit_length() - 1 if value > 1 and value & (value - 1) == 0 else 0


def _docstring(lines: Sequence[str]) -> list[str]:
    further = "    " if len(lines) > 1 else ""  # alone, it would be indented for nothing
    width = 92 if len(lines) > 1 or len(lines[0]) > 92 else 87  # no end of it stands alone
    wrapped = [
        part for line in lines for part in textwrap.wrap(line, width, subsequent_indent=further)
    ]
    wrapped = [line.replace('"""', "'''") for line in wrapped]
    if len(wrapped) == 1:
        return [f'    """{wrapped[0]}"""']
    return [f'    """{wrapped[0]}', *(f"    {line}" for line in wrapped[1:]), '    """']
