"""The texts of the CPU's loops that draw: words of the stream, then a formula for each number.

A loop serves the blocks from `first_block` to `last_block` of a draw: the words of a chunk of
blocks, then for each run of numbers its part of the results, as far as it goes (the last run may be
cut off). `start` is where the draw begins in the stream.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.common.draw import DrawProgram
from torchgen_out._runtime.kernels.cpu.loops import runs
from torchgen_out._runtime.kernels.cpu.random import distributions, philox
from torchgen_out._runtime.kernels.vecmath import complex_source, compose


class DrawForm(NamedTuple):
    """What a loop is compiled for."""

    program: DrawProgram
    compute: dtypes.dtype
    results: tuple[dtypes.dtype, ...]
    operands: tuple[dtypes.dtype, ...]
    words_each: int
    has_parts: bool
    """Whether the numbers are the parts of complex ones."""


@cache
def draw_text(form: DrawForm) -> str:
    """kernel(first_block, last_block, *results, *operands, *offsets, start, seed, parameter,
    *numbers): an offset is where an operand begins in its memory."""
    program = form.program
    source = complex_source.adapt(build.plain_source(program.formula), form.compute.name)
    made = build.plain_source(_maker(form))
    library = compose.compose(source + made, form.compute.name)
    functions = [library, build.plain_source(philox.fill_words.function), made, source]
    text = re.sub(r"^def ", "@inner\ndef ", "\n\n".join(functions), flags=re.MULTILINE)
    title = f"{program.name}: {', '.join(t.name for t in form.results)}, drawn."
    compute = "bool_" if form.compute is dtypes.bool else form.compute.name
    constants = f"T = np.{compute}\nTWO_PI, CHUNK = {distributions.TWO_PI!r}, {philox.CHUNK}\n"
    head = build.HEADER.format(title=title) + runs.PLACES + constants
    return "\n\n".join([head, text, "\n".join(_kernel(form)) + "\n"])


def _maker(form: DrawForm) -> object:
    """The function that makes a number of words."""
    word = form.program.word
    if form.program.probability is not None:
        return distributions.chance_of_element
    stem = "normal_pairs" if word == "normal" else word
    return getattr(distributions, f"{stem}_{'single' if form.words_each == 1 else 'double'}")


def _kernel(form: DrawForm) -> list[str]:
    results, operands = _names(form)
    count = 4 // form.words_each
    numbers = [f"number{i}" for i in range(len(_numbers(form)))]
    offsets = [f"at{i}" for i in range(len(operands))]
    parameters = [*results, *operands, *offsets, "start", "seed", "parameter", *numbers]
    return [
        "@entry",
        f"def kernel(first_block, last_block, {', '.join(parameters)}):",
        f"    n = {results[0]}.size",
        *(
            f"    {name} = {name}[{at} : {at} + n]"
            for name, at in zip(operands, offsets, strict=True)
        ),
        f"    blocks = (n + {count - 1}) // {count}",
        "    room = lesser(CHUNK, last_block - first_block)",
        "    words = np.empty((4, room), np.uint32)",
        *(
            ["    radius, turn = np.empty(room, T), np.empty((2, room), T)"]
            if form.program.word == "normal"
            else []
        ),
        *(f"    {name} = T({name})" for name in numbers),
        "    for base in range(first_block, last_block, CHUNK):",
        "        count = lesser(CHUNK, last_block - base)",
        "        fill_words(words, count, start + np.uint64(base), seed)",
        f"        for w in range({count}):",
        *runs.indent(_run(form, results, operands, numbers), 3),
    ]


def _run(form: DrawForm, results: list[str], operands: list[str], numbers: list[str]) -> list[str]:
    """One run of numbers of a chunk."""
    maker = getattr(_maker(form), "__name__", "")
    lines = []
    if form.program.word == "normal":
        pairs = f"{maker}(words, w, count, parameter, radius, turn)"
        lines += ["if w % 2 == 0:", f"    {pairs}"]
    arguments = [_number(form, maker), *_elements(form), *numbers]
    if form.program.asks_part:
        arguments.append("(first + i) % 2 == 0" if form.has_parts else "True")
    call = f"{form.program.formula.__name__}({', '.join(arguments)})"
    values = [f"value{i}" for i in range(len(results))]
    element = [f"{', '.join(values)} = {call}"]
    for name, value, dtype in zip(results, values, form.results, strict=True):
        element += [f"{name}[first + i] = {_stored(value, dtype, form.compute)}"]
    lines += ["first = w * blocks + base", *runs.plain("lesser(count, n - first)", element)]
    return lines


def _number(form: DrawForm, maker: str) -> str:
    """The number that the formula reads."""
    if form.program.word == "normal":
        return "radius[i] * turn[w % 2, i]"
    if form.program.probability is not None:
        at = form.program.operands.index(form.program.probability)
        return f"{maker}(words, w, i, operand{at}[first + i])"
    has_parameter = form.program.word in ("below", "chance")
    return f"{maker}(words, w, i{', parameter' if has_parameter else ''})"


def _elements(form: DrawForm) -> list[str]:
    """The elements that the formula reads."""
    names, found = form.program.operands, []
    for name in form.program.inputs:
        if name in names:
            at = names.index(name)
            place, dtype = f"operand{at}[first + i]", form.operands[at]
        else:
            place, dtype = "out0[first + i]", form.results[0]
        found.append(runs.load(place, dtype, form.compute))
    return found


def _stored(value: str, dtype: dtypes.dtype, compute: dtypes.dtype) -> str:
    """A number as an element; integers end where their dtype does."""
    if compute.kind != "f" or dtype.kind != "i":
        return runs.store(value, dtype)
    limits = np.iinfo(dtype.numpy)
    low, high = (f"np.{dtype.name}({limit})" for limit in (limits.min, limits.max))
    inside = f"{low} if {value} <= T({float(limits.min)}) else np.{dtype.name}({value})"
    return f"{high} if {value} >= T({float(limits.max)}) else {inside}"


def _names(form: DrawForm) -> tuple[list[str], list[str]]:
    results = [f"out{i}" for i in range(len(form.results))]
    return results, [f"operand{i}" for i in range(len(form.operands))]


def _numbers(form: DrawForm) -> list[str]:
    """The formula's parameters that are numbers of the call."""
    count = form.program.formula.__code__.co_argcount
    return [""] * (count - 1 - len(form.program.inputs) - form.program.asks_part)
