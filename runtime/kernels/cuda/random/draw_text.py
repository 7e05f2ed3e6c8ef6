"""The texts of the kernels that draw: a thread owns blocks of the stream at the distance of the
grid, and a formula makes an element of each number of a block.

What a formula reads is read of a whole block before anything is written, while the words are made.
"""

from __future__ import annotations

from functools import cache

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build, narrow
from torchgen_out._runtime.kernels.common import distributions as common
from torchgen_out._runtime.kernels.common.draw_form import DrawForm, ended
from torchgen_out._runtime.kernels.cuda.compiling import typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.compiling.typed import DeviceFunction
from torchgen_out._runtime.kernels.cuda.faults import PROBABILITY, note
from torchgen_out._runtime.kernels.cuda.loops import pointwise
from torchgen_out._runtime.kernels.cuda.random import distributions
from torchgen_out._runtime.kernels.cuda.random.philox import words_of_draw
from torchgen_out._runtime.kernels.vecmath import complex_source

WORDS = ("w0", "w1", "w2", "w3")


@cache
def draw_kernel(form: DrawForm, wide: bool, is_captured: bool) -> Source:
    """kernel(*results, *operands, faults, origin, n, blocks, start, seed, parameter, *numbers)."""
    program = form.program
    name = program.formula.__name__
    source = complex_source.adapt(build.plain_source(program.formula), form.compute.name)
    body = "\n\n".join([pointwise.inlined(source), "\n".join(_kernel(form)) + "\n"])
    text = typed.text_of(
        *(name, form.compute, body, wide),
        **{form.maker: _maker(form), "words_of_draw": words_of_draw},
        CAPTURED=is_captured,
        **({"note": note, "PROBABILITY": PROBABILITY} if program.probability else {}),
    )
    index, real = pointwise.INDEX_TYPES[wide], form.compute.to_real().name
    is_whole = program.word in ("below", "chance")
    types = (
        *(f"{pointwise.storage_type(each)}*" for each in (*form.results, *form.operands)),
        *("int64*", "uint64*", index, index, "uint64", "uint64"),
        *("uint64" if is_whole else real, *[real] * len(form.numbers)),
    )
    return Source(name, text, types, typed.THREADS)


def _maker(form: DrawForm) -> DeviceFunction:
    """The function that makes a number of words, or a pair of normal ones."""
    if form.program.word == "normal":
        made: DeviceFunction = getattr(distributions, form.maker)
        return made
    return typed.device_function(getattr(common, form.maker))


def _kernel(form: DrawForm) -> list[str]:
    results, operands = form.names
    fixed = ["faults", "origin", "n", "blocks", "start", "seed", "parameter"]
    real = f"np.{form.compute.to_real().name}"
    zero = f"T(complex({{0}}, {real}(0)))" if form.compute.is_complex else "T({0})"
    turns = range(4 // form.words_each)
    inputs = [form.operand(each)[0] for each in form.program.inputs]
    read = list(dict.fromkeys([*operands, *inputs]))
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
        *(f"        {line}" for k in turns for line in _turn(form, k)),
        "        block = I(block + cuda.gridsize(1))",
    ]


def _pairs(form: DrawForm) -> list[str]:
    """The normal numbers of a block."""
    if form.program.word != "normal":
        return []
    if form.words_each == 2:
        return [f"drawn0, drawn1 = {form.maker}({', '.join(WORDS)}, parameter)"]
    return [f"drawn{k}, drawn{k + 1} = {form.maker}(w{k}, w{k + 1}, parameter)" for k in (0, 2)]


def _turn(form: DrawForm, k: int) -> list[str]:
    """The statements for the k-th number of a block."""
    each, p = form.words_each, form.program.probability
    chance = _element(form, p, k) if p is not None else ""
    is_normal = form.program.word == "normal"
    words = list(WORDS[each * k : each * k + each])
    number = f"drawn{k}" if is_normal else form.made(words, chance)
    elements = [_element(form, name, k, form.compute) for name in form.program.inputs]
    values, statement = form.values(number, elements, f"i{k}")
    lines = [statement]
    for name, value, dtype in zip(form.names[0], values, form.results, strict=True):
        lines.append(f"{name}[i{k}] = {_stored(form, value, dtype)}")
    if chance:
        lines.append(f"if not (({chance} >= 0) & ({chance} <= 1)):")
        lines.append("    note(faults, PROBABILITY, 0, 0)")
    return [f"if i{k} < n:", *(f"    {line}" for line in lines)]


def _element(form: DrawForm, name: str, k: int, compute: dtypes.dtype | None = None) -> str:
    """What was read of an operand for the k-th number, in the type that computes, or its own."""
    array, dtype = form.operand(name)
    return pointwise.load(f"{array}_{k}", dtype, compute or dtype.opmath)


def _stored(form: DrawForm, value: str, dtype: dtypes.dtype) -> str:
    """A number as an element; integers end where their dtype does."""
    if narrow.is_narrow(dtype) and form.compute is not dtype.opmath:
        return pointwise.store(f"np.float32({value})", dtype)
    return ended(value, dtype) if form.ends(dtype) else pointwise.store(value, dtype)
