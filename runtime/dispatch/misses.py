"""Calls that no table answers: something is missing, or is no tensor where one is expected."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core.missing import MISSING
from torchgen_out._runtime.core.tensor import Tensor, from_array
from torchgen_out._runtime.dispatch import ops, overrides
from torchgen_out._runtime.dispatch import signature as signatures

if TYPE_CHECKING:
    from torchgen_out._runtime.dispatch.operator import CallTable


def answer(table: CallTable, args: tuple[Any, ...]) -> Any:
    """What a call gives that the binding could not look up; NotImplemented if it is wrong.

    args: all arguments in order, behind the results for out=.
    Raises: TypeError if some are missing.
    """
    found = overrides.answer_of(table, args)
    if found is not NotImplemented:
        return found
    called = table.operator
    first = 1 if table.variant == "out" else 0
    names = called.arguments
    missing = [n for n, each in zip(names, args[first:], strict=False) if each is MISSING]
    if missing:
        raise errors.arguments_missing(table.called, missing)
    if called.number_first and first < len(args) and not isinstance(args[first], Tensor):
        return _with_number_first(table, args, first)
    return NotImplemented


def _with_number_first(table: CallTable, args: tuple[Any, ...], first: int) -> Any:
    """The call as if the first operand were the second: a number that gives way in promotion.

    Autograd saves tensors: where it takes part, the number becomes one.
    """
    operands = tuple([args[first + place] for place in table.operator.operand_places])
    try:
        entries = tuple(map(signatures.optional_kind_of, operands))
    except AttributeError:
        return NotImplemented
    has_tensor = any(entry.__class__ is int for entry in entries)
    if not (has_tensor or table.operator.number_each):
        return NotImplemented
    if entries[0] is None or table.variant == "inplace":
        return NotImplemented
    if first:
        results = args[0]._key if isinstance(args[0], Tensor) else None
        if results is None:
            return NotImplemented
        return table[(results, *entries)](*args)
    if signatures.has_grad(entries):
        dtype = promotion.result_type(signatures.promotion_entries(entries))
        number = ops.scalar_tensor(args[0], dtype=dtype)
        return table[(number._key, *entries[1:])](number, *args[1:])
    return table[entries](*args)


def with_arrays(table: CallTable, args: tuple[Any, ...]) -> Any:
    """The call of a binary operator with NumPy arrays as tensors; NotImplemented without any."""
    given = tuple([_as_tensor(each) if isinstance(each, np.ndarray) else each for each in args])
    found = overrides.answer_of(table, given)
    if found is not NotImplemented or all(map(operator.is_, given, args)):
        return found
    places = table.operator.operand_places
    return table[table.operator.signature(tuple([given[at] for at in places]))](*given)


def _as_tensor(array: np.ndarray) -> Any:
    """An array of numbers as a tensor; others as they are."""
    return from_array(array) if array.dtype.kind in "biufc" else array
