"""Where a result lies in memory changes no bit of it.

LLVM has two loops for memory that might overlap, and addresses choose between them; what is summed
in one order here is summed in another there. Few elements show it: their results may begin within a
vector's reach of an operand.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import torchgen_out
from codegen.model.operator import Operator
from tests import calls, harness
from torchgen_out._runtime import dispatch
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.dispatch.tables import forget_calls
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel, specs_in
from torchgen_out._runtime.kernels.plan import LaunchPlan

OURS = calls.Session(torchgen_out, dispatch.ops)
FEW_BYTES = 1 << 13
"""Of all memory of a call that is repeated."""
GAPS = (0, 8, 16, 24, 64, 88)
"""Bytes between an operand and a result. What lies farther off is told apart by its length."""


@contextlib.contextmanager
def repeated_elsewhere(found: list[str]) -> Iterator[None]:
    """Every launch runs again with its results behind each operand; found: what differed."""
    planned = PlannedKernel.plan

    def plan(kernel: PlannedKernel, *args: Any) -> LaunchPlan:
        made = planned(kernel, *args)
        tensors, results = len(list(specs_in(args))), kernel.results
        if not results or kernel.updates:
            return made

        def run(*given: Any) -> Any:
            arrays = given[:tensors]
            if _can_be_repeated(given, arrays, results):
                first = _run(made, given, [np.zeros_like(each) for each in arrays[:results]])
                for k in range(results, tensors):
                    for r in range(results):
                        for source, where in _behind(arrays[k], arrays[r]):
                            again = [np.zeros_like(each) for each in arrays[:results]]
                            moved = [*given[:k], source, *given[k + 1 :]]
                            again[r] = where
                            if _run(made, moved, again) != first:
                                found.append(f"{kernel.__name__}: result {r} behind operand {k}")
            return made.run(*given)

        return LaunchPlan(run, made.params)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlannedKernel, "plan", plan)
        forget_calls()
        yield
    forget_calls()


def _can_be_repeated(given: Sequence[Any], arrays: Sequence[Any], results: int) -> bool:
    if any(isinstance(each, Generator) for each in given):
        return False
    if any(out is each for out in arrays[:results] for each in arrays[results:]):
        return False
    return sum(each.nbytes for each in arrays) <= FEW_BYTES


def _run(plan: LaunchPlan, given: Sequence[Any], results: Sequence[Any]) -> list[bytes]:
    """The bits of what a launch writes, every NaN being the same."""
    plan.run(*results, *given[len(results) :])
    for out in results:
        if out.dtype.kind in "fc":
            out[np.isnan(out)] = np.nan
    return [out.tobytes() for out in results]


def _behind(operand: Any, result: Any) -> Iterator[tuple[Any, Any]]:
    """Copies of an operand, each with room for a result that begins shortly after it."""
    first = -(-operand.nbytes // result.itemsize) * result.itemsize
    for gap in GAPS if operand.size and result.size and result.dtype.kind in "fc" else ():
        begin = first + gap // result.itemsize * result.itemsize
        memory = np.zeros(begin + result.nbytes + 64, np.uint8)
        memory = memory[-memory.ctypes.data % 64 :]
        source = memory[: operand.nbytes].view(operand.dtype)
        source[:] = operand
        yield source, memory[begin : begin + result.nbytes].view(result.dtype)


OPERATORS = [each for each in harness.program().operators if not each.has_tag("nondeterministic")]


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.name)
def test_result_places(operator: Operator) -> None:
    found: list[str] = []
    with repeated_elsewhere(found):
        for dtype in {"float32", "float64"} & set(operator.dtype_names):
            for case in harness.cases(operator):
                if case.raises is None:
                    OURS.arguments(case, dtype).prepared()()
    assert not found
