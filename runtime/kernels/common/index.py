"""Index programs as every backend takes them: what a text of named indices came to.

The generated package holds their loops as plain Python; a backend compiles these for dtypes and
strides. Sizes are looked at here: what does not fit is refused before anything is made.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes

LIBRARY = "torchgen_out.kernels.index"
"""The package that is generated of the library's texts."""
Sizes = tuple[int, ...]
LAST = "last"
"""The fold whose values only replace each other."""

MOST_COLUMNS = 64
"""Rows that are computed side by side: a cache line of each is at hand."""
FEW_IN_A_ROW = 16
"""Elements of a row up to which folds are worth that."""
BATCH_SIZE = "size(...)"
"""The number of all that `...` stands for, among the whole numbers that launches take."""

FAR = 1 << 61
"""Further than any place: whole arguments end there, so that sums of some do not overflow."""
WORDS = {
    "sum": "sum", "add": "sum", "prod": "prod", "multiply": "prod",
    "amax": "max", "max": "max", "amin": "min", "min": "min",
}  # fmt: skip
"""The folds that arguments name."""
OTHERWISE = None
"""In place of an argument's value that is none of those told apart."""
MISSING = False
"""In place of an optional argument's value that is not there."""
OUTPUT_MASK = "output_mask"
"""The argument that says which results are needed, of an operator that gives gradients."""


class TensorForm(NamedTuple):
    """What a text says of a tensor.

    has_batch: whether dims that have no index come first. indices: the names of those that have
    one; of an argument their count is all that matters. kind: 'number', 'int' or 'bool'. dense: the
    index along which a tensor in between is dense, if not the last.
    """

    has_batch: bool
    indices: tuple[str, ...]
    kind: str = "number"
    dense: str | None = None

    @property
    def rank(self) -> int:
        """How many dims have an index."""
        return len(self.indices)


class View(NamedTuple):
    """How statements see a tensor: sizes, strides, and where its first element is."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0


class Order(NamedTuple):
    """An order of dims, outermost first, in which a tensor must lie densely to be seen.

    places: the integer tensor, if there is one, that tells all that is read and written of it, as
    places counted in this order. Of a few the CPU finds where they lie, in place of a copy.
    """

    dims: tuple[int, ...]
    places: str = ""

    def strides_of(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """The strides of a tensor of these sizes that does."""
        made = shapes.contiguous_strides(tuple([sizes[dim] for dim in self.dims]))
        return tuple([made[self.dims.index(dim)] for dim in range(len(sizes))])


class Refusal(NamedTuple):
    """What is said of an integer tensor of which an element is no place."""

    tensor: str
    error: Callable[[Any], Exception]
    """From the tensor's elements, as a NumPy array."""


class Turn(NamedTuple):
    """One of several calls that a geometry gives in place of one.

    sizes: the result's; arguments: those by name that are not what was called with.
    """

    sizes: tuple[int, ...]
    arguments: Mapping[str, Any]


class InTurn(NamedTuple):
    """Calls of which each has the result of the one before as its only tensor."""

    turns: tuple[Turn, ...]


REFUSAL = "refusal"
"""Under which name a geometry tells it."""


def dense(*sizes: int) -> View:
    """The view of other sizes."""
    return View(sizes, shapes.contiguous_strides(sizes))


class Product(NamedTuple):
    """A launch as a sum of products, which libraries of matrices can do.

    places: from indices, extents and whole numbers to the places of an element of each tensor, the
    result first, and to what is at least 0 for elements that there are; all are sums of multiples
    of indices.
    """

    places: Callable[..., Any]
    tensors: tuple[str, str, str]
    indices: tuple[str, ...]
    extents: tuple[str, ...]
    integers: tuple[str, ...]


MOST_WRITTEN = 27
"""Elements of a window that are written out; a larger one pays for its loops anyway."""

LEAST_WRITTEN = 1 << 12
"""Elements of all windows together from which they are."""


class Window(NamedTuple):
    """A launch whose folds go over few elements, the product of the extents of `folded`.

    literals: which extents and whole numbers it is compiled for.
    """

    launch: Launch
    folded: tuple[str, ...]
    literals: tuple[str, ...]


class Scan(NamedTuple):
    """A scan on a device as steps that may be grouped, so that threads share a row.

    launch: one step, of an item's indices and the step's: if it `reads`, what the element alone
    comes to; else the value is stored. joined: what two neighbours come to together, of the parts
    of the one before and then of the one behind. index: along which it goes; is_dense: whether
    neighbours there lie side by side. starts: what stands before the first element, as text.
    types: of the parts, 'number' or 'int'. folds: whether one value is all that is made, of
    elements in any order; its launch stores what follows from that, too. columns: then the index of
    items along which neighbours lie side by side, if these do not.
    """

    launch: Launch
    joined: Callable[..., Any]
    index: str
    is_reversed: bool
    is_dense: bool
    starts: tuple[str, ...]
    types: tuple[str, ...]
    folds: bool = False
    columns: str | None = None


class Launch(NamedTuple):
    """One range of items that threads share.

    function: the loops. arrays: the tensors it takes; writes: those of them that it writes;
    extents, integers, numbers: what follows them. has_batch: whether each of all that `...` stands
    for is an item; items: the indices that make one; spread: where there is only one item, the
    index of which threads take ranges. runs_batch: whether the innermost dim of `...` is a loop
    of the function.
    tile: the index of whose parts each is an item. light: whether it goes over its rows several
    times, and hardly computes anything.
    waits: whether each step of an item waits for the one before it, as in a running sum.
    over_batch: whether one goes over all of `...`. work: for each nest its loops besides the items.
    ranges: an index of which each item folds a range only, and the one that numbers the ranges.
    product: what it multiplies, if it is a contraction. window: the same for folds over few
    elements. looks: where places are looked at before anything is written: the index of which
    threads look at ranges, or '', and the one that they may share in place of items; then the
    function has a `mode` behind its range. On a device, where the function is of one item: lanes:
    an index whose loop a warp can share, and whether neighbours along it lie side by side. scatter:
    the tensor into which the values go, how they are combined there, and what it begins from;
    keyed: what tells where they go, of the items and '...', None for all that an item is told by.
    reach: products of extents and whole numbers, of whose sum no place is further from 0. scan: its
    steps, if rows can be shared. refused: what must hold of places that it looks at.
    """

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    writes: tuple[str, ...]
    work: tuple[tuple[str, ...], ...]
    ranges: tuple[str, str] | None = None
    extents: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    has_batch: bool = False
    items: tuple[str, ...] = ()
    spread: str | None = None
    runs_batch: bool = False
    over_batch: bool = False
    lanes: tuple[str, bool] | None = None
    scatter: tuple[str, str, str | None] | None = None
    reach: tuple[tuple[int, tuple[str, ...]], ...] = ()
    refused: tuple[str, ...] = ()
    tile: str | None = None
    light: bool = False
    product: Product | None = None
    looks: tuple[str, str | None] | None = None
    window: Window | None = None
    waits: bool = False
    scan: Scan | None = None
    keyed: tuple[str, ...] | None = None

    def chosen(self, sizes: Mapping[str, int], rows: int) -> tuple[Launch, tuple[str, ...]]:
        """The launch for these extents and whole numbers, and which of these are part of its text.

        rows: how many elements `...` stands for. Folds over few elements are written out, where all
        together have many: it is compiled for each size of window. Where there are few, one text
        serves all sizes.
        """
        window = self.window
        if window is None:
            return self, ()
        if rows * prod(sizes[name] for name in {*self.items, *self.work[0]}) < LEAST_WRITTEN:
            return window.launch, ()
        if prod(sizes[name] for name in window.folded) > MOST_WRITTEN:
            return self, ()
        return window.launch, tuple(n for n in window.literals if abs(sizes[n]) <= MOST_WRITTEN)

    def steps(self, index: str, extents: Mapping[str, int]) -> int:
        """How often an item goes through a loop, about: ranges are parts of their index's extent,
        each of the same length as far as sizes tell."""
        if self.ranges is None or index != self.ranges[0]:
            return extents[index]
        return -(-extents[index] // max(extents[self.ranges[1]], 1))

    @property
    def combines(self) -> bool:
        """Whether a scatter on a device gives values that are combined behind it."""
        return self.scatter is not None and self.scatter[1] != LAST

    @property
    def takes_batch(self) -> bool:
        """Whether the function is told of the dims of `...`."""
        return self.has_batch or self.over_batch


@dataclass(frozen=True, eq=False)
class IndexProgram:
    """All launches of one operator.

    arguments: the operator's, in order. inputs, results, temporaries: its tensors. measure: from
    the sizes of the inputs and the whole numbers among the arguments, `integers`, to the extents of
    `indices`. dims: which sizes of which tensors loops need besides. launches, temporaries: the
    CPU's; on_device, on_device_temporaries: those of devices; on_long_rows, long_rows_temporaries:
    these where one launch has several folds, and rows are so few and long that many threads share
    each. There are none where a kernel written by hand takes their place. moves: whether nothing is
    computed, so that elements of any dtype are taken as words of their width. divides: whether
    whole numbers are divided, which are computed in 64 bits then. compares: whether elements are
    only picked by their order, so that truth values are taken as bytes. gives_parts: whether the
    first result is real whatever the operands, a part of a complex number or its size. is_wide:
    whether the CPU computes floats in float64. costly: whether steps of scans, or of folds, are
    worth vectors across rows.
    geometry: from what a kernel is called with to the views that the statements see, and numbers,
    by name; None where operands must be contiguous for that. begins: from which argument
    a result begins that a fold goes on from; of a result that the views show in part, the rest is
    the argument's. in_place: whether a result may lie in the memory of an argument.
    named: the argument that names a fold, a key of WORDS. asked: arguments that
    settle which program a call runs, and the values that are told apart; others: the programs
    behind this one, by these values, OTHERWISE for all not told apart. single: the program without
    its last index, for views whose last dim has one element. repeated: the program for whole
    numbers that are the same all along that dim, which it is without in them.
    """

    name: str
    arguments: tuple[str, ...]
    inputs: dict[str, TensorForm]
    results: dict[str, TensorForm]
    integers: tuple[str, ...]
    indices: tuple[str, ...]
    measure: Callable[..., tuple[int, ...]]
    launches: tuple[Launch, ...] = ()
    on_device: tuple[Launch, ...] = ()
    on_long_rows: tuple[Launch, ...] = ()
    temporaries: Mapping[str, TensorForm] = field(default_factory=dict)
    on_device_temporaries: Mapping[str, TensorForm] = field(default_factory=dict)
    long_rows_temporaries: Mapping[str, TensorForm] = field(default_factory=dict)
    dims: tuple[tuple[str, int], ...] = ()
    moves: bool = False
    divides: bool = False
    compares: bool = False
    gives_parts: bool = False
    is_wide: bool = False
    costly: bool = False
    geometry: Callable[..., Mapping[str, View | Order | Refusal | float] | InTurn | None] | None = (
        None
    )
    begins: Mapping[str, str] = field(default_factory=dict)
    in_place: bool = False
    named: str | None = None
    asked: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    others: Mapping[tuple[Any, ...], IndexProgram] = field(default_factory=dict)
    single: IndexProgram | None = None
    repeated: IndexProgram | None = None
    _made: dict[str, Any] = field(default_factory=dict, init=False)

    def kernel_for(self, folder: str) -> Any:
        """The kernel of a backend: what the module `loops.index` of its folder makes of this."""
        if folder not in self._made:
            module = importlib.import_module(f"{folder}.loops.index")
            self._made[folder] = module.make_kernel(self)
        return self._made[folder]

    def settled(self, given: Mapping[str, Any]) -> IndexProgram:
        """The program that these arguments ask for."""
        if not self.asked:
            return self
        answers = ((given[name], told) for name, told in self.asked.items())
        key = tuple([_answer(answer, told) for answer, told in answers])
        return self.others.get(key, self)

    def fold_of(self, given: Mapping[str, Any]) -> str | None:
        """The fold that a call names, if one is named."""
        return None if self.named is None else WORDS[given[self.named]]

    @staticmethod
    def needed(launches: Sequence[Launch], wanted: Collection[str]) -> list[Launch]:
        """The launches without which some wanted result is not made."""
        found: list[Launch] = []
        tensors = set(wanted)
        for launch in reversed(launches):
            target, _, begun = launch.scatter or (None, None, None)
            if tensors.intersection((*launch.writes, target)):
                found.insert(0, launch)
                tensors.update(launch.arrays)
                if begun is not None:
                    tensors.add(begun)
        return found

    def converted(self, results: Mapping[str, Any], operands: Mapping[str, Any]) -> dict[str, Any]:
        """The operands that are complex where the first result is real, and its dtype."""
        first = next((name for name, form in self.results.items() if form.kind == "number"), None)
        if first is None or self.moves or self.gives_parts or results[first].dtype.kind != "f":
            return {}
        return {
            name: results[first].dtype
            for name, form in self.inputs.items()
            if form.kind == "number" and operands[name].dtype.kind == "c"
        }

    def wanted(self, given: dict[str, Any]) -> set[str]:
        """The results that a call asks for: all of them, or what its mask says."""
        mask = given.get(OUTPUT_MASK)
        flags = [True] * len(self.results) if mask is None else mask
        return {name for name, flag in zip(self.results, flags, strict=True) if flag}

    def shapes(self, *args: Any) -> Any:
        """Sizes and dtypes of the results.

        Raises: RuntimeError for sizes that do not fit.
        """
        given = dict(zip(self.arguments, args, strict=True))
        sizes = {name: tuple(given[name].shape) for name in self.inputs}
        extents, batch = self.measured(sizes, given)
        kinds = {"number": None, "int": dtypes.int64, "bool": dtypes.bool}
        found = [
            (self.sizes_of(form, extents, batch), kinds[form.kind])
            for form in self.results.values()
        ]
        return found[0] if len(found) == 1 else tuple(found)

    @cached_property
    def looks_first(self) -> bool:
        """Whether it refuses places before it writes: also of a result that is empty."""
        return any(launch.looks is not None for launch in self.launches)

    def seen(
        self, results: dict[str, Any], given: dict[str, Any]
    ) -> tuple[dict[str, View], dict[str, Any]] | dict[str, Order] | InTurn:
        """The views in place of results and operands, and the arguments with further numbers.

        Of these strides there may be none: then in which order operands are to be copied before.
        Or several calls in place of this one.
        """
        if self.geometry is None:
            return {}, given
        found = self.geometry(*results.values(), *given.values())
        if isinstance(found, InTurn):
            return found
        if found is None:
            return {name: Order(tuple(range(len(given[name].sizes)))) for name in self.inputs}
        orders = {name: each for name, each in found.items() if isinstance(each, Order)}
        if orders:
            return orders
        views = {name: each for name, each in found.items() if isinstance(each, View)}
        return views, {**given, **{n: each for n, each in found.items() if n not in views}}

    def narrowed(self, views: dict[str, View]) -> tuple[IndexProgram, dict[str, View]]:
        """The program for these views: the one without a last index if all are one element wide,
        the one for repeated places if these are the same along it."""
        if self.single is not None:
            losing = self._losing(self.single)
            if all(views[name].sizes[-1] == 1 for name in losing):
                return self.single, _cut(views, losing)
        if self.repeated is not None:
            losing = self._losing(self.repeated)
            if all(views[name].strides[-1] == 0 < prod(views[name].sizes) for name in losing):
                return self.repeated, _cut(views, losing)
        return self, views

    def _losing(self, other: IndexProgram) -> list[str]:
        """The tensors of which another program sees a dim less."""
        forms, fewer = ({**each.inputs, **each.results} for each in (self, other))
        return [name for name, form in forms.items() if form.rank > fewer[name].rank]

    def turned(self, views: dict[str, View]) -> dict[str, View]:
        """Views of rows of costly steps, folds of few elements, as columns computed side by side.

        The last index of all has one element; it takes some of the rows, if these are as many.
        """
        forms = {**self.inputs, **self.results}
        if not self.costly or not all(form.has_batch for form in forms.values()):
            return views
        sizes = [(views[name].sizes, form.rank) for name, form in forms.items()]
        if any(len(own) <= rank for own, rank in sizes):
            return views
        ends = {(own[-rank - 1], own[-1]) for own, rank in sizes}
        if len(ends) > 1:
            return views
        ((rows, last),) = ends
        count = max(own[-2] for own, rank in sizes if rank > 1)
        are_folds = all(form.rank == 1 for form in self.results.values())
        if last != 1 or (are_folds and count > FEW_IN_A_ROW):
            return views
        some = next((n for n in range(MOST_COLUMNS, 7, -1) if rows and rows % n == 0), 0)
        if not some:
            return views
        return {**views, **{n: _turned(views[n], f.rank, some) for n, f in forms.items()}}

    def measured(
        self, sizes: dict[str, Sizes], given: dict[str, Any]
    ) -> tuple[dict[str, int], Sizes]:
        """The extents of the indices and further whole numbers; the sizes of `...`."""
        batch: Sizes = ()
        for name, form in self.inputs.items():
            own, rank = sizes[name], form.rank
            if len(own) < rank or (len(own) > rank and not form.has_batch):
                least = f"at least {rank}" if form.has_batch else f"{rank}"
                message = f"expected {least} dims of '{name}', got shape {list(own)}"
                raise RuntimeError(f"{self.name}: {message}")
            if form.has_batch:
                batch = shapes.broadcast_shapes(batch, own[: len(own) - rank])
        whole = [min(max(int(given[name]), -FAR), FAR) for name in self.integers]
        values = self.measure(*(sizes[name] for name in self.inputs), *whole)
        for name, value in zip(self.indices, values, strict=True):
            if value < 0:
                raise RuntimeError(f"{self.name}: the extent of '{name}' is {value}")
        measured = dict(zip((*self.integers, *self.indices), (*whole, *values), strict=True))
        measured |= {f"size({name}, {dim})": sizes[name][dim] for name, dim in self.dims}
        return {**measured, BATCH_SIZE: prod(batch)}, batch

    def sizes_of(self, form: TensorForm, extents: dict[str, int], batch: Sizes) -> Sizes:
        """The sizes of a result or of a tensor in between."""
        return (*(batch if form.has_batch else ()), *(extents[name] for name in form.indices))

    def strides_of(self, form: TensorForm, sizes: Sizes) -> Sizes:
        """The strides of a tensor in between."""
        dims = list(range(len(sizes)))
        if form.dense is not None:
            dims.append(dims.pop(len(sizes) - form.rank + form.indices.index(form.dense)))
        strides, step = [0] * len(sizes), 1
        for dim in reversed(dims):
            strides[dim] = step
            step *= max(sizes[dim], 1)
        return tuple(strides)

    def refused(self) -> IndexError:
        """The error for an element of an integer tensor that is no place in another."""
        return IndexError(f"{self.name}: index out of range in self")


def _cut(views: dict[str, View], losing: Sequence[str]) -> dict[str, View]:
    """The views without the last dim of some."""
    cut = {n: View(v.sizes[:-1], v.strides[:-1], v.offset) for n, v in views.items() if n in losing}
    return {**views, **cut}


def program_of(name: str) -> IndexProgram:
    """The program of an operator of the library."""
    found: IndexProgram = importlib.import_module(f"{LIBRARY}.{name}").program
    return found


def _answer(given: Any, told: Sequence[Any]) -> Any:
    """What an argument is of the values that are told apart."""
    if any(each is MISSING for each in told):
        return MISSING if given is None else OTHERWISE
    return given if given in told else OTHERWISE


def _turned(view: View, rank: int, some: int) -> View:
    """The view whose last of `rank` dims, of one element, takes some of the rows before them."""
    at = len(view.sizes) - rank - 1
    sizes, strides, row = list(view.sizes), list(view.strides), view.strides[at]
    sizes[at], sizes[-1] = sizes[at] // some, some
    strides[at], strides[-1] = row * some, row
    return View(tuple(sizes), tuple(strides), view.offset)


def agree(operator: str, index: str, extent: int, what: str, size: int) -> None:
    """Two sizes that an index goes through must be equal.

    Raises: RuntimeError if they are not.
    """
    if extent != size:
        raise RuntimeError(f"{operator}: '{index}' goes to {extent}, but {what} is {size}")


def some(operator: str, index: str, extent: int) -> None:
    """A fold without a value for nothing needs an element.

    Raises: IndexError if there is none.
    """
    if not extent:
        raise IndexError(f"{operator}: there is no element along '{index}'")


def nonzero(operator: str, quotient: str, divisor: int) -> None:
    """Whole numbers are not divided by 0.

    Raises: RuntimeError if they would be.
    """
    if not divisor:
        raise RuntimeError(f"{operator}: {quotient} divides by 0")


def holds(operator: str, place: str, size: int) -> None:
    """A rule finds a place in a dim that has one.

    Raises: IndexError if it has none.
    """
    if not size:
        raise IndexError(f"{operator}: {place} is a place in a dim without elements")


def within(operator: str, access: str, least: int, most: int, size: int) -> None:
    """Places without a rule for outside must be inside.

    Raises: IndexError if one is not.
    """
    if least < 0 or most >= size:
        place = least if least < 0 else most
        raise IndexError(f"{operator}: {access} reaches {place} in a dim of size {size}")
