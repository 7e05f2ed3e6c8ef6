"""Every operator on large tensors against PyTorch, dense and strided, on one thread and on more.

`-m slow` takes all; the quick tier one operator for each path that size opens.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402
from codegen.model.operator import Composite  # noqa: E402
from tests import calls, harness, inputs, op_samples, tolerances  # noqa: E402
from tests.harness import Case  # noqa: E402
from tests.large_calls import labels, large_call, may_grow, may_repeat, most_elements  # noqa: E402
from tests.large_samples import (  # noqa: E402
    GROWTHS,
    Growth,
    chosen_sizes,
    first_computed,
    grown,
    plain_arguments,
)
from tests.layouts import LAYOUTS, LaidOut, Layout  # noqa: E402
from tests.parity import test_operators as small  # noqa: E402
from tests.parity.large_comparison import (  # noqa: E402
    Expected,
    as_double,
    assert_as_close,
    measured,
)
from torchgen_out._runtime import dispatch  # noqa: E402

OTHER_DTYPES = ("bfloat16", "int64", "bool")


COUNTS = {"float32": (1, 2), "float64": (1, 3)}
"""On how many threads a dtype is run; three parts end at odd places."""


@pytest.fixture(autouse=True)
def as_many_threads_as_before() -> Iterator[None]:
    before = torchgen_out.get_num_threads()
    yield
    torchgen_out.set_num_threads(before)


# ----------------------------------------------------------------------------------------------
# One case


def outcome(
    session: LaidOut, case: Case, dtype: str, gradient: bool
) -> tuple[list[Any], list[Any]]:
    """The results of a call, and the gradients of all leaves."""
    values = calls.results(session.arguments(case, dtype)())
    if not gradient:
        return values, []
    return values, small.gradients(session, case, dtype, twice=False)[0]


def expectations(
    case: Case, layout: Layout, gradient: bool
) -> dict[str, tuple[Expected, Expected]]:
    """PyTorch's values and gradients in float32 and float64."""
    # PyTorch 2.13 crashes in transforms of two dims whose rows have steps and are no power of 2.
    theirs = LaidOut(torch, layout=layout, is_copied=case.operator.name.startswith("fft_"))
    case = harness.at_dtype(case, "float32")
    single = outcome(theirs, case, "float32", gradient)
    if all(each.kind == "same" for each in case.inputs):
        return {"float32": (measured(single[0], single[0]), measured([], []))}
    double = outcome(theirs, case, "float64", gradient)
    values, gradients = (measured(*pair) for pair in zip(single, double, strict=True))
    name = case.operator.name
    in_double = [as_double(*pair, name) for pair in zip((values, gradients), double, strict=True)]
    return {"float32": (values, gradients), "float64": (in_double[0], in_double[1])}


def has_gap(case: Case, what: str) -> bool:
    """Whether small samples of the operator are known to differ."""
    test = f"parity.test_{what}"
    return op_samples.gap(test, case.operator.name, case.label, "float32") is not None


def proposals(case: Case, growth: Growth | None) -> Iterable[Case]:
    """What the large case may be."""
    if growth is None:
        return [large_call(case.operator, case.label)]
    with small.quiet():
        results = calls.results(LaidOut(torch).arguments(case, small.natural(case)[0])())
    shapes = [calls.values(each).shape for each in results if each is not None]
    numel = most_elements(case.operator, growth.numel)
    return grown(case, replace(growth, numel=numel), shapes)


def check(case: Case, growth: Growth | None, layout: Layout, dtypes: Sequence[str]) -> None:
    """Compare values and gradients on all numbers of threads."""
    first = small.FIRST[case.operator.name] if growth is None else case
    gradient = small.may_differentiate(first) and not has_gap(case, "gradient")
    with small.quiet():
        found = first_computed(
            proposals(case, growth), lambda each: expectations(each, layout, gradient)
        )
    if found is None:
        pytest.skip("PyTorch computes no larger sample")
    large, expected = harness.at_dtype(found[0], "float32"), found[1]
    ours = LaidOut(torchgen_out, dispatch.ops, layout)
    for dtype, count in [(name, count) for name in expected for count in COUNTS[name]]:
        if dtype not in dtypes:
            continue
        torchgen_out.set_num_threads(count)
        values, gradients = expected[dtype]
        with small.quiet():
            got = outcome(ours, large, dtype, bool(gradients.arrays))
        what = f"{large} {layout.name} {dtype}, {count} threads, {plain_arguments(large)}"
        assert_as_close(got[0], values, tolerances.VALUE, large, f"{what}: value")
        assert_as_close(got[1], gradients, tolerances.GRADIENT, large, f"{what}: gradient")


def check_other(case: Case, growth: Growth | None, layout: Layout, dtype: str) -> None:
    """Compare values in a dtype without gradients; PyTorch's errors are those against float64."""

    def expectation(proposal: Case) -> Expected:
        theirs = LaidOut(torch, layout=layout)
        proposal = harness.at_dtype(proposal, dtype)
        results = outcome(theirs, proposal, dtype, False)[0]
        is_float = dtype in inputs.FLOATING
        return measured(
            results, outcome(theirs, proposal, "float64", False)[0] if is_float else results
        )

    with small.quiet():
        found = first_computed(proposals(case, growth), expectation)
    if found is None:
        pytest.skip("PyTorch does not support this dtype")
    large = harness.at_dtype(found[0], dtype)
    for count in (1, 2):
        torchgen_out.set_num_threads(count)
        with small.quiet():
            got = outcome(LaidOut(torchgen_out, dispatch.ops, layout), large, dtype, False)[0]
        what = f"{large} {layout.name} {dtype}, {count} threads, {plain_arguments(large)}"
        assert_as_close(got, found[1], tolerances.VALUE, large, what)


# ----------------------------------------------------------------------------------------------
# All cases


def layouts_of(case: Case, growth: Growth | None) -> list[Layout]:
    """Which layouts a case takes: drawn, others for every growth and operator.

    An operator with kernels of its own takes every growth in its first case, a composite two; of
    the other cases, every second takes one.
    """
    drawn = zlib.crc32(f"{case} {growth}".encode()) // 16
    strided = [each for each in STRIDED if not each.repeats or may_repeat(case.operator)]
    one = strided[drawn % len(strided)]
    if growth is None:
        return [LAYOUTS["dense"], one]
    if case is not small.FIRST[case.operator.name]:
        turn = zlib.crc32(str(case).encode()) // 16 % (2 * len(GROWTHS))
        return [one] if turn == GROWTHS.index(growth) else []
    if growth.label == "all":
        return [] if isinstance(case.operator.kind, Composite) else [LAYOUTS["dense"]]
    if growth.label == "middle" and isinstance(case.operator.kind, Composite):
        return []
    return [one]


STRIDED = [layout for name, layout in LAYOUTS.items() if name != "dense"]


def sizeable() -> Iterator[tuple[Case, Growth | None]]:
    """All cases that grow, and in which ways; those that are large as they stand."""
    for case in small.GOOD:
        grows = case.inputs and not case.is_empty and may_grow(case)
        if grows and not small.is_random(case.operator) and not has_gap(case, "value"):
            yield from ((case, growth) for growth in GROWTHS if chosen_sizes(case, growth))
    for operator in small.PUBLIC:
        for label in labels(operator):
            yield Case(operator, label, {}), None


SIZEABLE = list(sizeable())
LARGE = [(*each, layout) for each in SIZEABLE for layout in layouts_of(*each)]


def identified(each: tuple[Case, Growth | None, Layout]) -> str:
    case, growth, layout = each
    return f"{case}-{growth.label if growth else 'own'}-{layout.name}"


@pytest.mark.slow
@pytest.mark.parametrize("each", LARGE, ids=identified)
def test_every_large_value(each: tuple[Case, Growth | None, Layout]) -> None:
    dtype = small.natural(each[0])[0]
    if dtype == "float32":
        check(*each, dtypes=("float32", "float64"))
    else:
        check_other(*each, dtype)


OTHERS = [
    (*each, dtype)
    for each in LARGE
    if each[1] is not None and each[1].label == "rows" and small.takes_every_dtype(each[0])
    if each[0] is small.FIRST[each[0].operator.name]
    for dtype in ("bfloat16", "int64", "bool")
]


@pytest.mark.slow
@pytest.mark.parametrize("each", OTHERS, ids=lambda each: f"{identified(each[:3])}-{each[3]}")
def test_every_large_value_of_other_dtypes(each: tuple[Case, Growth, Layout, str]) -> None:
    check_other(*each)


QUICK = {
    "add.Tensor": ("broadcast", "all", "transposed"),
    "exp": ("usual", "rows", "stepped"),
    "where.self": ("usual", "columns", "framed"),
    "sum.dim_IntList": ("outer", "rows", "framed"),
    "mean.dim": ("inner", "columns", "transposed"),
    "var.correction": ("1", "rows", "columns"),
    "softmax.int": ("0", "rows", "framed"),
    "argmax": ("1", "rows", "transposed"),
    "cumsum": ("0", "columns", "dense"),
    "sort": ("0", "columns", "transposed"),
    "cat": ("1", "rows", "columns"),
    "flip": ("1", "rows", "stepped"),
    "index_select": ("0", "columns", "framed"),
    "gather": ("0", "rows", "dense"),
    "index_add": ("large0", None, "framed"),
    "embedding": ("large2", None, "dense"),
    "masked_select": ("0", "rows", "columns"),
    "bmm": ("large0", None, "framed"),
    "mv": ("large1", None, "dense"),
    "conv2d": ("large1", None, "framed"),
    "max_pool2d": ("large1", None, "dense"),
    "layer_norm": ("0", "rows", "framed"),
    "cross_entropy": ("0", "rows", "dense"),
}
"""Operator -> case, growth and layout in the quick tier: one for each path that size opens."""


@pytest.mark.parametrize("name", QUICK)
def test_large_value(name: str) -> None:
    label, growth, layout = QUICK[name]
    case, how = next(
        (case, how)
        for case, how in SIZEABLE
        if (case.operator.name, case.label) == (name, label)
        if growth == (how.label if how else None)
    )
    check(case, how, LAYOUTS[layout], dtypes=("float32",))
