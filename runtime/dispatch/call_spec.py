"""What a call looks like, as data: the roles of its arguments, its results, how it is launched.

`call_text` writes the function for a spec, which all calls of that form share; backends give it
what differs between them, by the names of its hooks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

NEW, UPDATE, WRITE = "new", "update", "write"
"""Results are new tensors; or the first argument is the result, and is read or only written."""


class Role(Enum):
    """What becomes of an argument on its way to the kernel."""

    TENSOR = "memory and place go to the kernel; the launch is looked up by sizes and strides"
    TENSORS = "a list of tensors; missing ones are passed over"
    ABSENT = "an operand that is not given: nothing"
    PLAIN = "the launch is looked up by the value"
    LIST = "the same for lists, which are looked up as tuples"
    NUMBER = "the same for numbers, of which -0.0 is not 0.0"
    SCALAR = "goes to the kernel, converted"
    RAW = "goes to the kernel as it is"
    SOURCE = "of random numbers: goes to the kernel, the usual one in place of None"


MOST_UNROLLED = 4
"""Tensors of a list up to which each gets a name of its own."""


@dataclass(frozen=True)
class CallSpec:
    """The form of a call.

    roles: of the arguments in order. results: how many new tensors, 0 if the kernel makes them.
    mode: NEW, UPDATE or WRITE. members: for each list among the arguments, which of its members are
    there. at_places: run(*places, *memory, *scalars), the results' places included, as loops around
    a formula are called; else run(*memory, *operands' places, params, *scalars, *source). dense:
    whether dense operands of one shape go to a flat loop without being looked up. defaults: whether
    the loops are those for scalars at their defaults, and the call has another one for the rest.
    is_checked: whether every call has
    its arguments checked. tells_shared: whether a launch differs where operands share the result's
    storage. is_wrapped: whether the tuple of the results is. on_devices: whether
    there are several devices, of which launches know theirs.
    """

    roles: tuple[Role, ...]
    results: int = 1
    mode: str = NEW
    members: tuple[tuple[bool, ...], ...] = ()
    at_places: bool = False
    dense: bool = False
    defaults: bool = False
    is_checked: bool = False
    tells_shared: bool = False
    is_wrapped: bool = False
    on_devices: bool = False

    @property
    def named(self) -> Iterator[tuple[str, Role]]:
        """The names of the arguments in the function's text, and their roles."""
        return zip("abcdefghijklmnopqrstuvwxyz", self.roles, strict=False)

    def names(self, *roles: Role) -> list[str]:
        """The names of the arguments in these roles."""
        return [name for name, role in self.named if role in roles]
