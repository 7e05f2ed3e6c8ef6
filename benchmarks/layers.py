"""Matrix products, layers and losses beside PyTorch: `python -m benchmarks.layers [name ...]`.

Each case is a statement over tensors of given sizes; "train" runs it forward and backward. Both run
in turns on one thread (OPENBLAS_NUM_THREADS=1 for NumPy's BLAS), the best of many rounds counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from math import exp, log
from typing import Any, NamedTuple

from benchmarks import timing


class Case(NamedTuple):
    """A statement over `a`, `b`, `c` ..., `F` and `torch`, and the sizes of these tensors."""

    family: str
    statement: str
    sizes: tuple[tuple[int, ...], ...]
    is_training: bool = False


BUDGETS = {"matmul": 0.8, "softmax": 0.8, "norm": 0.8, "convolution": 0.9, "pooling": 0.9}
CONV = "F.conv2d(a, b, c, stride={0}, padding={1}, groups={2})"

CASES = [
    Case("matmul", "torch.mm(a, b)", ((8, 8), (8, 8))),
    Case("matmul", "torch.mm(a, b)", ((512, 512), (512, 512))),
    Case("matmul", "torch.mm(a, b.t())", ((256, 512), (256, 512))),
    Case("matmul", "torch.bmm(a, b)", ((32, 64, 64), (32, 64, 64))),
    Case("matmul", "torch.matmul(a, b)", ((8, 64, 64), (64, 64))),
    Case("matmul", "torch.einsum('bij,bjk->bik', a, b)", ((8, 16, 16), (8, 16, 16))),
    Case("matmul", "F.linear(a, b, c)", ((8, 8), (8, 8), (8,))),
    Case("matmul", "F.linear(a, b, c)", ((128, 512), (512, 512), (512,)), True),
    Case("softmax", "torch.softmax(a, 1)", ((64, 10),)),
    Case("softmax", "torch.softmax(a, 1)", ((128, 1000),)),
    Case("softmax", "torch.log_softmax(a, 1)", ((128, 1000),)),
    Case("softmax", "torch.softmax(a, 1)", ((64, 128, 64),)),
    Case("softmax", "torch.logsumexp(a, 1)", ((128, 1000),)),
    Case("softmax", "F.cross_entropy(a, torch.arange(128) % 10)", ((128, 10),), True),
    Case("norm", "torch.linalg.vector_norm(a, dim=1)", ((1000, 1000),)),
    Case("norm", "torch.var(a, 1)", ((1000, 1000),)),
    Case("norm", "torch.var(a, 0)", ((1000, 1000),)),
    Case("norm", "F.batch_norm(a, None, None, b, c, True)", ((64, 128), (128,), (128,)), True),
    Case("norm", "F.batch_norm(a, None, None, b, c, True)", ((8, 64, 56, 56), (64,), (64,)), True),
    Case("norm", "F.layer_norm(a, (1024,), b, c)", ((128, 1024), (1024,), (1024,)), True),
    Case("norm", "F.group_norm(a, 8, b, c)", ((8, 64, 28, 28), (64,), (64,)), True),
    Case("convolution", CONV.format(1, 2, 1), ((32, 1, 28, 28), (6, 1, 5, 5), (6,)), True),
    Case("convolution", CONV.format(1, 0, 1), ((32, 6, 14, 14), (16, 6, 5, 5), (16,)), True),
    Case("convolution", CONV.format(1, 1, 1), ((8, 64, 56, 56), (64, 64, 3, 3), (64,)), True),
    Case("convolution", CONV.format(1, 1, 1), ((8, 256, 14, 14), (256, 256, 3, 3), (256,)), True),
    Case("convolution", CONV.format(2, 1, 1), ((8, 64, 56, 56), (128, 64, 3, 3), (128,)), True),
    Case("convolution", CONV.format(1, 0, 1), ((8, 64, 56, 56), (64, 64, 1, 1), (64,)), True),
    Case("convolution", CONV.format(2, 3, 1), ((8, 3, 112, 112), (64, 3, 7, 7), (64,)), True),
    Case("convolution", CONV.format(1, 1, 64), ((8, 64, 56, 56), (64, 1, 3, 3), (64,)), True),
    Case("convolution", "F.conv1d(a, b, padding=1)", ((8, 64, 256), (64, 64, 3)), True),
    Case("pooling", "F.max_pool2d(a, 2)", ((32, 6, 28, 28),), True),
    Case("pooling", "F.max_pool2d(a, 3, 2, 1)", ((8, 64, 56, 56),), True),
    Case("pooling", "F.avg_pool2d(a, 2)", ((32, 64, 28, 28),), True),
    Case("pooling", "F.adaptive_avg_pool2d(a, 1)", ((32, 256, 7, 7),), True),
]


def make_call(case: Case, torch: Any) -> Callable[[], object]:
    """The case as a call over tensors of one library."""
    tensors = [torch.randn(*sizes) for sizes in case.sizes]
    if case.is_training:
        tensors = [tensor.requires_grad_() for tensor in tensors]
    names = dict(zip("abc", tensors, strict=False))
    scope = {"torch": torch, "F": torch.nn.functional, **names}
    function = eval(f"lambda: {case.statement}", scope)
    if not case.is_training:
        return function  # type: ignore[no-any-return]

    def train() -> None:
        for tensor in tensors:
            tensor.grad = None
        function().sum().backward()

    return train


def run(only: tuple[str, ...] = ()) -> None:
    """Measure the cases, of the families named, print and write the table."""
    import torch as theirs

    import torchgen_out as ours

    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        print("OPENBLAS_NUM_THREADS is not 1: NumPy's BLAS may use more threads than PyTorch's")
    theirs.set_num_threads(1)
    ours.set_num_threads(1)
    lines = ["| case | sizes | ours, us | PyTorch, us | ratio |", "|---|---|---|---|---|"]
    logs: dict[str, list[float]] = {}
    for case in CASES:
        if only and case.family not in only:
            continue
        mine, reference = timing.best_in_turns(
            [make_call(case, ours), make_call(case, theirs)], rounds=7
        )
        logs.setdefault(case.family, []).append(log(mine / reference))
        name = case.statement + (", train" if case.is_training else "")
        sizes = " ".join("x".join(map(str, each)) for each in case.sizes)
        lines.append(
            f"| `{name}` | {sizes} | {mine * 1e6:.1f} | {reference * 1e6:.1f} | "
            f"{mine / reference:.2f} |"
        )
        print(lines[-1], flush=True)
    lines.append("")
    for family, values in logs.items():
        mean = exp(sum(values) / len(values))
        lines.append(f"{family}: geometric mean {mean:.2f}, budget {BUDGETS[family]}.")
        print(lines[-1])
    if not only:
        timing.write("layers", "Matrix products, layers and losses, one thread", lines)


if __name__ == "__main__":
    run(tuple(sys.argv[1:]))
