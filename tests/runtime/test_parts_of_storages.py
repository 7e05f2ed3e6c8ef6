"""Tensors that are parts of their storages, one of them with gaps: nothing else is read or written.

Where all operands are contiguous a kernel is given their memory alone, otherwise all that lies
behind their first element, too: what counts elements by the memory fails here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from codegen.model.operator import Case as OfKernel
from codegen.model.operator import Dispatch, Index, Operator
from tests import calls, harness, tolerances
from tests.harness import Case
from tests.inputs import is_input
from torchgen_out._runtime import dispatch

KERNELS = Dispatch, Index, OfKernel
OURS = calls.Session(torch, dispatch.ops)
OPERATORS = [
    each
    for each in harness.program().operators
    if isinstance(each.kind, KERNELS)
    and each.returns_tensors
    and not each.has_tag("nondeterministic")
]
IN_PLACE = [each for each in OPERATORS if each.has_inplace]
AROUND = 5
"""Elements of a storage before a tensor, and behind it."""


def within(tensor: Any, has_gaps: bool) -> Any:
    """A tensor's elements among others: dense, or every other one."""
    step = 2 if has_gaps else 1
    storage = tensor.new_ones(step * tensor.numel() + 2 * AROUND)
    strides = [step * each for each in tensor.contiguous().stride()]
    storage.as_strided(tensor.shape, strides, AROUND).copy_(tensor)
    return storage.as_strided(tensor.shape, strides, AROUND)  # one that has not found its memory


def laid(call: calls.Call, gaps_in: int) -> calls.Call:
    """A call whose tensors are within storages, that of a number with gaps."""
    numbers = count()

    def lay(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.layout is torch.strided:
            return within(value, next(numbers) == gaps_in)
        return [lay(each) for each in value] if isinstance(value, list) else value

    values = {name: lay(value) for name, value in call.values.items()}
    return calls.Call(call.session, call.operator, values, call.leaves)


def of_integers(case: Case) -> Case:
    """A case all of whose tensors take the dtype under test, but for indices and the like."""

    def turned(value: Any) -> Any:
        if isinstance(value, list):
            return [turned(each) for each in value]
        return replace(value, kind="any") if is_input(value) and value.kind == "float" else value

    return replace(case, arguments={n: turned(value) for n, value in case.arguments.items()})


def each_case(operator: Operator, run: Callable[[calls.Call], Any]) -> Iterator[Any]:
    """(what a call answers that is run as it is, the same call laid out, what it is)."""
    for case in harness.cases(operator):
        if not all(np.isfinite(each.data).all() for each in case.inputs):
            continue
        for dtype in ("float32", "int32") if case.raises is None else ():
            if dtype not in operator.dtype_names:
                continue
            turned = of_integers(case) if dtype == "int32" else case
            for gaps_in in range(len(case.inputs)):
                try:
                    wanted = run(OURS.arguments(turned, dtype))
                except (RuntimeError, TypeError):  # not for this dtype, or not in place
                    break
                call = laid(OURS.arguments(turned, dtype), gaps_in)
                yield wanted, call, f"{case} of {dtype}, gaps in {gaps_in}"


def assert_equal(operator: Operator, found: Any, wanted: Any, what: str) -> None:
    """Up to rounding: other layouts have other loops."""
    allowed = tolerances.tolerance(tolerances.VALUE, operator.name, "float32")
    for result, expected in zip(calls.results(found), calls.results(wanted), strict=True):
        tolerances.assert_close(calls.values(result), calls.values(expected), allowed, what)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.name)
def test_operands(operator: Operator) -> None:
    for wanted, call, what in each_case(operator, lambda call: call()):
        assert_equal(operator, call(), wanted, what)


@pytest.mark.parametrize("operator", IN_PLACE, ids=lambda each: each.name)
def test_in_place(operator: Operator) -> None:
    name = f"{operator.public_name}_"

    def write(call: calls.Call) -> Any:
        return call.method(name) if operator.has_method else call.named(name)

    for wanted, call, what in each_case(operator, write):
        others = call.values["self"]._base.clone()
        target = write(call)
        assert_equal(operator, target, wanted, what)
        others.as_strided(target.shape, target.stride(), AROUND).copy_(target)
        assert torch.equal(target._base, others), what


MASK = torch.tensor([False, True, True])
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "a mask and True": lambda x, v: x.__setitem__((MASK, True), v),
    "a mask and numbers": lambda x, v: x.index_put_((MASK, torch.tensor([1, 0])), v[:, 0]),
    "numbers apart": lambda x, v: x.index_put_(
        (torch.tensor([2, 0]), None, torch.tensor([1, 1])), v[:, 0]
    ),
    "numbers apart, added": lambda x, v: x.index_put_(
        (torch.tensor([2, 2]), None, torch.tensor([1, 1])), v[:, 0], accumulate=True
    ),
    "bytes": lambda x, v: x.index_put_((MASK.byte(),), v),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", WRITES)
@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
def test_index_put(name: str, dtype: Any) -> None:
    """The ways of index_put that no sample takes."""
    value = torch.arange(18).reshape(2, 3, 3).to(dtype).transpose(1, 2)
    dense, target = torch.zeros(3, 3, 3, dtype=dtype), torch.zeros(5, 3, 3, 3, dtype=dtype)
    WRITES[name](dense, value.contiguous())
    WRITES[name](target[2], value)
    assert torch.equal(target[2], dense)
    assert not target[:2].any()
    assert not target[3:].any()
