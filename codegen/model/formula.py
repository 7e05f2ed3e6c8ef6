"""The intermediate representation of a scalar formula; parsing, calculus and printing are formula/.

A formula is a directed acyclic graph of five kinds of frozen nodes. There is no node for a local
name: `t = exp(x)` shares the node of `exp(x)`, and `Formula.names` remembers what it was called.
Nodes compare by structure and carry their hash, so that a dictionary of nodes finds common
subexpressions in constant time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Literal, TypeAlias

from ..errors import SourceLocation
from ..record import record

Kind = Literal["tensor", "scalar", "int", "bool"]
"""What an argument is. Tensors, scalars and ints reach a kernel in the compute type T."""

Type = Literal["number", "bool"]
"""The type of an expression: of the compute type, or a truth value."""


@record
class Primitive:
    """One scalar function or operator of the language, with all that anybody knows about it."""

    name: str
    """Name in formulas; operators such as + have a word (`add`)."""
    arity: int
    latex: str
    """Template with {0}, {1} for the printed operands."""
    operator: str
    """Template of the expression over public tensor operators."""
    python: str | None
    """Template of the expression over Python numbers; None where `math` has no such function."""
    derivatives: tuple[str | None, ...]
    """Per operand, a formula in x, y and result; None: no derivative is known."""
    adjoints: tuple[str, ...] | None = None
    """Per operand, the gradient contribution in grad, x, y, result where complex numbers make it
    more than grad * conj(derivative)."""
    type: Type = "number"
    """Type of the value."""
    operands: Type = "number"
    """Type that the operands must have."""
    symbol: str | None = None
    """Python infix or prefix operator, if it has one."""
    precedence: int = 14
    """Binding strength of `symbol` in Python; 14 for a call."""
    latex_precedence: int = 14
    """Binding strength of the LaTeX form."""
    latex_operands: tuple[int, ...] = (0, 0, 0)
    """Binding strength below which an operand gets parentheses in LaTeX."""
    cost: int = 1
    """Work of one evaluation, in units of one multiplication."""

    @property
    def left_strength(self) -> int:
        """What the left operand of `symbol` must bind: comparisons do not chain."""
        chains = self.type == "number" or self.operands == "bool"
        return self.precedence if chains else self.precedence + 1

    def __repr__(self) -> str:
        return f"<{self.name}>"


@record
class Constant:
    """A number or a truth value. Equal only to a constant of the same Python type."""

    value: int | float | complex | bool
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((type(self.value), self.value)))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            type(other) is Constant
            and type(other.value) is type(self.value)
            and (other.value == self.value or repr(other.value) == repr(self.value) == "nan")
        )

    def __hash__(self) -> int:
        return self._hash


@record
class Named:
    """A constant with a name: pi, inf, nan, or eps (which depends on the compute type)."""

    name: str


@record
class Argument:
    """An argument of the operator."""

    name: str
    kind: Kind = "tensor"
    optional: bool = False
    """Whether it may be None."""


@record
class IsNone:
    """`argument is None`; specialisation folds it."""

    argument: Argument


@record
class Call:
    """A primitive applied to operands: arithmetic, comparisons and logic are calls too."""

    primitive: Primitive
    operands: tuple[Expression, ...]
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.primitive.name, self.operands)))

    def __eq__(self, other: object) -> bool:
        return self is other or _are_equal(self, other)

    def __hash__(self) -> int:
        return self._hash


@record
class Select:
    """`then if condition else otherwise`."""

    condition: Expression
    then: Expression
    otherwise: Expression
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.condition, self.then, self.otherwise)))

    def __eq__(self, other: object) -> bool:
        return self is other or _are_equal(self, other)

    def __hash__(self) -> int:
        return self._hash


Expression: TypeAlias = Constant | Named | Argument | IsNone | Call | Select


@record
class Formula:
    """A function of scalars: what a pointwise kernel computes at one element."""

    arguments: tuple[Argument, ...]
    """All parameters, in the order of the kernel's signature."""
    outputs: tuple[Expression, ...]
    """One expression per result."""
    names: tuple[tuple[str, Expression], ...] = ()
    """What the author called shared parts, in order of definition; for printing only."""
    text: str = ""
    """The source, or for a derived formula a line that says what it is; becomes the docstring."""
    where: SourceLocation | None = field(default=None, compare=False, repr=False)
    """The place of the source."""

    @property
    def used(self) -> tuple[str, ...]:
        """Names of the arguments that the outputs read, in signature order."""
        found = {node.name for node in walk(self.outputs) if isinstance(node, Argument)}
        return tuple(argument.name for argument in self.arguments if argument.name in found)

    @property
    def type(self) -> Type:
        """Type of the first output."""
        return type_of(self.outputs[0])


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the direct subexpressions, in evaluation order."""
    if isinstance(node, Call):
        return node.operands
    if isinstance(node, Select):
        return (node.condition, node.then, node.otherwise)
    return ()


def walk(roots: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Return every distinct node below `roots` once, operands before what uses them."""
    order: dict[Expression, None] = {}

    def visit(node: Expression) -> None:
        if node not in order:
            for child in children(node):
                visit(child)
            order[node] = None

    for root in roots:
        visit(root)
    return tuple(order)


def _are_equal(one: object, other: object) -> bool:
    """Whether two operations are the same, looking at what they share once; without recursion."""
    todo, seen = [(one, other)], set()
    while todo:
        one, other = todo.pop()
        if one is other:
            continue
        if not isinstance(one, Call | Select):
            if one != other:
                return False
            continue
        if not isinstance(other, Call | Select) or one._hash != other._hash:
            return False
        if getattr(one, "primitive", None) is not getattr(other, "primitive", None):
            return False
        if (id(one), id(other)) not in seen:
            seen.add((id(one), id(other)))
            todo += zip(children(one), children(other), strict=True)
    return True


def depth(root: Expression) -> int:
    """Return how many operations follow from one another at most."""
    return _folded(root, max)


def written_size(root: Expression) -> int:
    """Return how many operations and operands a text without names would have."""
    return _folded(root, lambda sizes, default: sum(sizes) or default)


def _folded(root: Expression, combine: Callable[..., int]) -> int:
    """One more than what the parts of an expression combine to; without recursion."""
    known: dict[int, int] = {}
    todo = [root]
    while todo:
        node = todo[-1]
        missing = [child for child in children(node) if id(child) not in known]
        todo += missing
        if not missing:
            known[id(node)] = 1 + combine((known[id(each)] for each in children(node)), default=0)
            todo.pop()
    return known[id(root)]


def type_of(node: Expression) -> Type:
    """Return whether an expression is a truth value or of the compute type."""
    if isinstance(node, Call):
        return node.primitive.type
    if isinstance(node, Select):
        return type_of(node.then)
    if isinstance(node, Constant):
        return "bool" if isinstance(node.value, bool) else "number"
    if isinstance(node, Argument):
        return "bool" if node.kind == "bool" else "number"
    return "bool" if isinstance(node, IsNone) else "number"
