"""The tools behind `python -m codegen verify` and `warm`."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import torchgen_out as torch
from codegen.commands import lookup
from codegen.commands.records import record_of as json_of
from tests import harness
from torchgen_out._runtime.library.tools import calling, checks, verify, warm
from torchgen_out._runtime.library.tools.records import Record, record_of


def record(name: str) -> Record:
    """The record of one of the library's operators."""
    program = harness.program()
    (operator,) = lookup.find(program, name)
    return record_of(json.loads(json.dumps(json_of(program, operator))))


def status(check: str, record: Record) -> str:
    return checks.run(checks.CHECKS[check], record).status


@pytest.mark.parametrize("name", ["softplus", "mul.Tensor", "clamp", "amax", "mm", "transpose"])
def test_good_operators_pass(name: str) -> None:
    found = {title: checks.run(check, record(name)) for title, check in checks.CHECKS.items()}
    assert {t: o.detail for t, o in found.items() if o.status == checks.FAILED} == {}


def test_a_wrong_value_is_told() -> None:
    wrong = replace(record("softplus"), formula="self + beta + threshold")
    outcome = checks.run(checks.check_values, wrong)
    assert outcome.status == checks.FAILED
    assert outcome.detail.startswith("usual: ") and "expected" in outcome.detail


def test_a_wrong_reduction_is_told() -> None:
    good = record("sum.dim_IntList")
    wrong = replace(good, reference=None, parts={**good.parts, "reduce": "acc + 2 * self"})
    assert status("values", replace(good, reference=None)) == checks.PASSED
    assert status("values", wrong) == checks.FAILED


def test_a_missing_error_is_told() -> None:
    good = record("mm")
    calls = tuple(replace(call, raises="ValueError") for call in good.calls)
    outcome = checks.run(checks.check_errors, replace(good, calls=calls))
    assert outcome.status == checks.FAILED


def test_a_wrong_dtype_is_told() -> None:
    assert status("dtypes", replace(record("softplus"), promotion="always_bool")) == checks.FAILED


@pytest.fixture
def wrong_package() -> Iterator[str]:
    """A package whose function has half of its gradient."""
    module: Any = ModuleType("wrong_ops")
    module.square = lambda x: x.detach() * x
    module.square_ = lambda x: x.mul_(3)
    sys.modules["wrong_ops"] = module
    yield "wrong_ops"
    del sys.modules["wrong_ops"]


def test_a_wrong_gradient_is_told(wrong_package: str) -> None:
    wrong = replace(record("square"), package=wrong_package)
    assert status("values", wrong) == checks.PASSED
    outcome = checks.run(checks.check_gradient, wrong)
    assert outcome.status == checks.FAILED
    assert re.search(
        r"derivative of result 0 with respect to self: \S+ where differences give \S+, "
        r"from element \(\d+, \d+\) to element \(\d+, \d+\); \d+ of \d+ are wrong",
        outcome.detail,
    )
    assert "\n" not in outcome.detail
    second = checks.run(checks.CHECKS["second gradient"], wrong).detail
    assert "gradient of self with respect to self" in second and "\n" not in second
    assert status("in place", wrong) == checks.FAILED


def test_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wrong_package: str
) -> None:
    program = harness.program()
    (operator,) = lookup.find(program, "square")
    sent = [json_of(program, operator), {**json_of(program, operator), "package": wrong_package}]
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(sent)))
    assert verify.main() == 1
    good, bad = capsys.readouterr().out.split("square (wrong_ops.square)")
    assert "✓ gradient" in good and "✗" not in good
    assert "✗ gradient" in bad and "✓ values" in bad


def test_warm_knows_an_operator_and_its_gradients() -> None:
    tasks = list(warm.tasks_of("torchgen_out", ["float32", "int64"], ["softplus"]))
    names = {name for _, name, _ in tasks}
    assert names == {"softplus", "softplus_backward_self"}
    assert {dtype for _, name, dtype in tasks if name == "softplus"} == {"float32"}


@pytest.mark.parametrize("name", ["softplus", "softplus_backward_self", "where.self", "amax"])
def test_warm_calls(name: str) -> None:
    assert warm.compile_calls(("torchgen_out", name, "float32")) is None


@pytest.mark.parametrize("name", ["multinomial", "batch_norm", "searchsorted.Tensor"])
def test_warm_calls_samples_of_what_is_no_formula(name: str) -> None:
    """With gradients, or without where there is none of some argument or at all."""
    sent = list(warm.sampled([record(name), record("softplus")], ["float32"]))
    assert [(each.name, dtype) for each, dtype in sent] == [(name, "float32")]
    assert warm.compile_samples(sent[0]) is None


@pytest.mark.parametrize("name", ["relu", "index_fill.int_Scalar", "cumsum", "addmm"])
def test_warm_writes_in_place(name: str) -> None:
    sent = list(warm.written([record(name), record("mm")], ["float32"]))
    assert [(each.name, dtype) for each, dtype in sent] == [(name, "float32")]
    assert warm.compile_in_place(sent[0]) is None


IN_PLACE = """
import torchgen_out as torch
from torchgen_out._runtime.kernels import build
x, at, value = torch.ones(3, 4), torch.tensor([1]), torch.tensor([2.0])
before = build.cache_counts()[1]
x.put_(at, value)
x.relu_()
x[:, ::2].relu_()
print(build.cache_counts()[1] - before)
"""


def test_what_was_warmed_in_place_is_not_compiled(tmp_path: Path) -> None:
    environment = {**os.environ, "TORCHGEN_CACHE_DIR": str(tmp_path), "TORCHGEN_QUIET": "1"}
    program = harness.program()
    operators = [lookup.find(program, name)[0] for name in ("put", "relu")]
    sent = json.dumps([json_of(program, operator) for operator in operators])
    options = ["--dtypes", "float32", "--jobs", "1", "--samples", "put", "relu"]
    command = [sys.executable, "-m", warm.__name__, *options]
    subprocess.run(command, env=environment, input=sent, text=True, check=True)
    use = [sys.executable, "-c", IN_PLACE]
    said = subprocess.run(use, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["0"]


def test_warm_tells_what_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(warm, "_call_pointwise", fail)
    told = warm.compile_calls(("torchgen_out", "softplus", "float32"))
    assert told == "softplus float32: RuntimeError: no such instruction"


@pytest.mark.parametrize("name", ["linalg_cholesky", "linalg_eigvalsh", "cholesky_inverse"])
def test_one_triangle_is_differentiated_among_the_matrices_meant(name: str) -> None:
    for title in ("gradient", "second gradient"):
        outcome = checks.run(checks.CHECKS[title], record(name))
        assert outcome.status == checks.PASSED and "one triangle is read" in outcome.detail


def test_a_wrong_gradient_of_one_triangle_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    good = record("linalg_cholesky")
    factor = Record.function(good)
    monkeypatch.setattr(
        Record, "function", lambda self, suffix="": lambda a, **k: Twice.apply(factor(a, **k))
    )
    outcome = checks.run(checks.CHECKS["gradient"], good)
    assert outcome.status == checks.FAILED and "where differences give" in outcome.detail


class Twice(torch.autograd.Function):
    """The identity with a gradient twice too large."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return 2 * grad


def test_whole_matrices_are_differentiated_by_each_element() -> None:
    outcome = checks.run(checks.CHECKS["gradient"], record("linalg_inv"))
    assert outcome.status == checks.PASSED and "triangle" not in outcome.detail


def test_composites_tell_which_inputs_have_a_gradient() -> None:
    outcome = checks.run(checks.CHECKS["gradient"], record("type_as"))
    assert outcome.status == checks.PASSED, outcome.detail


def test_complex_operators_are_differentiated() -> None:
    only_complex = replace(record("mul.Tensor"), dtypes=("complex64", "complex128"))
    outcome = checks.run(checks.CHECKS["gradient"], only_complex)
    assert outcome.status == checks.PASSED and "finite differences" in outcome.detail


def calls_in_place_of(
    monkeypatch: pytest.MonkeyPatch, good: Record, function: Callable[..., Any]
) -> Record:
    """A record whose calls are those of another function."""
    monkeypatch.setattr(Record, "function", lambda self, suffix="": function)
    return good


def test_a_write_into_an_argument_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = calls_in_place_of(monkeypatch, record("mm"), lambda a, b: (a.mul_(2), a @ b)[1])
    outcome = checks.run(checks.check_values, wrong)
    assert (outcome.status, outcome.detail) == (
        checks.FAILED,
        "sample 1: the call wrote into its argument 'self'",
    )


def test_running_statistics_may_be_written() -> None:
    assert status("values", record("native_batch_norm")) == checks.PASSED


def test_the_place_in_own_code_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any) -> Any:
        raise ValueError("own words")

    monkeypatch.setattr(calling, "_LIBRARY", Path("/nowhere"))
    wrong = calls_in_place_of(monkeypatch, record("mm"), broken)
    detail = checks.run(checks.check_values, wrong).detail
    said, place = detail.split("\n")
    assert said == "sample 1: ValueError: own words"
    assert re.fullmatch(r"at .*test_tools.py:\d+, in broken", place)
