"""Runs the text of a CUDA kernel on the CPU, thread by thread, every access checked.

Slow, and no oracle for the mathematics of libdevice, which NumPy and SciPy stand in for; but it
runs the very text that is compiled, so it tests loops, index arithmetic, barriers, shuffles and the
values of launches. The threads of a block run one after the other if the kernel has no barrier, as
Python threads if it has.
"""

from __future__ import annotations

import cmath
import math
import threading
from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from runtime.kernels.cuda import vectors
from runtime.kernels.cuda.compiler import Source

FULL_WARP = 0xFFFFFFFF
WARP = 32


class OutOfBounds(Exception):
    """A kernel touched memory outside its allocation."""


class Pointer:
    """Memory from an address to the end of its allocation."""

    def __init__(self, elements: np.ndarray) -> None:
        self.elements = elements

    def _checked(self, i: Any) -> int:
        at = int(i)
        if not 0 <= at < len(self.elements):
            raise OutOfBounds(f"element {at} of {len(self.elements)}")
        return at

    def __getitem__(self, i: Any) -> Any:
        return self.elements[self._checked(i)]

    def __setitem__(self, i: Any, value: Any) -> None:
        at = self._checked(i)
        if isinstance(value, np.generic):
            assert value.dtype == self.elements.dtype, (value.dtype, self.elements.dtype)
        self.elements[at] = value


def load(width: int) -> Callable[..., Any]:
    """`load4` and its kin."""

    def run(pointer: Pointer, i: Any) -> tuple[Any, ...]:
        _check_aligned(pointer, width)
        return tuple([pointer[width * int(i) + lane] for lane in range(width)])

    return run


def store(width: int) -> Callable[..., Any]:
    """`store4` and its kin."""

    def run(pointer: Pointer, i: Any, values: Sequence[Any]) -> None:
        _check_aligned(pointer, width)
        assert len(values) == width
        for lane, value in enumerate(values):
            pointer[width * int(i) + lane] = value

    return run


def _check_aligned(pointer: Pointer, width: int) -> None:
    align = min(vectors.BYTES, width * pointer.elements.itemsize)
    assert pointer.elements.ctypes.data % align == 0, "a vector that is not aligned"


class _Place(threading.local):
    """Which thread of which block this is."""

    thread, block, threads, blocks = (0, 0), (0, 0), (1, 1), (1, 1)


class Cuda:
    """The name `cuda` of a text, for one launch."""

    def __init__(self, grid: tuple[int, int], block: tuple[int, int]) -> None:
        self.place = _Place()
        self.blocks, self.threads = grid, block
        count = block[0] * block[1]
        self._barrier = threading.Barrier(count)
        self._warps = [
            threading.Barrier(min(WARP, count - first)) for first in range(0, count, WARP)
        ]
        self._lanes: list[Any] = [None] * count
        self._shared: dict[int, np.ndarray] = {}
        self._lock = threading.Lock()
        self.shared = SimpleNamespace(array=self._shared_array)
        self.local = SimpleNamespace(array=lambda shape, dtype: np.zeros(shape, dtype))
        self.blockDim = SimpleNamespace(x=block[0], y=block[1])
        self.gridDim = SimpleNamespace(x=grid[0], y=grid[1])

    def start_block(self, block: tuple[int, int]) -> None:
        """Forget the shared memory of the block before."""
        self.block = block
        self._shared = {}

    @property
    def threadIdx(self) -> Any:
        return SimpleNamespace(x=self.place.thread[0], y=self.place.thread[1])

    @property
    def blockIdx(self) -> Any:
        return SimpleNamespace(x=self.block[0], y=self.block[1])

    def grid(self, ndim: int) -> int:
        assert ndim == 1
        return self.block[0] * self.threads[0] + self.place.thread[0]

    def gridsize(self, ndim: int) -> int:
        assert ndim == 1
        return self.blocks[0] * self.threads[0]

    def _flat(self) -> int:
        return self.place.thread[1] * self.threads[0] + self.place.thread[0]

    def syncthreads(self) -> None:
        self._barrier.wait(60)

    def _shared_array(self, shape: Any, dtype: Any) -> np.ndarray:
        """One array for each call in the order of calls, the same to all threads of a block."""
        turn = self.place.__dict__.setdefault("arrays", 0)
        self.place.arrays = turn + 1
        with self._lock:
            if turn not in self._shared:
                made = np.empty(shape, dtype)
                made.view(np.uint8)[...] = 0xA5
                self._shared[turn] = made
            return self._shared[turn]

    def shfl_down_sync(self, mask: int, value: Any, delta: int) -> Any:
        """The value of the lane `delta` further on; its own beyond the warp."""
        assert mask == FULL_WARP
        return self._exchange(value, lambda lane: lane + delta if lane + delta < WARP else lane)

    def shfl_xor_sync(self, mask: int, value: Any, bits: int) -> Any:
        """The value of the lane whose number differs in `bits`."""
        assert mask == FULL_WARP
        return self._exchange(value, lambda lane: lane ^ bits)

    def _exchange(self, value: Any, source: Callable[[int], int]) -> Any:
        me = self._flat()
        warp = self._warps[me // WARP]
        assert warp.parties == WARP, "a shuffle in a warp that is not full"
        self._lanes[me] = value
        warp.wait(60)
        got = self._lanes[me // WARP * WARP + source(me % WARP)]
        warp.wait(60)
        return got


_FUNCTIONS: dict[str, Any] = {
    "pow": np.power, "rint": np.rint, "fabs": np.abs, "erf": scipy.special.erf,
    "erfc": scipy.special.erfc, "erfinv": scipy.special.erfinv, "lgamma": scipy.special.gammaln,
    "atan2": np.arctan2, "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan,
    "acosh": np.arccosh, "asinh": np.arcsinh, "atanh": np.arctanh,
    "rsqrt": lambda x: type(x)(1) / np.sqrt(x), "signbit": lambda x: int(np.signbit(x)),
    "half2float": lambda bits: np.float32(np.int16(bits).view(np.float16)),
    "float2half_rn": lambda x: np.float16(x).view(np.int16),
}  # fmt: skip


class Libdevice:
    """The name `libdevice` of a text."""

    def __getattr__(self, name: str) -> Any:
        for known in (name, name.removesuffix("f")):
            if known in _FUNCTIONS:
                return _FUNCTIONS[known]
            if hasattr(np, known):
                return getattr(np, known)
        raise AttributeError(name)


def run(source: Source, grid: tuple[int, int], block: tuple[int, int], values: list[Any]) -> None:
    """Launch a kernel. values: a Pointer or a number for each argument."""
    assert block[0] * block[1] <= source.threads, "more threads than the kernel is compiled for"
    fake = Cuda(grid, block)
    namespace = dict(_vocabulary(), cuda=fake)
    exec(_code(source.text, source.name), namespace)
    kernel = namespace["kernel"]
    given = [
        value if name.endswith("*") else _number(name, value)
        for name, value in zip(source.arguments, values, strict=True)
    ]
    waits = any(word in source.text for word in ("syncthreads", "shfl_"))
    with np.errstate(all="ignore"):
        for y in range(grid[1]):
            for x in range(grid[0]):
                fake.start_block((x, y))
                (_run_together if waits else _run_in_turn)(fake, kernel, given)


def _number(name: str, value: Any) -> Any:
    return np.bool_(value) if name == "bool" else np.dtype(name).type(value)


@cache
def _vocabulary() -> dict[str, Any]:
    names: dict[str, Any] = {"libdevice": Libdevice(), "np": np, "math": math, "cmath": cmath}
    names["inner"] = lambda function: function
    for width in vectors.WIDTHS:
        names |= {f"load{width}": load(width), f"store{width}": store(width)}
    return names


@cache
def _code(text: str, name: str) -> Any:
    return compile(text, f"<{name}>", "exec")


def _places(block: tuple[int, int]) -> list[tuple[int, int]]:
    return [(x, y) for y in range(block[1]) for x in range(block[0])]


def _run_in_turn(fake: Cuda, kernel: Any, given: list[Any]) -> None:
    for place in _places(fake.threads):
        fake.place.thread = place
        kernel(*given)


def _run_together(fake: Cuda, kernel: Any, given: list[Any]) -> None:
    failures: list[BaseException] = []

    def work(place: tuple[int, int]) -> None:
        fake.place.thread = place
        try:
            with np.errstate(all="ignore"):
                kernel(*given)
        except BaseException as error:
            failures.append(error)
            fake._barrier.abort()
            for warp in fake._warps:
                warp.abort()

    threads = [threading.Thread(target=work, args=(place,)) for place in _places(fake.threads)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    real = [e for e in failures if not isinstance(e, threading.BrokenBarrierError)]
    for failure in real or failures:
        raise failure
