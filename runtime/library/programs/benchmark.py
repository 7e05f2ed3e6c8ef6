"""`torch.utils.benchmark`: how long a statement takes, measured many times, and compared.

Times are in seconds. A measurement runs on one thread unless it is told another number, and waits
for the accelerator, if there is one, before it reads the clock.
"""

from __future__ import annotations

import enum
import math
import statistics
import textwrap
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.programs import absent
from torchgen_out._runtime.library.programs.benchmark_measurements import (
    Measurement,
    TaskSpec,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)
from torchgen_out._runtime.library.programs.benchmark_tables import Colorize, Compare

__all__ = [
    "CallgrindStats", "Colorize", "Compare", "FuzzedParameter", "FuzzedTensor", "Fuzzer",
    "Language", "Measurement", "TaskSpec", "Timer", "ordered_unique", "select_unit",
    "set_torch_threads", "timer", "trim_sigfig", "unit_to_english",
]  # fmt: skip

_REMEDY = "make the arguments of a Timer by hand"
CallgrindStats = absent.kind(
    "torch.utils.benchmark.CallgrindStats", "run `valgrind --tool=callgrind` on the program"
)
FuzzedParameter = absent.kind("torch.utils.benchmark.FuzzedParameter", _REMEDY)
FuzzedTensor = absent.kind("torch.utils.benchmark.FuzzedTensor", _REMEDY)
Fuzzer = absent.kind("torch.utils.benchmark.Fuzzer", _REMEDY)

_SHORTEST = 1e-9
"""No time is taken to be shorter, so that it can be divided by."""


def timer() -> float:
    """Return the time now, when the accelerator has done all that it was given."""
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return timeit.default_timer()


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """Compute with `n` threads inside."""
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(n)
        yield
    finally:
        torch.set_num_threads(before)


class Timer:
    """Measures a statement, given as text, with the names of `globals` and of `setup`.

    label, sub_label, description and env name it in reports, where `Compare` makes tables of them.
    **Example** `Timer("x.exp()", globals={"x": torch.ones(9)}).blocked_autorange().median`
    """

    _timer_cls = timeit.Timer

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("Timer: statements in C++ are not compiled here")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply "
                "be moved to `setup`."
            )
        names = {"torch": torch, **(globals or {})}
        stmt, setup = _dedented(stmt), _dedented(setup)
        self._timer = self._timer_cls(stmt=stmt, setup=setup, timer=timer, globals=names)
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)

    def _seconds(self, number: int) -> float:
        return max(self._timer.timeit(number), _SHORTEST)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Run the statement `number` times, after a hundredth of that to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._seconds(max(number // 100, 2))
            return Measurement(number, [self._seconds(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Not here. **Raises** NotImplementedError."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Callable[[int, float], Any] | None = None) -> None:
        """Not here. **Raises** NotImplementedError."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def blocked_autorange(
        self,
        callback: Callable[[int, float], Any] | None = None,
        min_run_time: float = 0.2,
    ) -> Measurement:
        """Measure blocks of so many runs that the clock costs nothing, for `min_run_time`.

        callback: called after each with the number of runs and their time.
        """
        number = self._block_size(min_run_time)
        times = self._repeated(number, min_run_time, math.inf, lambda times: True, callback)
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Measure blocks until their interquartile range is below `threshold` of the median."""
        number = self._block_size(0.05)

        def is_enough(times: list[float]) -> bool:
            made = Measurement(number, times, self._task_spec)
            return len(times) > 3 and made.meets_confidence(threshold)

        times = self._repeated(number, min_run_time, max_run_time, is_enough, callback)
        return Measurement(number, times, self._task_spec)

    def collect_callgrind(self, number: int = 100, **options: Any) -> Any:
        """Not here: instructions are counted by valgrind. **Raises** NotImplementedError."""
        return CallgrindStats()

    def _repeated(
        self,
        number: int,
        least: float,
        most: float,
        is_enough: Callable[[list[float]], bool],
        callback: Callable[[int, float], Any] | None,
    ) -> list[float]:
        times: list[float] = []
        total = 0.0
        with set_torch_threads(self._task_spec.num_threads):
            while total <= most and (total < least or not is_enough(times)):
                times.append(self._seconds(number))
                total += times[-1]
                if callback is not None:
                    callback(number, times[-1])
        return times

    def _block_size(self, run_time: float) -> int:
        """How many runs take a thousandth of the time, and 10,000 times as long as none."""
        with set_torch_threads(self._task_spec.num_threads):
            nothing = statistics.median(self._seconds(0) for _ in range(5))
            number = 1
            while True:
                taken = self._seconds(number)
                is_long = nothing <= 1e-4 * taken and taken >= run_time / 1000
                if is_long or taken > run_time or number > 2**31 // 10:
                    return number
                number *= 10


def _dedented(text: str) -> str:
    return textwrap.dedent(text).removeprefix("\n").rstrip()


public.place_all("utils.benchmark", globals())
