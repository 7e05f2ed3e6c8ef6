"""`torch.jit` without a compiler: functions and modules stay Python, and run as they are."""

from __future__ import annotations

import builtins
import contextlib
import functools
from collections.abc import Iterator
from typing import Any, Final, TypeVar

from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.programs import absent
from torchgen_out._runtime.library.programs.futures import Future, fork, wait

__all__ = [
    "Attribute",
    "CompilationUnit",
    "Error",
    "Final",
    "Future",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "_overload",
    "_overload_method",
    "_script_if_tracing",
    "_unwrap_optional",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]  # fmt: skip

Something = TypeVar("Something")
_REMEDY = (
    "there is no compiler to TorchScript; save a module's state_dict with torch.save, and load it "
    "into a module made by the same Python code"
)


class Error(RuntimeError):
    """What a compiler to TorchScript would raise."""


@functools.cache
def _warn_once(what: str) -> None:
    warn(f"{what}: there is no compiler; what is given runs as Python, as it is")


def script(obj: Something, *args: Any, **kwargs: Any) -> Something:
    """Return what is given, with a warning the first time: there is no compiler."""
    _warn_once("torch.jit.script")
    return obj


def script_if_tracing(fn: Something) -> Something:
    """Return the function: nothing is traced."""
    return fn


_script_if_tracing = script_if_tracing


def _unwrap_optional(x: Something | None) -> Something:
    """Return what is given. **Raises** AssertionError for None."""
    if x is None:
        raise AssertionError("Unwrapping null optional")
    return x


def script_method(fn: Something) -> Something:
    """Return the method: it is not compiled."""
    return fn


def is_scripting() -> bool:
    """Return False: nothing is compiled."""
    return False


def is_tracing() -> bool:
    """Return False: nothing is traced."""
    return False


def annotate(the_type: Any, the_value: Something) -> Something:
    """Return the value; its type tells a compiler something."""
    return the_value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return whether an object is of a type; of `List[int]` and its like, of their class."""
    wanted = target_type if builtins.isinstance(target_type, tuple) else (target_type,)
    classes: list[Any] = [getattr(each, "__origin__", each) for each in wanted]
    return any(builtins.isinstance(obj, each) for each in classes)


_overload = absent.mark("torch.jit._overload")
_overload_method = absent.mark("torch.jit._overload_method")
export = absent.mark("torch.jit.export")
ignore = absent.mark("torch.jit.ignore")
interface = absent.mark("torch.jit.interface")
unused = absent.mark("torch.jit.unused")


class Attribute:
    """A value and the type that a compiler shall give it."""

    def __init__(self, value: Any, type: Any) -> None:
        self.value = value
        self.type = type


class TracerWarning(Warning):
    """What a tracer says of what it cannot see; programs silence it."""


class ScriptModule(Module):
    """A base class of modules with compiled methods: here a module as any other."""


ScriptFunction = absent.kind("torch.jit.ScriptFunction", _REMEDY)
RecursiveScriptModule = absent.kind("torch.jit.RecursiveScriptModule", _REMEDY)
CompilationUnit = absent.kind("torch.jit.CompilationUnit", _REMEDY)
trace = absent.function("torch.jit.trace", _REMEDY)
trace_module = absent.function("torch.jit.trace_module", _REMEDY)
load = absent.function("torch.jit.load", _REMEDY)
save = absent.function("torch.jit.save", _REMEDY)


def freeze(mod: Something, *args: Any, **kwargs: Any) -> Something:
    """Return the module: there is no graph to simplify."""
    return mod


def optimize_for_inference(mod: Something, *args: Any, **kwargs: Any) -> Something:
    """Return the module: there is no graph to simplify."""
    return mod


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the strategy before, which is empty: nothing is fused."""
    return []


def enable_onednn_fusion(enabled: bool) -> None:
    """Do nothing: there is no oneDNN."""


def onednn_fusion_enabled() -> bool:
    """Return False: there is no oneDNN."""
    return False


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """Run a block of code as it is."""
    yield


@contextlib.contextmanager
def strict_fusion() -> Iterator[None]:
    """Refuse the block: what it asks for is that everything is fused.

    **Raises** NotImplementedError.
    """
    absent.function("torch.jit.strict_fusion", _REMEDY)()
    yield


public.place_all("jit", globals())
