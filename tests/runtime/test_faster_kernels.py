"""Kernels written by hand in place of statements, which say what they compute (key `faster`)."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch
from codegen.model.operator import Index
from tests import calls, harness
from torchgen_out._runtime import dispatch
from torchgen_out._runtime.dispatch import tables
from torchgen_out._runtime.dispatch.operator import Dispatch, operators

OURS = calls.Session(torch, dispatch.ops)
WRITTEN = [
    operator
    for operator in harness.program().operators
    if isinstance(operator.kind, Index) and "CPU" in dict(operator.kind.faster)
]
CASES = [
    pytest.param(operator, case, id=f"{operator.name}-{case.label}")
    for operator in WRITTEN
    for case in harness.cases(operator)
    if case.raises is None
]


@pytest.mark.parametrize(("operator", "case"), CASES)
def test_the_statements_compute_the_same(operator, case, monkeypatch):
    dtype = harness.accepted(operator)[0]
    expected = calls.results(OURS.arguments(case, dtype)())
    known = operators[operator.name]
    assert isinstance(known, Dispatch)
    names = {**known.kernel_names, "CPU": known.kernel_names["CUDA"]}
    monkeypatch.setattr(known, "kernel_names", names)
    tables.forget_calls()
    got = calls.results(OURS.arguments(case, dtype)())
    tables.forget_calls()
    for one, other in zip(got, expected, strict=True):
        assert one.dtype is other.dtype
        np.testing.assert_allclose(calls.array(one), calls.array(other), 1e-5, 1e-6)


def test_the_kernel_runs_where_it_is_named():
    assert WRITTEN
    for operator in WRITTEN:
        names = operators[operator.name].kernel_names
        assert names["CPU"] == str(dict(operator.kind.faster)["CPU"])
        assert names["CUDA"].endswith(":program")
