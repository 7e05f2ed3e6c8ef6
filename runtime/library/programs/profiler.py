"""`torch.profiler`: how often operators are called, and how long each takes on the host.

Calls are timed only inside `profile`: it has all tables of resolved calls emptied, so that calls
are resolved anew with a clock around them, and emptied once more at its end. An operator is timed
where it has a kernel; composites show as the operators that they call. Work on a GPU shows as the
time that it takes to launch it.
"""

from __future__ import annotations

import enum
import functools
import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.dispatch import tables
from torchgen_out._runtime.dispatch.operator import Call, Operator, unwrap_calls, wrap_calls
from torchgen_out._runtime.library.programs.profiler_tables import Event, EventList

__all__ = [
    "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function",
    "schedule", "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerAction(enum.Enum):
    """What a profiler does in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(enum.Enum):
    """What can be watched."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """Return what can be watched: the host."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """Return False: times are taken by Python's clock."""
    return False


_recording: list[list[Event]] = []
"""The lists of the profilers that record now."""
_depth = threading.local()


def _timed(operator: Operator, signature: tuple[Any, ...], call: Call) -> Call:
    name = f"aten::{operator.name.partition('.')[0]}"

    def timed_call(*args: Any) -> Any:
        with _Interval(name):
            return call(*args)

    return timed_call


class _Interval:
    """The time between entering and leaving, told to all profilers that record."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        self.outer = getattr(_depth, "event", None)
        self.event = Event(self.name, threading.get_ident(), time.perf_counter_ns())
        _depth.event = self.event

    def __exit__(self, *raised: object) -> None:
        event = self.event
        event.end(time.perf_counter_ns())
        _depth.event = self.outer
        if self.outer is not None:
            self.outer.inner_time += event.time
        for events in _recording:
            events.append(event)


class record_function:
    """Give a block of code, or a function, a name in the profile."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self._intervals: list[_Interval] = []

    def __enter__(self) -> record_function:
        self._intervals.append(_Interval(self.name))
        self._intervals[-1].__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        self._intervals.pop().__exit__()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def named(*args: Any, **keywords: Any) -> Any:
            with _Interval(self.name):
                return function(*args, **keywords)

        return named


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Make a plan of steps: skip some, then `wait`, `warmup`, `active`, again `repeat` times.

    `repeat=0` goes on for ever; with `skip_first_wait` the first round does not wait.
    **Raises** AssertionError unless `active` is positive and nothing is negative.
    """
    cycle = wait + warmup + active
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments")

    def plan(step: int) -> ProfilerAction:
        step -= skip_first
        if step >= 0 and skip_first_wait:
            step += wait
        if step < 0 or (repeat and step >= cycle * repeat):
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == cycle - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return plan


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """Make a function for `on_trace_ready` that writes each trace to a file of a folder."""

    def write(finished: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{os.uname().nodename}_{os.getpid()}"
        stamp = time.time_ns() // 1_000_000
        finished.export_chrome_trace(os.path.join(dir_name, f"{name}.{stamp}.pt.trace.json"))

    return write


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


class profile:
    """Record the operators that are called inside a `with` block, or in steps of it.

    `schedule` says what to do in which step (`step()` ends one); `on_trace_ready` is called with
    the profiler whenever the plan says that a record is complete. Options that ask for shapes,
    stacks, memory or operations per second are taken and add nothing.
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        **options: Any,
    ) -> None:
        self._plan = schedule or _always
        self._is_planned = schedule is not None
        self._ready = on_trace_ready
        self._events: list[Event] = []
        self._metadata: dict[str, Any] = {}
        self.step_num = 0
        self._is_recording = False

    def start(self) -> None:
        """Begin with the first step."""
        self._begin(self._plan(self.step_num))

    def stop(self) -> None:
        """End; a record that is not complete is handed over as it is."""
        was_recording = self._is_recording
        self._end()
        if was_recording and self._ready is not None:
            self._ready(self)

    def step(self) -> None:
        """End a step and begin the next."""
        before = self._plan(self.step_num)
        self.step_num += 1
        after = self._plan(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._end()
            if self._ready is not None:
                self._ready(self)
        self._begin(after)

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def _begin(self, action: ProfilerAction) -> None:
        records = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if records and not self._is_recording:
            self._record([])

    def _record(self, events: list[Event]) -> None:
        if not self._is_recording:
            self._events = events
            self._is_recording = True
            if not _recording:
                wrap_calls(_timed)
                tables.forget_calls()
            _recording.append(self._events)

    def _end(self) -> None:
        if self._is_recording:
            self._is_recording = False
            _recording[:] = [each for each in _recording if each is not self._events]
            if not _recording:
                unwrap_calls(_timed)
                tables.forget_calls()

    def events(self) -> EventList:
        """Return all calls, in the order in which they ended."""
        return EventList(self._events)

    def key_averages(self, *grouping: Any, **options: Any) -> EventList:
        """Return the calls of each name together."""
        return self.events().averages()

    def export_chrome_trace(self, path: str) -> None:
        """Write the calls for the viewer of chrome://tracing, with the metadata."""
        self.events().export_chrome_trace(path, **self._metadata)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write the stacks of all calls: none, as no stacks are recorded."""
        open(path, "w", encoding="utf-8").close()

    def add_metadata(self, key: str, value: str) -> None:
        """Keep a text for the trace."""
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Keep a value, which is given as JSON, for the trace."""
        self._metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def toggle_collection_dynamic(
        self, enable: bool, activities: Iterable[ProfilerActivity]
    ) -> None:
        """Go on or pause with recording, if the host is among the activities."""
        if ProfilerActivity.CPU not in activities:
            return
        if enable:
            self._record(self._events)
        else:
            self._end()


public.place_all("profiler", globals())
