"""Every operator of native_functions.yaml that PyTorch has, on its first sample of a few elements.

What is measured is a call from Python, not a kernel: how far the way of the other groups' operators
is the way of all. Values are compared by the tests; here shapes and dtypes are.
"""

from __future__ import annotations

from types import ModuleType

import torch

from benchmarks.case import Case, Work
from codegen.model.operator import Operator
from tests import calls, harness


def _is_measured(operator: Operator) -> bool:
    """Whether users of PyTorch have it."""
    if operator.has_tag("internal"):
        return False
    if operator.has_function:
        return calls.Session(torch).function(operator) is not None
    return hasattr(torch.Tensor, operator.public_name)


def _dtype(operator: Operator) -> str:
    names = operator.dtype_names
    return next((name for name in ("float32", "int64") if name in names), names[0])


def _case(case: harness.Case) -> Case:
    dtype = _dtype(case.operator)

    def make(T: ModuleType) -> Work:
        return Work(calls.Session(T).arguments(case, dtype).prepared())

    sizes = ", ".join("x".join(map(str, each.stored().shape)) or "scalar" for each in case.inputs)
    return Case(f"`{case.operator.name}`", sizes, make, is_random=True)


def _first(operator: Operator) -> harness.Case | None:
    """The first sample that can be called again and again: its tensors keep their shapes."""
    return next(
        (case for case in harness.cases(operator) if case.raises is None and _is_steady(case)),
        None,
    )


def _is_steady(case: harness.Case) -> bool:
    if not case.operator.public_name.endswith("_"):
        return True
    call = calls.Session(torch).arguments(case, _dtype(case.operator))
    shapes = [each.shape for each in call.leaves]
    call.prepared()()
    return shapes == [each.shape for each in call.leaves]


CASES = [
    _case(case)
    for operator in harness.program().operators
    if _is_measured(operator) and (case := _first(operator)) is not None
]
