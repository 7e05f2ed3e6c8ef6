"""The text of a launch of an index program: what gives threads their items, around the function.

A kernel counts in the type `I`, 32 bits where these do. It divides by sizes that are known when it
is queued, which takes a multiplication there; elements that are stored in fewer bits, or as bytes,
are converted where they are read and written.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from typing import NamedTuple

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.kernels import build, narrow
from torchgen_out._runtime.kernels.common import places
from torchgen_out._runtime.kernels.common.index import Launch, Scan
from torchgen_out._runtime.kernels.cuda.compiling import typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.faults import note
from torchgen_out._runtime.kernels.cuda.loops.fold_text import (
    Fold,
    Part,
    across_group,
    shared_arrays,
)
from torchgen_out._runtime.kernels.cuda.loops.pointwise import (
    DIVISOR,
    INDEX_TYPES,
    divide_text,
    inlined,
    load,
    place_text,
    storage_type,
    store,
)
from torchgen_out._runtime.kernels.cuda.loops.scan_text import Rows
from torchgen_out._runtime.kernels.cuda.rows import WARP, Group
from torchgen_out._runtime.kernels.vecmath import complex_source

PLACES = '''\
def quotient(place, size):
    """Rounded down: the complement of what is negative is divided, by what is positive."""
    over = I(-place) if size < 0 else I(place)
    by = I(-size) if size < 0 else I(size)
    sign = I(-1) if over < 0 else I(0)
    return I(I(U(I(over ^ sign)) // U(by)) ^ sign)


def modulus(place, size):
    return I(place - quotient(place, size) * size)


def clamped(place, size):
    inside = I(place) if place < size else I(size - 1)
    return inside if place > 0 else I(0)


def reflected(place, size):
    period = I(2 * size - 2) if size > 1 else I(1)
    rest = I(modulus(place, period))
    back = I(period - rest)
    return (rest if rest < back else back) if size > 1 else I(0)


def note_outside(faults, check, place, size):
    note(faults, check, place, size)
'''
"""The arithmetic of places in the type `I`."""

_COMPARED = re.compile(r"\b(\w+)( [<>] )(\w+)\b")
"""Numbers of which one is larger: of complex ones these are real, as in `places.COMPLEX_ORDER`."""

ROWS = "..."
"""What tells an item beside its indices: its number among all that `...` stands for."""

JOINS = (
    ("sum", "v", "T", "v", "{} + {}", "acc0"),
    ("product", "v", "T", "v", "{} * {}", "acc0"),
    ("larger", "v", "T", "v", "larger({}, {})", "acc0"),
    ("smaller", "v", "T", "v", "smaller({}, {})", "acc0"),
    ("any", "v", "np.int32", "v", "{} | {}", "acc0 != 0"),
    ("all", "v", "np.int32", "v", "{} & {}", "acc0 != 0"),
    ("first", "v, best, at", "np.int64", "at if (v == best) | (v != v) else NONE",
     "min({}, {})", "acc0"),
)  # fmt: skip
"""What the threads of an item come to, in each of them: name, parameters, type, what one thread
has, what two have together, what is returned. `first`: the first position of the best value; NaN is
one value."""


def _joins(lanes: int) -> str:
    """joined_sum(v) ...: what the threads of an item, those of a warp or of a block, come to."""
    assert lanes <= WARP or lanes == typed.THREADS, "an item is a block's"
    group = Group(lanes)
    functions = []
    for name, parameters, cast, own, together, returned in JOINS:
        fold = Fold((Part.of(cast),), together.format, (own,), element=str)  # reads none
        lines = [
            "lane = I(cuda.threadIdx.x)",
            *shared_arrays(fold, group, lanes),
            f"acc0 = {cast}({own})",
            *across_group(fold, group, lanes),
            f"return {returned}",
        ]
        body = "\n    ".join(lines)
        functions.append(f"@inner\ndef joined_{name}({parameters}):\n    {body}\n")
    return "NONE = np.int64(0x7FFFFFFFFFFFFFFF)\n\n\n" + "\n\n".join(functions)


class Shared(NamedTuple):
    """A scan whose rows, or slices of rows, groups of threads share.

    makes_totals: whether slices' totals are all that is made. totals: arrays of these, which the
    kernel takes before all others, if rows are cut.
    """

    scan: Scan
    group: Group
    makes_totals: bool
    totals: int


class Form(NamedTuple):
    """What a launch is compiled for.

    launch: its loops. order: the indices that tell an item, and ROWS, the fastest first. compute:
    `T`. lanes: how many threads share an item. wide: whether 32 bits do not count what it counts.
    dtypes: of its arrays, as they are stored, those of a scatter first. parts: what its function
    takes behind the arrays, as text over the numbers that the kernel takes. wholes, numbers: how
    many of these there are. dims: loops over what `...` stands for.
    shared: how threads share the rows of a scan, of which the launch is a step. span: of a scatter,
    which of `order` tell where an item's value goes.
    """

    launch: Launch
    order: tuple[str, ...]
    compute: dtype
    lanes: int
    wide: bool
    dtypes: tuple[dtype, ...]
    parts: tuple[str, ...]
    wholes: int
    dims: int
    numbers: int
    shared: Shared | None = None
    span: tuple[int, int] | None = None

    @property
    def divisors(self) -> int:
        """How many sizes divide an item or the number of a row."""
        return max(len(self.order) - 1, 0) + self.dims


@cache
def index_kernel(form: Form) -> Source:
    """kernel(*arrays, faults, first_check, count, *wholes, *divisors, *numbers).

    divisors: three numbers for each size by which an item, and then a row of `...`, is divided.
    """
    name = form.launch.function.__name__
    body = "\n\n".join([_functions(form), "\n".join(_kernel(form)) + "\n"])
    text = typed.text_of(
        name, form.compute, body, form.wide, note=note, IS_DOUBLE=form.compute is dtypes.float64
    )
    index = INDEX_TYPES[form.wide]
    types = (
        *(f"{storage_type(each)}*" for each in form.dtypes),
        *("int64*", "int64", index, *[index] * form.wholes),
        *(index, "uint32", "uint32") * form.divisors,
        *[f"{form.compute.name}*" if form.compute.is_complex else form.compute.name] * form.numbers,
    )
    return Source(name, text, types, typed.THREADS)


def _kernel(form: Form) -> list[str]:
    """The lines of the kernel: a thread, or a warp, takes items at the distance of the grid."""
    launch = form.launch
    arrays = [f"array{i}" for i in range(len(form.dtypes) - _totals(form))]
    divisors = [f"{part}{i}" for i in range(form.divisors) for part in DIVISOR]
    parameters = [
        *(f"total{i}" for i in range(_totals(form))),
        *(*arrays, "faults", "first_check", "count"),
        *(f"whole{i}" for i in range(form.wholes)),
        *(*divisors, *(f"number{i}" for i in range(form.numbers))),
    ]
    indices = [*(f"index{i}" for i in range(len(launch.items)))]
    called = [*indices, *(["rest"] if launch.has_batch else [])]
    called += ["lane"] if launch.lanes is not None else []
    called += ["faults", "first_check"] if launch.refused else []
    called += ["item", "key", "is_first"] if launch.combines else []
    if form.shared is not None:
        scan, group, makes_totals, totals = form.shared
        wholes = ("length", "slices", "chunk")
        named = [f"{name} = whole{form.wholes - 3 + i}" for i, name in enumerate(wholes)]
        rows = Rows(scan, group, makes_totals, totals > 0, called, [*arrays, *form.parts])
        return [
            f"def kernel({', '.join(parameters)}):",
            *(f"    {line}" for line in (*named, *rows.lines(_decoded(form)))),
        ]
    shift = form.lanes.bit_length() - 1
    return [
        f"def kernel({', '.join(parameters)}):",
        "    thread = I(cuda.grid(1))",
        f"    lane = I(thread & I({form.lanes - 1}))",
        f"    item = I(thread >> I({shift}))",
        f"    step = I(I(cuda.gridsize(1)) >> I({shift}))",
        "    while item < count:",
        *(f"        {line}" for line in (*_decoded(form), *_key(form))),
        f"        {launch.function.__name__}({', '.join([*called, *arrays, *form.parts])})",
        "        item = I(item + step)",
    ]


def _names(form: Form) -> dict[str, str]:
    """What a kernel calls that by which an item is told."""
    return {name: f"index{i}" for i, name in enumerate(form.launch.items)} | {ROWS: "rest"}


def _decoded(form: Form) -> list[str]:
    """The indices of an item, and its row of `...`."""
    names = _names(form)
    indices = [*form.launch.items, *([ROWS] if form.launch.has_batch else [])]
    of_one = [name for name in indices if name not in form.order]
    lines = ["left = item", *(f"{names[name]} = I(0)" for name in of_one)]
    for number, name in enumerate(form.order[:-1]):
        divisor = ", ".join(f"{part}{number}" for part in DIVISOR)
        lines += [
            f"over = divide(left, {divisor})",
            f"{names[name]} = I(left - over * size{number})",
            "left = over",
        ]
    return lines + [f"{names[name]} = left" for name in form.order[-1:]]


def _key(form: Form) -> list[str]:
    """Of a scatter: the number of an item among those that tell places, and whether it tells it."""
    if form.span is None:
        return []
    start, end = form.span
    names = _names(form)
    keyed = list(enumerate(map(names.__getitem__, form.order)))[start:end]
    others = [names[each] for each in (*form.order[:start], *form.order[end:])]
    key = keyed[-1][1]
    for number, name in keyed[-2::-1]:
        key = f"I({key} * size{number} + {name})"
    return [f"key = {key}", f"is_first = {' and '.join(f'{n} == 0' for n in others) or 'True'}"]


def _functions(form: Form) -> str:
    """What the kernel calls."""
    launch = form.launch
    stored = dict(zip(array_names(launch), form.dtypes[_totals(form) :], strict=True))
    written = set(array_names(launch)) - set(_only_read(launch))
    kept = {
        name: each
        for name, each in stored.items()
        if _is_converted(each) or (name in written and _is_of_fewer_bits(each))
    }
    own = build.plain_source(launch.function)
    if kept:
        tree = _Conversions(kept).visit(ast.parse(own))
        own = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    own = complex_source.adapt(own, form.compute.name)
    parts = [
        _arithmetic() + PLACES + "\n\n" + place_text("row_start", form.dims),
        places.COMPLEX_ORDER if form.compute.is_complex else "",
        *(_conversion(name, each, form.compute) for name, each in kept.items()),
        own,
    ]
    joins = f"LANES = I({form.lanes})\n\n\n" + (
        _joins(form.lanes) if launch.lanes is not None else ""
    )
    if form.shared is not None:
        joined = build.plain_source(form.shared.scan.joined)
        is_complex = form.compute.is_complex
        parts.append(_COMPARED.sub(r"\1.real\2\3.real", joined) if is_complex else joined)
    ends = f"LOWEST, HIGHEST = {', '.join(f'T({each})' for each in places.ends(form.compute.name))}"
    compared = [ends] if re.search(r"\b(LOWEST|HIGHEST)\b", own) or form.shared else []
    return "\n\n".join([divide_text(form.wide), joins, *compared, inlined("\n\n".join(parts))])


def _totals(form: Form) -> int:
    """How many arrays of slices' totals a kernel takes first."""
    return 0 if form.shared is None else form.shared.totals


@cache
def _arithmetic() -> str:
    """Folds of two values, draws, and the arithmetic of places that have 64 bits."""
    source = inspect.getsource(places)
    return re.sub(r"\bU\(", "np.uint64(", source[source.index("BLOCK = ") :]) + "\n\n"


# -- elements -------------------------------------------------------------------------------------


def _is_converted(own: dtype) -> bool:
    """Whether memory holds elements as something else: bits of fewer, or a byte for a truth."""
    return own is dtypes.bool or narrow.is_narrow(own)


def _is_of_fewer_bits(own: dtype) -> bool:
    """Whether places, which have 64 bits, are cut where they are stored."""
    return own.kind in "iu" and own.itemsize < 8


def _conversion(name: str, own: dtype, compute: dtype) -> str:
    """load_x(v) and store_x(v) of an array `x`."""
    is_whole = _is_of_fewer_bits(own)
    value = "v" if is_whole else load("v", own, own if own is dtypes.bool else compute)
    stored = f"np.{own.name}(v)" if is_whole else store("v", own)
    return (
        f"def load_{name}(v):\n    return {value}\n\n\ndef store_{name}(v):\n    return {stored}\n"
    )


class _Conversions(ast.NodeTransformer):
    """Puts conversions around accesses of some arrays."""

    def __init__(self, arrays: dict[str, dtype]) -> None:
        self.arrays = arrays

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not self._is_known(node) or not isinstance(node.ctx, ast.Load):
            return node
        return _call(f"load_{ast.unparse(node.value)}", node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        (target,) = node.targets
        if self._is_known(target):
            assert isinstance(target, ast.Subscript)
            node.value = _call(f"store_{ast.unparse(target.value)}", node.value)
        return node

    def _is_known(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Subscript) and ast.unparse(node.value) in self.arrays


def _call(function: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])


@cache
def is_read(launch: Launch, name: str) -> bool:
    """Whether a launch reads an array, which it may write besides."""
    own = array_names(launch)[launch.arrays.index(name) - len(launch.arrays)]
    return any(
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and ast.unparse(node.value) == own
        for node in ast.walk(ast.parse(build.plain_source(launch.function)))
    )


def _only_read(launch: Launch) -> list[str]:
    """What a function calls the arrays that it does not write."""
    own = array_names(launch)[-len(launch.arrays) :]
    named = zip(launch.arrays, own, strict=True)
    return [each for name, each in named if name not in launch.writes]


def array_names(launch: Launch) -> list[str]:
    """What a function calls its arrays, those of a scatter first."""
    parameters = list(inspect.signature(launch.function).parameters)
    end = parameters.index(f"{launch.arrays[0]}_at")
    return parameters[end - len(launch.arrays) - 2 * launch.combines : end]
