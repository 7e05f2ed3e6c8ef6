"""The three operators of torch_ops.cpp, with shapes and gradients registered in Python."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch
from timed import Pair, run
from torch.utils import cpp_extension

ops = torch.ops.elsewhere


def build() -> None:
    """Compile and load the library."""
    source, folder = Path(__file__).with_suffix(".cpp"), Path(tempfile.mkdtemp())
    include = [f"-I{path}" for path in cpp_extension.include_paths()]
    libraries = [f"-L{path}" for path in cpp_extension.library_paths()]
    flags = ["-O3", "-march=native", "-ffast-math", "-std=c++20", "-shared", "-fPIC"]
    flags.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}")
    target = folder / "elsewhere.so"
    command = ["g++", *flags, *include, str(source), "-o", str(target), *libraries]
    subprocess.run([*command, "-lc10", "-ltorch_cpu", "-ltorch"], check=True)
    torch.ops.load_library(str(target))


# rms_norm_gated
def register_rms_norm_gated() -> None:
    @torch.library.register_fake("elsewhere::rms_norm_gated")
    def shapes(x: Any, gate: Any, weight: Any, eps: float) -> Any:
        return torch.empty_like(x), x.new_empty(x.shape[0])

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[:3], output[1])

    def backward(ctx: Any, grad: Any, _: Any) -> Any:
        return (*ops.rms_norm_gated_backward(grad, *ctx.saved_tensors), None)

    torch.library.register_autograd("elsewhere::rms_norm_gated", backward, setup_context=keep)


# local_correlation
def register_local_correlation() -> None:
    @torch.library.register_fake("elsewhere::local_correlation")
    def shapes(a: Any, b: Any, radius: int) -> Any:
        return a.new_empty(a.shape[0], 2 * radius + 1, *a.shape[2:])

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs[:2])
        ctx.radius = inputs[2]

    def backward(ctx: Any, grad: Any) -> Any:
        return (*ops.local_correlation_backward(grad, *ctx.saved_tensors, ctx.radius), None)

    torch.library.register_autograd("elsewhere::local_correlation", backward, setup_context=keep)


# segment_softmax
def register_segment_softmax() -> None:
    @torch.library.register_fake("elsewhere::segment_softmax")
    def shapes(score: Any, segment: Any, segments: int) -> Any:
        return torch.empty_like(score)

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output, inputs[1])
        ctx.segments = inputs[2]

    def backward(ctx: Any, grad: Any) -> Any:
        return ops.segment_softmax_backward(grad, *ctx.saved_tensors, ctx.segments), None, None

    torch.library.register_autograd("elsewhere::segment_softmax", backward, setup_context=keep)


# end
def make(name: str, given: tuple[Any, ...]) -> Pair:
    torch.set_num_threads(1)
    tensors = [torch.from_numpy(a) if hasattr(a, "dtype") else a for a in given]
    args = [*tensors, 1e-6] if name == "rms_norm_gated" else tensors
    leaves = [a for a in args if isinstance(a, torch.Tensor) and a.is_floating_point()]
    for each in leaves:
        each.requires_grad_()
    loaded: list[bool] = []

    def operator() -> Any:
        if not loaded:
            build()
            globals()[f"register_{name}"]()
            loaded.append(True)
        found = getattr(ops, name)(*args)
        return found[0] if isinstance(found, tuple) else found

    def call() -> Any:
        with torch.no_grad():
            return operator().numpy()

    def step() -> list[Any]:
        result = operator()
        return [g.numpy() for g in torch.autograd.grad(result, leaves, result.detach())]

    return call, step


if __name__ == "__main__":
    run(make)
