"""Formulas written over their first operand: what the function gives, of any geometry of both."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cpu.loops import pointwise

SIZES = (5, 3, 70)
TARGETS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda x: x,
    "turned": lambda x: x.transpose(0, 2).contiguous().transpose(0, 2),
    "stepped": lambda x: torch.stack([x, x], -1)[..., 1],
    "part": lambda x: torch.cat([x, x], 1)[:, 1:4],
}
OPERANDS: dict[str, Callable[[Any], Any]] = {
    "alike": lambda y: y,
    "row": lambda y: y[0, 0],
    "column": lambda y: y[:, :1, :1],
    "matrix": lambda y: y[0],
    "one": lambda y: y[0, 0, :1],
    "none": lambda y: y[0, 0, 0],
    "turned": lambda y: y.transpose(0, 2).contiguous().transpose(0, 2),
    "stepped": lambda y: torch.stack([y, y], -1)[..., 0],
}
FORMULAS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "mul": (torch.mul, lambda x, y: x.mul_(y)),
    "addcmul": (lambda x, y: torch.addcmul(x, y, x), lambda x, y: x.addcmul_(y, x)),
    "pow": (lambda x, y: torch.pow(x, y), lambda x, y: x.pow_(y)),
    "copysign": (torch.copysign, lambda x, y: x.copysign_(y)),
}
"""Light ones, one that reads its result twice, one in versions by size, one of bits."""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("target", TARGETS)
def test_as_the_function(target: str, operand: str, threads: int) -> None:
    torch.manual_seed(0)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for dtype in (torch.float32, torch.bfloat16, torch.float64):
            for function, in_place in FORMULAS.values():
                sizes = SIZES if threads == 1 else (64, *SIZES[1:])
                x = TARGETS[target](torch.rand(sizes).to(dtype) + 0.5)
                y = OPERANDS[operand](torch.rand(sizes).to(dtype) + 0.5)
                expected = function(x, y).clone()
                assert in_place(x, y) is x
                assert torch.equal(x, expected)
    finally:
        torch.set_num_threads(before)


def test_whole_and_complex_numbers() -> None:
    for dtype in (torch.int64, torch.uint8, torch.bool, torch.complex64):
        x = torch.tensor([[1, 0, 3], [0, 5, 6]]).to(dtype)
        y = torch.tensor([1, 0, 1]).to(dtype)
        expected = (x * y).clone()
        x.mul_(y)
        assert torch.equal(x, expected)
        z = x.t()
        expected = (z * z).clone()
        z.mul_(z)
        assert torch.equal(z, expected)


def test_memory_that_is_operand_and_result() -> None:
    """A row of the result as an operand is refused or right, never a mixture."""
    x = torch.arange(12.0).reshape(3, 4)
    expected = (x * x).clone()
    assert torch.equal(x.mul_(x), expected)
    y = torch.rand(4, 4)
    with pytest.raises(RuntimeError, match="single memory location"):
        y[1:].add_(y[:-1])


def add(a: Any, b: Any) -> Any:
    return a + b


@pytest.mark.parametrize("make", [pointwise.strided_text, pointwise.tiled_text])
def test_the_result_is_read_as_the_result(make: Any) -> None:
    """Two names of one array look to LLVM like two that overlap: then no loop vectorises."""
    float32 = dtypes.float32
    spec = PointwiseSpec(add, ("tensor", "tensor"), (float32, float32), (float32,), float32)
    text = make(spec, (1, 1, 0), True)
    body = text[text.index("def kernel") :].partition("\n")[2]
    assert "run_out[i] = " in body or "out[u_out + i] = " in body
    assert "run_a" not in body and not re.search(r"\ba\[", body)
    assert re.search(r"run_a\[i\]|\ba\[u_a \+ i\]", make(spec, (1, 1, 0)))
