"""Prints what a statement's formula reads, and where its value is stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from ..formula.printer import Printer
from ..formula.python import _KernelPrinter
from ..formula.simplify import simplify
from ..model import place as places
from ..model.formula import Argument, Constant, Expression, Formula, Named, walk
from ..model.index import Access, Outside, Source, Statement, Test, Type, selects_wholes
from ..model.loops import Nest
from ..model.place import Atom, Element, Function, Index, Place
from .sizes import size_of
from .tidy_texts import bare
from .writer import Writer, own_places, python_name


class Loads:
    """What one nest of a launch has loaded, and how values are stored."""

    def __init__(self, writer: Writer, nest: Nest) -> None:
        self.writer = writer
        self.nest = nest
        self.depth = writer.depth
        self.values: dict[Source, str] = {}
        self.guards = list(nest.guards)
        self.made: dict[str, str] = {}
        writer.at_hand = self.made
        self.run_depth = 0
        self.tests: tuple[Test, ...] = ()
        """What holds of the statement that is printed."""
        self.certain: tuple[Test, ...] = ()
        """What holds of all of them."""
        self.is_whole = False
        """Whether it selects among whole numbers."""

    def put(self, line: str) -> None:
        self.writer.put(line)

    def indent(self, line: str) -> None:
        self.put(line)
        self.writer.depth += 1

    # Loads

    def value(self, statement: Statement) -> str:
        """A statement's formula over what is loaded for it; shared parts are lines before."""
        formula = simplify(replace(statement.formula, text=""))
        self.tests = (*(statement.fold.where if statement.fold else ()), *self.certain)
        outcome = formula.outputs[0]
        whole = [read.source for read in statement.reads if read.name == _named(outcome)]
        if statement.type == "int" and whole and isinstance(whole[0], Place):
            return self.writer.place(whole[0])
        types = {name: each.type for name, each in self.writer.tensors.items()}
        own = statement.reads, statement.target, types
        self.is_whole = statement.type == "int" and selects_wholes(formula, *own)
        arguments: dict[str, str] = {}
        for read in statement.reads:
            arguments[read.name] = self.source(read.source, formula, read.name)
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
                text = writer.place(self.settled(source))
                kind = "np.int64" if self.is_whole else "T"
                text, word = f"{kind}({bare(text)})", "place"
        variable = writer.fresh(f"{word}_value")
        self.put(f"{variable} = {text}")
        self.values[source] = variable
        return variable

    def load(self, access: Access) -> str:
        """The element, of the compute type; checked, or what stands outside."""
        writer = self.writer
        if access.tensor in writer.program.drawn:
            return writer.drawn(access)
        kind = writer.tensors[access.tensor].type
        conditions: list[str] = []
        made = [self.settled(place) for place in access.places]
        for dim, place in enumerate(made):
            size = size_of(writer.program, access.tensor, dim)
            if writer.sizes.is_inside(place, size, self.tests):
                continue
            if access.outside is not None:
                made[dim] = self.looked_for(place, size)
                conditions.append(self.is_inside(writer.place(made[dim], 1), size, place))
            elif not self.is_measured(place):
                made[dim] = self.checked(place, size)
        element = writer.element(replace(access, places=tuple(made)))
        is_made = access.tensor not in writer.inputs and kind == "number"
        is_exact = kind == "bool" or is_made or access.tensor in writer.exact
        is_exact |= kind == "int" and self.is_whole
        text = self.loaded(element, kind) if is_exact else f"T({element})"
        if not conditions or access.outside is None:
            return text
        value = access.outside
        known = writer.fresh("is_inside")
        self.put(f"{known} = {' & '.join(conditions)}")
        return f"{text} if {known} else {self.literal(value, kind)}"

    def settled(self, place: Place) -> Place:
        """A place whose elements are themselves at places that are inside."""
        return place.map(self.settled_atom)

    def settled_atom(self, atom: Atom) -> Place | None:
        """An element at places that other elements tell, which are looked at."""
        if not isinstance(atom, Element) or atom in self.writer.loaded:
            return None
        if not any(isinstance(a, Element) for place in atom.places for a in place.atoms):
            return None
        made = list(map(self.settled, atom.places))
        for dim, place in enumerate(made if atom.outside is None else ()):
            size = size_of(self.writer.program, atom.tensor, dim)
            is_told = any(isinstance(each, Element) for each in place.atoms)
            if is_told and not self.writer.sizes.is_inside(place, size, self.tests):
                made[dim] = self.checked(place, size)
        return places.of(replace(atom, places=tuple(made)))

    def looked_for(self, place: Place, size: Place) -> Place:
        """A place that is asked for twice: what took a search or a condition as a variable."""
        writer = self.writer
        told = [atom for atom in place.atoms if isinstance(atom, Element)]
        if not any(a.outside is not None or a.tensor in writer.sizes.located for a in told):
            return place
        variable = writer.fresh("place")
        self.put(f"{variable} = {writer.place(place)}")
        writer.sizes.extent[variable] = size
        return places.of(Index(variable))

    def literal(self, value: Outside, kind: Type) -> str:
        """What stands outside, as an element of a tensor of that type."""
        function = {"number": "T", "int": "np.int64", "bool": "bool"}[kind]
        ends = {Named("inf"): "HIGHEST", Constant(inf): "HIGHEST", Constant(-inf): "LOWEST"}
        if self.writer.program.serves_integers and value in ends:
            return ends[value]
        if isinstance(value, Argument):
            self.writer.numbers.setdefault(value.name)
            name = python_name(value.name)
            return name if kind == "number" else f"{function}({name})"
        return f"{function}({value.name if isinstance(value, Named) else repr(value.value)})"

    def is_measured(self, place: Place) -> bool:
        """Whether a call has looked at the ends of a place, before all loops."""
        folds = [each.fold for each in self.nest.statements if each.fold is not None]
        tested = {name for fold in folds for test in fold.where for name in test.place.indices}
        if not _may_miss(place):
            return not (self.writer.program.text and tested & set(place.indices))
        is_known = self.writer.sizes.measured_ends(place) is not None
        return is_known and not tested & set(place.indices)

    def checked(self, place: Place, size: Place) -> Place:
        """A place that is known to be inside; else the launch has failed."""
        writer, place = self.writer, self.settled(place)
        variable = writer.fresh("place")
        self.put(f"{variable} = {writer.place(place)}")
        if not self.check_before(place, size):
            self.refuse_outside(variable, size)
        writer.sizes.extent[variable] = size
        return places.of(Index(variable))

    def check_before(self, place: Place, size: Place) -> bool:
        """Whether a place is an element that no item changes: all of these are looked at first."""
        writer = self.writer
        element = place.atoms[0] if place.atoms and place == places.of(place.atoms[0]) else None
        if not isinstance(element, Element) or element.has_batch:
            return False
        loops = {loop.index for loop in (*self.nest.outer, *self.nest.inner)}
        own = [each.index for each in element.places]
        if element.tensor not in writer.inputs or not own or not loops.issuperset(own):
            return False
        if writer.phase.spread in own or (element, size) in writer.checked:
            return writer.phase.spread not in own
        writer.checked.add((element, size))
        lines, depth, loaded = writer.lines, writer.depth, writer.loaded
        writer.lines, writer.depth, writer.loaded = [], 1, {}
        for name in filter(None, own):
            self.indent(f"for {python_name(name)} in range({writer.extent(name)}):")
        self.refuse_outside(writer.atom(element), size)
        writer.lines, writer.depth, writer.loaded = writer.lines + lines, depth, loaded
        return True

    def refuse_outside(self, place: str, size: Place) -> None:
        """End the launch where a place is outside: as a position, what is negative is large."""
        self.indent(f"if U({place}) >= U({self.writer.place(size)}):")
        self.put("return False")
        self.writer.depth -= 1

    def is_inside(self, text: str, size: Place, place: Place | None = None) -> str:
        """The test whether a place is in a dim, without what is certain."""
        sizes = self.writer.sizes
        tests = [f"({text} >= 0)", f"({text} < {self.writer.place(size, 1)})"]
        if place is not None and sizes.is_never_negative(place):
            return tests[1]
        if place is not None and sizes.is_never_negative(size - place - places.number(1)):
            return tests[0]
        return " & ".join(tests)

    def test(self, test: Test) -> str:
        """A comparison; what is in brackets does not come first, where formatters break inside."""
        terms = sorted(self.settled(test.place).terms, key=_begins_with_brackets)
        return f"{self.writer.place(Place(tuple(terms)))} {test.relation} 0"

    def loaded(self, element: str, kind: str) -> str:
        """An element of memory as what formulas compute with."""
        return element

    # Stores

    def made_element(self, statement: Statement) -> str:
        """The variable that holds an element of a statement that is no fold."""
        value = self.value(statement)
        variable = self.writer.held_name(statement.target)
        if statement.target not in self.writer.held:
            variable = self.writer.fresh(f"{statement.target}_value")
        self.put(f"{variable} = {f'np.int64({bare(value)})' if statement.type == 'int' else value}")
        self.made[statement.target] = variable
        return variable

    def stored(self, value: str, kind: str) -> str:
        """A value as what memory holds."""
        return value

    def store(self, statement: Statement, value: str) -> None:
        target = Access(statement.target, statement.has_batch, own_places(statement))
        held = self.writer.held_name(statement.target)
        if statement.target in self.writer.held and value != held:
            self.put(f"{held} = {value}")
            value = held
        if statement.target not in self.writer.phase.numbers:
            line = f"{self.writer.memory(target)} = {self.stored(value, statement.type)}"
            conditions = self.conditions(statement)
            if conditions:
                self.put(f"if {' and '.join(conditions)}:")
                line = f"    {line}"
            self.put(line)

    def conditions(self, statement: Statement) -> list[str]:
        """On what it depends whether an element is written to memory."""
        is_optional = self.writer.is_optional(statement.target)
        return [f"needs_{statement.target}"] if is_optional else []


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


def _named(node: Expression) -> str | None:
    return node.name if isinstance(node, Argument) else None


def _begins_with_brackets(term: tuple[tuple[Atom, ...], int]) -> bool:
    """Whether a term of a place is printed with brackets in front."""
    return any(isinstance(atom, Function) for atom in term[0][:1])


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
