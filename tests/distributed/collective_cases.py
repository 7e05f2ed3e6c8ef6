"""Calls of `torch.distributed`, one table for this library and for PyTorch.

Each function gets (torch, rank, size) and returns plain data; `run_all` runs the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

Case = Callable[[Any, int, int], Any]
CASES: dict[str, Case] = {}
DTYPES = (
    "float32", "float64", "float16", "bfloat16", "int8", "uint8", "int32", "int64", "bool",
)  # fmt: skip
SIZES = (1, 7, 5000, 1 << 18)


def case(function: Case) -> Case:
    """Put a function into the table."""
    CASES[function.__name__] = function
    return function


def plain(value: Any) -> Any:
    """Tensors as lists, whatever library they are of."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def values(torch: Any, rank: int, count: int, dtype: str) -> Any:
    """Small integers that differ by rank: sums and products are exact in every dtype."""
    found = (torch.arange(count) * 7 + rank * 3) % 5 + 1
    return (found % 2).bool() if dtype == "bool" else found.to(getattr(torch, dtype))


@case
def all_reduce(torch: Any, rank: int, size: int) -> Any:
    found = {}
    for dtype in DTYPES[:-1]:
        ops = ["SUM", "PRODUCT", "MIN", "MAX"]
        ops += [] if "float" in dtype else ["BAND", "BOR", "BXOR"]
        for op in ops:
            for count in SIZES[:3]:
                x = values(torch, rank, count, dtype)
                torch.distributed.all_reduce(x, getattr(torch.distributed.ReduceOp, op))
                found[dtype, op, count] = x.double().sum().item(), x[-1].item()
    return found


@case
def all_reduce_large(torch: Any, rank: int, size: int) -> Any:
    x = values(torch, rank, SIZES[3] * 5 + 3, "float32")
    torch.distributed.all_reduce(x)
    return x.sum().item(), x[1:2].tolist(), x[-3:].tolist()


@case
def all_reduce_strided(torch: Any, rank: int, size: int) -> Any:
    x = values(torch, rank, 24, "float32").reshape(4, 6)
    torch.distributed.all_reduce(x.t())
    column = x[:, 1]
    torch.distributed.broadcast(column, 1)
    z = torch.complex(x, x + rank)
    torch.distributed.all_reduce(z)
    return plain(x), plain(z.real), plain(z.imag)


@case
def reduce(torch: Any, rank: int, size: int) -> Any:
    found = []
    for count in SIZES:
        x = values(torch, rank, count, "float32")
        torch.distributed.reduce(x, 1)
        found.append(x.sum().item() if rank == 1 else None)
    return found


@case
def broadcast(torch: Any, rank: int, size: int) -> Any:
    found = []
    for dtype in DTYPES:
        for count in SIZES:
            x = values(torch, rank, count, dtype)
            torch.distributed.broadcast(x, size - 1)
            found.append((x.double().sum().item(), x[:3].tolist()))
    return found


@case
def gathering(torch: Any, rank: int, size: int) -> Any:
    dist, found = torch.distributed, []
    for count in SIZES:
        x = values(torch, rank, count, "int32")
        outs = [torch.zeros_like(x) for _ in range(size)]
        dist.all_gather(outs, x)
        found.append([plain(each.sum()) for each in outs])
        whole = torch.zeros(size * count, dtype=torch.int32)
        dist.all_gather_into_tensor(whole, x)
        found.append(plain(whole[-3:]))
        outs = [torch.zeros_like(x) for _ in range(size)]
        dist.gather(x, outs if rank == 0 else None, 0)
        found.append([plain(each.sum()) for each in outs])
        part = torch.zeros_like(x)
        dist.scatter(part, [x + r for r in range(size)] if rank == 1 else None, 1)
        found.append(plain(part[:2]))
    return found


@case
def reduce_scatter(torch: Any, rank: int, size: int) -> Any:
    found = []
    for count in SIZES:
        x, out = values(torch, rank, count * size, "float32"), torch.zeros(count)
        torch.distributed.reduce_scatter_tensor(out, x)
        found.append((out.sum().item(), out[:2].tolist()))
        out = torch.zeros(count)
        torch.distributed.reduce_scatter(out, list(x.chunk(size)))
        found.append((out.sum().item(), out[:2].tolist()))
    return found


@case
def all_to_all(torch: Any, rank: int, size: int) -> Any:
    dist, found = torch.distributed, []
    for count in SIZES:
        x, out = values(torch, rank, count * size, "int64"), torch.zeros(count * size).long()
        dist.all_to_all_single(out, x)
        found.append((out.sum().item(), out[:2].tolist()))
    splits = [rank + other for other in range(size)]
    x = values(torch, rank, 2 * sum(splits), "float32").reshape(-1, 2)
    out = torch.zeros(sum(splits), 2)
    dist.all_to_all_single(out, x, splits, splits)
    return [*found, plain(out)]


@case
def point_to_point(torch: Any, rank: int, size: int) -> Any:
    dist, found = torch.distributed, []
    after, before = (rank + 1) % size, (rank - 1) % size
    for count in SIZES:
        x, y = values(torch, rank, count, "float32"), torch.zeros(count)
        works = [dist.isend(x, after, tag=5), dist.irecv(y, before, tag=5)]
        for work in works:
            work.wait()
        found.append(plain(y.sum()))
    ones, twos = torch.zeros(3), torch.zeros(1 << 18)
    if rank == 0:
        first = dist.isend(torch.full((1 << 18,), 2.0), 1, tag=2)
        dist.send(torch.ones(3), 1, tag=1)
        first.wait()
    elif rank == 1:
        late = dist.irecv(twos, 0, tag=2)
        found.append(dist.recv(ones, tag=1))
        late.wait()
    ops = [dist.P2POp(dist.isend, x, after), dist.P2POp(dist.irecv, y, before)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    return [*found, plain(ones.sum()), plain(twos.sum()), plain(y.sum())]


@case
def asynchronous(torch: Any, rank: int, size: int) -> Any:
    xs = [values(torch, rank, count, "float32") for count in (3, 70000, 5, 300000)]
    works = [torch.distributed.all_reduce(x, async_op=True) for x in xs]
    doubled = works[1].get_future().then(lambda future: future.value()[0] * 2)
    for work in reversed(works):
        work.wait()
    again = torch.ones(1)
    torch.distributed.all_reduce(again)
    done = [work.is_completed() and work.is_success() for work in works]
    return [plain(x.sum()) for x in xs], done, plain(doubled.wait().sum()), plain(again)


@case
def groups(torch: Any, rank: int, size: int) -> Any:
    dist = torch.distributed
    pair, alone = dist.new_group([0, 1]), dist.new_group([size - 1])
    x = torch.ones(2) * (rank + 1)
    if rank < 2:
        dist.all_reduce(x, group=pair)
    found = [plain(x), dist.get_rank(pair), dist.get_world_size(alone)]
    if rank == size - 1:
        dist.broadcast(x, size - 1, group=alone)
        found.append(dist.get_process_group_ranks(alone))
    dist.barrier()
    return found


@case
def objects(torch: Any, rank: int, size: int) -> Any:
    dist = torch.distributed
    outs: list[Any] = [None] * size
    dist.all_gather_object(outs, {"rank": rank, "text": "x" * rank})
    gathered: Any = [None] * size if rank == 0 else None
    dist.gather_object((rank, None), gathered, 0)
    told: list[Any] = [1, "two", [3.0]] if rank == 1 else [None] * 3
    dist.broadcast_object_list(told, 1)
    own: list[Any] = [None]
    dist.scatter_object_list(own, [{r} for r in range(size)] if rank == 0 else None, 0)
    return outs, gathered, told, own


@case
def refusals(torch: Any, rank: int, size: int) -> Any:
    dist = torch.distributed
    calls: dict[str, Callable[[], Any]] = {
        "no tensor": lambda: dist.all_reduce(3),
        "bits of floats": lambda: dist.all_reduce(torch.ones(1), dist.ReduceOp.BAND),
        "complex": lambda: dist.all_reduce(torch.ones(1) * 1j, dist.ReduceOp.MAX),
        "no list": lambda: dist.gather(torch.ones(1), None, rank),
        "twice": lambda: dist.init_process_group("gloo"),
        "splits": lambda: dist.all_to_all_single(torch.ones(2), torch.ones(2), [3], [2]),
    }
    found = {}
    for name, call in calls.items():
        try:
            call()
        except Exception as error:
            found[name] = next(
                base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"
            )
    return found


def run_all(torch: Any, rank: int, size: int) -> dict[str, Any]:
    """Run the table."""
    return {name: function(torch, rank, size) for name, function in CASES.items()}


def run_on_both_transports(torch: Any, rank: int, size: int) -> dict[str, dict[str, Any]]:
    """Run it in shared memory, then in a new default group by messages."""
    dist = torch.distributed
    found = {"shared": run_all(torch, rank, size)}
    dist.destroy_process_group()
    os.environ["TORCHGEN_TRANSPORT"] = "messages"
    meeting = os.environ["JOB_FOLDER"] + "/again"
    dist.init_process_group("gloo", f"file://{meeting}", rank=rank, world_size=size)
    return {**found, "messages": run_all(torch, rank, size)}
