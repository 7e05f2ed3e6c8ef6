"""Compiling kernels with Numba, cached by content.

Numba stamps a cache entry with the file that holds the code. So a kernel's whole text - formula,
the vector mathematics it uses, loop - is written to a file named by the text's hash in the user's
cache folder, and Numba caches beside it. Equal texts are compiled once per machine, whatever clone
or path they came from; a change of any part gives another hash. Numba itself is imported by the
first kernel that runs.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import hashlib
import importlib.util
import inspect
import os
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from runtime import config
from runtime.kernels import compiling_once, native

DECORATORS = """\
inner = njit(forceinline=True, no_cpython_wrapper=True, **options)
entry = njit(cache=True, **options)
"""
"""For what kernels call, and for kernels. Repeated in a text after a change of `options`."""

HEADER = (
    '''\
"""{title}"""
import math

import numpy as np
from numba import njit

options = {{"nogil": True, "error_model": "numpy", "fastmath": {{"contract"}}}}
options["no_cfunc_wrapper"] = True
'''
    + DECORATORS
)

_modules: list[ModuleType] = []

_building = threading.RLock()
"""Held while Numba is imported and kernels are loaded or compiled."""
_held = contextlib.ExitStack()


def _hold_locks() -> None:
    """Let a fork wait for kernels that other threads are making, loading or deleting.

    The child has no such threads, and would wait for their locks for ever.
    """
    _held.enter_context(_building)
    compiler = sys.modules.get("numba.core.compiler_lock")
    if compiler is not None:
        _held.enter_context(compiler.global_compiler_lock)
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    if hasattr(library, "_lock"):
        _held.enter_context(library._lock)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_locks, after_in_parent=_held.close, after_in_child=_held.close)


def _one_at_a_time(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make kernels in one thread only, and in none while another one forks."""

    @functools.wraps(function)
    def alone(*args: Any, **keywords: Any) -> Any:
        with _building:
            return function(*args, **keywords)

    return alone


def cache_counts() -> tuple[int, int]:
    """(loaded from the cache, compiled), over all signatures of this process's kernels."""
    loaded = compiled = 0
    for module in _modules:
        for value in vars(module).values():
            stats = getattr(value, "stats", None)
            if stats is not None and value.__module__ == module.__name__:
                loaded += sum(stats.cache_hits.values())
                compiled += sum(stats.cache_misses.values())
    return loaded, compiled


def compile_text(name: str, text: str) -> Any:
    """The function `kernel` of `text`, compiled on its first call or loaded from the cache.

    name: a readable prefix for the file.
    """
    return load_text(name, text).kernel


@cache
@_one_at_a_time
def entry_point(name: str, text: str, arguments: tuple[Any, ...], function: str = "kernel") -> Any:
    """A function of `text`, compiled or loaded at once for arguments of known types.

    Called without Numba's look at its arguments, which costs 60 ns: the caller answers for them.
    arguments: a NumPy dtype for a contiguous one-dimensional array, which may be read-only if the
    kernel only reads it; float, int, complex, bool or np.uint64 for a number.
    """
    from numba import from_dtype, types

    numbers = {
        float: types.float64,
        int: types.int64,
        complex: types.complex128,
        bool: types.boolean,
        np.uint64: types.uint64,
    }
    signature = tuple(
        [numbers.get(each) or types.Array(from_dtype(each), 1, "C") for each in arguments]
    )
    return compiled_for(load_text(name, text), function, signature)


@_one_at_a_time
def compiled_for(module: Any, function: str, signature: tuple[Any, ...]) -> Any:
    """The entry point of a module's function for arguments of Numba's types."""
    dispatcher = getattr(module, function)
    with _without_collections():
        dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    native.remember(result)
    return result.entry_point


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Pause the garbage collector: a compilation makes enough objects for it to walk over all."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@cache
@_one_at_a_time
def load_text(name: str, text: str) -> ModuleType:
    """Import `text` from the file in the cache folder that is named by its hash."""
    import_numba()
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    path = config.cache_folder() / "kernels" / f"{name}_{digest}.py"
    if not path.exists() or path.read_text() != text:
        write_once(path, text)
    spec = importlib.util.spec_from_file_location(f"torchgen_kernel_{name}_{digest}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a cached kernel is loaded into the module of this name
    spec.loader.exec_module(module)
    compiling_once.guard(module, path, _building)
    _modules.append(module)
    return module


@cache
def import_numba() -> None:
    """Import Numba's arrays without SciPy's linear algebra, which they look for: 0.1 s.

    That it can be found is enough here; whoever uses it in a kernel of theirs imports it then.
    Numba asks for masked arrays at its first call: were they imported then, a child that is forked
    meanwhile would wait for them for ever.
    """
    import numba.np.linalg as linalg
    import numpy.ma  # noqa: F401

    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None if importlib.util.find_spec("scipy") else look()
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = look
    _prefer_wide_vectors()


def _prefer_wide_vectors() -> None:
    """Let LLVM use the full width of AVX-512, where that is more than halves of it.

    LLVM takes half the width on all of Intel's processors, as on the first that had AVX-512 wide
    vectors slowed the clock. These have no VBMI2. Whoever sets NUMBA_CPU_FEATURES decides alone.
    """
    from llvmlite import binding
    from numba.core import config as settings

    features = binding.get_host_cpu_features()
    if settings.CPU_FEATURES is None and features.get("avx512vbmi2"):
        settings.CPU_FEATURES = features.flatten() + ",-prefer-256-bit"


@cache
def fuses_multiply_add() -> bool:
    """Whether kernels are compiled for a processor that multiplies and adds with one rounding."""
    from llvmlite import binding
    from numba.core import config as settings

    if not binding.get_process_triple().startswith(("x86_64", "i686")):
        return True
    features = settings.CPU_FEATURES
    if features is None and settings.CPU_NAME is None:
        features = binding.get_host_cpu_features().flatten()
    return "+fma" in (features or "").split(",")


def write_once(path: Path, content: str | bytes) -> None:
    """Write through a temporary file, so that a concurrent reader sees all or nothing.

    Of concurrent writers the first stays: a newer file would make Numba's cache for it stale.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    try:
        os.link(temporary, path)
    except OSError:  # it exists, or the file system has no links
        if not path.exists() or path.read_bytes() != data:
            os.replace(temporary, path)
            return
    os.unlink(temporary)


class Kernel:
    """A hand-written kernel, compiled with its helpers and constants on its first call."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher_for()(*args)

    def dispatcher_for(self, first: Any = None) -> Any:
        """Numba's dispatcher, which compiles for further types of arguments by itself."""
        compiled = self._compiled
        if compiled is None:
            compiled = self._compiled = compile_text(self.__name__, kernel_text(self.function))
        return compiled

    def entry_point(self, arguments: tuple[Any, ...]) -> Any:
        """The function for arguments as the module's `entry_point` has them."""
        return entry_point(self.__name__, kernel_text(self.function), arguments)

    def library_text(self, dtype: Any) -> str:
        """Text that defines the kernel for other functions of the text; dtypes are all the same."""
        return kernel_text(self.function, as_library=True)


def kernel(function: FunctionType) -> Kernel:
    """Mark a plain function as a Numba kernel.

    It may use `np`, `math`, other kernels and module-level numbers; nothing is imported or
    compiled before its first call.
    """
    return Kernel(function)


def kernel_text(function: FunctionType, as_library: bool = False) -> str:
    """The self-contained text of a hand-written kernel; as_library: it is called by more text."""
    helpers: dict[str, str] = {}
    body = _collect(function, helpers)
    head = HEADER.format(title=function.__name__) + "\n" + "".join(helpers.values())
    if as_library:
        return f"{head}@inner\n{body}"
    return f"{head}@entry\n{body}\nkernel = {function.__name__}\n"


def _collect(function: FunctionType, helpers: dict[str, str]) -> str:
    """The source of `function`; what it uses from its module is added to `helpers` first."""
    source = plain_source(function)
    for name in names_used(source):
        value = function.__globals__.get(name)
        if name in helpers or name == function.__name__:
            continue
        if isinstance(value, Kernel):
            helpers[name] = ""
            text = _collect(value.function, helpers)
            del helpers[name]
            helpers[name] = "@inner\n" + text + "\n\n"
        elif isinstance(value, (bool, int, float)):
            helpers[name] = f"{name} = {value!r}\n"
    return source


@cache
def plain_source(function: FunctionType) -> str:
    """The source of a function without its decorators."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "".join(lines[start:])


@cache
def names_used(source: str) -> tuple[str, ...]:
    """The global names that a function's source may mean, in order of appearance."""
    names = (node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(names))
