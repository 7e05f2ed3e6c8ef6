"""Two processes of one machine: latency of collectives and messages, and what DDP adds to a step.

    python -m benchmarks --only distributed

Two processes of one thread each have both libraries, which take turns of some milliseconds, so that
a busy machine is busy for both; the table has the medians of turns, of whole steps the shortest
turn, and the processor time that DDP adds to a step, which waiting for a processor is no part of.
PyTorch's backend is gloo.
"""

from __future__ import annotations

import copy
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TITLE = "Two processes of one machine"
SIZES = (8, 1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 26)
ROOT = Path(__file__).resolve().parent.parent


ROUNDS = 15
"""Turns of each library."""


def _count(torch: Any, call: Callable[[], Any], seconds: float) -> int:
    """How often a turn makes a call: equally often on both ranks."""
    began = time.perf_counter()
    for _ in range(3):
        call()
    each = (time.perf_counter() - began) / 3
    count = torch.tensor([min(max(3.0, seconds / max(each, 1e-6)), 200.0)])
    torch.distributed.broadcast(count, 0)
    return int(count.item())


def _turn(torch: Any, call: Callable[[], Any], count: int) -> tuple[float, float]:
    """The median time of a call and its mean processor time, in microseconds."""
    times = []
    torch.distributed.barrier()
    first = time.process_time()
    for _ in range(count):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6, (time.process_time() - first) / count * 1e6


def _turns(torch: Any, calls: list[Callable[[], Any]], seconds: float) -> list[Any]:
    """Times and processor times of the turns of each call, of which one follows the other."""
    counts = [_count(torch, call, seconds) for call in calls]
    turns: list[list[tuple[float, float]]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for found, call, count in zip(turns, calls, counts, strict=True):
            found.append(_turn(torch, call, count))
    return [tuple(zip(*each, strict=True)) for each in turns]


def _in_turns(torch: Any, calls: list[Callable[[], Any]], seconds: float = 0.01) -> list[float]:
    """The median of each call's turns."""
    return [statistics.median(times) for times, _ in _turns(torch, calls, seconds)]


def _models(torch: Any) -> dict[str, tuple[Any, Any]]:
    nn = torch.nn

    class Recurrent(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.rnn, self.head = nn.LSTM(32, 64, batch_first=True), nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            return self.head(self.rnn(x)[0][:, -1])

    return {
        "MLP 784-256-256-10": (
            nn.Sequential(
                nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
            ),
            (64, 784),
        ),
        "CNN 16-32, 28x28": (
            nn.Sequential(
                nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.ReLU(),
                nn.Flatten(), nn.Linear(32 * 11 * 11, 10),
            ),
            (32, 1, 28, 28),
        ),
        "LSTM 32-64, 20 steps": (Recurrent(), (32, 20, 32)),
    }  # fmt: skip


def _step(torch: Any, network: Any, x: Any) -> Callable[[], None]:
    optimizer = torch.optim.SGD(network.parameters(), 0.01)

    def step() -> None:
        optimizer.zero_grad()
        network(x).square().mean().backward()
        optimizer.step()

    return step


def _calls(torch: Any, rank: int, size: int) -> dict[str, Callable[[], Any]]:
    dist, count = torch.distributed, max(size // 4, 1)
    x, y = torch.ones(count), torch.ones(count * 2)

    def there_and_back() -> None:
        for call in (dist.send, dist.recv) if rank == 0 else (dist.recv, dist.send):
            call(x, 1 - rank)

    return {
        "all_reduce": lambda: dist.all_reduce(x, dist.ReduceOp.MAX),
        "broadcast": lambda: dist.broadcast(x, 0),
        "all_gather": lambda: dist.all_gather_into_tensor(y, x),
        "there and back": there_and_back,
    }


def measure(ours: Any, theirs: Any, rank: int) -> dict[str, list[float]]:
    """All times of one process, by name: of this library and of PyTorch."""
    both, found = (ours, theirs), {}
    for size in SIZES:
        named = [_calls(each, rank, size) for each in both]
        for name in named[0]:
            found[f"{name} {size}"] = _in_turns(theirs, [calls[name] for calls in named])
    barriers = [ours.distributed.barrier, theirs.distributed.barrier]
    found["barrier 0"] = _in_turns(theirs, barriers)
    models = [_models(each) for each in both]
    for name in models[0]:
        steps = [step for each in zip(both, models, strict=True) for step in _steps(each, name)]
        turns = _turns(theirs, steps, 0.1)
        alone, step, their_alone, their_step = (min(times) for times, _ in turns)
        found[f"{name}, step of one process"] = [alone, their_alone]
        found[f"{name}, DDP step"] = [step, their_step]
        found[f"{name}, added by DDP"] = [step - alone, their_step - their_alone]
        alone, step, their_alone, their_step = (statistics.median(spent) for _, spent in turns)
        found[f"{name}, processor time added"] = [step - alone, their_step - their_alone]
    return found


def _steps(given: tuple[Any, Any], name: str) -> list[Callable[[], None]]:
    """A step without DDP, and one with it."""
    torch, models = given
    network, sizes = models[name]
    x = torch.randn(*sizes)
    both = torch.nn.parallel.DistributedDataParallel(copy.deepcopy(network))
    return [_step(torch, network, x), _step(torch, both, x)]


def _worker(rank: int, folder: str) -> None:
    libraries = [importlib.import_module(name) for name in ("torchgen_out", "torch")]
    for torch in libraries:
        dist = importlib.import_module(f"{torch.__name__}.distributed")
        torch.set_num_threads(1)
        torch.manual_seed(0)
        meeting = f"file://{folder}/{torch.__name__}"
        dist.init_process_group("gloo", meeting, rank=rank, world_size=2)
    found = measure(*libraries, rank)
    if rank == 0:
        Path(folder, "result").write_text(json.dumps(found))
    for torch in libraries:
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


def _round() -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.distributed", str(rank), folder],
                cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            for rank in range(2)
        ]  # fmt: skip
        if any(process.wait() for process in processes):
            raise RuntimeError("a process has failed")
        return dict(json.loads(Path(folder, "result").read_text()))


def _label(name: str) -> str:
    what, _, size = name.rpartition(" ")
    if not size.isdigit() or size == "0":
        return name.removesuffix(" 0")
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if int(size) >= factor:
            return f"{what}, {int(size) // factor} {unit}"
    return f"{what}, {size} bytes"


def table(rounds: int) -> list[str]:
    """The page's lines: of some runs the medians."""
    found = [_round() for _ in range(rounds)]
    lines = ["| call | ours, us | PyTorch, us | ours / PyTorch |", "|---|--:|--:|--:|"]
    for name in found[0]:
        ours, theirs = (statistics.median(each[name][i] for each in found) for i in range(2))
        ratio = f"{ours / theirs:.2f}" if theirs > 0 else "-"
        lines.append(f"| {_label(name)} | {ours:.0f} | {theirs:.0f} | {ratio} |")
    return lines


if __name__ == "__main__":
    _worker(int(sys.argv[1]), sys.argv[2])
