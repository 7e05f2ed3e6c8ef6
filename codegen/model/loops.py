"""Loops: what the statements of an index program come to, decided by lower/, spelled by emit/.

A phase is one launch: its items are shared by threads, and one item after the other goes through
its nests. A tensor that lives within an item is a number there, or a row in a buffer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..record import record
from . import place as places
from .index import Access, IndexProgram, Statement, Test
from .place import Function, Place


@record
class Loop:
    """A loop over an index, from the largest of its lower bounds to the least of its upper."""

    index: str
    lower: tuple[Place, ...] = ()
    """Besides 0."""
    upper: tuple[Place, ...] = ()
    """Besides the extent."""
    is_reversed: bool = False
    """Whether it goes from the last element to the first."""


@record
class Nest:
    """Loops around the bodies of some statements that go over the same indices.

    In a nest of folds, what is made element by element has all of their loops around it.
    """

    statements: tuple[Statement, ...]
    outer: tuple[Loop, ...]
    """Over indices of the statements themselves."""
    over_batch: bool
    """Whether all that `...` stands for is folded."""
    inner: tuple[Loop, ...]
    """Over indices of the folds; with `vector`, around it."""
    vector: Loop | None
    """An index of the statements that is innermost although folds go over others: what these have
    so far is kept for a block of it."""
    guards: tuple[Test, ...] = ()
    """Conditions that bound no loop."""
    scattered: Mapping[str, Place] | None = None
    """Indices of the only statement that are no loops: where each element of the fold goes."""

    @property
    def is_fold(self) -> bool:
        """Whether values are put together."""
        return bool(self.folds)

    @property
    def folds(self) -> tuple[Statement, ...]:
        """Those of the statements that are folds; others are elements, made on the way."""
        return tuple(each for each in self.statements if each.fold is not None)

    @property
    def ranges(self) -> tuple[str, str] | None:
        """An index of the folds that goes over ranges which tensors tell, and an index that numbers
        these."""
        for loop in self.inner:
            for place in (*loop.lower, *loop.upper):
                if places.looked_at(place) and place.indices:
                    return loop.index, place.indices[0]
        return None


@record
class Lanes:
    """A loop of folds that the threads of a warp can share, each taking every 32nd element."""

    index: str
    is_dense: bool
    """Whether neighbours along it lie side by side in most of what is read."""
    columns: str | None = None
    """Else the index of items along which they do."""


@record
class Phase:
    """One launch."""

    has_batch: bool
    """Whether each of all that `...` stands for is an item of its own."""
    items: tuple[str, ...]
    """The indices whose values make an item, together."""
    spread: str | None
    """Where there is only one item: the index of all nests of which threads take a range each."""
    runs_batch: bool
    """Whether the innermost dim of `...` is a loop in each nest over it, as there is no other."""
    nests: tuple[Nest, ...]
    numbers: tuple[str, ...] = ()
    """Tensors that are one number within an item."""
    rows: tuple[str, ...] = ()
    """Tensors that are rows in a buffer within an item."""
    lanes: Lanes | None = None
    """On a device, what a warp shares."""
    scans_along: str | None = None
    """On a device, the index of a scan along which most of what is read lies side by side."""

    keyed: tuple[str, ...] | None = None
    """On a device, of a scatter: what tells where an item's value goes, `...` for its number among
    these, if the rest of its indices only tell which of the elements there."""
    product: tuple[Access, Access] | None = None
    """The elements whose products the only statement sums, where libraries can do that."""
    window: Window | None = None
    """The same for folds over few elements, which are written out."""
    borrowed: Mapping[str, str] = field(default_factory=dict)
    """The rows that are kept where a result will be, until that is written element by element."""
    tile: str | None = None
    """The innermost index of all nests, if an item is made for each block of it: then what is made
    in between stays in cache."""

    is_light: bool = False
    """Whether it goes over its rows several times, and computes next to nothing each time."""

    @property
    def runs_items(self) -> bool:
        """Whether items along the innermost dim of `...` are computed side by side."""
        return self.runs_batch and self.has_batch


@record
class Window:
    """A launch whose folds go over windows: neighbours along an index are computed side by side.

    The folds are innermost. LLVM writes loops out whose counts it knows; then what is left as the
    innermost loop is the one over the index.
    """

    items: tuple[str, ...]
    """Those of the launch, and the index."""
    numbers: tuple[str, ...]
    """Tensors that are one number within an item."""
    nests: tuple[Nest, ...]
    """Anywhere: what is asked of places is asked."""
    inside: tuple[Nest, ...]
    """Where all of `certain` holds, whatever the folds' indices are."""
    certain: tuple[Test, ...]
    is_cut: bool = False
    """Whether windows are parts of a tensor of any length: then there is no other launch."""

    @property
    def index(self) -> str:
        """The index along which neighbours lie."""
        return self.items[-1]

    @property
    def folded(self) -> tuple[str, ...]:
        """The indices of all folds, each once."""
        found = [loop.index for nest in self.nests for loop in nest.inner]
        return tuple(dict.fromkeys(found))


@record
class LoopProgram:
    """All launches of an index program, in order."""

    program: IndexProgram
    phases: tuple[Phase, ...]
    temporaries: tuple[str, ...]
    """Tensors that are whole in memory between launches."""
    dense: Mapping[str, str]
    """The index along which a tensor is dense, of those whose layout is not given."""


# -- bounds that a step tells, if it is positive ---------------------------------------------------


def presumed_first(step: Place, turns: Place) -> Place:
    """Where a loop begins that could not before `-turns`; 0 if the step is not positive."""
    return -turns * _is_positive(step)


def presumed_end(step: Place, turns: Place, extent: Place) -> Place:
    """Where a loop ends that could not go past `turns`; all of it if the step is not positive."""
    is_positive = _is_positive(step)
    return (turns + places.number(1)) * is_positive + (places.number(1) - is_positive) * extent


def presumed_step(bound: Place, extent: Place) -> tuple[Place, Place] | None:
    """The step that must be positive for a bound to tell anything, and the bound then."""
    for atom in bound.atoms:
        match atom:
            case Function("quotient", (_, Place(((((Function("greatest", (step, _)),), 1)),)))):
                turns = places.of(atom)
                if bound == presumed_first(step, turns):
                    return step, -turns
                if bound == presumed_end(step, turns, extent):
                    return step, turns + places.number(1)
    return None


def _is_positive(step: Place) -> Place:
    """1 if it is, else 0."""
    least = places.apply("greatest", step, places.number(0))
    return places.apply("least", least, places.number(1))
