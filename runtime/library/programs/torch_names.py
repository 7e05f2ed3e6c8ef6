"""Names of the package itself that few programs use: questions, switches, old spellings."""

from __future__ import annotations

import builtins
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import anomaly
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.library.programs.compiling import compile
from torchgen_out._runtime.library.programs.futures import Future
from torchgen_out._runtime.library.programs.jit import ScriptModule, fork, wait
from torchgen_out._runtime.library.transforms.vmap import vmap

__all__ = [
    "Future",
    "ScriptModule",
    "_assert",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "classproperty",
    "clear_autocast_cache",
    "compile",
    "cond",
    "fork",
    "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype",
    "get_device",
    "get_device_module",
    "get_file_path",
    "get_num_interop_threads",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_conj",
    "is_inference",
    "is_neg",
    "is_warn_always_enabled",
    "set_anomaly_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_dtype",
    "set_autocast_cpu_enabled",
    "set_autocast_gpu_dtype",
    "set_num_interop_threads",
    "set_warn_always",
    "sym_float",
    "sym_int",
    "sym_ite",
    "sym_max",
    "sym_min",
    "sym_not",
    "sym_sqrt",
    "torch",
    "vmap",
    "wait",
]  # fmt: skip

_warns_always = False
_interop_threads = 1


class classproperty:
    """A property of a class."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.function(type(instance) if owner is None else owner)


def _assert(condition: Any, message: str) -> None:
    """Raise an AssertionError with `message` unless `condition` holds."""
    if not condition:
        raise AssertionError(message)


def autocast_increment_nesting() -> int:
    """Return 1: contexts keep what was before them themselves."""
    return 1


def autocast_decrement_nesting() -> int:
    """Return 0: contexts keep what was before them themselves."""
    return 0


def clear_autocast_cache() -> None:
    """Do nothing: casts are kept by the outermost context, and end with it."""


def is_autocast_cache_enabled() -> bool:
    """Return True: contexts keep casts unless they are told not to."""
    return True


def is_autocast_cpu_enabled() -> bool:
    """Return whether autocast is on for the CPU."""
    return torch.is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> Any:
    """Return the precision that autocast takes on the CPU."""
    return torch.get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Any:
    """Return the precision that autocast takes on CUDA."""
    return torch.get_autocast_dtype("cuda")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """Set the precision that autocast takes on the CPU."""
    torch.set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """Set the precision that autocast takes on CUDA."""
    torch.set_autocast_dtype("cuda", dtype)


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Turn autocast on the CPU on or off in this thread."""
    torch.set_autocast_enabled("cpu", enabled)


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Do nothing: contexts are told whether they keep casts when they are made."""


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off."""
    anomaly.set_detect_anomaly(enabled, check_nan)


def cond(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: Sequence[Any] = (),
) -> Any:
    """Return `true_fn(*operands)` or `false_fn(*operands)`."""
    return (true_fn if pred else false_fn)(*operands)


def get_device_module(device: Any = None) -> Any:
    """Return the module of a kind of devices, `torch.cuda` for "cuda".

    **Raises** RuntimeError for a kind that has none.
    """
    given = torch.get_default_device() if device is None else _device(device)
    found = getattr(torch, given.type, None)
    if found is None:
        raise RuntimeError(
            f"Device '{given.type}' does not have a corresponding module registered as "
            f"'torch.{given.type}'."
        )
    return found


_device = device


def get_file_path(*path_components: str) -> str:
    """Return the path of a file of the package."""
    return os.path.join(os.path.dirname(str(torch.__file__)), *path_components[1:])


def get_num_interop_threads() -> int:
    """Return what `set_num_interop_threads` was told; operators do not run beside each other."""
    return _interop_threads


def set_num_interop_threads(num: int, /) -> None:
    """Note how many operators could run beside each other. **Raises** RuntimeError below 1."""
    global _interop_threads
    if num < 1:
        raise RuntimeError(f"set_num_interop_threads: expected a positive number, got {num}")
    _interop_threads = num


def get_device(input: Any) -> int:
    """Return the index of a tensor's device; -1 for the CPU."""
    return int(input.get_device())


def is_conj(input: Any) -> bool:
    """Return whether conjugation of a tensor is pending."""
    return bool(input.is_conj())


def is_neg(input: Any) -> bool:
    """Return whether negation of a tensor is pending."""
    return bool(input.is_neg())


def is_inference(input: Any) -> bool:
    """Return whether a tensor was made in inference mode."""
    return bool(input.is_inference())


def is_warn_always_enabled() -> bool:
    """Return what `set_warn_always` was told."""
    return _warns_always


def set_warn_always(b: bool, /) -> None:
    """Note whether warnings shall repeat: Python's filters decide."""
    global _warns_always
    if not isinstance(b, builtins.bool):
        raise errors.bool_expected("set_warn_always", "b", b)
    _warns_always = b


def sym_float(a: Any) -> float:
    """Return a number as a float; sizes are never symbols."""
    return builtins.float(a)


def sym_int(a: Any) -> int:
    """Return a number cut to an int."""
    whole: int = math.trunc(a)
    return whole


def sym_not(a: Any) -> bool:
    """Return whether a condition does not hold."""
    return not a


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """Return `t` if `b` holds, else `f`."""
    return t if b else f


def sym_max(a: Any, b: Any) -> Any:
    """Return the greater number, a float if one of them is."""
    found = max(a, b)
    return builtins.float(found) if builtins.float in (type(a), type(b)) else found


def sym_min(a: Any, b: Any) -> Any:
    """Return the smaller number, a float if one of them is."""
    found = min(a, b)
    return builtins.float(found) if builtins.float in (type(a), type(b)) else found


def sym_sqrt(a: Any) -> float:
    """Return the square root of a number."""
    return math.sqrt(a)


public.place_all("torch_names", globals())
