"""Kernels in every way that they can take, with threads and blocks in several orders.

Small samples are sent the ways of large ones by thresholds that are set to nothing. That two
threads meet nowhere is looked at in every emulated launch (`watching`); here the results must be
the CPU's, too, whoever comes first.
"""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from codegen.model.operator import Operator
from tests import calls, harness
from tests.cuda import emulator
from tests.cuda.test_operators import compare, on_device
from tests.gpu import kernel_families
from torchgen_out._runtime import dispatch
from torchgen_out._runtime.backends.cuda import reduction
from torchgen_out._runtime.kernels.cuda import rows
from torchgen_out._runtime.kernels.cuda.loops import index
from torchgen_out._runtime.kernels.cuda.sort import radix

OURS = calls.Session(torch, dispatch.ops)
WAYS: dict[str, dict[Any, dict[str, int]]] = {
    "by threads": {index: {"THREADS": 0}},
    "by blocks": {rows: {"SHORT": 0, "LEAST_PER_THREAD": 0}},
    "in slices": {
        rows: {"LEAST_PER_SLICE": 2, "LEAST_PER_COLUMN": 2},
        index: {"LEAST_PER_THREAD": 2},
        reduction: {"LEAST_PER_SLICE": 2},
    },
    "in slices by blocks": {rows: {"SHORT": 0, "LEAST_PER_THREAD": 0, "LEAST_PER_SLICE": 2}},
    "by digits": {radix: {"SHORT_ROW": 0}},
}
FAMILIES = {
    "by threads": ("reduction", "scan", "random", "conv"),
    "by blocks": ("reduction", "scan", "normalization", "softmax", "loss"),
    "in slices": ("reduction", "scan", "normalization", "softmax"),
    "in slices by blocks": ("reduction", "scan", "normalization", "softmax"),
    "by digits": ("sort", "indexing", "scatter", "embedding", "sampling"),
}
USUAL = ("sum.dim_IntList", "amax", "cumsum", "logcumsumexp", "cummax", "max.dim", "var.correction",
         "linalg_vector_norm", "softmax.int", "native_layer_norm_backward",
         "_batch_norm_training", "_batch_norm_backward",
         "_cross_entropy_rows", "_convolution_taps_grad_weight", "_ordered",
         "index_put")  # fmt: skip
"""What takes its ways in one order, and all others in the full tier."""


def _cases() -> list[Any]:
    made = []
    for way, names in FAMILIES.items():
        for name in names:
            for operator in kernel_families.families()[name]:
                for turns in emulator.TURNS:
                    is_usual = operator.name in USUAL and turns == "backward"
                    marks = () if is_usual else pytest.mark.full
                    label = f"{way}-{operator.name}-{turns}"
                    made.append(pytest.param(way, operator, turns, id=label, marks=marks))
    return made


@pytest.mark.parametrize(("way", "operator", "turns"), _cases())
def test_ways_and_turns(
    emulated: Any, monkeypatch: pytest.MonkeyPatch, way: str, operator: Operator, turns: str
) -> None:
    for module, thresholds in WAYS[way].items():
        for name, value in thresholds.items():
            monkeypatch.setattr(module, name, value)
    for case in [each for each in harness.cases(operator) if not each.raises]:
        call = OURS.arguments(case, operator.dtype_names[0])
        theirs = on_device(call)
        torch.manual_seed(7)
        expected = call()
        with emulator.in_turns(turns):
            got = theirs()
            compare(got, expected, str(case), of_sums=True)


def test_what_is_usual_is_there():
    found = {operator.name for family in kernel_families.families().values() for operator in family}
    assert set(USUAL) <= found
