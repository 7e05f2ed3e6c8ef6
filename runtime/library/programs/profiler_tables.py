"""What a profile shows: calls, one by one or by name, and their table; times in microseconds."""

from __future__ import annotations

from torchgen_out._runtime.core import public


class Event:
    """One call, or all calls of one name."""

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
            total = found[each.key]
            total.time += each.time
            total.inner_time += each.inner_time
            total.count += each.count
        return EventList(found.values())

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all calls, none counted twice."""
        return sum(each.self_cpu_time_total for each in self)

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: object) -> str:
        """Return a table as text, sorted by `cpu_time_total`, `self_cpu_time_total`, `count` ..."""
        rows = list(self)
        if sort_by is not None:
            name = sort_by.replace("cuda", "cpu").replace("device", "cpu")
            rows.sort(key=lambda each: -getattr(each, name))
        whole = self.self_cpu_time_total or 1.0
        lines = [
            ("Name", "Self CPU %", "Self CPU", "CPU total", "CPU time avg", "# of Calls"),
            *(_row(each, whole) for each in rows[:row_limit]),
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
