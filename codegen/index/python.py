"""Prints launches as plain Python functions over flat memory, which kernels are compiled from.

A function gets a range of items, then flat arrays, then for each array where it begins, its row of
strides along the dims of `...`, and the strides of its places; extents and numbers come last. The
backend makes those constants that it compiles for. `plus` and `times` put together what a fold has
so far and an element: these may be reordered, formulas not.
"""

from __future__ import annotations

import builtins
import textwrap
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..formula.printer import LINE_LENGTH, Printer, parameter_name
from ..formula.python import _KernelPrinter
from ..formula.result import cost
from ..formula.simplify import simplify
from ..model import place as places
from ..model.formula import Argument, Expression, Formula, Named, walk
from ..model.index import (
    ALL,
    ANY,
    ARGMAX,
    ARGMIN,
    MAX,
    MIN,
    PROD,
    SUM,
    Access,
    IndexProgram,
    Source,
    Statement,
    Test,
)
from ..model.loops import Loop, LoopProgram, Nest, Phase
from ..model.place import Atom, Element, Function, Index, Parameter, Place, Size
from .rewrite import Sizes, fresh, map_places, size_of
from .text import statement_text

HEAVY = 36 + 12
"""Work of formulas, in multiplications and with what they read, from which vectors pay."""
_RESERVED = frozenset(
    (
        *("start", "stop", "item", "rest", "fine", "at", "before", "begin", "end", "row", "run"),
        *("batch", "dims", "batches", "run_size", "integers", "U", "T", "BLOCK", "row_start"),
        *("lesser", "greater", "clamped", "reflected", "plus", "times"),
        *("lane", "LANES", "scattered_values", "scattered_places"),
        *("larger", "ordered", "unordered"),
        *dir(builtins),
    )
)
"""Names that loops use themselves."""


def python_name(name: str) -> str:
    """What an index or a tensor is called in the text."""
    return f"{name}_" if name in _RESERVED else parameter_name(name)


@dataclass(frozen=True, slots=True)
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


def launch_texts(
    loops: LoopProgram, name: str, exact: Collection[str] = (), has_mask: bool = False
) -> Iterator[LaunchText]:
    """All launches of a program.

    exact: the arguments that are of the compute type for certain, without a conversion. has_mask:
    whether a call says which results it needs.
    """
    for number, phase in enumerate(loops.phases):
        yield Writer(loops, phase, f"{name}_{number}", exact, has_mask).launch()


@dataclass
class Writer:
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
            and not self.phase.runs_batch
        }
        self.numbers: dict[str, None] = {}
        self.over_batch: dict[str, str] = {}

    @property
    def nest_writer(self) -> type[NestWriter]:
        """What prints a nest."""
        return NestWriter

    @property
    def first_parameters(self) -> tuple[str, ...]:
        """What a launch takes before its arrays."""
        return ("start", "stop")

    def put(self, line: str) -> None:
        """Add a line; one that is too long gets brackets, inside which it may be broken."""
        target, equals, value = line.partition(" = ")
        if equals and len(line) + 4 * self.depth > LINE_LENGTH:
            line = f"{target} = ({value})"
        self.lines.append("    " * self.depth + line)

    def fresh(self, wanted: str) -> str:
        return fresh(wanted, self.taken)

    # The function

    def launch(self) -> LaunchText:
        phase = self.phase
        rows = [name for name in phase.rows if name in self.local]
        body = Writer.body
        for name in rows:
            self.put(f"{python_name(name)} = np.empty({self.row_size(name)}, {self.dtype(name)})")
        body(self)
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
        text = "\n".join(
            [
                f"def {self.name}({', '.join(parameters)}):",
                *_docstring([statement_text(each) for each in statements]),
                *(["    fine = True"] if self.checks else []),
                *self.lines,
                f"    return {'fine' if self.checks else 'True'}",
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
        )

    def is_optional(self, name: str) -> bool:
        """Whether a call may do without a tensor."""
        return self.has_mask and name in self.program.results

    def row_size(self, name: str) -> str:
        rest = self.program.statement(name).indices[len(self.phase.items) :]
        return " * ".join(self.extent(each) for each in rest)

    def dtype(self, name: str) -> str:
        return {"number": "T", "int": "np.int64", "bool": "np.bool_"}[self.tensors[name].type]

    def extent(self, index: str) -> str:
        self.extents.setdefault(index)
        return f"n_{index}"

    def body(self) -> None:
        phase = self.phase
        if phase.spread is None:
            self.put("for item in range(start, stop):")
            self.depth += 1
            self.decode()
        for nest in phase.nests:
            self.nest_writer(self, nest).write()
        self.depth = 1

    def decode(self) -> None:
        """The item's indices, the last of them fastest."""
        phase = self.phase
        if not phase.items and not phase.has_batch:
            return
        rest = "item"
        for position, name in reversed(list(enumerate(phase.items))):
            is_first = position == 0 and not phase.has_batch
            if is_first:
                self.put(f"{python_name(name)} = {rest}")
                return
            extent = self.extent(name)
            self.put(f"{python_name(name)} = {rest} % {extent}")
            self.put(f"rest = {rest} // {extent}")
            rest = "rest"
        if phase.has_batch:
            for name in self.batched():
                start = f"{name}_at + row_start(batch, dims, {name}_row, {rest})"
                self.put(f"{name}_p = {start}")

    def batched(self) -> list[str]:
        """The tensors in memory that have a dim for each of `...`."""
        found: dict[str, None] = {}
        for nest in self.phase.nests:
            for each in nest.statements:
                for access in (*each.accesses, Access(each.target, each.has_batch, ())):
                    if access.has_batch and access.tensor not in self.local:
                        found.setdefault(access.tensor)
        return list(found)

    # Whole numbers

    def place(self, place: Place, strength: int = 0) -> str:
        """A place as an expression."""
        text = ""
        for monomial, factor in sorted(place.terms, key=lambda t: (not t[0], t[1] < 0)):
            parts = [self.atom(atom) for atom in monomial]
            if abs(factor) != 1 or not parts:
                parts.append(str(abs(factor)))
            part = " * ".join(parts)
            sign = "-" if factor < 0 else "+"
            text = f"{text} {sign} {part}" if text else part if factor > 0 else f"-{part}"
        if strength and (len(place.terms) > 1 or text.startswith("-")):
            return f"({text})"
        return text or "0"

    def atom(self, atom: Atom) -> str:
        match atom:
            case Index(name):
                return python_name(name)
            case Parameter() | Size():
                return self.whole(atom)
            case Element(tensor, has_batch, inner):
                return f"np.int64({self.element(Access(tensor, has_batch, inner))})"
            case Function("quotient", (first, second)) if _power_of_two(second):
                return f"({self.place(first, 1)} >> {_power_of_two(second)})"
            case Function("remainder" | "wrap", (first, second)) if _power_of_two(second):
                return f"({self.place(first, 1)} & {(1 << _power_of_two(second)) - 1})"
            case Function("quotient", (first, second)):
                return f"({self.place(first, 1)} // {self.place(second, 1)})"
            case Function("remainder" | "wrap", (first, second)):
                return f"({self.place(first, 1)} % {self.place(second, 1)})"
            case Function("least", (first, second)):
                return f"lesser({self.place(first)}, {self.place(second)})"
            case Function("greatest", (first, second)):
                return f"greater({self.place(first)}, {self.place(second)})"
            case Function("clamp", (first, second)):
                return f"clamped({self.place(first)}, {self.place(second)})"
            case Function("reflect", (first, second)):
                return f"reflected({self.place(first)}, {self.place(second)})"
        raise AssertionError(atom)

    def whole(self, atom: Atom) -> str:
        """A size or a whole number among the arguments."""
        place = self.sizes.canonical(places.of(atom))
        for name, extent in self.sizes.extent.items():
            if extent == place:
                return self.extent(name)
        if isinstance(atom, Parameter):
            name = python_name(atom.name)
        else:
            assert isinstance(atom, Size)
            name = f"{atom.tensor}_size{-atom.dim}"
        return self.integers.setdefault(places.of(atom), name)

    # Elements

    def element(self, access: Access) -> str:
        """An element in memory, or a number or part of a row within the item."""
        if access.tensor in self.held:
            return self.held_name(access.tensor)
        return self.memory(access)

    def held_name(self, tensor: str) -> str:
        """What the number within the item is called."""
        is_local = tensor in self.phase.numbers
        return python_name(tensor) if is_local else f"{python_name(tensor)}_here"

    def memory(self, access: Access) -> str:
        """An element in memory."""
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
                text = f"{text} * {self.extent(index)} + {self.place(place)}"
                text = f"({text})" if number < len(rest) - 2 else text
            return text
        self.arrays.setdefault(access.tensor)
        name = access.tensor
        parts = [self.start_of(access)]
        for dim, place in enumerate(access.places):
            if place != Place():
                parts.append(f"{self.place(place, 1)} * {name}_s{dim}")
        if self.phase.runs_batch and access.has_batch:
            parts.append(f"run * {name}_run")
        return " + ".join(parts)

    def start_of(self, access: Access) -> str:
        if not access.has_batch:
            return f"{access.tensor}_at"
        return self.over_batch.get(access.tensor, f"{access.tensor}_p")


class NestWriter:
    """One nest of a launch."""

    def __init__(self, writer: Writer, nest: Nest) -> None:
        self.writer = writer
        self.nest = nest
        self.depth = writer.depth
        self.values: dict[Source, str] = {}
        self.made: dict[str, str] = {}
        self.accumulators: list[str] = []

    def put(self, line: str) -> None:
        self.writer.put(line)

    def indent(self, line: str) -> None:
        self.put(line)
        self.writer.depth += 1

    def write(self) -> None:
        writer, nest = self.writer, self.nest
        if writer.phase.runs_batch:
            self.indent("for run in range(run_size):")
        staged = self.in_blocks()
        for loop in nest.outer[: len(nest.outer) - staged]:
            self.loop(loop)
        if staged:
            self.blocks(nest.outer[-1])
        if nest.scattered is not None:
            self.scatter()
        elif not nest.is_fold:
            self.guarded()
            self.elements()
        elif nest.vector is not None:
            self.vector_fold()
        else:
            self.scalar_fold()
        writer.depth = self.depth

    # Loops

    def loop(self, loop: Loop, first: str = "0", last: str = "") -> None:
        """`for` over an index between its bounds; first, last: others."""
        first, last = self.bounds(loop, first, last)
        bounds = last if first == "0" else f"{first}, {last}"
        if loop.is_reversed:
            bounds = f"{last} - 1, {first} - 1, -1"
        self.indent(f"for {python_name(loop.index)} in range({bounds}):")

    def bounds(self, loop: Loop, first: str, last: str) -> tuple[str, str]:
        """Where a loop begins and ends."""
        writer = self.writer
        if writer.phase.spread == loop.index and not last:
            first, last = "start", "stop"
        last = last or writer.extent(loop.index)
        for place in loop.lower:
            first = f"greater({first}, {writer.place(place)})"
        for place in loop.upper:
            last = f"lesser({last}, {writer.place(place)})"
        return first, last

    def fold_loops(self) -> None:
        """The loops over what is folded: `...` outermost."""
        writer, nest = self.writer, self.nest
        if nest.over_batch:
            self.indent("for row in range(batches):")
            for name in writer.batched():
                self.put(f"{name}_b = {name}_at + row_start(batch, dims, {name}_row, row)")
                writer.over_batch[name] = f"{name}_b"
        for loop in nest.inner:
            self.loop(loop)

    def guarded(self) -> None:
        for test in self.nest.guards:
            self.indent(f"if {self.test(test)}:")

    def test(self, test: Test) -> str:
        return f"{self.writer.place(test.place)} {test.relation} 0"

    # Bodies

    def body_values(self) -> list[str]:
        """Load what the statements read, and name their values."""
        found = []
        for statement in self.nest.statements:
            found.append(self.value(statement))
        return found

    def value(self, statement: Statement) -> str:
        """A statement's formula over what is loaded for it; shared parts are lines before."""
        formula = simplify(replace(statement.formula, text=""))
        arguments: dict[str, str] = {}
        for read in statement.reads:
            arguments[read.name] = self.source(read.source, formula, read.name)
        outcome = formula.outputs[0]
        if isinstance(outcome, Argument) and outcome.name in arguments:
            return arguments[outcome.name]
        for node in walk(formula.outputs):
            if isinstance(node, Argument) and node.name not in arguments:
                self.writer.numbers.setdefault(node.name)
                arguments[node.name] = python_name(node.name)
        printer = _LinePrinter(formula, arguments, self.writer.taken, self.writer.depth)
        *lines, last = printer.body()
        for line in lines:
            self.put(line)
        return last.removeprefix("return ")

    def source(self, source: Source, formula: Formula, name: str) -> str:
        """A variable that holds what is read."""
        if source in self.values:
            return self.values[source]
        writer = self.writer
        match source:
            case Access(tensor=tensor) if tensor in self.made:
                return self.made[tensor]
            case Access():
                if source.tensor in writer.held:
                    return writer.held_name(source.tensor)
                text = self.load(source)
                word = source.tensor
            case Test():
                text, word = self.test(source), "test"
            case _:
                text, word = f"T({writer.place(source)})", "place"
        variable = writer.fresh(f"{word}_value")
        self.put(f"{variable} = {text}")
        self.values[source] = variable
        return variable

    def load(self, access: Access) -> str:
        """The element, of the compute type; checked, or what stands outside."""
        writer = self.writer
        kind = writer.tensors[access.tensor].type
        conditions: list[str] = []
        made = list(access.places)
        for dim, place in enumerate(access.places):
            size = size_of(writer.program, access.tensor, dim)
            if writer.sizes.is_inside(place, size):
                continue
            if access.outside is not None:
                conditions.append(self.is_inside(writer.place(place, 1), size, place))
            elif _may_miss(place):
                made[dim] = self.checked(place, size)
        element = writer.element(replace(access, places=tuple(made)))
        is_made = access.tensor not in writer.inputs and kind == "number"
        is_exact = kind == "bool" or is_made or access.tensor in writer.exact
        text = element if is_exact else f"T({element})"
        if not conditions or access.outside is None:
            return text
        value = access.outside
        known = writer.fresh("is_inside")
        self.put(f"{known} = {' & '.join(conditions)}")
        literal = f"T({value.name})" if isinstance(value, Named) else f"T({value.value!r})"
        return f"{text} if {known} else {literal}"

    def checked(self, place: Place, size: Place) -> Place:
        """A place that is known to be inside, or 0 and then the launch has failed."""
        writer = self.writer
        writer.checks = True
        variable = writer.fresh("place")
        known = writer.fresh("is_inside")
        self.put(f"{variable} = {writer.place(place)}")
        self.put(f"{known} = {self.is_inside(variable, size)}")
        self.put(f"fine &= {known}")
        self.put(f"{variable} = {variable} if {known} else 0")
        writer.sizes.extent[variable] = size
        return places.of(Index(variable))

    def is_inside(self, text: str, size: Place, place: Place | None = None) -> str:
        """The test whether a place is in a dim, without what is certain."""
        sizes = self.writer.sizes
        tests = [f"({text} >= 0)", f"({text} < {self.writer.place(size, 1)})"]
        if place is not None and sizes.is_never_negative(place):
            return tests[1]
        if place is not None and sizes.is_never_negative(size - place - places.number(1)):
            return tests[0]
        return " & ".join(tests)

    def store(self, statement: Statement, value: str) -> None:
        target = Access(statement.target, statement.has_batch, own_places(statement))
        held = self.writer.held_name(statement.target)
        if statement.target in self.writer.held and value != held:
            self.put(f"{held} = {value}")
        if statement.target not in self.writer.phase.numbers:
            line = f"{self.writer.memory(target)} = {value}"
            conditions = self.conditions(statement)
            if conditions:
                self.put(f"if {' and '.join(conditions)}:")
                line = f"    {line}"
            self.put(line)

    def conditions(self, statement: Statement) -> list[str]:
        """On what it depends whether an element is written to memory."""
        is_optional = self.writer.is_optional(statement.target)
        return [f"needs_{statement.target}"] if is_optional else []

    def elements(self) -> None:
        """Everything is loaded, then stored: what is stored could be what is loaded."""
        stores = []
        for statement in self.nest.statements:
            value = self.value(statement)
            variable = self.writer.held_name(statement.target)
            if statement.target not in self.writer.held:
                variable = self.writer.fresh(f"{statement.target}_value")
            cast = statement.type == "int"
            self.put(f"{variable} = {f'np.int64({value})' if cast else value}")
            self.made[statement.target] = variable
            stores.append((statement, variable))
        for statement, variable in stores:
            if statement.target not in self.writer.phase.numbers:
                self.store(statement, variable)

    def scalar_fold(self) -> None:
        """Accumulators are numbers; the innermost loop is one of the fold's."""
        writer = self.writer
        start = writer.depth
        totals = [writer.fresh(f"{s.target}_total") for s in self.nest.statements]
        for statement, total in zip(self.nest.statements, totals, strict=True):
            least = "ordered(T(-inf))" if self.is_ordered(statement) else _identity(statement)
            self.put(f"{total} = {least}")
            if is_argument(statement):
                self.put(f"{total}_at = 0")
        self.fold_loops()
        self.guarded()
        for statement, total in zip(self.nest.statements, totals, strict=True):
            self.accumulate(statement, total, self.value(statement))
        writer.depth = start
        for statement, total in zip(self.nest.statements, totals, strict=True):
            self.join(statement, total)
            if self.is_ordered(statement):
                self.put(f"{total}_value = {_signed(statement)}unordered({total})")
                self.store(statement, f"{total}_value")
            else:
                self.store(statement, f"{total}_at" if is_argument(statement) else total)
        writer.over_batch = {}

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
            beats = f"{variable} {'>' if kind == ARGMAX else '<'} {total}"
            is_first_nan = f"({variable} != {variable}) & ({total} == {total})"
            self.put(f"if ({beats}) | ({is_first_nan}):")
            self.put(f"    {total} = {variable}")
            self.put(f"    {total}_at = {python_name(statement.fold.indices[0])}")
            return
        item = self.writer.fresh(f"{statement.target}_item")
        self.put(f"{item} = {value}")
        if self.is_ordered(statement):
            self.put(f"{total} = larger({total}, ordered({_signed(statement)}{item}))")
            return
        function = {SUM: "plus", PROD: "times"}.get(kind)
        is_dense = bool(self.nest.inner) or self.nest.over_batch
        if function and is_dense:
            self.put(f"{total} = {function}({total}, {item})")
        else:
            self.put(f"{total} = {_combined(kind, total, item)}")

    # Reads that are not dense

    def irregular(self, index: str) -> list[Access]:
        """The elements that are read at places that do not move evenly with an index."""
        found: dict[Access, None] = {}
        made = {each.target for each in self.nest.statements}
        for statement in self.nest.statements:
            for read in statement.reads:
                source = read.source
                if not isinstance(source, Access) or source.tensor in made:
                    continue
                is_number = self.writer.tensors[source.tensor].type == "number"
                if is_number and any(_is_uneven(place, index) for place in source.places):
                    found.setdefault(source)
        return list(found)

    def in_blocks(self) -> bool:
        """Whether elements are computed in blocks, of which uneven reads are made first.

        LLVM cannot tell that such a read is not of what the loop writes, and then uses no vectors.
        """
        nest = self.nest
        if nest.is_fold or not nest.outer or nest.guards or nest.outer[-1].is_reversed:
            return False
        if any(each.reads_itself for each in nest.statements):
            return False
        work = sum(cost(replace(each.formula, arguments=())) for each in nest.statements)
        return work > HEAVY and bool(self.irregular(nest.outer[-1].index))

    def blocks(self, loop: Loop) -> None:
        """The loop over a block of an index, with its uneven reads before it."""
        writer = self.writer
        is_spread = writer.phase.spread == loop.index
        first, last = ("start", "stop") if is_spread else ("0", writer.extent(loop.index))
        self.indent(f"for begin in range({first}, {last}, BLOCK):")
        self.put(f"end = lesser(begin + BLOCK, {last})")
        self.stage(loop)
        self.loop(loop, "begin", "end")

    def stage(self, loop: Loop) -> None:
        """Read what is not dense along an index into blocks that are."""
        writer = self.writer
        for access in self.irregular(loop.index) if not self.nest.guards else ():
            block = writer.fresh(f"{access.tensor}_block")
            writer.lines.insert(0, f"    {block} = np.empty(BLOCK, T)")
            depth = writer.depth
            self.loop(loop, "begin", "end")
            element = f"{block}[U({python_name(loop.index)} - begin)]"
            text = self.load(access)
            self.put(f"{element} = {text}")
            writer.depth = depth
            self.values[access] = element

    def vector_fold(self) -> None:
        """Accumulators are blocks along an index of the statement, which is innermost."""
        writer, vector = self.writer, self.nest.vector
        assert vector is not None
        start = writer.depth
        name = python_name(vector.index)
        is_spread = writer.phase.spread == vector.index
        first, last = ("start", "stop") if is_spread else ("0", writer.extent(vector.index))
        blocks = [writer.fresh(f"{s.target}_block") for s in self.nest.statements]
        for statement, block in zip(self.nest.statements, blocks, strict=True):
            line = f"    {block} = np.empty(BLOCK, {writer.dtype(statement.target)})"
            writer.lines.insert(0, line)
        self.indent(f"for begin in range({first}, {last}, BLOCK):")
        self.put(f"end = lesser(begin + BLOCK, {last})")
        self.indent(f"for {name} in range(begin, end):")
        for statement, block in zip(self.nest.statements, blocks, strict=True):
            self.put(f"{block}[U({name} - begin)] = {_identity(statement)}")
        writer.depth -= 1
        within = writer.depth
        self.fold_loops()
        self.stage(vector)
        self.loop(vector, "begin", "end")
        self.guarded()
        for statement, block in zip(self.nest.statements, blocks, strict=True):
            assert statement.fold is not None
            item = writer.fresh(f"{statement.target}_item")
            self.put(f"{item} = {self.value(statement)}")
            self.put(f"at = U({name} - begin)")
            self.put(f"before = {block}[at]")
            self.put(f"{block}[at] = {_combined(statement.fold.kind, 'before', item)}")
        writer.depth = within
        writer.over_batch = {}
        self.indent(f"for {name} in range(begin, end):")
        for statement, block in zip(self.nest.statements, blocks, strict=True):
            self.store(statement, f"{block}[U({name} - begin)]")
        writer.depth = start

    def scatter(self) -> None:
        """Every element of the fold goes where its condition says, if that is in the result."""
        writer, nest = self.writer, self.nest
        (statement,) = nest.statements
        assert nest.scattered is not None and statement.fold is not None
        start = writer.depth
        target = Access(statement.target, statement.has_batch, own_places(statement))
        free = [Loop(name) for name in nest.scattered]
        for loop in (*free, *([nest.vector] if nest.vector else [])):
            self.loop(replace(loop, lower=(), upper=()))
        self.put(f"{writer.memory(target)} = {_identity(statement)}")
        writer.depth = start
        self.fold_loops()
        moved: dict[Atom, Place] = {}
        for name, place in nest.scattered.items():
            variable = writer.fresh(f"{name}_place")
            if nest.vector is not None and nest.vector.index in place.indices:
                continue
            moved[Index(name)] = places.of(Index(variable))
            writer.sizes.extent[variable] = writer.sizes.extent[name]
            self.put(f"{variable} = {writer.place(place)}")
            self.indent(f"if {self.is_inside(variable, writer.sizes.extent[name])}:")
        if nest.vector is not None:
            self.loop(nest.vector)
        for name, place in nest.scattered.items():
            if Index(name) not in moved:
                variable = writer.fresh(f"{name}_place")
                moved[Index(name)] = places.of(Index(variable))
                writer.sizes.extent[variable] = writer.sizes.extent[name]
                self.put(f"{variable} = {writer.place(place)}")
                self.indent(f"if {self.is_inside(variable, writer.sizes.extent[name])}:")
        self.guarded()
        at = map_places(statement, lambda place: place.substitute(moved))
        own = tuple(place.substitute(moved) for place in target.places)
        item = writer.fresh(f"{statement.target}_item")
        self.put(f"{item} = {self.value(at)}")
        self.put(f"at = U({writer.offset(replace(target, places=own))})")
        element = f"{python_name(statement.target)}[at]"
        self.put(f"before = {element}")
        self.put(f"{element} = {_combined(statement.fold.kind, 'before', item)}")
        writer.over_batch = {}
        writer.depth = start


class _LinePrinter(_KernelPrinter):
    """A formula as lines among others: its arguments are variables there, its names new."""

    def __init__(
        self, formula: Formula, arguments: dict[str, str], taken: set[str], depth: int
    ) -> None:
        Printer.__init__(self, formula)
        self._taken = taken
        self.arguments = arguments
        self.depth = depth

    def text(self, node: Expression, strength: int) -> str:
        if isinstance(node, Argument):
            return self.arguments[node.name]
        return super().text(node, strength)

    def _shorten(self, node: Expression, prefix: int) -> Iterator[str]:
        yield from super()._shorten(node, prefix + 4 * self.depth + 24)


def _is_uneven(place: Place, index: str) -> bool:
    """Whether a place does not move by the same number with each step of an index."""
    return index in place.indices and not place.is_linear_in(index)


def _power_of_two(place: Place) -> int:
    """The exponent of a constant power of two, which divides by a shift; else 0."""
    value = place.constant or 0
    return value.bit_length() - 1 if value > 1 and value & (value - 1) == 0 else 0


def own_places(statement: Statement) -> tuple[Place, ...]:
    return tuple(map(places.index, statement.indices))


def _may_miss(place: Place) -> bool:
    """Whether a place is no polynomial of indices, nor brought inside: then it is checked."""
    for monomial, _ in place.terms:
        for atom in monomial:
            if isinstance(atom, Element):
                return True
            if isinstance(atom, Function):
                is_rule = atom.name in ("clamp", "wrap", "reflect") and len(place.terms) == 1
                if not is_rule:
                    return True
    return len(set(place.indices)) > 0 and any(
        len([a for a in monomial if isinstance(a, Index)]) > 1 for monomial, _ in place.terms
    )


def is_argument(statement: Statement) -> bool:
    return statement.fold is not None and statement.fold.kind in (ARGMAX, ARGMIN)


def _identity(statement: Statement) -> str:
    assert statement.fold is not None
    kinds = {
        PROD: "T(1)", MAX: "T(-inf)", ARGMAX: "T(-inf)", MIN: "T(inf)", ARGMIN: "T(inf)",
        ANY: "False", ALL: "True",
    }  # fmt: skip
    return kinds.get(statement.fold.kind, "T(0)")


def _signed(statement: Statement) -> str:
    """A minimum is the maximum of what is negated."""
    return "-" if statement.fold is not None and statement.fold.kind == MIN else ""


def _combined(kind: str, total: str, value: str) -> str:
    operators = {PROD: "*", ANY: "|", ALL: "&"}
    if kind in (MAX, MIN):
        symbol = ">" if kind == MAX else "<"
        return f"{value} if ({value} {symbol} {total}) | ({value} != {value}) else {total}"
    return f"{total} {operators.get(kind, '+')} {value}"


def _docstring(lines: Sequence[str]) -> list[str]:
    wrapped = [part for line in lines for part in textwrap.wrap(line, 92, subsequent_indent="    ")]
    wrapped = [line.replace('"""', "'''") for line in wrapped]
    if len(wrapped) == 1 and len(wrapped[0]) < 88:
        return [f'    """{wrapped[0]}"""']
    return [f'    """{wrapped[0]}', *(f"    {line}" for line in wrapped[1:]), '    """']
