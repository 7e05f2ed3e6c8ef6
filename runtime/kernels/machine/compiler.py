"""The compiler: from a function of a text to an entry, by a walk over the text or by Numba.

Numba is imported for what the walk leaves to it, and not before.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import linecache
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

from torchgen_out._runtime import collector
from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.kernels import lean_compiler
from torchgen_out._runtime.kernels.compiler import library, numba_rules
from torchgen_out._runtime.kernels.compiler.values import Unsupported
from torchgen_out._runtime.kernels.machine import digests, emission, host, images, packs
from torchgen_out._runtime.kernels.machine.compiling import CannotCompile, NeedsNumba

log = logging.getLogger("torchgen_out.kernels")
_building = threading.RLock()
_held = contextlib.ExitStack()


def _hold_locks() -> None:
    """Let a fork wait for what other threads compile in this process.

    The child has no such threads, and would wait for their locks for ever.
    """
    _held.enter_context(_building)
    compiler = sys.modules.get("numba.core.compiler_lock")
    if compiler is not None:
        _held.enter_context(compiler.global_compiler_lock)
    of_llvm = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    lock = getattr(of_llvm, "_lock", None)
    if lock is not None:
        _held.enter_context(lock)


at_fork(before=_hold_locks, after_in_parent=_held.close, after_in_child=_held.close)


def answered(request: dict[str, Any]) -> bytes:
    """The encoded entry that a request asks for.

    Raises: CannotCompile; NeedsNumba.
    """
    with _building, collector.paused():
        try:
            return packs.encoded(_entry(request))
        except (emission.Unspeakable, images.Unlinkable) as error:
            raise NeedsNumba(str(error)) from None
        except emission.Missing as error:
            raise CannotCompile(str(error)) from None


def _entry(request: dict[str, Any]) -> packs.Entry:
    if "ir" in request:
        return emission.emitted_text(request["ir"], request["names"], {"key": request["name"]})
    name, text, function = request["name"], request["text"], request["function"]
    kinds = request["kinds"]
    about = {"key": f"{name}.{function}({', '.join(kinds)})", "kinds": kinds}
    if not any(f"NUMBA_{each}" in os.environ for each in host.ONLY_NUMBAS):
        try:
            return emission.emitted_walk(library.walked(name, text, function, kinds), about)
        except Unsupported as error:
            log.debug("%s is left to Numba: %s", function, error)
    return emission.emitted(_compiled_by_numba(name, text, function, kinds), about)


def _compiled_by_numba(name: str, text: str, function: str, kinds: Sequence[str]) -> Any:
    """Numba's result. Raises: CannotCompile."""
    dispatcher = getattr(filled_module(name, text), function)
    from numba.core import errors

    dispatcher.targetoptions["no_cpython_wrapper"] = True
    signature = tuple([numba_rules.to_numba(library.kind_spelled(each)) for each in kinds])
    try:
        with lean_compiler.compiling(dispatcher):
            dispatcher.compile(signature)
    except errors.NumbaError as error:
        raise CannotCompile(f"{type(error).__name__}: {error}") from None
    return dispatcher.overloads[signature]


def filled_module(name: str, text: str) -> ModuleType:
    """Run a text, which defines kernels as Numba's dispatchers, in a module of its own."""
    import_numba()
    stem = f"{name}_{digests.sha256(text)[:24]}"
    module = sys.modules[f"torchgen_kernel_{stem}"] = ModuleType(f"torchgen_kernel_{stem}")
    place = f"<{stem}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    exec(compile(text, place, "exec"), module.__dict__)
    return module


@cache
def dispatcher_of(name: str, text: str, function: str) -> Any:
    """A function as Numba calls it, compiled in this process when it is called."""
    with _building:
        return getattr(filled_module(name, text), function)


def _one_at_a_time(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def alone(*args: Any) -> Any:
        with _building:
            return function(*args)

    return alone


@cache
@_one_at_a_time
def import_numba() -> None:
    """Import Numba's arrays without SciPy's linear algebra, which they look for: 0.1 s.

    That it can be found is enough here; whoever uses it in a kernel of theirs imports it then.
    Numba asks for masked arrays at its first call: were they imported then, a child that is forked
    meanwhile would wait for them for ever.
    """
    import numpy.ma  # noqa: F401

    linalg: Any = importlib.import_module("numba.np.linalg")
    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None if importlib.util.find_spec("scipy") else look()
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = look
    settings: Any = importlib.import_module("numba.core.config")
    if settings.CPU_FEATURES is None:  # whoever sets NUMBA_CPU_FEATURES decides alone
        settings.CPU_FEATURES = emission.host_features()
    emission.aim()


numba_rules.imported_by(import_numba)
