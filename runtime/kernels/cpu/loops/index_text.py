"""Texts of index programs' launches for the CPU: loops compiled for dtypes and dense strides."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.common import places
from torchgen_out._runtime.kernels.cpu.loops import runs
from torchgen_out._runtime.kernels.cpu.loops.in_stages import in_stages
from torchgen_out._runtime.kernels.cpu.loops.side_by_side import side_by_side
from torchgen_out._runtime.kernels.vecmath import complex_source, compose

STRICT = 'options["fastmath"] = {"contract"}\n' + build.DECORATORS
ORDER = '''\
def turned(bits):
    """Bits of a float as an integer of the same order; the same function undoes it."""
    return BITS(bits ^ ((bits >> BITS(SIGN)) & BITS((1 << SIGN) - 1)))


def ordered(value):
    """As an integer, of which LLVM vectorises the largest; of floats it may not. NaN is above."""
    key = turned(T(value).view(BITS))  # before the choice: in one of its arms it is a branch
    return key if value == value else BITS((1 << SIGN) - 1)


def unordered(key):
    """The number of such an integer."""
    return BITS(turned(key)).view(T)


def rising(value):
    """The same, both zeros alike."""
    return ordered(value + T(0))


def falling(value):
    """The same of the reverse order; NaN is above here, too."""
    return ordered(T(0) - value)
'''
"""What compares numbers as integers."""
WHOLE_ORDER = """\
def opposite(value):
    return ~value


def ordered(value):
    return value


def unordered(key):
    return key


def rising(value):
    return value


def falling(value):
    return T(~value)
"""
"""The same of integers, which have no number for their least."""
REASSOCIATED = 'options["fastmath"] = {"reassoc", "nsz", "contract"}\n' + build.DECORATORS


JOINED = {
    "sum": "before + arriving", "prod": "before * arriving",
    "max": "arriving if (arriving > before) | (arriving != arriving) else before",
    "min": "arriving if (arriving < before) | (arriving != arriving) else before",
}  # fmt: skip
"""What becomes of `joined(before, arriving)`, by fold."""


@cache
def launch_text(
    function: FunctionType,
    type_name: str,
    parts: tuple[str, ...],
    numbers: int,
    own: tuple[str, ...],
    arrays: tuple[str, ...],
    offsets: tuple[str, ...],
    dims: int,
    short: tuple[str, ...] = (),
    tile: int = places.TILE,
    waits: bool = False,
    named: str | None = None,
    copied: str = "",
    apart: tuple[str, ...] = (),
) -> str:
    """The text of a launch, compiled for some strides of 1 and some numbers of dims.

    parts: what the parameters behind the function's own arrays are. numbers: how many it takes;
    arrays, offsets: what else, in this order. short: indices that go through one block at most.
    tile: elements of a tile, 0 if all are one. waits: whether steps of an item wait for each other.
    named: the fold that the call names, if the text leaves one open.
    copied: how many elements the result begins with, if these are more than the statements see.
    apart: arrays in whose memory no other one lies.
    """
    name = function.__name__
    parameters, body = _parts_of(function)
    known = parameters[len(parameters) - len(parts) :]
    first = len(parameters) - len(parts) - len(own)
    called = dict(zip(own, parameters[first:], strict=False))
    given = [*parameters[:first], *(f"number{i}" for i in range(numbers))]
    given += [called.get(each, each) for each in arrays]
    given += [*(f"{each}_at" for each in offsets), "plan"]
    lines = ["    last = plan.size - 1"] if any("last" in part for part in parts) else []
    lines += [f"    {a} = {b}" for a, b in zip(known, parts, strict=True) if a != b]
    body = _in_one_block(_with_rows_spelled(body, dims, waits), short, is_one_tile=not tile)
    body = side_by_side(body) if waits else _of_short_rows(body, short, type_name)
    if "reflected(" in body:  # LLVM would divide for vectors of places
        body = body.replace("for edge in range(", "for edge in few(")
    body = _with_whole_copied(body, copied) if copied else body
    if named is not None:
        body = body.replace("joined(before, arriving)", JOINED[named])
    if np.dtype(type_name).kind == "c":
        body = complex_source.adapt(f"def kernel():\n{body}", type_name).partition("\n")[2]
    kind = np.dtype(type_name).kind
    order = {"f": ORDER, "c": places.COMPLEX_ORDER}.get(kind, WHOLE_ORDER)
    known_here = compose.definitions_in(_places()) | compose.definitions_in(order)
    used = compose.compose_from(body, known_here)
    library = compose.compose(body, type_name)
    sums = re.findall(r"^def (?:plus|times)\b.*?(?=^def |\Z)", used, re.DOTALL | re.MULTILINE)
    for each in sums:
        used = used.replace(each, "")
    joined = [REASSOCIATED, *map(_inlined, sums), STRICT] if sums else []
    kernel = "\n".join([f"def kernel({', '.join(given)}):", *lines, body])
    head = build.HEADER.format(title=f"{name}: {type_name}.")
    head += _constants(body, type_name, tile, [called.get(each, each) for each in apart], first > 2)
    texts = [head, _inlined(library), _inlined(used)]
    return "\n\n".join([*texts, *joined, f"@entry\n{kernel}"])


def _constants(body: str, type_name: str, tile: int, apart: list[str], looks: bool) -> str:
    """The names that a launch's loops know. looks: whether it is told what it does."""
    sizes = places.BLOCK, places.RUN, tile or places.TILE, places.FAR
    header = f"{runs.PLACES}BLOCK, RUN, TILE, FAR = {', '.join(map(str, sizes))}\n"
    header += build.apart(apart) if apart else ""
    header += f"U, T, WIDE = np.uint64, np.{type_name}, np.{wide(np.dtype(type_name))}\n"
    header += "NATURAL = np.int64(0x7FFFFFFFFFFFFFFF)  # tells LLVM that a size is not negative\n"
    modes = f"{places.LOOK}, {places.WRITE}, {places.ALONG}"
    header += f"LOOK, WRITE, ALONG = {modes}\n" if looks else ""
    bits = 8 * np.dtype(type_name).itemsize
    if bits <= 64:
        header += f"BITS, SIGN, IS_DOUBLE = np.int{bits}, {bits - 1}, {bits == 64}"
    for constant in ("COLUMNS", "SEARCHED", "SHORTEST"):
        if constant in body:
            header += f"\n{constant} = {getattr(places, constant)}"
    for hint in ("in_turn", "few"):
        if f"in {hint}(" in body:
            header += f"\n{hint} = range  # with a hint for LLVM"
    if "LOWEST" in body or "HIGHEST" in body:
        header += "\nLOWEST, HIGHEST = " + ", ".join(
            f"T({each})" for each in places.ends(type_name)
        )
    return header


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What runs of a sum are put together in."""
    kinds = {"i": "int64", "u": "uint64", "c": "complex128"}
    return np.dtype(kinds.get(dtype.kind, "float64"))


MOST_SPELLED = 4
"""Dims up to which a row's start is spelled out; loops over these divide again for every array."""


def _with_rows_spelled(body: str, dims: int, waits: bool) -> str:
    """The text with sums in place of calls that tell where rows begin, of few dims.

    waits: whether several rows are gone over side by side.
    """
    if dims > MOST_SPELLED:
        return body
    if dims > 1 and not waits and _goes_row_by_row(body):
        return _with_rows_counted(body, dims)
    terms, rest = [], r"\2"
    for dim in range(dims - 1, -1, -1):
        size = f"U(batch[U({dim})])"
        index = f"np.int64(U({rest}) % {size})" if dim else rest
        terms.append(rf"{index} * batch[U(\1 + {dim})]")
        rest = f"np.int64(U({rest}) // {size})"
    start = f"({' + '.join(terms) or '0'})"
    return re.sub(r"row_start\(batch, dims, (\w+), (\w+)\)", start, body)


# How the loops of `torchgen_out/kernels/index/` go over rows. What is worded otherwise is divided
# for in every row: as right, and slower.
ROW_START = r"row_start\(batch, dims, (\w+), rest\)"
ITEMS = r"^( +)for (?:item|_) in range\(start, stop\):\n"
NEXT = r"^( +)(?:rest = item|rest \+= 1)\n"


def _goes_row_by_row(body: str) -> bool:
    """Whether one loop goes over rows, each the one behind the last, and never over none."""
    loops, steps = (re.findall(each, body, re.MULTILINE) for each in (ITEMS, NEXT))
    is_plain = len(re.findall(ROW_START, body)) == body.count("row_start(") and "LOOK" not in body
    return is_plain and len(loops) == len(steps) == body.count("range(start, stop)") == 1


def _with_rows_counted(body: str, dims: int) -> str:
    """The text with an index of each dim that counts: a division takes as long as a short row."""
    sizes = [f"batch[U({dim})]" for dim in range(dims)]
    is_item = "rest = item\n" in body  # then the step comes first
    begin, rest = [], "start" if is_item else "rest"
    step = "row0 += 1\n"
    for dim in range(dims - 1, 0, -1):
        begin += [f"row{dim - 1} = np.int64(U({rest}) // U({sizes[dim]}))"]
        begin += [f"row{dim} = np.int64(U({rest}) % U({sizes[dim]}))"]
        rest = f"row{dim - 1}"
    begin += [f"row{dims - 1} -= 1"] if is_item else []
    for dim in range(1, dims):
        turn = textwrap.indent(f"row{dim} = 0\n{step}", "    ")
        step = f"row{dim} += 1\nif row{dim} == {sizes[dim]}:\n{turn}"
    terms = [rf"row{dim} * batch[U(\1 + {dim})]" for dim in range(dims)]
    body = re.sub(ROW_START, f"({' + '.join(terms)})", body)
    body = re.sub(NEXT, lambda found: _with_lines(found, behind=step), body, flags=re.MULTILINE)
    before = "\n".join([*begin, ""])
    return re.sub(ITEMS, lambda found: _with_lines(found, before), body, flags=re.MULTILINE)


def _with_lines(found: re.Match[str], before: str = "", behind: str = "") -> str:
    """A line and others around it, as far to the right as it is."""
    return textwrap.indent(before, found[1]) + found[0] + textwrap.indent(behind, found[1])


def _with_whole_copied(body: str, count: str) -> str:
    """The text that copies all elements after it has looked, in place of those that it sees."""
    found = re.search(r"apart\((\w+), (\w+), (\w+), (\w+)\)", body)
    assert found is not None
    target, source, _, at = found.groups()
    looked = "        if mode == LOOK:\n            return True\n"
    copy = f"            for n in range({count}):\n"
    copy += f"                {target}[n] = {source}[{at} + n]\n"
    body = re.sub(r"^(    +)    if is_apart:\n(?:\1     +.*\n)+", "", body, flags=re.MULTILINE)
    return body.replace(looked, f"{looked}        if is_apart:\n{copy}", 1)


def _in_one_block(body: str, short: tuple[str, ...], is_one_tile: bool) -> str:
    """The text without loops over blocks of what is one block: of 40 elements a third of all.

    Where there is one tile, it begins at 0.
    """
    for name in short:
        body = body.replace(f"range(0, n_{name}, BLOCK)", "range(1)")
        body = body.replace(f"lesser(begin + BLOCK, n_{name})", f"n_{name}")
    if is_one_tile:
        body = re.sub(r"end = lesser\(begin \+ TILE, (\w+)\)", r"end = \1", body)
        body = body.replace("range(begin, end)", "range(end)").replace(" - begin)", ")")
    return body


MUCH = 10
"""Lines of vector mathematics from which on a few elements that remain of a row take long."""


def _is_much(statements: str, type_name: str) -> bool:
    return compose.compose(statements, type_name).count("\n") >= MUCH


def _of_short_rows(body: str, short: tuple[str, ...], type_name: str) -> str:
    """The text with loops for rows that go through one block."""
    if short and type_name == "float32":
        body = _in_turn(body)
    if len(short) == 1 and np.dtype(type_name).kind == "f":
        body = in_stages(body, f"n_{short[0]}", lambda line: _is_much(line, type_name))
    return body


def _in_turn(body: str) -> str:
    """The text with loops of much arithmetic over short rows that go from vector to vector: four at
    once would leave up to 63 elements of a row, for which smaller vectors are computed."""
    loop = r"^( +)for \w+ in range\((?:begin, )?n_\w+\):\n((?:\1 +.*\n)+)"
    found = re.findall(loop, body, flags=re.MULTILINE)
    is_much = any(_is_much(each, "float32") for _, each in found)
    spelled = r"\1in_turn\2"
    return re.sub(r"(for \w+ in )range(\((?:begin, )?n_)", spelled, body) if is_much else body


@cache
def _parts_of(function: FunctionType) -> tuple[list[str], str]:
    """The names of a function's parameters, and its body without the docstring."""
    source = build.plain_source(function)
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    first = node.body[1].lineno - 1
    return [each.arg for each in node.args.args], "\n".join(source.splitlines()[first:]) + "\n"


@cache
def _places() -> str:
    """The arithmetic of places, and folds of two values."""
    source = inspect.getsource(places)
    compiled = source[source.index("BLOCK = ") :]
    return compiled[compiled.index("def ") :]


def _inlined(functions: str) -> str:
    return re.sub(r"^def ", "@inner\ndef ", functions, flags=re.MULTILINE)
