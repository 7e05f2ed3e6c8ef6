"""Turns the tree of an index text into statements: names are resolved, folds become statements.

Whole numbers and elements are told apart here: `i + d - radius` between brackets is a place, beside
an element it is a number of the compute type. Mistakes are collected, each at its own column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from ..errors import CodegenError, Diagnostic, Related, SourceLocation, did_you_mean
from ..formula.expressions import ONE, ZERO, as_number, call, select
from ..formula.primitives import CONSTANTS, FUNCTIONS, PRIMITIVES
from ..formula.simplify import simplify
from ..model import index as ir
from ..model import place as places
from ..model.formula import (
    Argument,
    Constant,
    Expression,
    Formula,
    IsNone,
    Named,
    children,
    type_of,
    walk,
)
from ..model.place import Place
from . import index_syntax as syntax
from .index_syntax import Binder, Equation, FoldOf, Node, Span, Subscript, parse_syntax

Value: TypeAlias = Place | Expression

_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "remainder",
    "**": "pow", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift",
    ">>": "right_shift", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
    "neg": "neg", "not": "logical_not", "and": "logical_and", "or": "logical_or",
    "~": "bitwise_not",
}  # fmt: skip
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_PLACE_FUNCTIONS = ("clamp", "wrap", "reflect")
"""Rules for a place that may be outside its tensor."""
_OWN_FUNCTIONS = (*_PLACE_FUNCTIONS, "size", "int")
FIRST_FREE = "_"


@dataclass(frozen=True, slots=True)
class Owner:
    """What a text may read of its operator: arguments as formulas have them, tensors among them."""

    arguments: tuple[Argument, ...]
    results: tuple[str, ...]
    """Names of the results in the schema; empty where they have none."""
    result_count: int = 1


def parse_index(text: str, where: SourceLocation, owner: Owner) -> ir.IndexProgram:
    """Parse the text of an operator.

    Raises: CodegenError with every mistake.
    """
    reader = _Reader(parse_syntax(text, where), text, where, owner)
    program = reader.program()
    if reader.diagnostics:
        raise CodegenError(reader.diagnostics)
    return program


@dataclass(slots=True)
class _Scope:
    """The indices that an expression may use, and what its formula reads."""

    indices: tuple[str, ...]
    has_batch: bool
    target: str
    reads: dict[ir.Source, Argument] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    """What the parameters of a function of the text stand for."""

    def inner(self, indices: Sequence[str], has_batch: bool) -> _Scope:
        own = (*self.indices, *indices)
        return _Scope(own, self.has_batch or has_batch, self.target, values=self.values)


class _Reader:
    """One text. A mistake is recorded, and 0 stands for what could not be read."""

    def __init__(self, tree: syntax.Syntax, text: str, where: SourceLocation, owner: Owner) -> None:
        self.tree = tree
        self.text = text
        self.where = where
        self.owner = owner
        self.diagnostics: list[Diagnostic] = []
        self.arguments = {argument.name: argument for argument in owner.arguments}
        self.functions = {each.name.text: each for each in tree.definitions}
        self.equations = {each.target.text: each for each in tree.equations}
        self.statements: list[ir.Statement] = []
        self.types: dict[str, ir.Type] = {}
        self.targets: dict[str, tuple[bool, tuple[str, ...]]] = {}
        self.ranks: dict[str, tuple[bool, int, Span]] = {}
        self.integers: set[str] = set()
        self.extents: dict[str, Place] = {}
        self.bound: dict[str, Span] = {}
        self.requirements: list[ir.Requirement] = []
        self.read_numbers: set[str] = set()

    # Mistakes

    def error(
        self,
        code: str,
        span: Span,
        message: str,
        hint: str | None = None,
        related: tuple[Related, ...] = (),
    ) -> Expression:
        width = (
            max(1, span.stop - span.start) if "\n" not in self.text[span.start : span.stop] else 1
        )
        place = self.where.at(span.start)
        self.diagnostics.append(Diagnostic(code, place, message, hint, related, width))
        return ZERO

    # The whole text

    def program(self) -> ir.IndexProgram:
        self.check_names()
        for equation in self.tree.equations:
            self.survey(equation)
        for equation in self.tree.equations:
            self.resolve_extents(equation)
        for equation in self.tree.equations:
            self.equation(equation)
        results = self.results()
        inputs = tuple(
            ir.Tensor(
                each.name,
                *self.ranks[each.name][:2],
                "int" if each.name in self.integers else "number",
                each.optional,
            )
            for each in self.owner.arguments
            if each.kind == "tensor" and each.name in self.ranks
        )
        self.check_unused(results)
        numbers = tuple(a.name for a in self.owner.arguments if a.name in self.read_numbers)
        return ir.IndexProgram(
            inputs,
            numbers,
            tuple(name for name in numbers if self.arguments[name].kind == "int"),
            tuple(self.statements),
            tuple(self.extents.items()),
            tuple(self.requirements),
            results,
            self.text.strip("\n"),
            self.where,
        )

    def results(self) -> tuple[str, ...]:
        defined = [each.target.text for each in self.tree.equations]
        count = self.owner.result_count
        names = self.owner.results
        if not names or count == 1:
            named = [name for name in (*names, "out") if name in defined]
            names = tuple(defined[-count:] if count > 1 else (named or defined[-1:])[:1])
        for name in names:
            if name not in defined:
                span = self.tree.equations[-1].target.span
                self.error("E752", span, f"no statement defines the result '{name}'")
        return tuple(names)

    def check_names(self) -> None:
        """Every name is bound once, and none of the language's is bound."""
        seen: dict[str, Span] = {}
        named = [each.target for each in self.tree.equations]
        for name in [*named, *(each.name for each in self.tree.definitions)]:
            if name.text in seen:
                related = (Related(self.where.at(seen[name.text].start), "first defined here"),)
                message = f"'{name.text}' is defined twice"
                hint = "every name is defined once; give the second one another name"
                self.error("E753", name.span, message, hint, related)
            elif name.text in self.arguments:
                self.error("E753", name.span, f"'{name.text}' is already an argument")
            elif name.text in (*FUNCTIONS, *CONSTANTS, *ir.FOLDS, *_OWN_FUNCTIONS):
                self.error("E753", name.span, f"'{name.text}' is a name of the language")
            seen.setdefault(name.text, name.span)

    def check_unused(self, results: tuple[str, ...]) -> None:
        read = {access.tensor for each in self.statements for access in each.accesses}
        for equation in self.tree.equations:
            if equation.target.text not in read and equation.target.text not in results:
                self.error("E754", equation.target.span, f"'{equation.target.text}' is never used")
        for argument in self.owner.arguments:
            if argument.name not in (
                self.ranks if argument.kind == "tensor" else self.read_numbers
            ):
                span = self.tree.equations[0].target.span
                self.error("E754", span, f"the statements do not use '{argument.name}'")

    # First pass: ranks, whole numbers, extents

    def survey(self, equation: Equation) -> None:
        """Note what an equation says of tensors: their dims, which hold whole numbers."""
        indices = tuple(each.name for each in equation.binders if not each.is_batch)
        has_batch = any(each.is_batch for each in equation.binders)
        self.targets[equation.target.text] = (has_batch, indices)
        for binder in self.all_binders(equation):
            self.bind(binder)
        for node in walk_tree(equation.value):
            if isinstance(node, Subscript):
                self.survey_access(node)
            if isinstance(node, FoldOf) and node.condition is not None:
                for test in walk_tree(node.condition):
                    self.survey_test(test)

    def all_binders(self, equation: Equation) -> Iterator[Binder]:
        yield from equation.binders
        for node in walk_tree(equation.value):
            if isinstance(node, FoldOf):
                yield from node.binders

    def bind(self, binder: Binder) -> None:
        if binder.is_batch:
            return
        if binder.name in self.arguments or binder.name in self.equations:
            what = "an argument" if binder.name in self.arguments else "a tensor of the text"
            message = f"the index '{binder.name}' is already {what}"
            self.error("E753", binder.span, message, "give the index another name")
        elif binder.name in (*CONSTANTS, *FUNCTIONS, *ir.FOLDS):
            self.error("E753", binder.span, f"'{binder.name}' is a name of the language")
        self.bound.setdefault(binder.name, binder.span)

    def survey_access(self, node: Subscript) -> None:
        name = node.tensor.text
        for inner in node.places:
            for part in walk_tree(inner):
                if isinstance(part, Subscript):
                    self.integers.add(part.tensor.text)
        if name in self.targets or name in self.equations:
            return
        known = self.ranks.get(name)
        if known is None:
            self.ranks[name] = (node.has_batch, len(node.places), node.span)
        elif known[:2] != (node.has_batch, len(node.places)):
            related = (Related(self.where.at(known[2].start), "otherwise here"),)
            given = f"{'`...` and ' if node.has_batch else ''}{len(node.places)} places"
            self.error("E755", node.span, f"'{name}' has {given} here", None, related)

    def survey_test(self, test: Node) -> None:
        """An element that is compared with an index is a whole number."""
        if isinstance(test, syntax.Operation) and test.symbol in _COMPARISONS:
            for one, other in (test.operands, test.operands[::-1]):
                is_index = isinstance(other, syntax.Name) and other.text in self.bound
                if isinstance(one, Subscript) and is_index:
                    self.integers.add(one.tensor.text)

    def resolve_extents(self, equation: Equation) -> None:
        for binder in self.all_binders(equation):
            if binder.is_batch or binder.extent is None:
                continue
            scope = _Scope((), False, "extent")
            value = self.value(binder.extent, scope)
            constant = value.constant if isinstance(value, Place) else None
            if constant is not None and constant < 1:
                message = f"the extent of '{binder.name}' is {constant}"
                self.error("E771", binder.extent.span, message, "an index has a first value, 0")
            if not isinstance(value, Place):
                self.error("E756", binder.extent.span, "an extent is a whole number")
            elif binder.name not in self.extents:
                self.extents[binder.name] = value
            elif self.extents[binder.name] != value:
                message = f"'{binder.name}' has the extent {self.extents[binder.name]} elsewhere"
                self.error("E757", binder.extent.span, message, "use another index")
        for own in (True, False):
            for node in walk_tree(equation.value):
                if isinstance(node, Subscript) and (node.tensor.text in self.ranks) is own:
                    self.note_extents(node)

    def note_extents(self, node: Subscript) -> None:
        for number, inner in enumerate(node.places):
            if isinstance(inner, syntax.Name) and inner.text in self.bound:
                size = self.size_of(node.tensor.text, number, len(node.places))
                if size is not None:
                    self.note_extent(inner.text, size, inner.span)

    def note_extent(self, name: str, size: Place, span: Span) -> None:
        known = self.extents.setdefault(name, size)
        if known == size or any(r.index == name and r.extent == size for r in self.requirements):
            return
        one, other = known.constant, size.constant
        if one is not None and other is not None:
            message = f"'{name}' goes to {one}, and this dim has {other}"
            self.error("E757", span, message, "use another index")
        self.requirements.append(ir.Requirement(name, size, self.where.at(span.start)))

    def size_of(self, tensor: str, number: int, rank: int) -> Place | None:
        """The size of a tensor's dim, which is an index's extent where the text defines it."""
        if tensor not in self.equations:
            return places.of(places.Size(tensor, number - rank)) if tensor in self.ranks else None
        indices = tuple(b.name for b in self.equations[tensor].binders if not b.is_batch)
        return self.extents.get(indices[number]) if number < len(indices) else None

    # Second pass: statements

    def equation(self, equation: Equation) -> None:
        name = equation.target.text
        indices = tuple(each.name for each in equation.binders if not each.is_batch)
        batches = [n for n, each in enumerate(equation.binders) if each.is_batch]
        if batches not in ([], [0]):
            self.error("E751", equation.binders[batches[-1]].span, "`...` stands first, once")
        for number, binder in enumerate(equation.binders):
            if binder.name in [each.name for each in equation.binders[:number]]:
                self.error("E753", binder.span, f"the index '{binder.name}' stands here twice")
                return
            self.check_extent(binder)
        scope = _Scope(indices, bool(batches), name)
        where = self.where.at(equation.target.span.start)
        if isinstance(equation.value, FoldOf) and equation.value.function.text in ir.FOLDS:
            statement = self.fold(equation.value, scope, name, indices, bool(batches))
        else:
            value = self.value(equation.value, scope)
            type_ = self.type_of(value)
            formula = self.formula(self.expression(value, scope), scope)
            reads = self.reads_of(scope, formula)
            statement = ir.Statement(name, bool(batches), indices, None, formula, reads, type_)
        self.add(replace(statement, where=where))
        if statement.reads_itself:
            self.check_scan(statement, equation)

    def check_scan(self, statement: ir.Statement, equation: Equation) -> None:
        """A statement that reads itself goes one way along each of its indices."""
        name = statement.target
        if statement.fold is not None:
            message = f"'{name}' is read inside its own fold"
            hint = "a scan reads its earlier elements beside the fold, or without one"
            self.error("E770", equation.target.span, message, hint)
            return
        signs: dict[str, set[int]] = {}
        for access in statement.accesses:
            if access.tensor != name:
                continue
            moved = 0
            for index, place in zip(statement.indices, access.places, strict=True):
                shift = (place - places.index(index)).constant
                if shift is None:
                    message = f"'{name}' reads itself at {place}, not at {index} and a number"
                    self.error("E770", equation.value.span, message)
                    return
                if shift:
                    moved += 1
                    signs.setdefault(index, set()).add(-1 if shift < 0 else 1)
            if not moved:
                message = f"'{name}' is defined by its own element"
                self.error("E770", equation.value.span, message, "read an earlier one: i - 1")
        for index, found in signs.items():
            if len(found) > 1:
                message = f"'{name}' reads itself before and behind '{index}'"
                self.error("E770", equation.value.span, message, "a scan goes one way")

    def check_extent(self, binder: Binder) -> None:
        if not binder.is_batch and binder.name not in self.extents:
            message = f"nothing says how far '{binder.name}' goes"
            hint = f"write `{binder.name} : extent`, or use it alone as a place of a tensor"
            self.error("E758", binder.span, message, hint)
            self.extents[binder.name] = places.number(1)

    def add(self, statement: ir.Statement) -> None:
        self.statements.append(statement)
        self.types[statement.target] = statement.type

    def type_of(self, value: Value) -> ir.Type:
        if isinstance(value, Place):
            return "int"
        return "bool" if type_of(value) == "bool" else "number"

    def formula(self, expression: Expression, scope: _Scope) -> Formula:
        arguments = dict.fromkeys(n for n in walk((expression,)) if isinstance(n, Argument))
        return simplify(Formula(tuple(arguments), (expression,)), unroll=False)

    def reads_of(self, scope: _Scope, formula: Formula) -> tuple[ir.Read, ...]:
        used = {node.name for node in walk(formula.outputs) if isinstance(node, Argument)}
        return tuple(
            ir.Read(argument.name, source)
            for source, argument in scope.reads.items()
            if argument.name in used
        )

    def fold(
        self, node: FoldOf, scope: _Scope, target: str, indices: tuple[str, ...], has_batch: bool
    ) -> ir.Statement:
        """A fold as a statement."""
        kind = node.function.text
        own = tuple(each.name for each in node.binders if not each.is_batch)
        over_batch = any(each.is_batch for each in node.binders)
        for binder in node.binders:
            if binder.name in scope.indices:
                message = f"the index '{binder.name}' is bound already"
                self.error("E753", binder.span, message, "give the inner one another name")
            self.check_extent(binder)
        inner = scope.inner(own, over_batch)
        tests, condition = self.tests(node.condition, inner) if node.condition else ((), None)
        body = self.expression(self.value(node.body, inner), inner)
        if kind in (ir.ANY, ir.ALL):
            body = body if type_of(body) == "bool" else call("ne", body, ZERO)
        else:
            body = as_number(body)
        if condition is not None:
            body = select(condition, body, identity(kind))
        type_: ir.Type = "number"
        if kind in (ir.ARGMAX, ir.ARGMIN):
            type_ = "int"
            if len(own) != 1 or over_batch:
                self.error("E759", node.span, f"{kind} goes over one index")
        if kind in (ir.ANY, ir.ALL):
            type_ = "bool"
        formula = self.formula(body, inner)
        fold = ir.Fold(kind, over_batch, own, tests)
        reads = self.reads_of(inner, formula)
        where = self.where.at(node.span.start)
        return ir.Statement(target, has_batch, indices, fold, formula, reads, type_, where)

    def nested_fold(self, node: FoldOf, scope: _Scope) -> Expression:
        """A fold inside an expression: a statement of those indices that it depends on."""
        if node.function.text not in ir.FOLDS:
            hint = did_you_mean(node.function.text, ir.FOLDS)
            message = f"unknown fold '{node.function.text}'"
            return self.error("E760", node.function.span, message, hint)
        name = self.fresh(f"{scope.target}_{node.function.text}")
        found = self.fold(node, scope, name, scope.indices, scope.has_batch)
        used = {index for place in found.all_places for index in place.indices}
        kept = tuple(index for index in scope.indices if index in used)
        assert found.fold is not None
        reads_batch = any(access.has_batch for access in found.accesses)
        has_batch = reads_batch and scope.has_batch and not found.fold.has_batch
        self.add(replace(found, indices=kept, has_batch=has_batch))
        self.targets[name] = (has_batch, kept)
        return self.read(ir.Access(name, has_batch, tuple(map(places.index, kept))), scope)

    def fresh(self, wanted: str) -> str:
        taken = {*self.targets, *self.arguments, *self.bound}
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        return name

    def tests(self, node: Node, scope: _Scope) -> tuple[tuple[ir.Test, ...], Expression | None]:
        """Conditions on whole numbers, and what else there is."""
        tests: list[ir.Test] = []
        others: list[Expression] = []
        for part in conjuncts(node):
            value = self.value(part, scope, integers=True)
            source = next((s for s, a in scope.reads.items() if a == value), None)
            if isinstance(source, ir.Test):
                tests.append(source)
            else:
                others.append(self.expression(value, scope))
        rest = None
        for other in others:
            condition = other if type_of(other) == "bool" else call("ne", other, ZERO)
            rest = condition if rest is None else call("logical_and", rest, condition)
        return tuple(tests), rest

    # Expressions

    def read(self, source: ir.Source, scope: _Scope) -> Expression:
        """The argument of the formula that is bound to a source."""
        known = scope.reads.get(source)
        if known is not None:
            return known
        match source:
            case ir.Access(tensor=tensor):
                name, kind = tensor, "bool" if self.types.get(tensor) == "bool" else "tensor"
            case ir.Test():
                name, kind = "test", "bool"
            case _:
                name, kind = "place", "scalar"
        number = len(scope.reads)
        argument = Argument(f"{name}_{number}", kind)  # type: ignore[arg-type]
        scope.reads[source] = argument
        return argument

    def expression(self, value: Value, scope: _Scope) -> Expression:
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

    def value(self, node: Node, scope: _Scope, integers: bool = False) -> Value:
        """What a node stands for; integers: elements of integer tensors are whole numbers."""
        match node:
            case syntax.Number(value):
                return places.number(value) if isinstance(value, int) else Constant(value)
            case syntax.Name():
                return self.name(node, scope)
            case syntax.Operation():
                return self.operation(node, scope, integers)
            case syntax.IsMissing():
                return self.missing(node)
            case FoldOf():
                return self.nested_fold(node, scope)
            case syntax.CallOf():
                return self.call(node, scope, integers)
            case Subscript():
                return self.access(node, scope, integers and node.tensor.text in self.integers)

    def name(self, node: syntax.Name, scope: _Scope) -> Value:
        name = node.text
        if name in scope.values:
            return scope.values[name]
        if name in scope.indices:
            return places.index(name)
        if name in self.equations:
            return self.access(Subscript(node, False, (), None, node.span), scope, False)
        argument = self.arguments.get(name)
        if argument is None:
            return Named(name) if name in CONSTANTS else self.unknown(node, scope)
        if argument.kind == "tensor":
            hint = f"write {name}[...], or its places: {name}[i, j]"
            return self.error("E761", node.span, f"'{name}' is a tensor: say which element", hint)
        self.read_numbers.add(name)
        return places.of(places.Parameter(name)) if argument.kind == "int" else argument

    def unknown(self, node: syntax.Name, scope: _Scope) -> Value:
        name = node.text
        if name in self.bound:
            hint = "it is bound elsewhere; fold over it here, or name it on the left of the `=`"
            return self.error("E762", node.span, f"the index '{name}' is not bound here", hint)
        if name in (*FUNCTIONS, *ir.FOLDS, *self.functions):
            return self.error("E707", node.span, f"'{name}' is a function", f"call it: {name}(...)")
        known = [*scope.values, *scope.indices, *self.equations, *self.arguments, *CONSTANTS]
        hint = did_you_mean(name, known) or "known here: " + ", ".join(known)
        return self.error("E707", node.span, f"unknown name '{name}'", hint)

    def missing(self, node: syntax.IsMissing) -> Value:
        argument = self.arguments.get(node.argument.text)
        if argument is None or not argument.optional:
            message = "only an optional argument may be compared with None"
            return self.error("E711", node.span, message)
        return IsNone(argument)

    def operation(self, node: syntax.Operation, scope: _Scope, integers: bool) -> Value:
        whole = integers or (node.symbol in _COMPARISONS and self.compares_places(node))
        values = [self.value(each, scope, whole) for each in node.operands]
        if all(isinstance(value, Place) for value in values):
            found = self.whole(node.symbol, values, scope)  # type: ignore[arg-type]
            if found is not None:
                return found
        operands = [self.expression(value, scope) for value in values]
        if node.symbol == "if":
            return select(*operands)
        name = _OPERATORS[node.symbol]
        if all(type_of(each) == "bool" for each in operands):
            on_truth = {"bitwise_and": "logical_and", "bitwise_or": "logical_or"}
            name = on_truth.get(name, "logical_not" if name == "bitwise_not" else name)
        return call(name, *operands)

    def compares_places(self, node: syntax.Operation) -> bool:
        return any(
            isinstance(part, syntax.Name) and part.text in self.bound
            for each in node.operands
            for part in walk_tree(each)
        ) and all(
            not isinstance(part, Subscript) or part.tensor.text in self.integers
            for each in node.operands
            for part in walk_tree(each)
        )

    def whole(self, symbol: str, values: list[Place], scope: _Scope) -> Value | None:
        """An operation on whole numbers alone; None if its value is none."""
        one, other = values[0], values[-1]
        match symbol:
            case "+":
                return one + other
            case "-":
                return one - other
            case "*":
                return one * other
            case "neg":
                return -one
            case "//":
                return places.apply("quotient", one, other)
            case "%":
                return places.apply("remainder", one, other)
            case "==" | "!=":
                return self.read(ir.Test(one - other, symbol), scope)
            case ">=":
                return self.read(ir.Test(one - other, ">="), scope)
            case "<=":
                return self.read(ir.Test(other - one, ">="), scope)
            case ">":
                return self.read(ir.Test(one - other - places.number(1), ">="), scope)
            case "<":
                return self.read(ir.Test(other - one - places.number(1), ">="), scope)
        return None

    def call(self, node: syntax.CallOf, scope: _Scope, integers: bool) -> Value:
        name = node.function.text
        if name in self.functions:
            return self.own_function(node, scope)
        if name == "size":
            return self.size(node, scope)
        if name == "int":
            return self.truncated(node, scope)
        if name in _PLACE_FUNCTIONS:
            message = f"'{name}' says what a place does that may be outside a tensor"
            return self.error(
                "E763", node.span, message, f"write it between brackets: x[{name}(i)]"
            )
        if name in ir.FOLDS and name not in FUNCTIONS:
            hint = f"write {name}(j: ...), with the indices that it goes over"
            return self.error("E760", node.span, f"'{name}' is a fold", hint)
        if name not in FUNCTIONS:
            close = did_you_mean(name, [*FUNCTIONS, *self.functions, *ir.FOLDS])
            return self.error("E708", node.function.span, f"unknown function '{name}'", close)
        arity = 3 if name == "where" else PRIMITIVES[name].arity
        if len(node.operands) != arity:
            count = f"{arity} argument" + ("s" if arity > 1 else "")
            message = f"'{name}' takes {count}, got {len(node.operands)}"
            return self.error("E709", node.span, message)
        values = [self.value(each, scope, integers) for each in node.operands]
        if name in ("min", "max") and all(isinstance(each, Place) for each in values):
            least = "least" if name == "min" else "greatest"
            return places.apply(least, *values)  # type: ignore[arg-type]
        operands = [self.expression(value, scope) for value in values]
        return select(*operands) if name == "where" else call(name, *operands)

    def own_function(self, node: syntax.CallOf, scope: _Scope) -> Value:
        function = self.functions[node.function.text]
        if len(function.parameters) != len(node.operands):
            message = f"'{function.name.text}' takes {len(function.parameters)} arguments"
            return self.error("E709", node.span, f"{message}, got {len(node.operands)}")
        given = [self.value(each, scope) for each in node.operands]
        before = scope.values
        names = [each.text for each in function.parameters]
        scope.values = dict(zip(names, given, strict=True))
        before_functions = self.functions
        self.functions = {n: f for n, f in before_functions.items() if f is not function}
        value = self.value(function.body, scope)
        self.functions, scope.values = before_functions, before
        return value

    def size(self, node: syntax.CallOf, scope: _Scope) -> Value:
        """`size(i)`: an index's extent; `size(x, -1)`: that of a dim."""
        first = node.operands[0] if node.operands else None
        if not isinstance(first, syntax.Name):
            message = "size takes an index, or a tensor and a dim"
            return self.error("E764", node.span, message, "size(i), or size(x, -1)")
        if len(node.operands) == 1 and first.text in self.extents:
            return self.extents[first.text]
        dim = self.value(node.operands[1], scope) if len(node.operands) == 2 else None
        if first.text in self.ranks and isinstance(dim, Place) and dim.constant is not None:
            number = dim.constant
            has_batch, rank, _ = self.ranks[first.text]
            if number >= 0 and not has_batch:
                number -= rank
            if -rank <= number < 0:
                return places.of(places.Size(first.text, number))
            message = f"'{first.text}' has {rank} dims with a place of their own"
            return self.error("E764", node.operands[1].span, message, "count from the last: -1")
        message = "size takes an index, or a tensor and a dim"
        return self.error("E764", node.span, message, "size(i), or size(x, -1)")

    def truncated(self, node: syntax.CallOf, scope: _Scope) -> Value:
        """`int(expression)`: a whole number that is computed, a statement of its own."""
        if len(node.operands) != 1:
            return self.error("E709", node.span, "'int' takes 1 argument")
        inner = _Scope(scope.indices, scope.has_batch, scope.target, values=scope.values)
        value = self.value(node.operands[0], inner)
        if isinstance(value, Place):
            return value
        name = self.fresh(f"{scope.target}_int")
        formula = self.formula(as_number(value), inner)
        reads = self.reads_of(inner, formula)
        found = ir.Statement(name, scope.has_batch, scope.indices, None, formula, reads, "int")
        used = {index for place in found.all_places for index in place.indices}
        kept = tuple(index for index in scope.indices if index in used)
        has_batch = scope.has_batch and any(access.has_batch for access in found.accesses)
        where = self.where.at(node.span.start)
        self.add(replace(found, indices=kept, has_batch=has_batch, where=where))
        self.targets[name] = (has_batch, kept)
        element = places.Element(name, has_batch, tuple(map(places.index, kept)))
        return places.of(element)

    # Accesses

    def access(self, node: Subscript, scope: _Scope, whole: bool) -> Value:
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
        outside = self.outside(node.outside, scope)
        if whole and outside is None:
            return places.of(places.Element(name, has_batch, tuple(found)))
        return self.read(ir.Access(name, has_batch, tuple(found), outside), scope)

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

    def outside(self, node: Node | None, scope: _Scope) -> Constant | Named | None:
        if node is None:
            return None
        value = self.value(node, scope)
        value = Constant(value.constant or 0) if isinstance(value, Place) else simple(value)
        if is_negative_infinity(value):
            return Constant(-math.inf)
        if not isinstance(value, Constant | Named):
            self.error("E766", node.span, "the value outside is a constant")
            return ZERO
        return value

    def place(self, node: Node, scope: _Scope, tensor: str, number: int, of: Subscript) -> Place:
        """One place of an access, with what it does outside."""
        size = self.size_of(tensor, number, len(of.places)) or places.number(1)
        is_rule = isinstance(node, syntax.CallOf) and node.function.text in _PLACE_FUNCTIONS
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
        if is_rule and isinstance(node, syntax.CallOf):
            return places.of(places.Function(node.function.text, (value, size)))
        if of.outside is None:
            self.check_inside(value, size, inner.span)
        return value

    def check_inside(self, value: Place, size: Place, span: Span) -> None:
        """An index that leaves its tensor for certain needs a rule."""
        if value.index is not None:
            return
        lowest, highest = self.bounds(value)
        least = lowest.constant if lowest is not None else None
        over = (highest - size).constant if highest is not None else None
        if (least is not None and least < 0) or (over is not None and over >= 0):
            message = f"this place can be {lowest if least is not None and least < 0 else highest}"
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


def identity(kind: str) -> Expression:
    """What a fold gives of nothing, as far as that can be folded with more."""
    match kind:
        case ir.PROD:
            return ONE
        case ir.MAX | ir.ARGMAX | ir.LOGSUMEXP:
            return call("neg", Named("inf"))
        case ir.MIN | ir.ARGMIN:
            return Named("inf")
        case ir.ANY:
            return Constant(False)
        case ir.ALL:
            return Constant(True)
    return ZERO


def is_negative_infinity(value: Expression) -> bool:
    """Whether a value is `-inf`."""
    return value == call("neg", Named("inf"))


def simple(value: Expression) -> Expression:
    """A constant expression as a constant."""
    return simplify(Formula((), (value,)), unroll=False).outputs[0] if children(value) else value


def conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a condition that `and` puts together."""
    if isinstance(node, syntax.Operation) and node.symbol == "and":
        for each in node.operands:
            yield from conjuncts(each)
    else:
        yield node


def walk_tree(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    match node:
        case syntax.Operation(operands=operands) | syntax.CallOf(operands=operands):
            below: tuple[Node | None, ...] = operands
        case FoldOf():
            extents = tuple(each.extent for each in node.binders)
            below = (*extents, node.condition, node.body)
        case Subscript():
            below = (*node.places, node.outside)
        case _:
            below = ()
    for each in below:
        if each is not None:
            yield from walk_tree(each)
