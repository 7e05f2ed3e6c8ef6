"""The summary as a picture: every ratio a dot, a row per group. Needs matplotlib."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

from benchmarks.groups import GROUPS, LIMIT


def draw(ratios: dict[str, list[float]], path: Path) -> None:
    """Write the picture, the same bytes for the same ratios; nothing without matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "ratios", "svg.fonttype": "none"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 0.42 * len(ratios) + 1.2), layout="constrained")
    for row, (name, values) in enumerate(ratios.items()):
        mean_log = sum(map(math.log10, values)) / len(values)
        # Dots of one row lie on seven lines, so that neighbours stay apart.
        heights = [row + (i % 7 - 3) * 0.09 for i in range(len(values))]
        axes.plot(sorted(values), heights, ".", color="#4477aa", markersize=3.5)
        axes.plot([10**mean_log] * 2, [row - 0.4, row + 0.4], color="#222222", linewidth=2)
        axes.plot([GROUPS[name].budget] * 2, [row - 0.4, row + 0.4], ":", color="#cc3311")
    axes.axvline(1.0, color="#999999", linewidth=0.8)
    axes.axvline(LIMIT, color="#cc3311", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(ratios)), list(ratios))
    axes.invert_yaxis()
    axes.set_xlabel(
        f"our time by PyTorch's; bar: geometric mean, dotted: budget, red line: {LIMIT}"
    )
    axes.set_xticks(ticks := [0.05, 0.1, 0.2, 0.5, 1, 2, 5], [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    pyplot.close(figure)
