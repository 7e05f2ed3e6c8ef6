"""The library beside PyTorch on a GPU: what a call costs the host, and what work costs the GPU.

`python -m benchmarks --device cuda` writes results/cuda.md; without a GPU, or without PyTorch's
CUDA build, it refuses.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

PAGE = Path(__file__).parent / "results" / "cuda.md"
LEAST_SECONDS = 0.05
"""How long the calls of one measurement take together."""


class Case(NamedTuple):
    """Work written once for both libraries: text is an expression over torch, F and tensors.

    sizes: of the tensors a, b, c. work: bytes moved or operations done by one call, 0 where only
    the host's time counts. unit: what `work` is per second. graphed: whether it is replayed.
    """

    group: str
    text: str
    sizes: tuple[tuple[int, ...], ...]
    dtype: str = "float32"
    work: float = 0
    unit: str = ""
    trained: bool = False
    graphed: bool = False


def cases(small: bool = False) -> list[Case]:
    """All cases; small ones of the same kind for a test."""
    n = 1 << (10 if small else 26)
    m = 16 if small else 4096
    images, channels, side = (1, 4, 6) if small else (64, 128, 56)
    return [
        *[Case("Calls of 8 elements", text, ((8,), (8,))) for text in CALLS],
        *[
            Case("Calls of 8 elements", text, ((8, 8), (8, 8)))
            for text in ("a @ b", "a.sum(1)", "a.t()")
        ],
        *[
            Case("Memory", text, ((n,), (n,)), dtype, moved * n * size, "GB/s")
            for text, moved in (("a + b", 3), ("a.exp()", 2), ("a.sum()", 1), ("a.clone()", 2))
            for dtype, size in (("float32", 4), ("bfloat16", 2))
        ],
        *[
            Case("Matrix products", "a @ b", ((m, m), (m, m)), dtype, 2 * m**3, "TFLOP/s")
            for dtype in ("float32", "bfloat16", "float64")
        ],
        Case("Matrix products", "torch.bmm(a, b)", ((8, m // 8, m // 8),) * 2, "float32",
             16 * (m // 8) ** 3, "TFLOP/s"),
        *[
            Case("Convolutions", "F.conv2d(a, b, padding=1)",
                 ((images, channels, side, side), (channels, channels, 3, 3)), "float32",
                 2 * 9 * images * channels**2 * side**2 * (3 if trained else 1), "TFLOP/s", trained)
            for trained in (False, True)
        ],
        *[
            Case("Steps", "F.linear(F.linear(a, b).relu(), c).square().mean()",
                 ((m // 8, m // 4), (m // 4, m // 4), (8, m // 4)),
                 trained=trained, graphed=graphed)
            for trained, graphed in ((False, False), (True, False), (False, True))
        ],
    ]  # fmt: skip


CALLS = ("a + b", "a * 2", "a.exp()", "a.sum()", "a.add_(b)", "a[1:5]", "a.view(2, 4)",
         "torch.empty(8, device=a.device)")  # fmt: skip


def make(case: Case, library: ModuleType) -> Callable[[], Any]:
    """The case as a call of one library."""
    library.manual_seed(0)
    names = dict(zip("abc", case.sizes, strict=False))
    dtype = getattr(library, case.dtype)
    tensors = {name: library.randn(*size).to("cuda").to(dtype) for name, size in names.items()}
    scope = {"torch": library, "F": library.nn.functional, **tensors}
    call: Callable[[], Any] = eval(f"lambda: {case.text}", scope)
    if case.trained:
        return _trained(call, [each.requires_grad_() for each in tensors.values()])
    if not case.graphed:
        return call
    call()
    graph = library.cuda.CUDAGraph()
    with library.cuda.graph(graph):
        call()
    return graph.replay  # type: ignore[no-any-return]


def _trained(call: Callable[[], Any], leaves: list[Any]) -> Callable[[], Any]:
    """Forward and backward; the gradients are made anew each time."""

    def train() -> None:
        for leaf in leaves:
            leaf.grad = None
        call().sum().backward()

    return train


class Times(NamedTuple):
    """Seconds of one call: until it returns, and until the device is done."""

    host: float
    device: float


def measure(call: Callable[[], Any], library: ModuleType, rounds: int) -> Times:
    """The best of some rounds, each of calls enough to be measured."""
    for _ in range(3):
        call()
    library.cuda.synchronize()
    count, found = 1, _round(call, library, 1)
    while found.device * count < LEAST_SECONDS and count < 1 << 20:
        count *= 2
        found = _round(call, library, count)
    each = [_round(call, library, count) for _ in range(rounds)]
    return Times(min(t.host for t in each), min(t.device for t in each))


def _round(call: Callable[[], Any], library: ModuleType, count: int) -> Times:
    library.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        call()
    queued = time.perf_counter()
    library.cuda.synchronize()
    done = time.perf_counter()
    return Times((queued - start) / count, (done - start) / count)


def refusal(theirs: ModuleType, missing: tuple[str, ...]) -> str:
    """Why nothing can be measured; empty where it can."""
    if missing:
        return "; ".join(missing)
    return "" if theirs.cuda.is_available() else "PyTorch is installed without CUDA"


def run(rounds: int, only: str) -> None:
    """Measure all cases and write the page, or print those whose text contains `only`."""
    import torch

    import torchgen_out
    from runtime.backends.cuda import availability

    reason = refusal(torch, availability.missing())
    if reason:
        raise SystemExit(f"python -m benchmarks --device cuda: {reason}")
    chosen = [each for each in cases() if only in each.text]
    rows = []
    for case in chosen:
        times = [measure(make(case, library), library, rounds) for library in (torchgen_out, torch)]
        rows.append((case, *times))
        print(row(case, *times), flush=True)
    if not only:
        PAGE.write_text(page(rows, torch), encoding="utf-8")


def row(case: Case, ours: Times, theirs: Times) -> str:
    """One line of the table."""
    sizes = ", ".join("x".join(map(str, size)) for size in case.sizes)
    notes = [name for name, on in (("training", case.trained), ("graph", case.graphed)) if on]
    rate = f"{case.work / ours.device / (1e12 if case.unit == 'TFLOP/s' else 1e9):.1f} {case.unit}"
    return (
        f"| `{case.text}`{''.join(f', {each}' for each in notes)} | {sizes} {case.dtype} "
        f"| {ours.host * 1e6:.2f} | {theirs.host * 1e6:.2f} | {ours.device * 1e6:.2f} "
        f"| {theirs.device * 1e6:.2f} | {ours.device / theirs.device:.2f} "
        f"| {rate if case.work else ''} |"
    )


def page(rows: list[tuple[Case, Times, Times]], theirs: ModuleType) -> str:
    """The page: what was measured when and on what, and a table for each group."""
    lines = [
        "# On a GPU", "",
        f"{time.strftime('%Y-%m-%d')}, {theirs.cuda.get_device_name(0)}, PyTorch "
        f"{theirs.__version__}. Microseconds of one call: until it returns, and, with many queued, "
        "until the device is done. The ratio is our time on the device by PyTorch's.",
    ]  # fmt: skip
    for group in dict.fromkeys(case.group for case, *_ in rows):
        lines += ["", f"## {group}", "", "| case | operands | host | PyTorch | device | PyTorch | "
                  "ratio | rate |", "|---|---|---|---|---|---|---|---|"]  # fmt: skip
        lines += [row(*each) for each in rows if each[0].group == group]
    return "\n".join(lines) + "\n"
