"""The roles that the arguments of an operator with hand-written kernels play in its calls."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.dispatch.call_spec import Role
from torchgen_out._runtime.dispatch.operator import Dispatch


def argument_roles(
    operator: Dispatch, signature: tuple[Any, ...]
) -> tuple[tuple[Role, ...], tuple[tuple[bool, ...], ...]]:
    """The role of each argument, and for each list of tensors which of its members are there."""
    entries = dict(zip(operator.operands, signature, strict=True))
    lists = operator.list_arguments
    roles, members = [], []
    for name, kind in operator.arguments.items():
        if kind == "operand":
            roles.append(_operand_role(entries[name]))
            if roles[-1] is Role.TENSORS:
                members.append(tuple([each.__class__ is int for each in entries[name]]))
        elif kind == "raw":
            roles.append(Role.LIST if name in lists else Role.PLAIN)
        else:
            roles.append(Role.SOURCE if kind == "generator" else Role.NUMBER)
    return tuple(roles), tuple(members)


def _operand_role(entry: Any) -> Role:
    if entry.__class__ is int:
        return Role.TENSOR
    if entry.__class__ is tuple:
        return Role.TENSORS
    return Role.ABSENT if entry is None else Role.NUMBER
