"""The names of `torch.autograd.profiler`, which the generated facade re-exports."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.programs import absent, profiler
from torchgen_out._runtime.library.programs.profiler import ProfilerAction, record_function
from torchgen_out._runtime.library.programs.profiler_tables import Event, EventList

__all__ = ["EventList", "FunctionEvent", "emit_nvtx", "profile", "record_function"]

FunctionEvent = Event
emit_nvtx = absent.kind(
    "torch.autograd.profiler.emit_nvtx", "mark ranges with torch.cuda.nvtx.range_push and range_pop"
)


class profile(profiler.profile):
    """The profiler of `torch.profiler`, which its first argument switches off."""

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        super().__init__(schedule=None if enabled else lambda step: ProfilerAction.NONE)

    @property
    def function_events(self) -> EventList:
        """All calls, in the order in which they ended."""
        return self.events()

    @property
    def self_cpu_time_total(self) -> float:
        """The time of all calls, none counted twice."""
        return self.events().self_cpu_time_total

    def total_average(self) -> Event:
        """Return all calls together."""
        return self.events().total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """Return the table of all calls."""
        return self.events().table(sort_by, row_limit)


public.place_all("autograd.profiler", globals())
