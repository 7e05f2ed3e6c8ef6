"""`torch.__config__`: what the library computes with."""

from __future__ import annotations

from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.library.programs import collect_env

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Return the versions that results depend on, as lines of text."""
    found = collect_env.get_env_info()
    lines = [f"torch {found.torch_version}", f"CPU: {found.cpu_info}", f"OS: {found.os}"]
    lines += ["LAPACK is enabled (SciPy's)", *found.pip_packages.splitlines()]
    return "PyTorch-compatible library, kernels compiled by Numba, with:\n" + "".join(
        f"  - {line}\n" for line in lines
    )


def parallel_info() -> str:
    """Return how many threads operators use."""
    return f"get_num_threads() : {threads.get_num_threads()}\nworker pool : own threads\n"
