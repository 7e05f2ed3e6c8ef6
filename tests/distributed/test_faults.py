"""What goes wrong between processes: who is gone or late is named, in time, and nothing is left."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import torchgen_out as torch
import torchgen_out.distributed.checkpoint as checkpoint
from tests.distributed import jobs


def late(torch: Any, rank: int, size: int) -> list[str]:
    """Rank 1 comes too late to each call, in a group of its own for each."""
    dist, told = torch.distributed, []
    x = torch.ones(1 << 16)
    half_second = timedelta(seconds=0.5)
    calls: list[Any] = [
        lambda group: dist.all_reduce(x, group=group),
        lambda group: dist.recv(x, 1, group=group),
        lambda group: dist.all_reduce(x, group=group, async_op=True).wait(half_second),
        lambda group: dist.monitored_barrier(group, half_second, wait_all_ranks=True),
    ]
    for transport, call in itertools.product(("", "messages"), calls):
        os.environ["TORCHGEN_TRANSPORT"] = transport
        if call is calls[0]:
            told.append(_slow(dist, x, rank))
        group = dist.new_group(timeout=half_second)
        if rank == 0:
            try:
                call(group)
                told.append("nothing")
            except RuntimeError as error:
                told.append(str(error))
        dist.barrier()
    return told


def _slow(dist: Any, x: Any, rank: int) -> str:
    """A rank that takes its time is waited for."""
    group = dist.new_group(timeout=timedelta(seconds=5))
    for _ in range(2):
        time.sleep(0.2 * rank)
        y = x.clone()
        dist.all_reduce(y, group=group)
        dist.monitored_barrier(group)
    return f"slow: {y.sum().item() / x.sum().item()}"


def test_who_is_late_is_named(tmp_path: Path) -> None:
    first, _ = jobs.run(tmp_path, late, 2)
    slow = [told for told in first if told.startswith("slow")]
    assert slow == ["slow: 2.0"] * 2
    first = [told for told in first if told not in slow]
    assert len(first) == 8
    for number, told in enumerate(first):
        if number % 4 == 3:
            assert "Ranks 1 failed to pass" in told
        else:
            assert "0.5 seconds" in told
            assert "rank 1" in told


def training(torch: Any, rank: int, size: int) -> None:
    """Steps without end, with a checkpoint after each: a file says that they have begun."""
    dist, checkpoint = torch.distributed, import_module(f"{torch.__name__}.distributed.checkpoint")
    folder, x = os.environ["JOB_FOLDER"], torch.ones(8, 16)
    network = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(16, 1000))
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    for step in itertools.count():
        optimizer.zero_grad()
        network(x).square().mean().backward()
        optimizer.step()
        dist.broadcast(x, 0)
        dist.send(x, 0) if rank else dist.recv(x, 1)
        state = {"step": step, "of all": torch.full((1000,), step), f"{rank}": torch.tensor(step)}
        checkpoint.save(state, checkpoint_id=f"{folder}/saved")
        if step == 1:
            Path(folder, f"begun{rank}").touch()


def _killed(folder: Path, transport: str, moments: random.Random) -> None:
    job = jobs.Job(folder, training, 2, JOB_TIMEOUT="20", TORCHGEN_TRANSPORT=transport)
    while not all((folder / f"begun{rank}").exists() for rank in range(2)):
        assert all(p.poll() is None for p in job.processes), job.told()
        time.sleep(0.02)
    time.sleep(moments.uniform(0, 0.1))
    victim = moments.randrange(2)
    os.kill(job.processes[victim].pid, signal.SIGKILL)
    began = time.monotonic()
    codes = job.wait(15)
    assert time.monotonic() - began < 10
    assert codes[1 - victim] == 1
    assert f"rank {victim} is gone" in job.told(), job.told()
    state = {"step": 0, "of all": torch.zeros(1000).long(), "0": torch.tensor(0)}
    state["1"] = torch.tensor(0)
    checkpoint.load(state, checkpoint_id=folder / "saved", no_dist=True)
    assert state["step"] > 0
    assert all((state[name] == state["step"]).all() for name in ("of all", "0", "1"))


def test_a_killed_rank_is_named_at_once_and_nothing_is_left(tmp_path: Path) -> None:
    before = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    moments = random.Random(16)
    for number, transport in enumerate(("", "", "messages")):
        _killed(tmp_path / str(number), transport, moments)
    if before:
        assert set(os.listdir("/dev/shm")) <= before


@pytest.mark.slow
def test_fifty_moments(tmp_path: Path) -> None:
    moments = random.Random(50)
    for number in range(50):
        _killed(tmp_path / str(number), "messages" if number % 5 == 4 else "", moments)


def _strange_group(torch: Any, rank: int, size: int) -> str:
    """Rank 1 says that it speaks another version; rank 0 hears strangers at its sockets."""
    dist = torch.distributed
    mesh = sys.modules["torchgen_out._runtime.library.distributed.gloo.mesh"]
    if rank == 1:
        mesh.VERSION = 99
    store = dist.FileStore(os.environ["JOB_FOLDER"] + "/meeting", size)
    try:
        dist.init_process_group(
            "gloo", store=store, rank=rank, world_size=size, timeout=timedelta(seconds=5)
        )
    except RuntimeError as error:
        return str(error)
    return "nothing"


def test_another_version_is_refused(tmp_path: Path) -> None:
    for told in jobs.run(tmp_path, _strange_group, 2, JOB_BACKEND="none"):
        assert "version 99" in told
        assert "version 1" in told


def _strangers(torch: Any, rank: int, size: int) -> list[float]:
    """Somebody talks nonsense to rank 0's sockets while the group meets."""
    import json
    import socket
    import threading

    dist = torch.distributed
    store = dist.FileStore(os.environ["JOB_FOLDER"] + "/meeting", size)
    if rank == 1:
        told = json.loads(store.get("group:default/gloo/rank0"))
        for at in (0, 1):
            end = socket.socket(socket.AF_UNIX if at == 0 else socket.AF_INET)
            end.connect("\0" + told["local"] if at == 0 else (told["address"], told["port"]))
            end.sendall(b"\xff" * 4096)
            threading.Timer(1.0, end.close).start()
    dist.init_process_group(
        "gloo", store=store, rank=rank, world_size=size, timeout=timedelta(seconds=10)
    )
    x = torch.ones(2) + rank
    dist.all_reduce(x)
    return list(x.tolist())


def test_strangers_do_not_get_in(tmp_path: Path) -> None:
    assert jobs.run(tmp_path, _strangers, 2, JOB_BACKEND="none") == [[3.0, 3.0]] * 2


PLUGIN = """
import torchgen_out as torch, torchgen_out.distributed as dist
class Work(dist.Work):
    def wait(self, timeout=None): return True
class Lonely(dist.ProcessGroup):
    def getBackendName(self): return "lonely"
    def allreduce(self, tensors, opts=None):
        for each in tensors: each.mul_(10)
        return Work(tensors)
made = []
def create(store, rank, size, timeout):
    store.set("made", "yes"); made.append(store.get("made"))
    return Lonely(rank, size)
dist.Backend.register_backend("lonely", create, devices=["cpu"])
dist.init_process_group("lonely", store=dist.HashStore(), rank=0, world_size=1)
x = torch.ones(1); dist.all_reduce(x); print(x.item(), dist.get_backend(), made[0])
try: dist.broadcast(x, 0)
except RuntimeError as error: print(error)
dist.destroy_process_group(); print(dist.is_initialized())
"""


def test_a_backend_from_outside() -> None:
    command = [sys.executable, "-c", PLUGIN]
    told = subprocess.run(command, capture_output=True, text=True, cwd=jobs.ROOT, check=False)
    assert told.stdout.splitlines() == [
        "10.0 lonely b'yes'", "Backend Lonely does not support broadcast", "False",
    ], told.stderr  # fmt: skip
