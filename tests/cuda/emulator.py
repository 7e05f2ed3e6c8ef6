"""Runs the text of a CUDA kernel on the CPU, thread by thread, every access checked.

Slow, and no oracle for the mathematics of libdevice, which NumPy and SciPy stand in for; but it
runs the very text that is compiled, so it tests loops, index arithmetic, barriers, shuffles and the
values of launches. The threads of a block run in turn: to their end if the kernel has no barrier,
otherwise from one wait to the next, as generators. In which order they take their turns, and the
blocks theirs, can be chosen (`in_turns`). Threads that could meet in memory without a barrier
between them are an error (`watching`), and so is a barrier that only some of them reach.
"""

from __future__ import annotations

import ast
import math
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.special

from tests.cuda.emulated_memory import ATOMIC, Pointer, Shared, load, store, watch_pointers
from tests.cuda.watching import WARP, Moment
from torchgen_out._runtime.kernels.cuda.compiling import conversions, vectors
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source

FULL_WARP = 0xFFFFFFFF

TURNS: dict[str, Callable[[int], Sequence[int]]] = {
    "forward": range,
    "backward": lambda count: range(count)[::-1],
    "shuffled": lambda count: random.Random(count).sample(range(count), count),
}
"""The orders in which so many threads, or blocks, take their turns."""
_turns = TURNS["forward"]


@contextmanager
def in_turns(name: str) -> Iterator[None]:
    """Let threads and blocks take their turns in another order."""
    global _turns
    before, _turns = _turns, TURNS[name]
    try:
        yield
    finally:
        _turns = before


class Cuda:
    """The name `cuda` of a text, for one launch.

    now: which thread runs, and how many barriers it has passed. barriers, warp_barriers: how many
    the block and each warp have.
    """

    def __init__(self, grid: tuple[int, int], block: tuple[int, int]) -> None:
        self.blocks, self.threads = grid, block
        self.shared = SimpleNamespace(array=self._shared_array)
        self.local = SimpleNamespace(array=lambda shape, dtype: np.zeros(shape, dtype))
        self.blockDim = SimpleNamespace(x=block[0], y=block[1])
        self.gridDim = SimpleNamespace(x=grid[0], y=grid[1])
        self.popc = lambda value: np.int32(int(value).bit_count())

    def start_block(self, block: tuple[int, int]) -> None:
        """Forget the shared memory of the block before."""
        count = self.threads[0] * self.threads[1]
        self.blockIdx = SimpleNamespace(x=block[0], y=block[1])
        self._block = block[0] + self.blocks[0] * block[1]
        self.barriers, self.warp_barriers = 0, [0] * -(-count // WARP)
        self._shared: list[Shared] = []
        self._arrays = [0] * count

    def enter(self, thread: int) -> None:
        """Let a thread of the block be the one that runs."""
        self.now = Moment(self._block, thread, self.barriers, self.warp_barriers[thread // WARP])
        width = self.threads[0]
        self.threadIdx = SimpleNamespace(x=thread % width, y=thread // width)

    def threadfence_system(self) -> None:
        """Writes are seen in their order as it is."""

    def grid(self, ndim: int) -> int:
        assert ndim == 1
        return int(self.blockIdx.x * self.threads[0] + self.threadIdx.x)

    def gridsize(self, ndim: int) -> int:
        assert ndim == 1
        return self.blocks[0] * self.threads[0]

    def _shared_array(self, shape: Any, dtype: Any) -> Shared:
        """One array for each call in the order of calls, the same to all threads of a block."""
        turn = self._arrays[self.now.thread]
        self._arrays[self.now.thread] += 1
        if turn == len(self._shared):
            self._shared.append(Shared(self, shape, dtype))
        return self._shared[turn]


# -- what threads wait for ----------------------------------------------------------------------

BARRIER = "syncthreads"


def _from_lane(source: Callable[[int, int], int]) -> Callable[..., list[Any]]:
    """A shuffle: lane i gets the value of lane source(i, number), its own from beyond the warp."""

    def exchange(requests: list[tuple[Any, ...]]) -> list[Any]:
        lanes = [source(lane, int(each[1])) for lane, each in enumerate(requests)]
        inside = [at if 0 <= at < WARP else lane for lane, at in enumerate(lanes)]
        return [requests[at][0] for at in inside]

    return exchange


def _ballot(requests: list[tuple[Any, ...]]) -> list[Any]:
    votes = sum(1 << lane for lane, each in enumerate(requests) if each[0])
    return [np.uint32(votes)] * len(requests)


def _match_any(requests: list[tuple[Any, ...]]) -> list[Any]:
    return [
        np.uint32(sum(1 << lane for lane, other in enumerate(requests) if other[0] == own[0]))
        for own in requests
    ]


EXCHANGES: dict[str, Callable[[list[tuple[Any, ...]]], list[Any]]] = {
    "shfl_sync": _from_lane(lambda lane, at: at),
    "shfl_up_sync": _from_lane(lambda lane, delta: lane - delta),
    "shfl_down_sync": _from_lane(lambda lane, delta: lane + delta),
    "shfl_xor_sync": _from_lane(lambda lane, bits: lane ^ bits),
    "ballot_sync": _ballot,
    "match_any_sync": _match_any,
    "syncwarp": lambda requests: [None] * len(requests),
}
"""What the lanes of a warp get, from what each hands over."""


class _Waiting(ast.NodeTransformer):
    """Turns functions that wait into generators, which yield (what for, line, values)."""

    def __init__(self, tree: ast.Module) -> None:
        functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
        self.waiting: set[str] = set()
        while True:
            found = {name for name, each in functions.items() if self._waits(each)}
            if found == self.waiting:
                return
            self.waiting = found

    def _waits(self, function: ast.FunctionDef) -> bool:
        calls = [each for each in ast.walk(function) if isinstance(each, ast.Call)]
        return any(self._of_warp(each) or self._of_ours(each) for each in calls)

    def _of_warp(self, call: ast.Call) -> bool:
        called = call.func
        return isinstance(called, ast.Attribute) and called.attr in (BARRIER, *EXCHANGES)

    def _of_ours(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id in self.waiting

    def visit_Call(self, call: ast.Call) -> ast.AST:
        self.generic_visit(call)
        if self._of_ours(call):
            return ast.copy_location(ast.YieldFrom(call), call)
        if not self._of_warp(call):
            return call
        assert isinstance(call.func, ast.Attribute)
        parts = [ast.Constant(call.func.attr), ast.Constant(call.lineno), *call.args]
        return ast.copy_location(ast.Yield(ast.Tuple(parts, ast.Load())), call)


_FUNCTIONS: dict[str, Any] = {
    "pow": np.power, "rint": np.rint, "fabs": np.abs, "erf": scipy.special.erf,
    "erfc": scipy.special.erfc, "erfinv": scipy.special.erfinv, "lgamma": scipy.special.gammaln,
    "atan2": np.arctan2, "acos": np.arccos, "asin": np.arcsin, "atan": np.arctan,
    "acosh": np.arccosh, "asinh": np.arcsinh, "atanh": np.arctanh,
    "erfcx": scipy.special.erfcx, "normcdfinv": scipy.special.ndtri, "tgamma": scipy.special.gamma,
    "j0": scipy.special.j0, "j1": scipy.special.j1, "y0": scipy.special.y0, "y1": scipy.special.y1,
    "cospi": lambda x: type(x)(np.cos(np.float64(x) * np.pi)),
    "sinpi": lambda x: type(x)(np.sin(np.float64(x) * np.pi)),
    "rsqrt": lambda x: type(x)(1) / np.sqrt(x), "signbit": lambda x: int(np.signbit(x)),
    "half2float": lambda bits: np.float32(np.int16(bits).view(np.float16)),
    "int_as_float": lambda bits: np.int32(bits).view(np.float32),
    "float_as_int": lambda x: np.float32(x).view(np.int32),
    "float2half_rn": lambda x: np.float16(x).view(np.int16),
}  # fmt: skip


class Libdevice:
    """The name `libdevice` of a text; also `cmath`, whose functions raise nothing on a device."""

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
    code, waits = _code(source.text, source.name)
    exec(code, namespace)
    kernel = namespace["kernel"]
    given = [
        value if name.endswith("*") else _number(name, value)
        for name, value in zip(source.arguments, values, strict=True)
    ]
    watch_pointers(source.name, [each for each in given if isinstance(each, Pointer)], fake)
    with np.errstate(all="ignore"):
        for block in _turns(grid[0] * grid[1]):
            fake.start_block((block % grid[0], block // grid[0]))
            (_run_together if waits else _run_in_turn)(fake, kernel, given)


def _number(name: str, value: Any) -> Any:
    return np.bool_(value) if name == "bool" else np.dtype(name).type(value)


@cache
def _vocabulary() -> dict[str, Any]:
    names: dict[str, Any] = {"libdevice": Libdevice(), "np": np, "math": math, "cmath": Libdevice()}
    names |= {"inner": lambda function: function, **ATOMIC}
    exec(compile(conversions.BFLOAT16_BITS, "<bfloat16_bits>", "exec"), names)
    for width in vectors.WIDTHS:
        names |= {f"load{width}": load(width), f"store{width}": store(width)}
    return names


@cache
def _code(text: str, name: str) -> tuple[Any, bool]:
    """The code of a text, and whether its threads wait for each other."""
    tree = ast.parse(text)
    waiting = _Waiting(tree)
    tree = ast.fix_missing_locations(waiting.visit(tree))
    return compile(tree, f"<{name}>", "exec"), "kernel" in waiting.waiting


def _run_in_turn(fake: Cuda, kernel: Any, given: list[Any]) -> None:
    for thread in _turns(fake.threads[0] * fake.threads[1]):
        fake.enter(thread)
        kernel(*given)


def _run_together(fake: Cuda, kernel: Any, given: list[Any]) -> None:
    """Run the threads of a block from one wait to the next."""
    count = fake.threads[0] * fake.threads[1]
    threads: list[Any] = []
    for thread in range(count):
        fake.enter(thread)
        threads.append(kernel(*given))
    wanted = _resume_all(fake, threads)
    while any(wanted):
        for first in range(0, count, WARP):
            _run_warp(fake, threads, wanted, range(first, min(first + WARP, count)))
        if any(wanted):
            places = {None if each is None else each[1] for each in wanted}
            assert len(places) == 1, f"threads of a block wait at lines {places}; None has ended"
            fake.barriers += 1
            wanted = _resume_all(fake, threads)


def _run_warp(fake: Cuda, threads: list[Any], wanted: list[Any], lanes: range) -> None:
    """Let a warp exchange until its threads wait for the block, or have ended."""
    while any(wanted[lane] and wanted[lane][0] != BARRIER for lane in lanes):
        places = {None if wanted[lane] is None else wanted[lane][1] for lane in lanes}
        assert len(places) == 1, f"threads of a warp wait at lines {places}; None has ended"
        assert len(lanes) == WARP, "an exchange in a warp that is not full"
        requests = [wanted[lane][2:] for lane in lanes]
        name = wanted[lanes[0]][0]
        if name != "syncwarp":
            assert {each[0] for each in requests} == {FULL_WARP}
            requests = [each[1:] for each in requests]
        got = EXCHANGES[name](requests)
        fake.warp_barriers[lanes[0] // WARP] += name == "syncwarp"
        for turn in _turns(WARP):
            wanted[lanes[turn]] = _resume(fake, threads, lanes[turn], got[turn])


def _resume_all(fake: Cuda, threads: list[Any]) -> list[Any]:
    """What each thread of a block waits for next."""
    wanted: list[Any] = [None] * len(threads)
    for thread in _turns(len(threads)):
        wanted[thread] = _resume(fake, threads, thread, None)
    return wanted


def _resume(fake: Cuda, threads: list[Any], thread: int, value: Any) -> Any:
    """What a thread waits for next, None if it has ended."""
    fake.enter(thread)
    try:
        return threads[thread].send(value)
    except StopIteration:
        return None
