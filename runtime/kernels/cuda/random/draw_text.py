"""The texts of the kernels that draw: a thread owns blocks of the stream at the distance of the
grid, and a formula makes an element of each number of a block.

What a formula reads is read of a whole block before anything is written, while the words are made.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build, narrow
from torchgen_out._runtime.kernels.common.draw import DrawProgram
from torchgen_out._runtime.kernels.cuda.compiling import typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.faults import PROBABILITY, note
from torchgen_out._runtime.kernels.cuda.loops import pointwise
from torchgen_out._runtime.kernels.cuda.random import distributions
from torchgen_out._runtime.kernels.cuda.random.philox import words_of_draw
from torchgen_out._runtime.kernels.vecmath import complex_source

WORDS = ("w0", "w1", "w2", "w3")


class DrawForm(NamedTuple):
    """What a kernel is compiled for."""

    program: DrawProgram
    compute: dtypes.dtype
    results: tuple[dtypes.dtype, ...]
    operands: tuple[dtypes.dtype, ...]
    words_each: int
    has_parts: bool
    """Whether the numbers are the parts of complex ones."""
    wide: bool
    is_captured: bool

    @property
    def numbers(self) -> list[str]:
        """The formula's parameters that are numbers of the call."""
        count = self.program.formula.__code__.co_argcount - 1
        count -= len(self.program.inputs) + self.program.asks_part
        return [f"number{i}" for i in range(count)]


@cache
def draw_kernel(form: DrawForm) -> Source:
    """kernel(*results, *operands, faults, origin, n, blocks, start, seed, parameter, *numbers)."""
    program = form.program
    name = program.formula.__name__
    source = complex_source.adapt(build.plain_source(program.formula), form.compute.name)
    body = "\n\n".join([pointwise.inlined(source), "\n".join(_kernel(form)) + "\n"])
    maker = _maker(form)
    text = typed.text_of(
        *(name, form.compute, body, form.wide),
        **{maker: getattr(distributions, maker), "words_of_draw": words_of_draw},
        CAPTURED=form.is_captured,
        **({"note": note, "PROBABILITY": PROBABILITY} if program.probability else {}),
    )
    index, real = pointwise.INDEX_TYPES[form.wide], form.compute.to_real().name
    is_whole = program.word in ("below", "chance")
    types = (
        *(f"{pointwise.storage_type(each)}*" for each in (*form.results, *form.operands)),
        *("int64*", "uint64*", index, index, "uint64", "uint64"),
        *("uint64" if is_whole else real, *[real] * len(form.numbers)),
    )
    return Source(name, text, types, typed.THREADS)


def _maker(form: DrawForm) -> str:
    """The name of the function that makes a number of words."""
    if form.program.probability is not None:
        return "chance_of_element"
    stem = "normal_pair" if form.program.word == "normal" else form.program.word
    return f"{stem}_{'single' if form.words_each == 1 else 'double'}"


def _kernel(form: DrawForm) -> list[str]:
    results = [f"out{i}" for i in range(len(form.results))]
    operands = [f"operand{i}" for i in range(len(form.operands))]
    fixed = ["faults", "origin", "n", "blocks", "start", "seed", "parameter"]
    real = f"np.{form.compute.to_real().name}"
    zero = f"T(complex({{0}}, {real}(0)))" if form.compute.is_complex else "T({0})"
    turns = range(4 // form.words_each)
    read = list(dict.fromkeys([*operands, *(_array(form, each) for each in form.program.inputs)]))
    return [
        f"def kernel({', '.join([*results, *operands, *fixed, *form.numbers])}):",
        *(f"    {name} = {zero.format(name)}" for name in form.numbers),
        "    block = I(cuda.grid(1))",
        "    while block < blocks:",
        *(f"        i{k} = I(block + {k} * blocks)" for k in turns),
        *(
            f"        {each}_{k} = {each}[i{k} if i{k} < n else block]"
            for each in read
            for k in turns
        ),
        f"        {', '.join(WORDS)} = words_of_draw(origin, start, seed, block)",
        *(f"        {line}" for line in _pairs(form)),
        *(f"        {line}" for k in turns for line in _turn(form, results, k)),
        "        block = I(block + cuda.gridsize(1))",
    ]


def _pairs(form: DrawForm) -> list[str]:
    """The normal numbers of a block."""
    if form.program.word != "normal":
        return []
    if form.words_each == 2:
        return [f"drawn0, drawn1 = {_maker(form)}({', '.join(WORDS)}, parameter)"]
    return [f"drawn{k}, drawn{k + 1} = {_maker(form)}(w{k}, w{k + 1}, parameter)" for k in (0, 2)]


def _turn(form: DrawForm, results: list[str], k: int) -> list[str]:
    """The statements for the k-th number of a block."""
    elements = [
        pointwise.load(f"{_array(form, name)}_{k}", _dtype(form, name), form.compute)
        for name in form.program.inputs
    ]
    arguments = [_number(form, k), *elements, *form.numbers]
    if form.program.asks_part:
        arguments.append(f"i{k} % 2 == 0" if form.has_parts else "True")
    values = [f"value{i}" for i in range(len(results))]
    lines = [f"{', '.join(values)} = {form.program.formula.__name__}({', '.join(arguments)})"]
    for name, value, dtype in zip(results, values, form.results, strict=True):
        lines.append(f"{name}[i{k}] = {_stored(value, dtype, form.compute)}")
    if form.program.probability is not None:
        p = _probability(form, k)
        lines += [f"if not (({p} >= 0) & ({p} <= 1)):", "    note(faults, PROBABILITY, 0, 0)"]
    return [f"if i{k} < n:", *(f"    {line}" for line in lines)]


def _number(form: DrawForm, k: int) -> str:
    """The number that the formula reads."""
    if form.program.word == "normal":
        return f"drawn{k}"
    each = form.words_each
    words = ", ".join(WORDS[each * k : each * k + each])
    if form.program.probability is not None:
        return f"{_maker(form)}({words}, {_probability(form, k)})"
    has_parameter = form.program.word in ("below", "chance")
    return f"{_maker(form)}({words}{', parameter' if has_parameter else ''})"


def _probability(form: DrawForm, k: int) -> str:
    name = form.program.probability or ""
    dtype = _dtype(form, name)
    return pointwise.load(f"{_array(form, name)}_{k}", dtype, dtype.opmath)


def _array(form: DrawForm, name: str) -> str:
    """What an operand is called; in place `self` is the result."""
    names = form.program.operands
    return f"operand{names.index(name)}" if name in names else "out0"


def _dtype(form: DrawForm, name: str) -> dtypes.dtype:
    names = form.program.operands
    return form.operands[names.index(name)] if name in names else form.results[0]


def _stored(value: str, dtype: dtypes.dtype, compute: dtypes.dtype) -> str:
    """A number as an element; integers end where their dtype does."""
    if narrow.is_narrow(dtype) and compute is not dtype.opmath:
        return pointwise.store(f"np.float32({value})", dtype)
    if compute.kind != "f" or dtype.kind != "i":
        return pointwise.store(value, dtype)
    limits = np.iinfo(dtype.numpy)
    low, high = (f"np.{dtype.name}({limit})" for limit in (limits.min, limits.max))
    inside = f"{low} if {value} <= T({float(limits.min)}) else np.{dtype.name}({value})"
    return f"{high} if {value} >= T({float(limits.max)}) else {inside}"
