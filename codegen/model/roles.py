"""What an argument is to a call: whether it chooses the code, and how a backend takes it."""

from __future__ import annotations

import enum

from .schema import Argument


class Role(enum.Enum):
    """The part of one argument in a call. Operands make the signature by which code is found."""

    TENSOR = "an operand, always a tensor"
    NUMBER = "an operand, a tensor or a number"
    NUMBER_ALONE = "an operand, a number in the place of the first tensor: `pow(2, x)`"
    TENSORS = "an operand, a list of tensors"
    SCALAR = "a number, which takes the type that is computed in"
    GENERATOR = "a source of random numbers"
    RAW = "anything else, passed on as it is"

    @property
    def is_operand(self) -> bool:
        """Whether it takes part in choosing the code of a call."""
        return self in (Role.TENSOR, Role.NUMBER, Role.NUMBER_ALONE, Role.TENSORS)

    @property
    def may_be_number(self) -> bool:
        """Whether an operand may be a plain number."""
        return self in (Role.NUMBER, Role.NUMBER_ALONE)


def role_of(argument: Argument, is_first: bool) -> Role:
    """The role of an argument; is_first: whether it is the first of its schema."""
    type_ = argument.type
    if type_.holds_tensors and not argument.is_out:
        if type_.is_list:
            return Role.TENSORS
        return Role.NUMBER if "Scalar" in type_.names else Role.TENSOR
    if is_first and type_.names == ("Scalar",):
        return Role.NUMBER_ALONE
    if type_.base == "Generator":
        return Role.GENERATOR
    is_number = type_.base in ("Scalar", "float") and not type_.is_list
    return Role.SCALAR if is_number else Role.RAW
