"""The names of `torch._jit_internal` that programs use: marks for a compiler, and a choice."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from torchgen_out._runtime.library.programs import absent
from torchgen_out._runtime.library.programs.jit import (
    _overload,
    _overload_method,
    export,
    ignore,
    is_scripting,
    unused,
)
from torchgen_out._runtime.library.programs.jit_annotations import *  # noqa: F403
from torchgen_out._runtime.library.programs.jit_annotations import __all__ as _types

__all__ = [
    "Final", "_copy_to_script_wrapper", "_overload", "_overload_method", "boolean_dispatch",
    "export", "ignore", "is_scripting", "unused",
]  # fmt: skip
__all__ += _types

_copy_to_script_wrapper = absent.mark("torch._jit_internal._copy_to_script_wrapper")


def boolean_dispatch(
    arg_name: str,
    arg_index: int,
    default: bool,
    if_true: Callable[..., Any],
    if_false: Callable[..., Any],
    module_name: str,
    func_name: str,
) -> Callable[..., Any]:
    """Return a function that is one of two, as one of its arguments says."""

    @functools.wraps(if_true)
    def chosen(*args: Any, **kwargs: Any) -> Any:
        given = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if given else if_false)(*args, **kwargs)

    chosen.__module__, chosen.__name__ = module_name, func_name
    return chosen
