"""Cases of other operators: their kernels, called with what `case_of` says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.backends.common.dispatch import case_arguments
from torchgen_out._runtime.dispatch.operator import Argument, Dispatch, Negated, operators
from torchgen_out._runtime.kernels.cpu.planned import or_arrays, planned
from torchgen_out._runtime.kernels.cuda.direct import adding, arranged, direct
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

CPU = 0


def case(schema: str, given: dict[str, Any], **options: Any) -> Dispatch:
    """A case that no table knows."""
    arguments = {each.split()[-1]: "raw" for each in schema.split("(")[1].split(")")[0].split(", ")}
    made = Dispatch(
        schema, {"x": "tensor"}, arguments=arguments, dtypes=frozenset(), kernel_names="a.b.c",
        case=given, meta=lambda *args: (), **options,
    )  # fmt: skip
    del operators[made.name]
    return made


def test_arguments_are_put_in_place() -> None:
    given = {
        "a": Argument("x"),
        "word": "raw",
        "flag": Negated("up"),
        "n": Argument("k"),
        "m": None,
    }
    arrange = case_arguments(case("f(Tensor x, int k, bool up) -> Tensor", given), CPU)
    assert arrange is not None
    assert list(arrange(["out", "x", 3, False])) == ["out", "x", "raw", True, 3, None]


def test_results_that_nobody_asked_for_are_none() -> None:
    schema = "f(Tensor x) -> (Tensor, Tensor)"
    arrange = case_arguments(case(schema, {"a": Argument("x")}, outputs=2, unasked=1), CPU)
    assert arrange is not None
    assert list(arrange(["out0", "out1", "x"])) == ["out0", "out1", None, "x"]


def test_self_that_is_written_is_the_result() -> None:
    given = {"self": Argument("x"), "value": 0}
    arrange = case_arguments(case("f_(Tensor x) -> Tensor", given, mutates=True), CPU)
    assert arrange is not None
    assert list(arrange(["out"])) == ["out", 0]


def test_a_kernel_is_planned_and_called_alike() -> None:
    seen: list[Any] = []

    @planned(results=2)
    def plan(*args: Any) -> LaunchPlan:
        seen.append(args)
        return LaunchPlan(lambda *_: None, None)

    @or_arrays(lambda *args: seen.append(args), results=2)
    def both(*args: Any) -> None:
        seen.append(args)

    def arrange(args: Any) -> Any:
        return (*args[:1], None, *args[1:], "word")

    out, x = np.empty(3), np.zeros(3)
    plan.case(arrange, 1)(out, x)
    assert seen.pop()[1::2] == (None, "word")
    both.case(arrange, 1)(out, x)
    assert seen.pop()[1::2] == (None, "word")
    both.case(arrange, 1).plan(*both_specs(out, x)).run(out, x, 0, None)
    assert seen.pop()[1::2] == (None, "word")
    assert seen.pop()[1::2] == (None, "word")


def both_specs(*arrays: Any) -> Iterator[Any]:
    """Arrays as planners see them."""
    return (TensorSpec(each.dtype, each.shape, (1,)) for each in arrays)


def test_the_operand_that_may_be_out_is_that_of_the_case() -> None:
    kernel = adding(lambda queue, out, self, a: None)
    assert kernel.case(lambda args: args, {"self": Argument("before"), "a": None}).own == "before"
    assert kernel.case(lambda args: args, {"self": None, "a": Argument("self")}).own == ""
    assert direct(lambda queue, out, a: None).case(lambda args: args, {"a": None}).own == ""


def test_a_queue_stands_before_what_is_arranged() -> None:
    kernel = arranged(lambda queue, *args: (queue, *args), lambda args: (*args, 1))
    assert kernel("queue", "out") == ("queue", "out", 1)


@pytest.fixture
def products() -> Iterator[list[Any]]:
    """What a kernel of `mv` from outside was given."""
    given: list[Any] = []
    operator = operators["mv"]
    operator.kernel(CPU, lambda out, *args: given.append(args))
    yield given
    operator.kernels.clear()
    operator.calls.clear()


def test_a_kernel_from_outside_is_given_the_own_arguments(products: list[Any]) -> None:
    torch.mv(torch.ones(2, 3), torch.ones(3))
    assert [each.shape for each in products[0]] == [(2, 3), (3,)]
