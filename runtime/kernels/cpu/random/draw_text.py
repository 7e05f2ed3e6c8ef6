"""The texts of the CPU's loops that draw: words of the stream, then a formula for each number.

A loop serves the blocks from `first_block` to `last_block` of a draw: the words of a chunk of
blocks, then for each run of numbers its part of the results, as far as it goes (the last run may be
cut off). `start` is where the draw begins in the stream.
"""

from __future__ import annotations

import re
from functools import cache
from types import FunctionType

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.common import distributions as common
from torchgen_out._runtime.kernels.common.draw_form import DrawForm, ended
from torchgen_out._runtime.kernels.cpu.loops import runs
from torchgen_out._runtime.kernels.cpu.random import distributions, philox
from torchgen_out._runtime.kernels.vecmath import complex_source, compose


@cache
def draw_text(form: DrawForm) -> str:
    """kernel(first_block, last_block, *results, *operands, *offsets, start, seed, parameter,
    *numbers): an offset is where an operand begins in its memory."""
    program = form.program
    source = complex_source.adapt(build.plain_source(program.formula), form.compute.name)
    made = "\n\n".join(map(build.plain_source, _makers(form)))
    library = compose.compose(source + made, form.compute.name)
    functions = [library, build.plain_source(philox.fill_words.function), made, source]
    text = re.sub(r"^def ", "@inner\ndef ", "\n\n".join(functions), flags=re.MULTILINE)
    title = f"{program.name}: {', '.join(t.name for t in form.results)}, drawn."
    compute = "bool_" if form.compute is dtypes.bool else form.compute.name
    constants = f"T = np.{compute}\nTWO_PI, CHUNK = {distributions.TWO_PI!r}, {philox.CHUNK}\n"
    head = build.HEADER.format(title=title) + runs.PLACES + constants
    return "\n\n".join([head, text, "\n".join(_kernel(form)) + "\n"])


def _makers(form: DrawForm) -> list[FunctionType]:
    """The functions that make numbers of words."""
    if form.program.word != "normal":
        return [getattr(common, form.maker)]
    parts = [getattr(common, f"{stem}_{form.width}") for stem in ("uniform", "positive")]
    return [*parts, getattr(distributions, form.maker)]


def _kernel(form: DrawForm) -> list[str]:
    results, operands = form.names
    count = 4 // form.words_each
    offsets = [f"at{i}" for i in range(len(operands))]
    parameters = [*results, *operands, *offsets, "start", "seed", "parameter", *form.numbers]
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
        *(f"    {name} = T({name})" for name in form.numbers),
        "    for base in range(first_block, last_block, CHUNK):",
        "        count = lesser(CHUNK, last_block - base)",
        "        fill_words(words, count, start + np.uint64(base), seed)",
        f"        for w in range({count}):",
        *runs.indent(_run(form), 3),
    ]


def _run(form: DrawForm) -> list[str]:
    """One run of numbers of a chunk."""
    lines = []
    if form.program.word == "normal":
        pairs = f"{form.maker}(words, w, count, parameter, radius, turn)"
        lines += ["if w % 2 == 0:", f"    {pairs}"]
    elements = []
    for name in form.program.inputs:
        array, dtype = form.operand(name)
        elements.append(runs.load(f"{array}[first + i]", dtype, form.compute))
    values, statement = form.values(_number(form), elements, "(first + i)")
    element = [statement]
    for name, value, dtype in zip(form.names[0], values, form.results, strict=True):
        stored = ended(value, dtype) if form.ends(dtype) else runs.store(value, dtype)
        element += [f"{name}[first + i] = {stored}"]
    return [
        *lines,
        "first = w * blocks + base",
        *runs.plain("lesser(count, n - first)", element),
    ]


def _number(form: DrawForm) -> str:
    """The number that the formula reads: of run w word w, or words 2 * w and 2 * w + 1."""
    if form.program.word == "normal":
        return "radius[i] * turn[w % 2, i]"
    single, double = ["words[w, i]"], ["words[2 * w, i]", "words[2 * w + 1, i]"]
    array, _ = form.operand(form.program.probability or "")
    return form.made(single if form.words_each == 1 else double, f"{array}[first + i]")
