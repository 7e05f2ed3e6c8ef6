"""Elements of tensors in an index text: which places they are at, and what is outside."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

from ..formula.expressions import ZERO, call
from ..formula.simplify import simplify
from ..model import index as ir
from ..model import place as places
from ..model.formula import Argument, Constant, Expression, Formula, Named, children, walk
from ..model.place import Place
from . import index_tree as syntax
from .index_survey import PLACE_FUNCTIONS, Scope, Survey, Value
from .index_tree import Node, Span, Subscript


class Accesses(Survey, ABC):
    """What formulas are bound to: elements at places, and numbers."""

    @abstractmethod
    def value(self, node: Node, scope: Scope, integers: bool = False) -> Value:
        """What a node stands for; integers: elements of integer tensors are whole numbers."""

    @abstractmethod
    def unknown(self, node: syntax.Name, scope: Scope) -> Value:
        """The mistake that nothing has this name."""

    # Formulas

    def formula(self, expression: Expression, scope: Scope) -> Formula:
        arguments = dict.fromkeys(n for n in walk((expression,)) if isinstance(n, Argument))
        return simplify(Formula(tuple(arguments), (expression,)), unroll=False)

    def reads_of(self, scope: Scope, formula: Formula) -> tuple[ir.Read, ...]:
        used = {node.name for node in walk(formula.outputs) if isinstance(node, Argument)}
        return tuple(
            ir.Read(argument.name, source)
            for source, argument in scope.all_reads().items()
            if argument.name in used
        )

    def read(self, source: ir.Source, scope: Scope) -> Expression:
        """The argument of the formula that is bound to a source."""
        known = scope.all_reads().get(source)
        if known is not None:
            return known
        match source:
            case ir.Access(tensor=tensor):
                name, kind = tensor, "bool" if self.types.get(tensor) == "bool" else "tensor"
            case ir.Test():
                name, kind = "test", "bool"
            case _:
                name, kind = "place", "scalar"
        number = scope.first + len(scope.reads)
        argument = Argument(f"{name}_{number}", kind)  # type: ignore[arg-type]
        scope.reads[source] = argument
        return argument

    def expression(self, value: Value, scope: Scope) -> Expression:
        """A value as part of a formula."""
        if not isinstance(value, Place):
            return value
        constant = value.constant
        if constant is not None:
            return Constant(constant)
        for atom in value.atoms:
            if isinstance(atom, places.Parameter):
                self.read_numbers.add(atom.name)
        return self.read(value, scope)

    # Accesses

    def access(self, node: Subscript, scope: Scope, whole: bool) -> Value:
        name = node.tensor.text
        if not self.is_tensor(node):
            return self.unknown(node.tensor, scope)
        has_batch, rank = self.shape_of(name)
        if rank != len(node.places) or has_batch != node.has_batch:
            if name in self.equations:
                indices = ", ".join([*["..."] * has_batch, *self.targets[name][1]])
                message = f"'{name}' is defined as {name}[{indices}]"
                return self.error("E755", node.span, message)
            return ZERO  # reported by the survey
        if node.has_batch and not scope.has_batch:
            hint = "write `...` on the left of the `=`, too, or fold over it: sum(...: x[...])"
            return self.error("E765", node.span, "`...` is not bound here", hint)
        if name in self.equations and name not in self.types and name != scope.target:
            message = f"'{name}' is defined below"
            self.error("E769", node.span, message, "a statement reads what stands above it")
        found = [
            self.place(each, scope, name, number, node) for number, each in enumerate(node.places)
        ]
        if whole and node.outside is not None:
            return self.whole_element(name, has_batch, tuple(found), node.outside, scope)
        outside = self.outside(node.outside, scope, name == scope.target)
        if (whole or self.types.get(name) == "int") and outside is None:
            return places.of(places.Element(name, has_batch, tuple(found)))
        return self.read(ir.Access(name, has_batch, tuple(found), outside), scope)

    def whole_element(
        self, name: str, has_batch: bool, found: tuple[Place, ...], node: Node, scope: Scope
    ) -> Place:
        """An element that is a place, and what it is outside of its tensor."""
        outside = self.value(node, scope, integers=True)
        if not isinstance(outside, Place):
            self.error("E766", node.span, "what stands for a place outside is a whole number")
            outside = Place()
        return places.of(places.Element(name, has_batch, found, outside))

    def draw(self, node: syntax.CallOf, scope: Scope) -> Expression:
        """A random number from [0, 1): one for each value of the indices that are bound here."""
        if not self.owner.draws or node.operands:
            hint = "write `uniform()`, and `*, Generator? generator=None` in the schema"
            message = "a draw takes its key from the operator's generator, and no arguments"
            return self.error("E774", node.span, message, hint)
        number = len(self.draws)
        sizes = tuple(self.extents[index] for index in scope.indices)
        found = ir.RandomArray(f"random_{number}", number, scope.has_batch, sizes)
        self.draws.append(found)
        own = tuple(map(places.index, scope.indices))
        return self.read(ir.Access(found.name, scope.has_batch, own), scope)

    def is_tensor(self, node: Subscript) -> bool:
        argument = self.arguments.get(node.tensor.text)
        return node.tensor.text in self.equations or (
            argument is not None and argument.kind == "tensor"
        )

    def shape_of(self, name: str) -> tuple[bool, int]:
        if name in self.targets:
            has_batch, indices = self.targets[name]
            return has_batch, len(indices)
        return self.ranks[name][:2]

    def outside(self, node: Node | None, scope: Scope, is_start: bool = False) -> ir.Outside | None:
        """What an element is outside its tensor. is_start: whether a scan begins with it."""
        if node is None:
            return None
        value = self.value(node, scope)
        value = self.expression(value, scope) if isinstance(value, Place) else simple(value)
        if is_negative_infinity(value):
            return Constant(-math.inf)
        if isinstance(value, Constant | Named):
            return value
        if isinstance(value, Argument) and value.name in self.arguments and not is_start:
            return value
        more = "" if is_start else ", or an argument that is a number"
        self.error("E766", node.span, f"the value outside is a constant{more}")
        return ZERO

    def place(self, node: Node, scope: Scope, tensor: str, number: int, of: Subscript) -> Place:
        """One place of an access, with what it does outside."""
        size = self.size_of(tensor, number, len(of.places)) or places.number(1)
        is_rule = isinstance(node, syntax.CallOf) and node.function.text in PLACE_FUNCTIONS
        inner = node.operands[0] if isinstance(node, syntax.CallOf) and is_rule else node
        value = self.value(inner, scope, integers=True)
        if not isinstance(value, Place):
            message = "a place is a whole number"
            hint = "round it to one: int(floor(...)), with the value outside or clamp(...)"
            self.error("E767", inner.span, message, hint)
            return places.number(0)
        for atom in value.atoms:
            if isinstance(atom, places.Parameter):
                self.read_numbers.add(atom.name)
        if is_rule and isinstance(node, syntax.CallOf) and node.function.text != "checked":
            return places.of(places.Function(node.function.text, (value, size)))
        if of.outside is None:
            self.check_inside(value, size, inner.span, scope.tests)
        return value

    def check_inside(self, value: Place, size: Place, span: Span, tests: Sequence[ir.Test]) -> None:
        """An index that leaves its tensor for certain needs a rule, or a condition."""
        if value.index is not None:
            return
        lowest, highest = self.bounds(value)
        least = lowest.constant if lowest is not None else None
        over = (highest - size).constant if highest is not None else None
        is_below = least is not None and least < 0 and not _follows(value, tests)
        last = size - value - places.number(1)
        if is_below or (over is not None and over >= 0 and not _follows(last, tests)):
            message = f"this place can be {lowest if is_below else highest}"
            hint = "say what is outside: x[i + 1 else 0], clamp(...), wrap(...), reflect(...)"
            self.error("E768", span, f"{message}, which is outside the tensor", hint)

    def bounds(self, value: Place) -> tuple[Place | None, Place | None]:
        """The smallest and the largest value of a place; None where the text does not tell."""
        lowest = highest = value
        for name in value.indices:
            factor = value.coefficient(name).constant
            if factor is None or not value.is_linear_in(name) or name not in self.extents:
                return None, None
            last = self.extents[name] - places.number(1)
            ends: dict[places.Atom, Place] = {places.Index(name): last}
            zero: dict[places.Atom, Place] = {places.Index(name): places.number(0)}
            lowest = lowest.substitute(zero if factor > 0 else ends)
            highest = highest.substitute(ends if factor > 0 else zero)
        return lowest, highest


def is_negative_infinity(value: Expression) -> bool:
    """Whether a value is `-inf`."""
    return value == call("neg", Named("inf"))


def simple(value: Expression) -> Expression:
    """A constant expression as a constant."""
    return simplify(Formula((), (value,)), unroll=False).outputs[0] if children(value) else value


def _follows(value: Place, tests: Sequence[ir.Test]) -> bool:
    """Whether a value is at least 0 because of a test."""
    left = [(value - test.place).constant for test in tests if test.relation == ">="]
    return any(each is not None and each >= 0 for each in left)
