"""Puts together the sources of the primitives that a kernel's text uses.

Whoever compiles the text must inline every function (`forceinline`), or loops over the longer ones
do not vectorise; and must not allow reassociation in them (`fastmath` at most `contract`): rounding
to an integer by adding and taking away 1.5 * 2^52 would be simplified to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from torchgen_out._runtime.kernels.machine import host
from torchgen_out._runtime.kernels.vecmath import half_instructions

_SHARED = ("constants", "half", "double")
"""Modules whose definitions every type may use."""

FAMILIES = (
    "arithmetic",
    "exponential",
    "logarithmic",
    "hyperbolic",
    "trigonometric",
    "special",
    "gamma",
)
"""The modules of a float type, one family of functions each."""

SHORTER = ("modified_bessel",)
"""Families that compute in float64 for float32, too, with fewer terms for some functions."""

ONLY_DOUBLE = (
    "modified_bessel",
    "bessel",
    "airy",
    "incomplete_gamma",
    "zeta",
    "recurrence",
)
"""Families whose text is that of float64, for float32 what `SHORTER` leaves."""

_PARTS = {
    "real32": ("real", *(f"float32/{family}" for family in (*FAMILIES, *SHORTER))),
    "real64": ("real", *(f"float64/{family}" for family in (*FAMILIES, *ONLY_DOUBLE))),
    "complex64": ("complex",),
    "complex128": ("complex",),
    "boolean": ("boolean",),
    "integer": ("integer",),
}
"""The modules that define the primitives of one kind of type."""

_KINDS = {
    "float32": "real32",
    "float64": "real64",
    "complex64": "complex64",
    "complex128": "complex128",
    "bool": "boolean",
    "uint8": "integer",
    "int8": "integer",
    "int16": "integer",
    "int32": "integer",
    "int64": "integer",
    "uint16": "integer",
    "uint32": "integer",
    "uint64": "integer",
}
"""Which kind a compute type is of."""

_PARTS_OF_COMPLEX = {"complex64": "real32", "complex128": "real64"}
"""The kind of real and imaginary parts."""

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_DEFINITION = re.compile(r"(?:def )?([A-Za-z_]\w*)")
_DOCSTRING = re.compile(r'(?:\A|\n    )"""[\s\S]*?"""')
_NOT_CODE = re.compile(r'"""[\s\S]*?"""|"[^"\n]*"|\'[^\'\n]*\'|#[^\n]*')
_TESTS = ("_is_far", "_is_beyond")
_SKIPPED = ("from ", "import ", "T = ", "#", " ", ")", "]", "}")


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or a constant at the top level of a module."""

    source: str
    uses: tuple[str, ...]
    """Names it may mean, in order of appearance."""


@cache
def compose(text: str, type_name: str) -> str:
    """Return the sources of all primitives and constants that `text` names, and what those use.

    text: source, or just names. type_name: a compute type such as "float32".
    The functions stand in dependency order, undecorated, without docstrings.
    Raises: KeyError for a type that no module serves.
    """
    return compose_from(text, definitions_for(type_name))


def compose_from(text: str, index: Mapping[str, Definition]) -> str:
    """Return the sources of all definitions of `index` that `text` names, and what those use."""
    order: dict[str, str] = {}

    def visit(name: str) -> None:
        definition = index.get(name)
        if definition is None or name in order:
            return
        order[name] = ""
        for used in definition.uses:
            visit(used)
        del order[name]
        order[name] = definition.source

    for name in names_in(text):
        visit(name)
    return "".join(order.values())


def names_in(source: str) -> tuple[str, ...]:
    """The names in a source that are nobody's attributes, in order of appearance."""
    return tuple(dict.fromkeys(_NAME.findall(_NOT_CODE.sub("", source))))


def definitions_for(type_name: str) -> dict[str, Definition]:
    """Return everything that is defined for a compute type, by name."""
    return definitions(_KINDS[type_name])


@cache
def definitions(kind: str) -> dict[str, Definition]:
    """Return everything that the modules of a kind define, by name."""
    found = {**_shared(), **_defined_in(_PARTS[kind])}
    if kind in _PARTS_OF_COMPLEX:
        parts = definitions(_PARTS_OF_COMPLEX[kind])
        return {**_renamed(parts, _names_with("real", parts), "R"), **found}
    return with_doubles(found, definitions("real64")) if kind == "real32" else found


def shorter() -> dict[str, Definition]:
    """What `SHORTER` defines for float32, of which another compiler may take float64's."""
    return _defined_in(f"float32/{family}" for family in SHORTER)


@cache
def _shared() -> dict[str, Definition]:
    own = _defined_in(_SHARED)
    if not host.compiles_for("f16c"):
        return own
    imports = Definition(half_instructions.IMPORTS, ())
    return {**own, "intrinsic": imports, **definitions_in(half_instructions.TEXT)}


def _defined_in(parts: Iterable[str]) -> dict[str, Definition]:
    found: dict[str, Definition] = {}
    for part in parts:
        source = Path(__file__).parent.joinpath(f"{part}.py").read_text(encoding="utf-8")
        found |= definitions_in(source)
    return found


def with_doubles(
    single: Mapping[str, Definition], double: Mapping[str, Definition]
) -> dict[str, Definition]:
    """Return the definitions of float32, and of what it lacks those that compute in float64.

    double: all definitions of float64. They get names of their own, `double_exp`; a function that
    float32 lacks calls the one of float64.
    """
    own = _names_with("double", double)
    found = _renamed(double, own, "np.float64")
    for name, renamed in own.items():
        parameters = re.search(rf"def {name}\(([\w, ]+)\)", double[name].source)
        if parameters and name not in single:
            doubled = ", ".join(f"np.float64({each})" for each in parameters[1].split(", "))
            value = f"{renamed}({doubled})"
            value = value if name.endswith(_TESTS) else f"T({value})"
            text = f"\n\ndef {name}({parameters[1]}):\n    return {value}\n"
            found[name] = Definition(text, (renamed,))
    return {**found, **single}


def _names_with(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Names of their own for what another type defines as well."""
    return {name: f"{prefix}_{name}" for name in names if name not in _shared()}


def _renamed(
    defined: Mapping[str, Definition], names: Mapping[str, str], type_text: str
) -> dict[str, Definition]:
    """The definitions under other names, with another text for their type `T`."""
    found = {}
    for name, renamed in names.items():
        text = _NAME.sub(lambda match: names.get(match[0], match[0]), defined[name].source)
        text = re.sub(r"(?<![\w.])T\(", f"{type_text}(", text)
        uses = (names.get(used, used) for used in defined[name].uses)
        found[renamed] = Definition(text, (type_text, *uses))
    return found


def definitions_in(source: str) -> dict[str, Definition]:
    """Return what a module's text defines, by name."""
    found: dict[str, Definition] = {}
    for chunk in _chunks(_DOCSTRING.sub("", source)):
        match = _DEFINITION.match(chunk.lstrip())
        assert match is not None
        name = match.group(1)
        uses = tuple(used for used in names_in(chunk) if used != name)
        found[name] = Definition(chunk, uses)
    return found


def _chunks(source: str) -> list[str]:
    """Cut a module at its top-level definitions; blank lines between them become one form."""
    chunks: list[list[str]] = []
    for line in source.splitlines():
        if line and not line.startswith(_SKIPPED):
            chunks.append([])
        if chunks and (line.startswith((" ", ")", "]", "}")) or not chunks[-1]):
            chunks[-1].append(line)
    return [_chunk(lines) for lines in chunks]


def _chunk(lines: list[str]) -> str:
    text = "\n".join(lines) + "\n"
    return f"\n\n{text}" if text.startswith("def ") else text
