"""The tree of an index text: what stands where, nothing resolved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ..record import record


@record
class Span:
    """Where something stands in the text."""

    start: int
    stop: int


@record
class Number:
    """A literal."""

    value: int | float
    span: Span


@record
class Name:
    """An index, an argument, a constant, a tensor of no dims."""

    text: str
    span: Span


@record
class Word:
    """A text in quotes, with which an argument is compared."""

    text: str
    span: Span


@record
class Operation:
    """An operator between or before operands: `+`, `not`, `<` ..., or `if` of three."""

    symbol: str
    operands: tuple[Node, ...]
    span: Span


@record
class CallOf:
    """A function of the language, or of the text."""

    function: Name
    operands: tuple[Node, ...]
    span: Span


@record
class Binder:
    """An index as a statement or a fold introduces it; without a name it is `...`."""

    name: str
    extent: Node | None
    span: Span
    bounds: tuple[Node, Node] | None = None
    """Of a fold's index, `a .. b`: where it begins, and before which value it ends."""

    @property
    def is_batch(self) -> bool:
        """Whether it stands for all dims that have no name."""
        return self.name == "..."


@record
class FoldOf:
    """`sum(j from start where c: body)`, `argmax(j: body, told)`."""

    function: Name
    binders: tuple[Binder, ...]
    start: Node | None
    condition: Node | None
    body: Node
    told: Node | None
    span: Span


@record
class Subscript:
    """`x[..., i + 1 else 0]`."""

    tensor: Name
    has_batch: bool
    places: tuple[Node, ...]
    outside: Node | None
    span: Span


@record
class IsMissing:
    """`x is None`."""

    argument: Name
    span: Span


@record
class Repeat:
    """`repeat(k : 8, t = start: next)`: a loop with a fixed count, or over an index."""

    index: Name | None
    count: Node
    states: tuple[tuple[Name, Node], ...]
    bodies: tuple[Node, ...]
    span: Span

    @property
    def binder(self) -> Binder | None:
        """The index that it goes over, unless it is written out."""
        if isinstance(self.count, Number):
            return None
        if self.index is not None:
            return Binder(self.index.text, self.count, self.index.span)
        if isinstance(self.count, Name):
            return Binder(self.count.text, None, self.count.span)
        return None


@record
class Part:
    """One of the values of a loop: `a[i], b[i] = repeat(...)`."""

    loop: Repeat
    number: int
    span: Span


Node: TypeAlias = (
    Number | Name | Word | Operation | CallOf | FoldOf | Subscript | IsMissing | Repeat | Part
)


@record
class Definition:
    """A function of the text."""

    name: Name
    parameters: tuple[Name, ...]
    body: Node


@record
class Equation:
    """A statement."""

    target: Name
    binders: tuple[Binder, ...]
    value: Node
    span: Span


@record
class Syntax:
    """A whole text."""

    equations: tuple[Equation, ...]
    definitions: tuple[Definition, ...]


def walk_tree(node: Node, into_numbers: bool = True) -> Iterator[Node]:
    """A node and all below it; into_numbers: also what `int(...)` makes a whole number of."""
    yield node
    if isinstance(node, CallOf) and node.function.text == "int" and not into_numbers:
        return
    match node:
        case Operation(operands=operands) | CallOf(operands=operands):
            below: tuple[Node | None, ...] = operands
        case FoldOf():
            told = (part for each in node.binders for part in (each.extent, *(each.bounds or ())))
            below = (*told, node.start, node.condition, node.body, node.told)
        case Part():
            below = (node.loop,)
        case Repeat():
            below = (node.count, *(each for _, each in node.states), *node.bodies)
        case Subscript():
            below = (*node.places, node.outside)
        case _:
            below = ()
    for each in below:
        if each is not None:
            yield from walk_tree(each, into_numbers)
