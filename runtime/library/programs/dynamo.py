"""`torch._dynamo`, which programs configure and reset: there is nothing that would hear it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from torchgen_out._runtime.library.programs import absent
from torchgen_out._runtime.library.programs.compiling import (
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    is_compiling,
    list_backends,
    reset,
    substitute_in_graph,
)

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "explain",
    "export",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "is_dynamo_supported",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "maybe_mark_dynamic",
    "optimize",
    "reset",
    "run",
    "substitute_in_graph",
]

_REMEDY = "there is no compiler"

config = SimpleNamespace(
    cache_size_limit=8, suppress_errors=False, verbose=False, capture_scalar_outputs=False,
    automatic_dynamic_shapes=None, recompile_limit=8,
)  # fmt: skip
"""Settings that programs make: they are kept, and mean nothing without a compiler."""

OptimizedModule = absent.kind("torch._dynamo.OptimizedModule", _REMEDY)
export = absent.function("torch._dynamo.export", _REMEDY)
explain = absent.function("torch._dynamo.explain", _REMEDY)
disallow_in_graph = absent.mark("torch._dynamo.disallow_in_graph")
forbid_in_graph = absent.mark("torch._dynamo.forbid_in_graph")
is_dynamo_supported = absent.answer("torch._dynamo.eval_frame.is_dynamo_supported", False)
run = absent.mark("torch._dynamo.run")


def optimize(*args: Any, **kwargs: Any) -> Any:
    """Return a decorator that gives back what is decorated, as `torch.compile` does."""
    return compile()


def graph_break(msg: str = "") -> None:
    """Do nothing: there is no graph."""


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Do nothing: sizes are never compiled in."""


maybe_mark_dynamic = mark_static = mark_dynamic
