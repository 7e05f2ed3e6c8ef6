"""The operands of operators over lists of tensors, row by row: one row is one operator's call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core.missing import MISSING
from torchgen_out._runtime.core.tensor import Tensor

TENSORS = "tensors"
"""A list of tensors."""
NUMBERS = "numbers"
"""A number or 0-d tensor for all calls, a list of numbers, or a vector of them."""
TENSORS_OR_NUMBERS = "tensors or numbers"
"""A list of tensors or numbers, a number for all calls, or a tensor without dims."""


def respelled(function: Callable[..., Any], synonyms: dict[str, str], given: dict[str, Any]) -> Any:
    """The call with PyTorch's other words for parameters: `_foreach_add(tensors, scalar=2)`.

    synonyms: our name for each word. given: what the function was given, by parameter.
    Raises: TypeError for a word that is none of them, or names what was given already.
    """
    words = given.pop("words")
    for word, value in words.items():
        name = synonyms.get(word)
        if name is None:
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{word}'")
        place = inspect.signature(function).parameters[name]
        if given[name] is not place.default:
            raise TypeError(f"{function.__name__}() got multiple values for argument '{name}'")
        given[name] = value
    return function(**given)


def rows(name: str, kinds: tuple[str, ...], *operands: Any) -> Iterable[tuple[Any, ...]]:
    """The operands of every call; `kinds` says what each of them may be.

    Raises: TypeError or RuntimeError, before the first call, if lists are missing, empty or of
    different lengths.
    """
    if any(operand is MISSING for operand in operands):
        raise errors.arguments_missing(name, ["other"])
    lists = [operand for operand in operands if isinstance(operand, (list, tuple))]
    if not lists:
        raise errors.wrong_argument_type(name, "self", 0, "tensors", operands[0])
    count = len(lists[0])
    if not count:
        raise errors.foreach_of_nothing()
    places = zip(operands, kinds, range(len(kinds)), strict=True)
    return zip(*[_column(name, *place, count) for place in places], strict=False)


def _column(name: str, operand: Any, kind: str, position: int, count: int) -> Iterable[Any]:
    """One operand of every call: the elements of a list, or one value again and again."""
    if isinstance(operand, (list, tuple)):
        _check_list(name, operand, kind, position, count)
        return operand
    if kind is TENSORS:
        argument = "self" if position == 0 else "tensors"
        raise errors.wrong_argument_type(name, argument, position, kind, operand)
    if not isinstance(operand, Tensor):
        if not isinstance(operand, (int, float, complex)) and not hasattr(
            operand.__class__, "__float__"
        ):
            raise errors.wrong_argument_type(name, "scalar", position, "Number", operand)
        return repeat(operand)
    if kind is NUMBERS:
        return _numbers(operand, count)
    if operand.dim():
        raise errors.foreach_number_has_dims(operand.dim(), operand.numel())
    return repeat(operand)


def _check_list(name: str, operand: Sequence[Any], kind: str, position: int, count: int) -> None:
    is_tensors = kind is TENSORS or isinstance(next(iter(operand), None), Tensor)
    if is_tensors and not all(isinstance(each, Tensor) for each in operand):
        raise errors.wrong_argument_type(name, "tensors", position, "tensors", operand)
    if len(operand) != count:
        raise errors.foreach_lengths(count, len(operand), is_tensors)


def _numbers(packed: Tensor, count: int) -> Iterable[Any]:
    """The elements of a vector, one for every call; one number for all of a 0-d tensor."""
    if not packed.dim():
        return repeat(packed.tolist())
    if packed.dim() != 1:
        raise errors.foreach_packed_dims(packed.dim())
    if packed.numel() != count:
        raise errors.foreach_packed_length(count, packed.numel())
    numbers: list[Any] = packed.tolist()
    return numbers
