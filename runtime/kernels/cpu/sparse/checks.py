"""What is wrong with compressed indices, told in one pass without memory of its own."""

from __future__ import annotations

from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.cpu.loop_plans import operand, out, plan_loop
from torchgen_out._runtime.kernels.cpu.planned import planned
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec


@planned()
def line_faults(
    faults: TensorSpec, compressed: TensorSpec, plain: TensorSpec, across: int
) -> LaunchPlan:
    """Plan which rules of compressed indices are broken, one number each, 0 or 1.

    0: the first line begins at 0; 1: the last ends with the entries; 2: none ends before it begins;
    3: none has more than `across`; 4: plain indices are in [0, across); 5: they ascend along each
    line, told if 0 to 2 hold.
    """
    edges, count = compressed.sizes[-1], plain.sizes[-1]
    several = compressed.numel // edges
    return plan_loop(
        find_faults, [faults], [compressed, plain],
        out(0, 6), operand(0, several, edges), operand(1, several, count), across,
    )  # fmt: skip


@kernel
def find_faults(faults, compressed, plain, across):
    """All rules for all matrices; without branches, so that it vectorises."""
    several, last, count = compressed.shape[0], compressed.shape[1] - 1, plain.shape[1]
    is_moved = is_short = is_crossed = is_long = is_outside = False
    for m in range(several):
        is_moved |= compressed[m, 0] != 0
        is_short |= compressed[m, last] != count
        for i in range(last):
            length = np.int64(compressed[m, i + 1]) - np.int64(compressed[m, i])
            is_crossed |= length < 0
            is_long |= length > across
        for i in range(count):
            is_outside |= (plain[m, i] < 0) | (plain[m, i] >= across)
    faults[0], faults[1], faults[2] = is_moved, is_short, is_crossed
    faults[3], faults[4], faults[5] = is_long, is_outside, 0
    if is_moved | is_short | is_crossed:
        return
    for m in range(several):
        falls = 0
        for i in range(count - 1):
            falls += plain[m, i + 1] <= plain[m, i]
        for line in range(1, last):
            begin = np.uint64(compressed[m, line])
            if 0 < begin < np.uint64(compressed[m, line + 1]):
                falls -= plain[m, begin] <= plain[m, begin - np.uint64(1)]
        faults[5] |= falls != 0
