"""What an index text says of names: dims of tensors, whole numbers, how far indices go."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ..errors import Diagnostic, Related, SourceLocation
from ..formula.expressions import ZERO
from ..formula.functions import Functions
from ..formula.primitives import CONSTANTS, FUNCTIONS
from ..model import index as ir
from ..model import place as places
from ..model.formula import Argument, Expression
from ..model.place import Place
from ..record import record
from . import index_tree as syntax
from .index_optional import MISSING, NO_CASE, Askable, Case, Results, specialised
from .index_tree import Binder, Equation, FoldOf, Node, Span, Subscript, walk_tree

Value: TypeAlias = Place | Expression

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
PLACE_FUNCTIONS = ("clamp", "wrap", "reflect", "signed", "checked")
"""Rules for a place that may be outside its tensor.

`signed` counts from the end, `checked` does not; of both it is an error if the place is outside.
"""
_ARITHMETIC = ("+", "-", "*", "//", "%", "neg")
_OWN_FUNCTIONS = (*PLACE_FUNCTIONS, "size", "int", "detach", "repeat", "uniform", "normal")


@record
class Owner:
    """What a text may read of its operator: arguments as formulas have them, tensors among them."""

    arguments: tuple[Argument, ...]
    results: tuple[str, ...]
    """Names of the results in the schema; empty where they have none."""
    result_count: int = 1
    functions: Functions = field(default_factory=dict)
    """What it may call besides the primitives and functions of its own."""
    draws: bool = False
    """Whether a generator is among the arguments."""
    has_meta: bool = False
    """Whether a shape function sees all arguments: numbers may be for it, or for a derivative."""
    words: tuple[str, ...] = ()
    """The arguments that are words, which a text only compares."""
    numbers: tuple[str, ...] = ()
    """The arguments that are numbers, which a call tells."""
    updated: tuple[str, ...] = ()
    """The tensors that the schema says are written, to which statements give new values."""

    @property
    def askable(self) -> Askable:
        """What a text may ask of these."""
        optional = self.optional if self.has_meta else ()
        return Askable(self.words, self.flags, self.numbers, optional)

    @property
    def named(self) -> Results:
        """What tells which statements are results."""
        return Results(self.results, self.result_count, tuple(map(new_value, self.updated)))

    @property
    def optional(self) -> tuple[str, ...]:
        """The arguments that may be None."""
        return tuple(each.name for each in self.arguments if each.optional)

    @property
    def flags(self) -> tuple[str, ...]:
        """The arguments that are true or false."""
        return tuple(each.name for each in self.arguments if each.kind == "bool")


@dataclass(slots=True)
class Scope:
    """The indices that an expression may use, and what its formula reads."""

    indices: tuple[str, ...]
    has_batch: bool
    target: str
    reads: dict[ir.Source, Argument] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    """What the parameters of a function of the text stand for."""
    tests: tuple[ir.Test, ...] = ()
    """What holds wherever a fold computes its body."""
    outer: Scope | None = None
    """That around a fold: what is read there may be part of a parameter's value."""
    first: int = 0
    """The number of its first read; those of the scopes around it have smaller ones."""

    def inner(self, indices: Sequence[str], has_batch: bool) -> Scope:
        own = (*self.indices, *indices)
        first = self.first + len(self.reads)
        whole = self.has_batch or has_batch
        return Scope(own, whole, self.target, values=self.values, outer=self, first=first)

    def all_reads(self) -> dict[ir.Source, Argument]:
        """What is read here and around it."""
        return {**(self.outer.all_reads() if self.outer else {}), **self.reads}


def new_value(name: str) -> str:
    """What the tensor is called that an argument becomes."""
    return f"new_{name}"


class Survey:
    """What one text has come to so far.

    A mistake is recorded, and 0 stands for what could not be read.
    """

    def __init__(
        self,
        tree: syntax.Syntax,
        text: str,
        where: SourceLocation,
        owner: Owner,
        missing: Collection[str] = (),
        case: Case = NO_CASE,
    ) -> None:
        self.absent = {*missing, *(name for name, each in case.items() if each is MISSING)}
        self.is_part = bool(missing or case)
        optional = () if owner.has_meta else owner.optional
        self.tree = specialised(tree, owner.named, optional, missing, case)
        self.text = text
        self.where = where
        self.owner = owner
        self.diagnostics: list[Diagnostic] = []
        self.arguments = {
            each.name: each for each in owner.arguments if each.name not in self.absent
        }
        self.functions = {each.name.text: each for each in self.tree.definitions}
        self.equations = {each.target.text: each for each in self.tree.equations}
        self.statements: list[ir.Statement] = []
        self.types: dict[str, ir.Type] = {}
        self.targets: dict[str, tuple[bool, tuple[str, ...]]] = {}
        self.ranks: dict[str, tuple[bool, int, Span]] = {}
        self.integers: set[str] = set()
        self.draws: list[ir.RandomArray] = []
        self.loops: dict[syntax.Repeat, list[ir.Access]] = {}
        """The values of those loops of which several statements take one each."""
        self.compared: list[tuple[str, str]] = []
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

    # First pass: names, ranks, whole numbers, extents

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
                is_tensor = self.arguments[name.text].kind == "tensor"
                hint = f"a call updates it if the schema says `Tensor(a!) {name.text}`"
                message = f"'{name.text}' is already an argument"
                self.error("E753", name.span, message, hint if is_tensor else None)
            elif name.text in (*FUNCTIONS, *CONSTANTS, *ir.FOLDS, *_OWN_FUNCTIONS):
                self.error("E753", name.span, f"'{name.text}' is a name of the language")
            seen.setdefault(name.text, name.span)

    def survey(self, equation: Equation) -> None:
        """Note what an equation says of tensors: their dims, which hold whole numbers."""
        indices = tuple(each.name for each in equation.binders if not each.is_batch)
        has_batch = any(each.is_batch for each in equation.binders)
        self.targets[equation.target.text] = (has_batch, indices)
        for binder in equation.binders:
            self.bind(binder)
        if (updated := self.updated_by(equation)) is not None:
            self.survey_access(updated)
        self.survey_value(equation.value)

    def updated_by(self, equation: Equation) -> Subscript | None:
        """The element of an argument to which a statement gives a new value."""
        names = {new_value(name): name for name in self.owner.updated}
        name = names.get(equation.target.text)
        if name is None:
            return None
        span = equation.target.span
        places = [each for each in equation.binders if not each.is_batch]
        return Subscript(
            syntax.Name(name, span),
            len(places) < len(equation.binders),
            tuple(syntax.Name(each.name, each.span) for each in places),
            None,
            span,
        )

    def survey_value(self, value: Node) -> None:
        """Note what an expression says of tensors and indices."""
        for binder in binders_of(value):
            self.bind(binder)
            self.survey_bounds(binder)
        for node in walk_tree(value):
            if isinstance(node, Subscript):
                self.survey_access(node)
            if isinstance(node, syntax.Operation) and node.symbol in ("==", "!="):
                self.survey_test(node)
            if isinstance(node, FoldOf) and node.condition is not None:
                for test in walk_tree(node.condition):
                    self.survey_test(test)
                self.survey_equations(node)

    def values(self) -> Iterator[tuple[Node, tuple[str, ...]]]:
        """The right sides of all equations and functions, with the functions' parameters."""
        for equation in self.tree.equations:
            yield equation.value, ()
        for function in self.tree.definitions:
            yield function.body, tuple(each.text for each in function.parameters)

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

    def survey_bounds(self, binder: Binder) -> None:
        """Elements that tell where an index begins and ends are whole numbers."""
        for bound in binder.bounds or ():
            self.survey_place(bound)

    def survey_place(self, place: Node) -> None:
        """Elements that a place is made of are whole numbers."""
        for part in walk_tree(place, into_numbers=False):
            if isinstance(part, Subscript):
                self.integers.add(part.tensor.text)

    def survey_access(self, node: Subscript) -> None:
        name = node.tensor.text
        for inner in node.places:
            self.survey_place(inner)
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
        """An element that is compared with an index is a whole number.

        So are those of a sum or product that is to be equal to one.
        """
        if not (isinstance(test, syntax.Operation) and test.symbol in COMPARISONS):
            return
        for one, other in (test.operands, test.operands[::-1]):
            is_index = isinstance(other, syntax.Name) and other.text in self.bound
            whole = list(_operands(one)) if test.symbol in ("==", "!=") else [one]
            if is_index and not any(
                isinstance(each, syntax.CallOf | syntax.Repeat) for each in whole
            ):
                self.integers.update(
                    each.tensor.text for each in whole if isinstance(each, Subscript)
                )

    def survey_equations(self, node: FoldOf) -> None:
        """Elements of arguments that are only compared with each other, if they are equal, are
        whole numbers: labels."""
        assert node.condition is not None
        for part in conjuncts(node.condition):
            if isinstance(part, syntax.Operation) and part.symbol in ("==", "!="):
                names = [each.tensor.text for each in part.operands if isinstance(each, Subscript)]
                if len(names) == 2 and not self.equations.keys() & set(names):
                    self.compared.append((names[0], names[1]))

    def find_labels(self) -> None:
        """Settle which of the arguments that are compared with each other are whole numbers."""
        read: dict[str, int] = {}
        for value, _ in self.values():
            for node in walk_tree(value):
                if isinstance(node, Subscript):
                    read[node.tensor.text] = read.get(node.tensor.text, 0) + 1
        for pair in self.compared:
            for name in pair:
                read[name] -= 1
        for pair in self.compared:
            if all(not read[name] or name in self.integers for name in pair):
                self.integers.update(pair)

    def note_extents(self, node: Subscript, parameters: Sequence[str] = ()) -> None:
        for number, inner in enumerate(node.places):
            is_index = isinstance(inner, syntax.Name) and inner.text in self.bound
            if isinstance(inner, syntax.Name) and is_index and inner.text not in parameters:
                size = self.size_of(node.tensor.text, number, len(node.places))
                if size is not None:
                    self.note_extent(inner.text, size, inner.span)

    def note_extent(self, name: str, size: Place, span: Span) -> None:
        known = self.extents.setdefault(name, size)
        if ((size - known).constant or 0) > 0 and size.constant is None:
            return  # it goes through all but the last of the dim's elements
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

    def check_extent(self, binder: Binder) -> None:
        if not binder.is_batch and binder.name not in self.extents:
            message = f"nothing says how far '{binder.name}' goes"
            hint = f"write `{binder.name} : extent`, or use it alone as a place of a tensor"
            self.error("E758", binder.span, message, hint)
            self.extents[binder.name] = places.number(1)


def _operands(node: Node) -> Iterator[Node]:
    """What a sum, a product or a quotient is made of."""
    is_sum = isinstance(node, syntax.Operation) and node.symbol in _ARITHMETIC
    is_rule = isinstance(node, syntax.CallOf) and node.function.text in PLACE_FUNCTIONS
    if isinstance(node, syntax.Operation | syntax.CallOf) and (is_sum or is_rule):
        for each in node.operands:
            yield from _operands(each)
    else:
        yield node


def binders_of(value: Node) -> Iterator[Binder]:
    """The indices that the folds of an expression go over."""
    for node in walk_tree(value):
        if isinstance(node, FoldOf):
            yield from node.binders
        if isinstance(node, syntax.Repeat) and node.binder is not None:
            yield node.binder


def conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a condition that `and` puts together."""
    if isinstance(node, syntax.Operation) and node.symbol == "and":
        for each in node.operands:
            yield from conjuncts(each)
    else:
        yield node
