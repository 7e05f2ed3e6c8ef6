"""What a call of one entry of a family looks like: its parameters, read from one line of text.

The text is a schema's list of parameters as people call it, with `out` and `requires_grad`:

    Tensor input, int dim, bool keepdim=False, *, Tensor? out=None

A `*` before a name gathers: `SymInt[] *size` may be given as several arguments. What is given as
`out` is for the entry to judge, which says more of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from torchgen_out._runtime.bindings import arguments
from torchgen_out._runtime.core.missing import MISSING

_TESTS: dict[str, Callable[[Any], bool]] = {
    "Tensor": arguments.is_tensor,
    "Tensor|Scalar": arguments.is_number_or_tensor,
    "Scalar": arguments.is_number,
    "float": arguments.is_number,
    "int": arguments.is_int,
    "SymInt": arguments.is_int,
    "bool": arguments.is_bool,
    "str": arguments.is_str,
    "ScalarType": arguments.is_dtype,
    "Tensor[]": arguments.is_tensors,
    "Scalar[]": arguments.is_numbers,
    "float[]": arguments.is_numbers,
    "int[]": arguments.is_ints,
    "SymInt[]": arguments.is_ints,
}
"""The values of a type; those of a type that is not here are not looked at."""

_PARTS = re.compile(r"(?:'[^']*'|\[[^\]]*\]|\([^)]*\)|[^,'\[(])+")
_PARAMETER = re.compile(
    r"(?P<type>\S+?)(?P<optional>\??) (?P<gathers>\*?)(?P<name>\w+)(?P<default>=.*)?$"
)


class Parameter(NamedTuple):
    """One parameter of a signature."""

    name: str
    test: Callable[[Any], bool]
    """Whether a value is of its type."""
    is_required: bool
    is_keyword_only: bool
    is_optional: bool
    """Whether it may be None."""
    gathers: bool
    """Whether the rest of the positional arguments may be its members."""

    def accepts(self, value: Any) -> bool:
        """Whether a value may be given for it."""
        return self.test(value) or (self.is_optional and value is None)


def parse(text: str) -> Iterator[Parameter]:
    """The parameters that a signature lists."""
    is_keyword_only = False
    for part in _PARTS.findall(text):
        if part.strip() == "*":
            is_keyword_only = True
            continue
        found = _PARAMETER.match(part.strip())
        assert found, f"{part!r} in {text!r}"
        yield Parameter(
            found["name"],
            arguments.is_given if found["name"] == "out" else _test(found["type"]),
            found["default"] is None,
            is_keyword_only,
            bool(found["optional"]),
            bool(found["gathers"]),
        )


def _test(type_: str) -> Callable[[Any], bool]:
    if type_ in _TESTS:
        return _TESTS[type_]
    if re.fullmatch(r"(int|SymInt)\[\d+\]", type_):  # a single number stands for all
        return arguments.is_int_or_ints
    return arguments.is_given


class Signature:
    """One way to call a function: the text, read when first asked for."""

    __slots__ = ("_parameters", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._parameters: tuple[Parameter, ...] | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What may be given, in order."""
        if self._parameters is None:
            self._parameters = tuple(parse(self.text))
        return self._parameters

    def bind(self, args: Sequence[Any], keywords: Mapping[str, Any]) -> Bound | None:
        """What each parameter gets; None if there are too many arguments, or one is unknown."""
        taken, given, missing, named = 0, {}, [], dict(keywords)
        for parameter in self.parameters:
            value = named.pop(parameter.name, MISSING)
            slot: int | str = parameter.name
            if not parameter.is_keyword_only and taken < len(args):
                if value is not MISSING:
                    return None
                slot = taken
                value, taken = _taken(parameter, args, taken)
            if value is not MISSING:
                given[slot] = (parameter, value)
            elif parameter.is_required:
                missing.append(parameter.name)
        return None if named or taken < len(args) else Bound(given, missing)


class Bound(NamedTuple):
    """The arguments of a call as a signature sees them."""

    given: dict[int | str, tuple[Parameter, Any]]
    """The parameter of each argument, and its value, by position or name."""
    missing: list[str]
    """The parameters that must be given and are not."""

    def accepts(self, only_positional: bool = False) -> bool:
        """Whether each value is of its parameter's type."""
        return all(
            parameter.accepts(value)
            for slot, (parameter, value) in self.given.items()
            if slot.__class__ is int or not only_positional
        )

    def test(self, slot: int | str) -> Callable[[Any], bool] | None:
        """What is asked of the argument at a position, or of a name."""
        return self.given[slot][0].test if slot in self.given else None


def _taken(parameter: Parameter, args: Sequence[Any], at: int) -> tuple[Any, int]:
    """The value that a parameter has of positional arguments, and how many are used up then."""
    if parameter.gathers and (len(args) > at + 1 or arguments.is_item(args[at])):
        return tuple(args[at:]), len(args)
    return args[at], at + 1
