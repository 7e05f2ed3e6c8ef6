"""What becomes of a call's arguments before a hand-written kernel of the CPU sees them.

A kernel knows arrays, not tensors. Narrow types reach it in their `opmath`
unless it moves raw bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import generator as generators
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import Dispatch
from torchgen_out._runtime.kernels.cpu import narrow_arrays

Convert = Callable[[Any], Any]
Converters = Sequence[Convert | None]
"""For each argument of a call, what turns it into the kernel's; None leaves it."""


def argument_converters(
    operator: Dispatch, signature: tuple[Any, ...], common: dtypes.dtype | None
) -> list[Convert | None]:
    """The converters of a signature."""
    entries = dict(zip(operator.operands, signature, strict=True))
    converters: list[Convert | None] = []
    for name, kind in operator.arguments.items():
        if kind == "generator":
            converters.append(generator_or_default)
        elif kind != "operand":
            converters.append(None)
        else:
            cast = common if name in operator.promoted else None
            converters.append(_tensor_converter(entries[name], cast, operator.half_as_stored))
    return converters


def generator_or_default(value: Any) -> Any:
    """Where random numbers come from."""
    return generators.default_generator if value is None else value


def arrays_of(tensors: Sequence[Tensor]) -> list[Any]:
    """The memory of each tensor of a list."""
    return [tensor._array() for tensor in tensors]


def arrays_or_none(tensors: Sequence[Tensor | None]) -> list[Any]:
    """The same for a list in which tensors may be missing."""
    return [None if tensor is None else tensor._array() for tensor in tensors]


def _tensor_converter(entry: Any, cast: dtypes.dtype | None, raw: bool) -> Convert | None:
    if entry.__class__ is tuple:
        members = [_tensor_converter(each, cast, raw) for each in entry]
        if set(members) == {Tensor._array}:
            return arrays_of
        if set(members) <= {Tensor._array, None}:
            return arrays_or_none
        return lambda values: [
            value if convert is None else convert(value)
            for convert, value in zip(members, values, strict=True)
        ]
    if entry.__class__ is not int:
        return None
    own = signatures.dtype_of(entry)
    if cast is not None and cast is not own:
        wanted = cast if raw else cast.opmath
        return lambda tensor: ops._to_copy(tensor, dtype=wanted)._array()
    if own.opmath is not own and not raw:
        return lambda tensor: narrow_arrays.widen(tensor._array(), own)
    return Tensor._array


def convert_all(converters: Converters, args: tuple[Any, ...]) -> list[Any]:
    """The kernel's arguments."""
    return [
        arg if convert is None else convert(arg)
        for convert, arg in zip(converters, args, strict=True)
    ]
