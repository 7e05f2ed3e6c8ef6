"""The lines of a loop over a run of elements: plain, in blocks of which each is tested first, step
by step, or in two parts; and how an element is read and written."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import narrow

PLACES = "lesser, greater = min, max  # of places; a formula may know others by these names\n"
"""What a text must begin with: the smaller of two bools as one of two places would be fatal."""

BLOCK = 256
"""Elements that are copied or tested together. Few, so that the processor fetches the next ones
from memory while it computes: for the sines of 4 MB 0.33 ns an element; 0.40 in blocks of 1024."""

SHORT_BYTES = 256
"""Bytes of a run below which a test of it takes longer than a version saves that saves little."""

LONG = 8192
"""Elements from which on it pays to begin with the first whole cache line."""


def indent(lines: list[str], by: int = 1) -> list[str]:
    """Lines moved to the right by so many steps."""
    return ["    " * by + line for line in lines]


def plain(size: str, element: list[str]) -> list[str]:
    """One loop. element: the statements for element `i`."""
    return [f"for i in range({size}):", *indent(element)]


def by_blocks(
    size: str, arrays: list[str], any_element: list[str], versions: list[tuple[str, list[str]]]
) -> list[str]:
    """A loop of statements that are right everywhere for the blocks that have an element of which
    a test is true, and for all others of statements that cost less.

    arrays: those of whose parts, `block_` and the array's name, the statements speak. versions: a
    test and the statements where it is false, each less costly than the one before; those of the
    second serve where the first test is false as well.
    """
    flags = [f"excluded{i}" for i in range(len(versions))]
    tests = [f"{flag} |= {test}" for flag, (test, _) in zip(flags, versions, strict=True)]
    choices = [any_element, *(element for _, element in versions)]
    lines = [
        f"for begin in range(0, {size}, {BLOCK}):",
        f"    length = lesser({BLOCK}, {size} - begin)",
        *(f"    block_{array} = {array}[begin : begin + length]" for array in arrays),
        *(f"    {flag} = False" for flag in flags),
        *indent(plain("length", tests)),
    ]
    for word, flag, element in zip(("if", "elif"), flags, choices, strict=False):
        lines += [f"    {word} {flag}:", *indent(plain("length", element), 2)]
    return [*lines, "    else:", *indent(plain("length", choices[-1]), 2)]


STATE = [f"state_{name} = np.empty({BLOCK}, np.float64)" for name in ("below", "value")]
"""What a kernel with a loop `by_steps` begins with: the states of a block's elements."""


def by_steps(
    size: str,
    arrays: list[str],
    any_element: list[str],
    last_element: list[str],
    parts: dict[str, str],
    stride: int,
) -> list[str]:
    """A loop of statements that are right everywhere for the blocks that have an element of which
    `is_far` is true; for all others one that takes steps as long as an element `goes_on`, for the
    block's elements together, and then one of the last statements.

    parts: the expressions of the formula's parts (`vecmath.stepwise`) by their names, that of the
    steps from `first` on, of `stride` at once.
    """
    state = "state_below[i], state_value[i]"
    begin = [f"{state} = {parts['start']}", f"more |= {parts['goes_on']}"]
    go_on = [f"{state} = {parts['steps']}", f"more |= {parts['goes_on']}"]
    return [
        f"for begin in range(0, {size}, {BLOCK}):",
        f"    length = lesser({BLOCK}, {size} - begin)",
        *(f"    block_{array} = {array}[begin : begin + length]" for array in arrays),
        "    far = False",
        *indent(plain("length", [f"far |= {parts['is_far']}"])),
        "    if far:",
        *indent(plain("length", any_element), 2),
        "        continue",
        "    k = 1.0",
        "    more = False",
        *indent(plain("length", begin)),
        "    while more:",
        "        first = k",
        f"        k = first + {float(stride)}",
        "        more = False",
        *indent(plain("length", go_on), 2),
        *indent(plain("length", last_element)),
    ]


def aligned(written: str, arrays: list[str], run: list[str]) -> list[str]:
    """A run over flat arrays in two parts, the second from where `written` begins a cache line.

    Vectors that are stored across two lines cost a loop over 64k elements a quarter of its time:
    7.0 us instead of 5.4 for a negation. arrays: those of whose parts, `part_` and
    the array's name, each of `count` elements, the run speaks.
    """
    return [
        f"size = {written}.size",
        f"rest = (-{written}.ctypes.data % 64) // {written}.itemsize if size >= {LONG} else 0",
        "start, stop = 0, rest if rest > 0 else size",
        "while start < size:",
        "    count = stop - start",
        *(f"    part_{array} = {array}[start:stop]" for array in arrays),
        *indent(run),
        "    start, stop = stop, size",
    ]


def load(place: str, dtype: dtypes.dtype, compute: dtypes.dtype) -> str:
    """The expression that reads an element of `dtype` as `compute`."""
    if narrow.is_narrow(dtype):
        value = narrow.widened(place, dtype)
        return value if compute is dtype.opmath else f"T({value})"
    if dtype is compute:
        return place
    if compute.name == "bool":
        return f"({place} != 0)"
    return f"T({place})"


def store(value: str, dtype: dtypes.dtype) -> str:
    """The expression that turns a result into an element of `dtype`."""
    if narrow.is_narrow(dtype):
        return narrow.narrowed(value, dtype)
    if dtype.name == "bool":
        return f"({value}) != 0"
    return value
