"""Operators on an emulated device against the CPU: values, dtypes, strides, gradients, variants.

The kernels' texts run as they are; the functions of libdevice are NumPy's and SciPy's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from codegen.model.derivative import GradientKind
from codegen.model.operator import Operator
from tests import calls, harness, tolerances
from tests.calls import Call
from tests.harness import Case, is_pointwise
from torchgen_out._runtime import dispatch

OURS = calls.Session(torch, dispatch.ops)
POINTWISE = [each for each in harness.program().operators if is_pointwise(each)]
DTYPES = ("float32", "bfloat16", "int32", "uint8", "bool", "complex64")
FEW = (
    "add.Tensor",
    "where.self",
    "exp",
    "pow.Tensor_Tensor",
    "eq.Tensor",
    "abs",
    "remainder.Tensor",
)

pytestmark = pytest.mark.usefixtures("emulated")


def _cases(operator: Operator) -> list[Case]:
    """The cases that are not errors."""
    return [each for each in harness.cases(operator) if not each.raises]


def moved(value: Any) -> Any:
    """A value of a call with its tensors on the device."""
    if isinstance(value, list):
        return [moved(each) for each in value]
    if isinstance(value, torch.Tensor):
        on_device = value.detach().to("cuda")
        assert on_device.stride() == value.stride() or not value.is_contiguous()
        return on_device.requires_grad_(value.requires_grad)
    return value


def on_device(call: Call) -> Call:
    """The same call of tensors on the device."""
    values = {name: moved(value) for name, value in call.values.items()}
    return Call(call.session, call.operator, values, [])


def compare(got: Any, expected: Any, name: str, factor: float = 4.0, of_sums: bool = False) -> None:
    """All results agree, and those on the device lie there.

    Elements that are sums (`of_sums`) may be small differences of large numbers: they are as exact
    as the largest of them.
    """
    for ours, theirs in zip(calls.results(got), calls.results(expected), strict=True):
        assert ours.device.type == "cuda"
        assert (ours.dtype, ours.shape, ours.stride()) == (
            theirs.dtype,
            theirs.shape,
            theirs.stride(),
        )
        table = tolerances.VALUE.get(calls.name_of(ours.dtype), tolerances.EXACT)
        largest = _largest(theirs) if of_sums else 1.0
        allowed = tolerances.Tolerance(table.relative * factor, table.absolute * factor * largest)
        tolerances.assert_close(calls.array(ours.cpu()), calls.array(theirs), allowed, name)


def _largest(x: Any) -> float:
    """The greatest finite magnitude, at least 1."""
    magnitudes = np.abs(calls.array(x).astype(np.complex128))
    return float(np.max(magnitudes, initial=1.0, where=np.isfinite(magnitudes)))


def _with_dtypes() -> list[Any]:
    """Every operator in its dtypes; most of them but the first, and all variants, are `full`."""
    made = []
    for operator in POINTWISE:
        dtypes = [each for each in DTYPES if each in operator.dtype_names]
        for place, dtype in enumerate(dtypes):
            is_usual = place == 0 or operator.name in FEW
            marks = [] if is_usual else [pytest.mark.full]
            made.append(pytest.param(operator, dtype, marks=marks, id=f"{operator.name}-{dtype}"))
    return made


@pytest.mark.parametrize(("operator", "dtype"), _with_dtypes())
def test_values(operator, dtype):
    for case in _cases(operator)[:2]:
        call = OURS.arguments(case, dtype)
        compare(on_device(call)(), call(), str(case))


def _apart(value: Any, devices: Iterator[str]) -> Any:
    """A value of a call with each tensor on the next device."""
    if isinstance(value, list):
        return [_apart(each, devices) for each in value]
    return value.to(next(devices)) if isinstance(value, torch.Tensor) else value


def _several(operator: Operator) -> Call | None:
    """A call of several tensors with elements, if the operator takes such."""
    found = next(iter(_cases(operator)), None)
    dtype = next((each for each in (*DTYPES, "int64") if each in operator.dtype_names), None)
    if found is None or dtype is None:
        return None
    call = OURS.arguments(found, dtype)
    given = [part for each in call.values.values() for part in calls.results(each)]
    counted = [each for each in given if isinstance(each, torch.Tensor) and each.numel()]
    return call if len([each for each in counted if each.dim()]) > 1 else None


def test_no_kernel_reads_memory_of_another_device(emulated):
    """Tensors of two devices are refused, or copied; the emulated memory tells a kernel's."""
    refused = 0
    for operator in harness.program().operators:
        call = _several(operator)
        if call is None:
            continue
        devices = chain(["cuda:0"], repeat("cuda:1"))
        values = {name: _apart(value, devices) for name, value in call.values.items()}
        with torch.no_grad(), contextlib.suppress(NotImplementedError):
            try:
                Call(call.session, operator, values, [])()
            except RuntimeError as error:
                refused += "on the same device" in str(error)
    assert refused > 200


def _has_gradient(operator: Operator) -> bool:
    """Whether the first case has a gradient that is not summed, as operands that broadcast need."""
    derivative = harness.program().derivative(operator)
    if (
        derivative is None
        or "float32" not in operator.dtype_names
        or len(operator.schema.returns) > 1
    ):
        return False
    shapes = {each.data.shape for each in _cases(operator)[0].inputs}
    kinds = {gradient.kind for gradient in derivative.gradients}
    is_known = kinds & {GradientKind.FORMULA, GradientKind.AUTO}
    return len(shapes) == 1 and bool(is_known) and GradientKind.NOT_IMPLEMENTED not in kinds


def _with_gradient() -> list[Any]:
    """Every operator whose gradient is compared."""
    return [pytest.param(each, id=each.name) for each in POINTWISE if _has_gradient(each)]


@pytest.mark.parametrize("operator", _with_gradient())
def test_gradients(operator):
    call = OURS.arguments(_cases(operator)[0], "float32", requires_grad=True)
    result = call()
    theirs = on_device(call)
    leaves = [v for v in call.values.values() if getattr(v, "requires_grad", False)]
    twins = [v for v in theirs.values.values() if getattr(v, "requires_grad", False)]
    expected = torch.autograd.grad(result, leaves, torch.ones_like(result), allow_unused=True)
    on_cuda = theirs()
    got = torch.autograd.grad(on_cuda, twins, torch.ones_like(on_cuda), allow_unused=True)
    for ours, other in zip(got, expected, strict=True):
        assert (ours is None) == (other is None)
        if other is not None:
            compare(ours, other, operator.name, factor=20.0)


def _with_variants() -> list[Any]:
    """Every operator that has variants, most only in the full tier."""
    return [
        pytest.param(each, marks=() if each.name in FEW else pytest.mark.full, id=each.name)
        for each in POINTWISE
        if each.has_out or each.has_inplace
    ]


@pytest.mark.parametrize("operator", _with_variants())
def test_variants(operator):
    """In place and into a result, as without."""
    dtype = next(each for each in DTYPES if each in operator.dtype_names)
    call = on_device(OURS.arguments(_cases(operator)[0], dtype))
    expected = call()
    if operator.has_out:
        out = torch.empty(0, dtype=expected.dtype, device="cuda")
        assert call(out=out) is out
        assert torch.equal(out.cpu(), expected.cpu()) or expected.cpu().isnan().any()
    own = call.values.get("self")
    if operator.has_inplace and own.shape == expected.shape and own.dtype == expected.dtype:
        version, address = own._version, own.data_ptr()
        assert call.method(operator.public_name + "_") is own
        assert own._version == version + 1 and own.data_ptr() == address
        assert torch.equal(own.cpu(), expected.cpu()) or expected.cpu().isnan().any()
