"""Two processes of one machine: latency of collectives and messages, and what DDP adds to a step.

    python -m benchmarks --only distributed

Each library runs in processes of its own, two of one thread each, in turns; the table has the
shortest of the rounds' medians. PyTorch's backend is gloo.
"""

from __future__ import annotations

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


def _repeats(dist: Any, torch: Any, call: Callable[[], Any], seconds: float) -> int:
    began = time.perf_counter()
    for _ in range(3):
        call()
    count = torch.tensor([max(5.0, seconds / max((time.perf_counter() - began) / 3, 1e-6))])
    dist.broadcast(count, 0)
    return int(min(count.item(), 2000))


def _time(dist: Any, torch: Any, call: Callable[[], Any], seconds: float = 0.3) -> float:
    """The median in microseconds of a call that both ranks make equally often."""
    count = _repeats(dist, torch, call, seconds)
    times = []
    for _ in range(count):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    dist.barrier()
    return statistics.median(times) * 1e6


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


def measure(torch: Any, dist: Any, rank: int) -> dict[str, float]:
    """All times of one process, by name."""
    found = {}
    for size in SIZES:
        x, y = torch.ones(max(size // 4, 1)), torch.ones(max(size // 4, 1) * 2)
        calls: dict[str, Callable[[], Any]] = {
            "all_reduce": lambda x=x: dist.all_reduce(x, dist.ReduceOp.MAX),
            "broadcast": lambda x=x: dist.broadcast(x, 0),
            "all_gather": lambda x=x, y=y: dist.all_gather_into_tensor(y, x),
            "there and back": lambda x=x: (
                (dist.send(x, 1), dist.recv(x, 1))
                if rank == 0
                else (dist.recv(x, 0), dist.send(x, 0))
            ),
        }
        for name, call in calls.items():
            found[f"{name} {size}"] = _time(dist, torch, call)
    found["barrier 0"] = _time(dist, torch, dist.barrier)
    for name, (network, sizes) in _models(torch).items():
        x = torch.randn(*sizes)
        alone = _time(dist, torch, _step(torch, network, x), 1.0)
        both = torch.nn.parallel.DistributedDataParallel(network)
        found[f"{name}, DDP step"] = _time(dist, torch, _step(torch, both, x), 1.0)
        found[f"{name}, added by DDP"] = found[f"{name}, DDP step"] - alone
    return found


def _worker(library: str, rank: int, store: str, result: str) -> None:
    torch = importlib.import_module(library)
    dist = importlib.import_module(f"{library}.distributed")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dist.init_process_group("gloo", f"file://{store}", rank=rank, world_size=2)
    found = measure(torch, dist, rank)
    if rank == 0:
        Path(result).write_text(json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()


def _round(library: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        result = f"{folder}/result"
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.distributed", library, str(rank),
                 f"{folder}/store", result],
                cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            for rank in range(2)
        ]  # fmt: skip
        if any(process.wait() for process in processes):
            raise RuntimeError(f"{library}: a process has failed")
        return dict(json.loads(Path(result).read_text()))


def _label(name: str) -> str:
    what, _, size = name.rpartition(" ")
    if not size.isdigit() or size == "0":
        return name.removesuffix(" 0")
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if int(size) >= factor:
            return f"{what}, {int(size) // factor} {unit}"
    return f"{what}, {size} bytes"


def table(rounds: int) -> list[str]:
    """The page's lines."""
    found: dict[str, list[dict[str, float]]] = {"torchgen_out": [], "torch": []}
    for _ in range(rounds):
        for library, each in found.items():
            each.append(_round(library))
    lines = ["| call | ours, us | PyTorch, us | ours / PyTorch |", "|---|--:|--:|--:|"]
    for name in found["torch"][0]:
        ours, theirs = (min(each[name] for each in found[lib]) for lib in found)
        lines.append(f"| {_label(name)} | {ours:.0f} | {theirs:.0f} | {ours / theirs:.2f} |")
    return lines


if __name__ == "__main__":
    _worker(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
