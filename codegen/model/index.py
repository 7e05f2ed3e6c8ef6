"""The intermediate representation of the index language: statements over named indices.

A statement defines a tensor, element by element, as a scalar formula of what it reads there,
perhaps folded over further indices. The formula is one of the formula language, whose arguments are
bound to reads; so its calculus and printing are those of formula/. A program is a list of
statements, its own derivative is another: parsing is parse/index*, calculus and loops are index/.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Literal, TypeAlias

from ..errors import SourceLocation
from ..record import record
from .formula import Argument, Call, Constant, Expression, Formula, Named, Select, walk
from .place import Element, Index, Place, looked_at, of

Type = Literal["number", "int", "bool"]
"""What the elements of a tensor are: of the compute type T, int64, or truth values."""

SUM, PROD, MAX, MIN, ANY, ALL = "sum", "prod", "max", "min", "any", "all"
ARGMAX, ARGMIN, MEAN, LOGSUMEXP = "argmax", "argmin", "mean", "logsumexp"
LAST = "last"
LOCATED = "located"
"""Of a derivative alone: the value of its only index between whose bounds a whole number lies,
found by bisection; -1 if there is none."""
NAMED = "named"
"""The fold that an argument names, a word; of scatters alone, which begin with a value."""
FOLDS: dict[str, str] = {
    SUM: "The sum; of nothing it is 0.",
    PROD: "The product; of nothing it is 1.",
    MAX: "The largest element, NaN if there is one; of nothing it is -inf.",
    MIN: "The smallest element, NaN if there is one; of nothing it is inf.",
    ANY: "Whether one is true; of nothing it is false.",
    ALL: "Whether each is true; of nothing it is true.",
    ARGMAX: "Where along the index the first of the largest elements is; of several, which it is.",
    ARGMIN: "Where along the index the first of the smallest elements is.",
    MEAN: "The sum over the count; of nothing it is NaN.",
    LAST: "The last of the elements; of nothing it is 0.",
    LOGSUMEXP: "log of the sum of exp, without overflow; of nothing it is -inf.",
}
"""The folds of the language, and what they are."""
Answers: TypeAlias = tuple[str | float | bool | None, ...]
"""What arguments may be, as far as a text tells it apart."""
STARTED = (SUM, PROD, MAX, MIN, LAST, NAMED)
"""Those that may begin with a value, `from` which they go on."""


Outside: TypeAlias = Constant | Named | Argument
"""What an element is outside its tensor: a constant, or a number among the arguments."""


@record
class Access:
    """An element of a tensor."""

    tensor: str
    has_batch: bool
    """Whether `...` stands first: the dims before the places, broadcast among all operands."""
    places: tuple[Place, ...]
    outside: Outside | None = None
    """The value where a place is not in the tensor; None if all places are."""


@record
class Test:
    """A comparison of whole numbers: of a place with 0."""

    place: Place
    relation: Literal[">=", "==", "!="]

    def __str__(self) -> str:
        return f"{self.place} {self.relation} 0"


Source: TypeAlias = Access | Place | Test


@record
class Read:
    """What an argument of a statement's formula is bound to."""

    name: str
    source: Source


@record
class Fold:
    """How the formula's values are put together."""

    kind: str
    """A key of FOLDS, LOCATED or NAMED."""
    has_batch: bool
    """Whether it goes over the dims of `...`, too."""
    indices: tuple[str, ...]
    where: tuple[Test, ...] = ()
    """Only where all of these hold."""
    told: Place | None = None
    """What argmax tells of the element that it finds; None: which it is."""
    start: Access | None = None
    """What is there before the first element, at the statement's indices; None for nothing."""
    name: str | None = None
    """The argument that names it, of NAMED."""

    @property
    def has_ranges(self) -> bool:
        """Whether an index begins or ends at what tensors tell."""
        bounding = (test for test in self.where if test.relation == ">=")
        terms = (term for test in bounding for term in test.place.terms)
        return any(looked_at(Place(((monomial, abs(factor)),))) for monomial, factor in terms)


@record
class Statement:
    """`target[..., indices] = fold(formula of reads)`."""

    target: str
    has_batch: bool
    indices: tuple[str, ...]
    fold: Fold | None
    formula: Formula
    """Of one output; its arguments are the reads, and numbers among the operator's arguments."""
    reads: tuple[Read, ...]
    type: Type = "number"
    is_detached: bool = False
    """Whether it is a constant to all derivatives."""
    where: SourceLocation | None = field(default=None, compare=False, repr=False)

    @property
    def moves(self) -> bool:
        """Whether it takes elements as they are, or zeros: then their dtype does not matter."""
        accesses = [each.source for each in self.reads if isinstance(each.source, Access)]
        outsides = [each.outside for each in accesses if each.outside is not None]
        elements = {each.name for each in self.reads if isinstance(each.source, Access)}
        tests = {each.name for each in self.reads if isinstance(each.source, Test)}
        return (
            (self.fold is None or self.fold.kind == LAST)
            and self.type == "number"
            and not self.reads_itself
            and all(_is_moved(each, (), ()) for each in outsides)
            and _is_moved(self.formula.outputs[0], elements, tests)
        )

    @property
    def numbers(self) -> set[str]:
        """The numbers among the operator's arguments that its values are made of."""
        bound = {read.name for read in self.reads}
        outsides = (each.outside for each in self.accesses)
        return {
            *(each.name for each in self.formula.arguments if each.name not in bound),
            *(each.name for each in outsides if isinstance(each, Argument)),
        }

    @property
    def accesses(self) -> Iterator[Access]:
        """What it reads of tensors; elements that are places of others come after these."""
        for read in self.reads:
            if isinstance(read.source, Access):
                yield read.source
        if self.fold is not None and self.fold.start is not None:
            yield self.fold.start
        for place in self.all_places:
            for atom in place.atoms:
                if isinstance(atom, Element):
                    outside = None if atom.outside is None else Constant(0)
                    yield Access(atom.tensor, atom.has_batch, atom.places, outside)

    @property
    def all_places(self) -> Iterator[Place]:
        """Every whole number that it computes."""
        for read in self.reads:
            match read.source:
                case Access(places=places):
                    yield from places
                case Place() as place:
                    yield place
                case Test(place=place):
                    yield place
        if self.fold is not None:
            yield from self.fold.start.places if self.fold.start else ()
            yield from (test.place for test in self.fold.where)
        if self.fold is not None and self.fold.told is not None:
            yield self.fold.told

    @property
    def reads_itself(self) -> bool:
        """Whether it is a scan: it reads elements of what it defines, which come before."""
        return any(access.tensor == self.target for access in self.accesses)

    @property
    def steps(self) -> dict[str, int]:
        """The indices along which a scan goes, and which way: 1, or -1 from the last element."""
        found: dict[str, int] = {}
        for access in self.accesses:
            if access.tensor == self.target:
                for index, place in zip(self.indices, access.places, strict=True):
                    shift = (place - of(Index(index))).constant
                    if shift:
                        found.setdefault(index, 1 if shift < 0 else -1)
        return found

    @property
    def loops(self) -> tuple[str, ...]:
        """The indices that it goes over, its own before those of the fold."""
        return self.indices + (self.fold.indices if self.fold else ())


def leaves(node: Expression) -> Iterator[Expression]:
    """What an expression selects among."""
    if isinstance(node, Select):
        yield from leaves(node.then)
        yield from leaves(node.otherwise)
    else:
        yield node


def selects_wholes(
    formula: Formula, reads: Iterable[Read], target: str, types: Mapping[str, Type]
) -> bool:
    """Whether a value is a place or a whole number that the text defines, perhaps one of several.

    target: what it is the value of, and may read. types: what other statements define.
    """
    sources = {each.name: each.source for each in reads}
    found = [sources.get(n.name) if isinstance(n, Argument) else None
             for n in leaves(formula.outputs[0])]  # fmt: skip
    others = [each for each in found if not (isinstance(each, Access) and each.tensor == target)]
    return bool(others) and all(is_whole(each, types) for each in others)


def is_whole(source: Source | None, types: Mapping[str, Type]) -> bool:
    """Whether what is read is a place or a whole number."""
    if isinstance(source, Access):
        return types.get(source.tensor) == "int"
    return source is not None and not isinstance(source, Test)


EXACT = frozenset(("add", "sub", "mul", "neg", "logical_and", "logical_or", "logical_not"))
"""Primitives that are exact in every ring."""
DIVISION = "div"
"""Of whole numbers, which are made of 64 bits for it, rounded towards zero where it is stored."""


def _adds_and_multiplies(statement: Statement) -> bool:
    outsides = [each.outside for each in statement.accesses if each.outside is not None]
    nodes = [*outsides, *walk(statement.formula.outputs)]
    fold = statement.fold
    return (
        (fold is None or fold.kind in (SUM, PROD, LAST) or fold.start is not None)
        and statement.type in ("number", "int")
        and all(isinstance(each.value, int) for each in nodes if isinstance(each, Constant))
        and all(
            each.primitive.name in (*EXACT, DIVISION) for each in nodes if isinstance(each, Call)
        )
        and not any(isinstance(each, Named) for each in nodes)
    )


def _divides(statement: Statement) -> bool:
    calls = [each for each in walk(statement.formula.outputs) if isinstance(each, Call)]
    return any(each.primitive.name == DIVISION for each in calls)


COMPARING = frozenset(
    ("lt", "le", "gt", "ge", "eq", "ne", "logical_and", "logical_or", "logical_not", "max", "min")
)
"""Primitives that are the same in every order of numbers."""


def _compares(statement: Statement) -> bool:
    """Whether a statement picks among elements: infinities are the ends of their order."""
    nodes = walk(statement.formula.outputs)
    return (
        (statement.fold is None or statement.fold.kind in (MAX, MIN, ARGMAX, ARGMIN))
        and all(each.primitive.name in COMPARING for each in nodes if isinstance(each, Call))
        and not any(isinstance(each, Constant | Named) for each in nodes)
    )


def _orders_exactly(statement: Statement) -> bool:
    """Whether a statement picks among elements that are sums and products."""
    nodes = list(walk(statement.formula.outputs))
    exact = EXACT | COMPARING
    return (
        statement.fold is not None
        and statement.fold.kind in (MAX, MIN, ARGMAX, ARGMIN)
        and all(each.primitive.name in exact for each in nodes if isinstance(each, Call))
        and all(isinstance(each.value, int) for each in nodes if isinstance(each, Constant))
        and not any(isinstance(each, Named) for each in nodes)
    )


REAL = frozenset(("real", "imag", "abs"))
"""Primitives that give real numbers of complex ones."""
ORDERING = frozenset(("lt", "le", "gt", "ge", "max", "min", "floor", "ceil", "trunc", "round"))
"""Primitives that complex numbers have not."""


def _orders_reals(statement: Statement) -> bool:
    """Whether a statement makes sense for complex numbers: it compares parts of them at most."""
    kind = None if statement.fold is None else statement.fold.kind
    if kind in (MAX, MIN) and not gives_part(statement):
        return False
    if kind not in (None, SUM, PROD, MEAN, LOGSUMEXP, MAX, MIN, NAMED):
        return False
    ordering = (
        each
        for each in walk(statement.formula.outputs)
        if isinstance(each, Call) and each.primitive.name in ORDERING
    )
    return statement.type != "int" and all(
        isinstance(each, Constant) or (isinstance(each, Call) and each.primitive.name in REAL)
        for node in ordering
        for each in node.operands
    )


def gives_part(statement: Statement) -> bool:
    """Whether its value is a part of a number, or the size of one."""
    (value, *_) = statement.formula.outputs
    return isinstance(value, Call) and value.primitive.name in REAL


def _is_moved(node: Expression, elements: Collection[str], tests: Collection[str]) -> bool:
    match node:
        case Argument(name, kind):
            return name in elements or (kind == "scalar" and name not in tests)
        case Constant(value):
            return value == 0
        case Select(condition, then, otherwise):
            read = {each.name for each in walk((condition,)) if isinstance(each, Argument)}
            branches = _is_moved(then, elements, tests) and _is_moved(otherwise, elements, tests)
            return read <= set(tests) and branches
    return False


@record
class Tensor:
    """A tensor of a program: an argument, a result, or one in between."""

    name: str
    has_batch: bool
    rank: int
    """How many dims there are behind those of `...`."""
    type: Type = "number"


DRAW_KEY = "draw_key"
"""The argument that all random numbers of a call are a function of."""


@record
class RandomArray:
    """A tensor of random numbers, evenly from [0, 1): no memory, each is a function of its place.

    The function is that of a counter: a call takes one key from its generator, and whoever has the
    key draws the same numbers again.
    """

    name: str
    number: int
    """Which of the call's draws it is."""
    has_batch: bool
    sizes: tuple[Place, ...]


@record
class Requirement:
    """Two extents that must agree, or one that must reach another, which a call checks."""

    index: str
    extent: Place
    where: SourceLocation | None = field(default=None, compare=False, repr=False)


@record
class IndexProgram:
    """The text of one operator."""

    inputs: tuple[Tensor, ...]
    """The operator's tensors, in schema order."""
    numbers: tuple[str, ...]
    """Its other arguments that the statements read, whole numbers included, in schema order."""
    integers: tuple[str, ...]
    """Those of them that are whole numbers."""
    statements: tuple[Statement, ...]
    """In an order in which each reads what is defined before it, or itself."""
    extents: tuple[tuple[str, Place], ...]
    """The extent of each index."""
    requirements: tuple[Requirement, ...]
    """Further sizes that must be an index's extent."""
    results: tuple[str, ...]
    """The tensors that are returned."""
    text: str = ""
    draws: tuple[RandomArray, ...] = ()
    """The random tensors that the statements read."""
    where: SourceLocation | None = field(default=None, compare=False, repr=False)

    @property
    def is_exact(self) -> bool:
        """Whether it only adds and multiplies: what is right of whole and complex numbers, too."""
        return not self.draws and all(map(_adds_and_multiplies, self.statements))

    @property
    def divides(self) -> bool:
        """Whether it divides besides, so that whole numbers need more room in between."""
        return self.is_exact and any(map(_divides, self.statements))

    @property
    def serves_complex(self) -> bool:
        """Whether complex numbers may stand for its elements."""
        return not self.draws and all(map(_orders_reals, self.statements))

    @property
    def gives_parts(self) -> bool:
        """Whether its first result is real, of complex numbers too: a part of one, or its size."""
        return gives_part(self.statement(self.results[0]))

    @property
    def compares(self) -> bool:
        """Whether it only picks among elements: then whole numbers and truth values serve, too."""
        return not (self.draws or self.moves) and all(
            each.moves or _compares(each) for each in self.statements
        )

    @property
    def serves_integers(self) -> bool:
        """Whether whole numbers may stand for its elements: it adds, multiplies and compares."""
        if self.is_exact or self.compares:
            return True
        return not self.draws and all(
            each.moves
            or _compares(each)
            or _orders_exactly(each)
            or (_adds_and_multiplies(each) and not _divides(each))
            for each in self.statements
        )

    @property
    def named(self) -> str | None:
        """The argument that names a fold."""
        folds = (each.fold for each in self.statements if each.fold is not None)
        return next((fold.name for fold in folds if fold.name), None)

    @property
    def drawn(self) -> dict[str, RandomArray]:
        """The draws by name."""
        return {draw.name: draw for draw in self.draws}

    @property
    def moves(self) -> bool:
        """Whether nothing is computed: elements are only put elsewhere, of whatever dtype."""
        return all(each.moves for each in self.statements)

    @property
    def is_given_numbers(self) -> bool:
        """Whether it writes numbers among the arguments, which are of no tensor's dtype."""
        return any(each.numbers for each in self.statements)

    @property
    def extent(self) -> dict[str, Place]:
        """The extents by index."""
        return dict(self.extents)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors, by name."""
        found = {tensor.name: tensor for tensor in self.inputs}
        for draw in self.draws:
            found[draw.name] = Tensor(draw.name, draw.has_batch, len(draw.sizes))
        for each in self.statements:
            found[each.target] = Tensor(each.target, each.has_batch, len(each.indices), each.type)
        return found

    def statement(self, target: str) -> Statement:
        """The statement that defines a tensor."""
        return next(each for each in self.statements if each.target == target)
