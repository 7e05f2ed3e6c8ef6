"""What every backend asks of an operator with hand-written kernels: which, in which dtype."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import Argument, Dispatch, Negated
from torchgen_out._runtime.kernels.common.draw import DrawProgram
from torchgen_out._runtime.kernels.common.index import IndexProgram

Arrange = Callable[[Sequence[Any]], Sequence[Any]]


def find_kernel(operator: Dispatch, backend: str, device_index: int, folder: str) -> Any:
    """The kernel registered from outside, or the one that native_functions.yaml names.

    Raises: NotImplementedError if there is neither.
    """
    registered = operator.kernels.get(device_index)
    if registered is not None:
        return registered
    name = operator.kernel_names.get(backend)
    if name is None:
        raise errors.no_kernel(operator.base_name, backend)
    if ":" in name:
        module, _, function = name.partition(":")
    else:
        module, _, function = f"{folder}.{name}".rpartition(".")
    found = getattr(importlib.import_module(module), function)
    return found.kernel_for(folder) if isinstance(found, IndexProgram | DrawProgram) else found


def case_arguments(operator: Dispatch, device_index: int) -> Arrange | None:
    """What a kernel of another operator is called with for a case of it: arrange(args).

    args: the results and the arguments of the case. Results that the other operator has besides are
    None. None for what is no case, or has a kernel from outside.
    """
    if operator.case is None or device_index in operator.kernels:
        return None
    outputs = operator.outputs if operator.meta or operator.mutates else 0
    names = list(operator.arguments)[operator.mutates :]
    values = list(operator.case.values())[operator.mutates :]
    places = {name: outputs + i for i, name in enumerate(names)}
    constants: list[Any] = [None] * operator.unasked
    chosen = [*range(outputs), *range(-operator.unasked, 0)]
    for value in values:
        if isinstance(value, Argument):
            chosen.append(places[value])
        else:
            chosen.append(outputs + len(names) + len(constants))
            constants.append(value)
    behind = outputs + len(names)
    pick = itemgetter(*[i if i >= 0 else behind - i - 1 for i in chosen])
    negated = [
        i for i, value in enumerate(values, len(chosen) - len(values)) if isinstance(value, Negated)
    ]

    def arrange(args: Sequence[Any]) -> Sequence[Any]:
        found = pick((*args, *constants))
        return (
            [not each if i in negated else each for i, each in enumerate(found)]
            if negated
            else found
        )

    return arrange


def common_dtype(operator: Dispatch, signature: tuple[Any, ...]) -> dtypes.dtype | None:
    """The dtype that the rule gives, None without a rule.

    Raises: RuntimeError if dtypes that must agree differ; NotImplementedError for one outside
    the operator's set.
    """
    entries = dict(zip(operator.operands, signature, strict=True))
    promoted = [entries[name] for name in operator.promoted if entries[name] is not None]
    if operator.promotion == "none":
        first = next(iter(signatures.tensor_keys(signature)), None)
        if first is not None:
            _check_dtype(operator, signatures.dtype_of(first))
        return None
    if operator.promotion == "same":
        found = [signatures.dtype_of(key) for key in signatures.tensor_keys(promoted)]
        for other in found[1:]:
            if other is not found[0]:
                raise errors.dtypes_differ(operator.base_name, found[0], other)
        if not found:
            return None
        _check_dtype(operator, found[0])
        return found[0]
    ranked = signatures.promotion_entries(promoted)
    if not ranked:
        return None
    compute, _ = promotion.element_types(operator.promotion, ranked)
    _check_dtype(operator, compute)
    return compute


def _check_dtype(operator: Dispatch, dtype: dtypes.dtype) -> None:
    if dtype.name not in operator.dtypes:
        accepted = ", ".join(d.name for d in dtypes.ALL if d.name in operator.dtypes)
        raise errors.dtype_not_supported(operator.base_name, dtype, accepted)
