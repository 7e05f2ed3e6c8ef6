"""Kernels written by hand in place of statements, which say what they compute (key `faster`).

The package has no loops of the statements for the backend that such a kernel serves: they are made
here, of the same entries without the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import torchgen_out as torch
from codegen import lower
from codegen.emit import kernels
from codegen.model.operator import PROGRAM, Index
from codegen.model.program import Program
from tests import calls, harness, index_programs
from torchgen_out._runtime import dispatch
from torchgen_out._runtime.dispatch import tables
from torchgen_out._runtime.dispatch.operator import Dispatch, operators

OURS = calls.Session(torch, dispatch.ops)
WRITTEN = [
    operator
    for operator in harness.program().operators
    if isinstance(operator.kind, Index) and "CPU" in dict(operator.kind.faster)
]
STATED = "stated_kernels"
"""The package of the loops that statements are on the CPU."""
CASES = [
    pytest.param(operator, case, id=f"{operator.name}-{case.label}")
    for operator in WRITTEN
    for case in harness.cases(operator)
    if case.raises is None
]


@pytest.fixture(scope="module")
def stated(tmp_path_factory) -> Iterator[str]:
    """The package, as it can be imported."""
    entries = [replace(each, kind=replace(each.kind, faster=())) for each in WRITTEN]
    folder = tmp_path_factory.mktemp("faster")
    for file in kernels.emit(lower.lower(Program(tuple(entries)))):
        path = folder / STATED / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield f"{STATED}.kernels.index"


@pytest.mark.parametrize(("operator", "case"), CASES)
def test_the_statements_compute_the_same(operator, case, stated, monkeypatch):
    dtype = harness.accepted(operator)[0]
    expected = calls.results(OURS.arguments(case, dtype)())
    known = operators[operator.name]
    assert isinstance(known, Dispatch)
    names = {**known.kernel_names, "CPU": f"{stated}.{operator.identifier}:{PROGRAM}"}
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


def test_the_package_has_only_the_loops_that_run():
    for operator in WRITTEN:
        program = index_programs.program(operator.identifier)
        for each in (program, *program.others.values()):
            assert each.on_device
            assert not each.launches
            assert not each.temporaries
            assert each.single is None
