"""What a profile shows: calls, one by one or by name, and their table; times in microseconds."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from torchgen_out._runtime.core import public


class Event:
    """One call, or all calls of one name. What is not measured is 0: memory, a device, flops."""

    cpu_memory_usage = self_cpu_memory_usage = device_memory_usage = self_device_memory_usage = 0
    cuda_memory_usage = self_cuda_memory_usage = flops = 0
    device_time = device_time_total = self_device_time_total = 0.0
    cuda_time = cuda_time_total = self_cuda_time_total = 0.0
    input_shapes: tuple[Any, ...] = ()
    stack: tuple[Any, ...] = ()

    def __init__(self, key: str, thread: int, start: int) -> None:
        self.key = self.name = key
        self.thread = thread
        self.start = start
        """Nanoseconds of `time.perf_counter_ns`."""
        self.time = 0.0
        self.inner_time = 0.0
        """Of it, what passed in calls that this one made."""
        self.count = 1

    def end(self, now: int) -> None:
        """Note that the call has ended."""
        self.time = (now - self.start) / 1000

    @property
    def cpu_time_total(self) -> float:
        """The time of all calls."""
        return self.time

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all calls without those that they made."""
        return self.time - self.inner_time

    @property
    def cpu_time(self) -> float:
        """The time of one call."""
        return self.time / self.count

    @property
    def cpu_time_str(self) -> str:
        """The time of one call, with its unit."""
        return _time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """The time of all calls, with its unit."""
        return _time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """The time of all calls without those that they made, with its unit."""
        return _time(self.self_cpu_time_total)

    def add(self, other: Event) -> None:
        """Count the calls of another event as well."""
        self.time += other.time
        self.inner_time += other.inner_time
        self.count += other.count

    def __repr__(self) -> str:
        return f"<{self.key}: {self.count} calls, {self.time:.3f} us>"


class EventList(list[Event]):
    """Calls, and their table."""

    def averages(self) -> EventList:
        """Return one event per name."""
        found: dict[str, Event] = {}
        for each in self:
            if each.key not in found:
                found[each.key] = total = Event(each.key, each.thread, each.start)
                total.count = 0
            found[each.key].add(each)
        return EventList(found.values())

    def key_averages(self, *grouping: Any, **options: Any) -> EventList:
        """Return the calls of each name together."""
        return self.averages()

    def total_average(self) -> Event:
        """Return all calls together."""
        total = Event("Total", 0, 0)
        total.count = 0
        for each in self:
            total.add(each)
        return total

    def export_chrome_trace(self, path: str | os.PathLike[str], **metadata: Any) -> None:
        """Write the calls for the viewer of chrome://tracing."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": list(self._trace()), **metadata}, file)

    def _trace(self) -> Iterator[dict[str, Any]]:
        for each in self:
            yield {
                "name": each.key, "ph": "X", "pid": os.getpid(), "tid": each.thread,
                "ts": each.start / 1000, "dur": each.time, "cat": "cpu_op",
            }  # fmt: skip

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all calls, none counted twice."""
        return sum(each.self_cpu_time_total for each in self)

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: object) -> str:
        """Return a table as text, sorted by `cpu_time_total`, `self_cpu_time_total`, `count` ...

        row_limit: how many rows are shown; all if it is negative.
        """
        rows = list(self)
        if sort_by is not None:
            name = sort_by.replace("cuda", "cpu").replace("device", "cpu")
            rows.sort(key=lambda each: -getattr(each, name))
        whole = self.self_cpu_time_total or 1.0
        lines = [
            ("Name", "Self CPU %", "Self CPU", "CPU total", "CPU time avg", "# of Calls"),
            *(_row(each, whole) for each in rows[: row_limit if row_limit >= 0 else None]),
        ]
        widths = [max(len(line[i]) for line in lines) for i in range(6)]
        rule = "  ".join("-" * width for width in widths)
        text = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in lines
        ]
        total = f"Self CPU time total: {_time(self.self_cpu_time_total)}"
        return "\n".join([rule, text[0], rule, *text[1:], rule, total, ""])


def _row(event: Event, whole: float) -> tuple[str, ...]:
    own = event.self_cpu_time_total
    return (
        event.key,
        f"{100 * own / whole:.2f}%",
        _time(own),
        _time(event.cpu_time_total),
        _time(event.cpu_time),
        str(event.count),
    )


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


Event.__name__ = Event.__qualname__ = "FunctionEvent"
public.place("autograd.profiler", Event, EventList)
