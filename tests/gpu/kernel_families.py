"""A program: calls of every family of kernels on the GPU, for tools that watch kernels run.

`python -m tests.gpu.kernel_families [FAMILY ...]` names each family before it is called, since a
tool knows no other name of a kernel than "kernel".
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

import torchgen_out as torch
from codegen.model.operator import Dispatch, Index, Operator, Reduction
from codegen.model.stream import Draw
from tests import calls, harness
from torchgen_out._runtime import dispatch

OURS = calls.Session(torch, dispatch.ops)
POINTWISE = ("add.Tensor", "exp", "where.self", "pow.Tensor_Tensor", "remainder.Tensor")
"""Of the formulas, which share their loops."""
CASES = 3
"""Samples of an operator, in its first dtype."""


def families() -> dict[str, list[Operator]]:
    """The operators with kernels on CUDA, by the package of their kernels or of their geometry; or
    with functions over tensors in their place."""
    found: dict[str, list[Operator]] = {"pointwise": [], "reduction": []}
    for operator in harness.program().operators:
        if isinstance(operator.kind, Reduction):
            found["reduction"].append(operator)
        elif operator.name in POINTWISE:
            found["pointwise"].append(operator)
        elif isinstance(operator.kind, Dispatch):
            backends = dict(operator.kind.backends)
            kernel = backends.get("CUDA") or backends.get("CompositeExplicitAutograd")
            if kernel is not None and "CPU" in backends:
                found.setdefault(kernel.module.partition(".")[0], []).append(operator)
        elif isinstance(operator.kind, Draw):
            found.setdefault("random", []).append(operator)
        elif isinstance(operator.kind, Index):
            faster = [kernel for _, kernel in operator.kind.faster]
            for function in [*faster, operator.kind.geometry][:1]:
                if function is not None:
                    found.setdefault(function.module.partition(".")[0], []).append(operator)
    return found


def moved(value: object) -> object:
    """A value of a call with its tensors on the device."""
    if isinstance(value, list):
        return [moved(each) for each in value]
    return value.to("cuda") if isinstance(value, torch.Tensor) else value


def run(names: Sequence[str] = ()) -> int:
    """Call the operators of some families, of all if none is named; return how many calls."""
    count = 0
    for name, operators in families().items():
        if names and name not in names:
            continue
        print(f"family {name}", flush=True)
        for operator in operators:
            for case in [each for each in harness.cases(operator) if not each.raises][:CASES]:
                call = OURS.arguments(case, operator.dtype_names[0])
                values = {key: moved(value) for key, value in call.values.items()}
                calls.Call(call.session, call.operator, values, [])()
                count += 1
        torch.cuda.synchronize()
    return count


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    print(f"{run(sys.argv[1:])} calls")
