"""`torch.utils.benchmark` tells of equal times what PyTorch's tells."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest

import torchgen_out as ours

theirs = pytest.importorskip("torch")
pytest.importorskip("torch.utils.benchmark")

TIMES = {
    "steady": [1.01e-5, 1e-5, 1.02e-5, 1e-5, 1.01e-5],
    "wild": [1e-3, 5e-3, 2e-3, 9e-3, 1e-3],
    "shaky": [1e-6, 1.2e-6, 1.1e-6, 1e-6, 1.15e-6, 1.02e-6],
    "single": [0.25],
    "seconds": [2.0, 2.1, 2.05, 2.02],
}


def measured(torch: Any, name: str, **task: Any) -> Any:
    benchmark = torch.utils.benchmark
    spec = benchmark.TaskSpec(**{"stmt": "x + 1", "setup": "pass", **task})
    return benchmark.Measurement(10, [each * 10 for each in TIMES[name]], spec)


def told(measurement: Any) -> str:
    return re.sub("<.* object at .*>", "", repr(measurement))


@pytest.mark.parametrize("name", TIMES)
def test_measurements(name: str) -> None:
    mine, wanted = measured(ours, name), measured(theirs, name)
    for each in ("median", "mean", "iqr"):
        assert getattr(mine, each) == pytest.approx(getattr(wanted, each), abs=1e-12)
    for each in ("significant_figures", "has_warnings", "as_row_name", "stmt", "env", "title"):
        assert getattr(mine, each) == getattr(wanted, each)
    assert told(mine) == told(wanted)


TASKS = [
    {"label": "add", "sub_label": "small", "description": "here"},
    {"stmt": "a\nb", "setup": "x = 1\ny = 2", "sub_label": "both", "num_threads": 2},
    {"stmt": "a\nb", "setup": "x = 1", "description": "two lines"},
]


@pytest.mark.parametrize("task", TASKS)
def test_what_is_told_of_a_task(task: dict[str, Any]) -> None:
    assert told(measured(ours, "steady", **task)) == told(measured(theirs, "steady", **task))


def several(torch: Any, envs: bool) -> list[Any]:
    found = []
    for label, times in (("first", ("steady", "shaky")), ("second", ("wild", "seconds"))):
        for threads in (1, 4):
            for row in ("16 x 16", "a name of 128 x 128"):
                for description, name in zip(("plain", "fused"), times, strict=True):
                    if (threads, row, description) != (4, "16 x 16", "fused"):
                        named = {"label": label, "sub_label": row, "description": description}
                        env = {"env": "new" if threads == 1 else "older"} if envs else {}
                        found.append(measured(torch, name, num_threads=threads, **named, **env))
    return [*found, found[0]]


@pytest.mark.parametrize("envs", [False, True])
@pytest.mark.parametrize("rowwise", [None, False, True])
@pytest.mark.parametrize("trims", [False, True])
@pytest.mark.parametrize("warns", [False, True])
def test_tables(envs: bool, rowwise: bool | None, trims: bool, warns: bool) -> None:
    def table(torch: Any) -> str:
        compare = torch.utils.benchmark.Compare(several(torch, envs))
        if rowwise is not None:
            compare.colorize(rowwise)
        if trims:
            compare.trim_significant_figures()
        if warns:
            compare.highlight_warnings()
        return str(compare)

    assert table(ours) == table(theirs)


def _note(calls: list[tuple[int, float]], runs: int, taken: float) -> None:
    calls.append((runs, taken))


def test_timers() -> None:
    for torch in (ours, theirs):
        benchmark = torch.utils.benchmark
        threads = torch.get_num_threads()
        timer = benchmark.Timer(
            "\n    y = x.add(1)\n    y.exp()", "x = torch.ones(k)", globals={"k": 3}, num_threads=1
        )
        once = timer.timeit(20)
        assert (once.number_per_run, len(once.times)) == (20, 1)
        assert once.stmt == "y = x.add(1)\ny.exp()"
        calls: list[tuple[int, float]] = []
        many = timer.blocked_autorange(partial(_note, calls), min_run_time=0.01)
        assert calls == [(many.number_per_run, taken) for taken in many.raw_times]
        assert sum(many.raw_times) >= 0.01
        some = timer.adaptive_autorange(0.5, min_run_time=0.001, max_run_time=0.2)
        assert 0 < some.median < 0.01
        assert torch.get_num_threads() == threads
        with pytest.raises(ValueError, match="only a `str` stmt"):
            benchmark.Timer(print)
        with pytest.raises(ValueError, match="Invalid language"):
            benchmark.Timer(language="fortran")
        with pytest.raises(ValueError, match=r"global_setup is C\+\+ only"):
            benchmark.Timer(global_setup="x")
        with pytest.raises(NotImplementedError, match="blocked_autorange"):
            timer.autorange()
        with pytest.raises(ValueError, match="instance of `Measurement`"):
            benchmark.Compare([1])
