"""Large tensors as targets: out= and in-place into strided memory, and draws on several threads.

What a call returns is compared with tests/parity; here every other way of calling must give the
same bits. A write into strided memory touches nothing between the elements.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import torchgen_out
from codegen.model.operator import Operator
from tests import calls, harness, tolerances
from tests.harness import Case
from tests.large_calls import may_grow, most_elements
from tests.large_samples import (
    GROWTHS,
    Growth,
    chosen_sizes,
    first_computed,
    grown,
    plain_arguments,
)
from tests.layouts import LAYOUTS, LaidOut
from tests.runtime.test_operators import base_dtype, first_case, is_random
from torchgen_out._runtime import dispatch

OURS = LaidOut(torchgen_out, dispatch.ops)
OPERATORS = harness.program().operators
TARGETS = [LAYOUTS[name] for name in ("transposed", "stepped", "framed")]
GAP = 7
"""What lies between the elements of a strided target."""


@pytest.fixture(params=(1, 3))
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    """One thread, or three, whose parts end at odd places."""
    before = torchgen_out.get_num_threads()
    torchgen_out.set_num_threads(request.param)
    yield request.param
    torchgen_out.set_num_threads(before)


def large(operator: Operator, growth: Growth, dtype: str) -> Case:
    """The operator's first case at a larger size, that it computes."""
    case = first_case(operator)
    assert case is not None
    if not case.inputs or not chosen_sizes(case, growth) or not may_grow(case):
        pytest.skip("has no larger sample")
    shapes = [calls.values(each).shape for each in calls.results(OURS.arguments(case, dtype)())]
    growth = replace(growth, numel=most_elements(operator, growth.numel))
    found = first_computed(
        grown(case, growth, shapes), lambda each: OURS.arguments(each, dtype).plain()
    )
    if found is None:
        pytest.skip("has no larger sample")
    return found[0]


def strided_target(like: Any, layout: Any) -> tuple[Any, Any]:
    """Memory filled with `GAP`, and a view of the shape of `like` into it."""
    ones = layout.store(np.ones(tuple(like.shape), bool))
    memory = torchgen_out.full(ones.shape, GAP).to(like.dtype)
    return memory, layout.view(memory)


def assert_between_untouched(memory: Any, layout: Any, shape: tuple[int, ...]) -> None:
    between = ~layout.store(np.ones(shape, bool))
    assert (
        calls.values(memory)[between] == np.asarray(GAP).astype(calls.values(memory).dtype)
    ).all()


WITH_OUT = [op for op in OPERATORS if op.has_out and first_case(op) and not is_random(op)]
WITH_OUT = [op for op in WITH_OUT if len(op.schema.returns) == 1]
IN_PLACE = [op for op in OPERATORS if op.has_inplace and first_case(op) and not is_random(op)]


def drawn(operator: Operator) -> tuple[Growth, Any]:
    """A growth and a layout, others for every operator."""
    number = zlib.crc32(operator.name.encode())
    return GROWTHS[number % 3], TARGETS[number // 3 % len(TARGETS)]


@pytest.mark.slow
@pytest.mark.parametrize("operator", WITH_OUT, ids=lambda operator: operator.name)
def test_out(operator: Operator, threads: int) -> None:
    dtype = base_dtype(operator)
    growth, layout = drawn(operator)
    case = large(operator, growth, dtype)
    expected = OURS.arguments(case, dtype).plain()
    if not expected.dim():
        pytest.skip("a number")
    memory, out = strided_target(expected, layout)
    assert OURS.arguments(case, dtype).plain(out=out) is out
    what = f"{case} {layout.name} {plain_arguments(case)}"
    tolerances.assert_close(calls.values(out), calls.values(expected), tolerances.EXACT, what)
    assert_between_untouched(memory, layout, tuple(expected.shape))


@pytest.mark.slow
@pytest.mark.parametrize("operator", IN_PLACE, ids=lambda operator: operator.name)
def test_in_place(operator: Operator, threads: int) -> None:
    dtype = base_dtype(operator)
    growth, layout = drawn(operator)
    case = large(operator, growth, dtype)
    expected = OURS.arguments(case, dtype)()
    call = OURS.arguments(case, dtype)
    memory, target = strided_target(call.values["self"], layout)
    target.copy_(call.values["self"])
    strided = calls.Call(call.session, operator, {**call.values, "self": target}, ())
    name = f"{operator.public_name}_"
    returned = strided.method(name) if operator.has_method else strided.named(name)
    assert returned is target
    wanted = calls.values(expected).astype(calls.values(target).dtype)
    what = f"{case} {layout.name} {plain_arguments(case)}"
    tolerances.assert_close(calls.values(target), wanted, tolerances.EXACT, what)
    assert_between_untouched(memory, layout, tuple(target.shape))
