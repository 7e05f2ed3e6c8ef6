"""Calls of hand-written kernels on the CPU: which kernel, of which dtype, by which way.

New results are made in `dispatch_new.py`, given ones written in `dispatch_into.py`.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.backends.common.dispatch import common_dtype, find_kernel
from torchgen_out._runtime.backends.common.given_results import make_copying_call, make_out_call
from torchgen_out._runtime.backends.cpu.converters import argument_converters
from torchgen_out._runtime.backends.cpu.dispatch_into import make_aliasing_call, make_mutating_call
from torchgen_out._runtime.backends.cpu.dispatch_new import make_dynamic_call, make_static_call
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, Call, Dispatch

CPU = 0


def make_call(operator: Dispatch, signature: tuple[Any, ...], variant: str) -> Call:
    """The call of a dispatch operator for CPU tensors of one signature."""
    kernel = find_kernel(operator, "CPU", CPU, "torchgen_out._runtime.kernels.cpu")
    common = common_dtype(operator, signature)
    converters = argument_converters(operator, signature, common)
    if operator.mutates:
        return make_mutating_call(operator, kernel, converters, signature)
    if variant == INPLACE and operator.aliasing:
        return make_aliasing_call(operator, kernel, converters, signature)
    if operator.meta is None:
        call = make_dynamic_call(operator, kernel, converters, signature)
    else:
        call = make_static_call(operator, kernel, converters, common, signature)
    if variant == INPLACE:
        return make_copying_call(operator, call)
    return make_out_call(operator, call) if variant == OUT else call
