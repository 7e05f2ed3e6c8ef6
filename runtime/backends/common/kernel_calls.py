"""Calls of kernels that are given tensors: of backends from outside, or one for all backends.

Shapes, dtypes and refusals are the Meta backend's; the kernel computes into results that are made.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import given_results, resizing
from torchgen_out._runtime.backends.common.dispatch import case_arguments, common_dtype
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import overlap, promotion
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch import autocast
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.backends import backend_of
from torchgen_out._runtime.dispatch.operator import (
    FUNCTION,
    INPLACE,
    OUT,
    Call,
    Dispatch,
    Operator,
)

Kernel = Callable[..., None]
"""kernel(*results, *arguments): writes to new tensors what the operator is of the arguments."""

Allocate = Callable[[Tensor, Sequence[Any]], Tensor]
"""allocate(described, args): a new tensor on the device of the arguments, like one without data."""

_DEVICE = keys.DEVICE_MASK << keys.DEVICE_SHIFT


def returns_results(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a kernel(*arguments) for all backends that returns its results, made by what it calls,
    as the shape function says them."""
    kernel.returns_results = True  # type: ignore[attr-defined]
    return kernel


def make_kernel_call(
    kernel: Kernel,
    allocate: Allocate,
    operator: Operator,
    signature: tuple[Any, ...],
    variant: str,
) -> Call:
    """The call of a variant of an operator that is computed by a kernel."""
    describe = getattr(backend_of(devices.META), operator.kind)
    described = describe(operator, signature, FUNCTION)
    wrap = getattr(operator, "wrap", None)

    def call(*args: Any) -> Any:
        found = described(*map(_without_data, args))
        if isinstance(found, Tensor):
            result = allocate(found, args)
            kernel(result, *args)
            return result
        results = [allocate(each, args) for each in found]
        kernel(*results, *args)
        return wrap(*results) if wrap else tuple(results)

    if variant == FUNCTION:
        return call
    if variant == OUT:
        return _make_out_call(operator, call)
    checked = describe(operator, signature, INPLACE)

    def call_inplace(self: Tensor, *args: Any) -> Tensor:
        checked(*map(_without_data, (self, *args)))
        overlap.check_operands(operator.base_name + "_", self, _tensors_in(args))
        return given_results.copy_below(self, call(self, *args))

    return call_inplace


EXPLICIT = "CompositeExplicitAutograd"
"""The word of native_functions.yaml for a kernel over tensors that serves all backends, or those
for which the entry names no other."""


def explicit_kernel(operator: Operator, backend: str, device_index: int) -> Kernel | None:
    """The kernel over tensors that serves a backend, if an entry names one, and the backend has
    none of its own, of the entry or from outside."""
    if backend in getattr(operator, "kernel_names", {}) or device_index in operator.kernels:
        return None
    return named_over_tensors(operator)


def named_over_tensors(operator: Operator) -> Kernel | None:
    """The kernel over tensors that an entry names: beside one of a backend it computes what that
    one leaves to it."""
    name = getattr(operator, "kernel_names", {}).get(EXPLICIT)
    if name is None:
        return None
    place = name if ":" in name else f"torchgen_out._runtime.ops.composite.{name}"
    module, _, function = place.replace(":", ".").rpartition(".")
    found: Kernel = getattr(importlib.import_module(module), function)
    return found


class _Called(threading.local):
    """The operator with a kernel for all backends that a thread has called."""

    operator = ""


_called = _Called()


def called_operator(operator: str) -> str:
    """What a user called, where that calls an operator: whom faults are to name."""
    return _called.operator or operator


def make_explicit_call(
    kernel: Kernel, operator: Operator, signature: tuple[Any, ...], variant: str
) -> Call:
    """The call of a kernel for all backends: results are made on the device of the arguments.

    What the kernel calls is not recorded, and is not cast once more.
    """

    def allocate(described: Tensor, args: Sequence[Any]) -> Tensor:
        on = _tensors_in(args)[0].device
        made: Tensor = backend_of(on.type_index).empty(described._sizes, described.dtype, on)
        if described._strides == made._strides:
            return made
        return build(made._key, made._sizes, described._strides, 0, made._storage)

    run = below_autograd(kernel, operator, signature)
    if isinstance(operator, Dispatch):
        if operator.meta is None or getattr(kernel, "returns_results", False):
            common_dtype(operator, signature)  # refuses what is none of the operator's
            return _make_returning_call(run, operator, variant)
        if variant == INPLACE and "self" in operator.aliasing:
            return _make_into_call(run, operator)
    return make_kernel_call(run, allocate, operator, signature, variant)


def below_autograd(
    kernel: Kernel, operator: Operator, signature: tuple[Any, ...]
) -> Callable[..., Any]:
    """run(*results, *arguments) of a kernel over tensors: nothing is recorded, nor cast, and faults
    are told under the operator's name."""
    arrange = case_arguments(operator, -1) if isinstance(operator, Dispatch) else None
    is_mixed = len({each & _DEVICE for each in signatures.tensor_keys(signature)}) > 1

    def run(*args: Any) -> Any:
        given = [_without_grad(each) for each in (_on_one_device(args) if is_mixed else args)]
        before = _called.operator
        _called.operator = before or operator.base_name
        try:
            with autocast.off():
                return kernel(*(arrange(given) if arrange else given))
        finally:
            _called.operator = before

    return run


def _on_one_device(args: Sequence[Any]) -> list[Any]:
    """The arguments, those that may lie on the host on the device of the others."""
    on = next(each.device for each in _tensors_in(args) if not each.is_cpu)

    def arrived(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [arrived(each) for each in value]
        is_there = not isinstance(value, Tensor) or not value.is_cpu
        return value if is_there else backend_of(on.type_index).transfer(value, on, False)

    return [arrived(each) for each in args]


def _make_into_call(kernel: Callable[..., Any], operator: Dispatch) -> Call:
    """In place, of a kernel that may be given self as its result."""
    meta, apart = operator.meta, given_results.kept_apart(operator)
    assert meta is not None

    def call_inplace(self: Tensor, *args: Any) -> Tensor:
        given_results.check_apart(operator, apart, self, *args)
        sizes = meta(self, *args)[0]
        if tuple(sizes) != tuple(self._sizes):
            raise errors.inplace_shape(operator.base_name + "_", self._sizes, sizes)
        overlap.check_self(operator.base_name, self)
        own, version = _without_grad(self), self._storage.version
        kernel(own, own, *args)
        self._storage.version = version + 1  # one write, in however many steps
        return self

    return call_inplace


def _make_returning_call(kernel: Callable[..., Any], operator: Dispatch, variant: str) -> Call:
    """The call of a kernel that returns its results, whose shapes it may be alone to know."""
    wrap, meta = operator.wrap, operator.meta

    def call(*args: Any) -> Any:
        if meta is not None:
            meta(*args)  # refuses what does not fit
        found = kernel(*args)
        if operator.outputs == 1:
            return found
        return wrap(*found) if wrap else tuple(found)

    return _make_out_call(operator, call) if variant == OUT else call


def _make_out_call(operator: Operator, call: Call) -> Call:
    def call_out(out: Any, *args: Any) -> Any:
        results = call(*args)
        if isinstance(results, Tensor):
            return _store(operator, out, results, args)
        return tuple([_store(operator, o, r, args) for o, r in zip(out, results, strict=True)])

    return call_out


def _store(operator: Operator, out: Tensor, result: Tensor, args: tuple[Any, ...]) -> Tensor:
    promotion.check_out(result.dtype, out.dtype, operator.out_rule)
    overlap.check_operands(operator.base_name, out, _tensors_in(args))
    if tuple(out._sizes) != tuple(result._sizes):
        resizing.resize_out(operator.base_name, out, result._sizes)
    return given_results.copy_below(out, result)


def _tensors_in(args: Sequence[Any]) -> list[Tensor]:
    return [arg for arg in args if isinstance(arg, Tensor)]


def _without_grad(value: Any) -> Any:
    """A tensor, or those of a list, outside autograd; anything else as it is."""
    if isinstance(value, (tuple, list)):
        return [_without_grad(each) for each in value]
    if not isinstance(value, Tensor) or not value._key & keys.GRAD:
        return value
    layout = value._sizes, value._strides, value._offset
    return build(value._key & ~keys.GRAD, *layout, value._storage)


def _without_data(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [_without_data(each) for each in value]
    if not isinstance(value, Tensor):
        return value
    key = value._key & ~_DEVICE | devices.META << keys.DEVICE_SHIFT
    return build(key, value._sizes, value._strides, value._offset, Storage(None))
