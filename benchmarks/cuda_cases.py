"""What is measured on a GPU: calls, memory, sorting, products, convolutions, training steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.cases import training

Call = Callable[[], Any]
Sizes = tuple[int, ...]

CALLS = (
    "a + b", "a * 2", "a.exp()", "a.add_(b)", "torch.where(a > 0, a, b)", "a.sum()", "a.max(0)",
    "a.softmax(0)", "a[1:5]", "a.view(2, 4)", "a.t()", "a.clone()", "torch.cat([a, b])",
    "torch.empty(8, device=a.device)", "a.to(torch.float64)", "a.index_select(0, i)",
)  # fmt: skip
"""Of vectors of 8 elements: the host's time is what counts."""
MEMORY = {
    "a + b": 3, "a.exp()": 2, "F.gelu(a)": 2, "a * 2 + 1": 4, "a.clone()": 2, "a.sum()": 1,
    "a.amax()": 1, "m.sum(0)": 1, "m.sum(1)": 1, "m.var(1)": 1, "m.softmax(1)": 2,
    "F.layer_norm(m, m.shape[1:])": 2, "m.t() + m.t()": 2, "m.t().contiguous()": 2,
}  # fmt: skip
"""How often each element of a, or of the same elements as a matrix m, is read or written."""
COPY = "a.clone()"
"""What moves memory as fast as the card can."""
ORDER = ("a.sort()", "k.sort()", "a.topk(100)", "m.sort(1)", "a.cumsum(0)", "m.cumsum(1)",
         "k.unique()", "a.masked_select(a > 0)", "(a > 0).nonzero()")  # fmt: skip
"""Sorts, scans and selections; k holds int64."""


class Case(NamedTuple):
    """Work that is made for each library.

    operands: in words. work: bytes moved or operations done by one call, 0 where only time counts.
    unit: what `work` is per second.
    """

    group: str
    title: str
    operands: str
    make: Callable[[ModuleType], Call]
    work: float = 0
    unit: str = ""


def cases(small: bool = False) -> list[Case]:
    """All cases; small ones of the same kind for a test."""
    n = 1 << (10 if small else 26)
    m = 16 if small else 4096
    return [
        *[statement("Calls of 8 elements", text, {"a": (8,), "b": (8,)}) for text in CALLS],
        *_matrix_calls(),
        *_memory(n),
        *[statement("Sorting and scanning", text, _vectors(n >> 2)) for text in ORDER],
        *_products(m),
        *_convolutions(small),
        *_steps(small),
    ]


def _matrix_calls() -> Iterator[Case]:
    """Calls whose operands are matrices, forward and backward."""
    small = {"a": (8, 8), "b": (8, 8)}
    for text in ("a @ b", "a.sum(1)", "F.linear(a, b)", "F.layer_norm(a, (8,))"):
        yield statement("Calls of 8 elements", text, small)
        yield statement("Calls of 8 elements", text, small, trained=True)


def _vectors(n: int) -> dict[str, Sizes]:
    """A vector, another, and as many elements as a matrix."""
    rows = 1 << (n.bit_length() // 2)
    return {"a": (n,), "b": (n,), "m": (n // rows, rows)}


def _memory(n: int) -> Iterator[Case]:
    for dtype, size in (("float32", 4), ("bfloat16", 2)):
        for text, times in MEMORY.items():
            moved = times * n * size
            yield statement("Memory", text, _vectors(n), dtype, work=moved, unit="GB/s")


def _products(m: int) -> Iterator[Case]:
    square = {"a": (m, m), "b": (m, m)}
    batch = {"a": (8, m // 8, m // 8), "b": (8, m // 8, m // 8)}
    for dtype in ("float32", "TF32", "float16", "bfloat16", "float64", "complex64"):
        work = 2 * m**3 * (4 if dtype == "complex64" else 1)
        yield statement("Matrix products", "a @ b", square, dtype, work=work, unit="TFLOP/s")
    for dtype in ("float32", "bfloat16"):
        work = 16 * (m // 8) ** 3
        yield statement(
            "Matrix products", "torch.bmm(a, b)", batch, dtype, work=work, unit="TFLOP/s"
        )


def _convolutions(small: bool) -> Iterator[Case]:
    """Forward, and with both gradients: 3x3, with strides, each channel alone."""
    images, channels, side = (1, 2, 4) if small else (64, 128, 56)
    x = (images, channels, side, side)
    kinds = {
        "F.conv2d(a, b, padding=1)": ((channels, channels, 3, 3), 1),
        "F.conv2d(a, b, stride=2, padding=1)": ((2 * channels, channels, 3, 3), 2),
        "F.conv2d(a, b, padding=1, groups=a.shape[1])": ((channels, 1, 3, 3), 1),
    }
    for text, (w, stride) in kinds.items():
        work = 2 * prod(w) * images * (side // stride) ** 2
        for dtype in ("float32", "TF32", "float16"):
            for trained in (False, True):
                times = 3 if trained else 1
                yield statement("Convolutions", text, {"a": x, "b": w}, dtype, trained,
                                work=times * work, unit="TFLOP/s")  # fmt: skip


STEPS = ("MLP 784-512-10, Adam", "LeNet", "ResNet basic block", "LSTM 128", "attention block")
SMALL_STEPS = ("tiny MLP 2-16-2",)
"""What an emulator can do."""


def _steps(small: bool) -> Iterator[Case]:
    """Training steps, optimizer included, call by call and as graphs."""
    for model in training.MODELS:
        if model.title not in (SMALL_STEPS if small else STEPS):
            continue
        model = model._replace(optimizer="SGD")
        for graphed in (False, True):
            yield Case(
                "Training steps",
                model.title.removesuffix(", Adam") + (", graph" if graphed else ""),
                "x".join(map(str, model.sizes)),
                lambda T, model=model, graphed=graphed: _step(T, model, graphed),  # type: ignore[misc]
            )


def _step(T: ModuleType, model: training.Model, graphed: bool) -> Call:
    _allow_tf32(T, False)
    call = training.make_step(model, T, "cuda").call
    return _captured(T, call) if graphed else call


def _captured(T: ModuleType, call: Call) -> Call:
    """The call as the replay of a graph, captured when it is warm."""
    side = T.cuda.Stream()
    side.wait_stream(T.cuda.current_stream())
    with T.cuda.stream(side):
        for _ in range(3):
            call()
    T.cuda.current_stream().wait_stream(side)
    graph = T.cuda.CUDAGraph()
    with T.cuda.graph(graph):
        call()
    return graph.replay  # type: ignore[no-any-return]


# -- statements ------------------------------------------------------------------------------------


def statement(
    group: str,
    text: str,
    sizes: dict[str, Sizes],
    dtype: str = "float32",
    trained: bool = False,
    work: float = 0,
    unit: str = "",
) -> Case:
    """An expression over torch, F and tensors. dtype: TF32 is float32 rounded by tensor cores.

    trained: forward and backward. i and k are indices and integers.
    """
    shown = ", ".join("x".join(map(str, size)) for size in sizes.values())

    def make(T: ModuleType) -> Call:
        T.manual_seed(0)
        _allow_tf32(T, dtype == "TF32")
        stored = getattr(T, dtype.replace("TF32", "float32"))
        tensors = {name: T.randn(*size).to(stored).to("cuda") for name, size in sizes.items()}
        scope = {"torch": T, "F": T.nn.functional, **tensors}
        scope["i"] = T.arange(4).to("cuda")
        scope["k"] = T.randint(0, 1 << 20, sizes["a"]).to("cuda")
        call: Call = eval(f"lambda: {text}", scope)
        return _trained(call, list(tensors.values())) if trained else call

    title = f"`{text}`" + (", training" if trained else "")
    return Case(group, title, f"{shown} {dtype}", make, work, unit)


def _allow_tf32(T: ModuleType, allowed: bool) -> None:
    T.backends.cuda.matmul.allow_tf32 = allowed
    T.backends.cudnn.allow_tf32 = allowed


def _trained(call: Call, leaves: list[Any]) -> Call:
    """Forward and backward; the gradients are made anew each time."""
    for leaf in leaves:
        leaf.requires_grad_()

    def train() -> None:
        for leaf in leaves:
            leaf.grad = None
        call().sum().backward()

    return train
