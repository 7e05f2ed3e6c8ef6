"""Windows over a dim on the CPU, added up where they overlap."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cpu.loop_plans import NOTHING, operand, out, plan_ranges
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec
from torchgen_out._runtime.kernels.typed import typed


@planned()
def fold_windows(result: TensorSpec, self: TensorSpec, count: int, step: int) -> LaunchPlan:
    """Write what the windows are parts of.

    Shape: (*B, windows, size, R) -> (*B, count, R)
    """
    if not result.numel:
        return NOTHING
    windows, size, rest = self.sizes[-3:]
    batch = result.numel // (count * rest)
    views = out(0, batch, count * rest), operand(0, batch, windows, size * rest)
    return plan_ranges(add_windows, batch, self.numel, [result], [self], *views, step * rest)


FEW = 8
"""Neighbours up to which a loop over them takes longer to begin than to run."""


@typed
def add_windows(start, stop, out, x, step):
    """Neighbours are added to neighbours, window by window, or one of each window at a time."""
    for b in range(start, stop):
        line, windows = out[b], x[b]
        line[:] = T(0)
        if windows.shape[1] <= FEW:
            for k in range(windows.shape[1]):
                for w in range(windows.shape[0]):
                    line[w * step + k] += windows[w, k]
        else:
            for w in range(windows.shape[0]):
                add(line[w * step : w * step + windows.shape[1]], windows[w])


@typed
def add(target, source):
    """Element by element."""
    for i in range(target.size):
        target[i] += source[i]
