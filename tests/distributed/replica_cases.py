"""Training by several processes, compared within each with one process that has the whole batch."""

from __future__ import annotations

import contextlib
import copy
import os
import weakref
from collections.abc import Callable
from math import inf
from typing import Any

Case = Callable[[Any, int, int], Any]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    """Put a function into the table. It raises AssertionError, or returns what ranks compare."""
    CASES[function.__name__] = function
    return function


def model(torch: Any) -> Any:
    torch.manual_seed(3)
    layers = torch.nn
    return layers.Sequential(layers.Linear(6, 40), layers.Tanh(), layers.Linear(40, 3))


def batch(torch: Any, size: int, step: int = 0) -> tuple[Any, Any]:
    made = torch.Generator().manual_seed(step)
    return torch.randn(4 * size, 6, generator=made), torch.randn(4 * size, 3, generator=made)


def part(torch: Any, rank: int, size: int, step: int = 0) -> tuple[Any, Any]:
    x, y = batch(torch, size, step)
    return x.chunk(size)[rank], y.chunk(size)[rank]


def loss_of(torch: Any, network: Any, x: Any, y: Any) -> Any:
    return torch.nn.functional.mse_loss(network(x), y)


def grads(network: Any) -> list[Any]:
    return [p.grad for p in network.parameters()]


def same(torch: Any, got: list[Any], expected: list[Any], exactly: bool = False) -> None:
    for one, other in zip(got, expected, strict=True):
        if exactly:
            assert torch.equal(one, other)
        else:
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-7)


def averaged(torch: Any, size: int, step: int = 0) -> list[Any]:
    """What DDP has to give, bit by bit: gradients of the parts, each times 1 / size, added."""
    total: list[Any] = []
    for rank in range(size):
        network = model(torch)
        loss_of(torch, network, *part(torch, rank, size, step)).backward()
        own = [grad * (1 / size) for grad in grads(network)]
        total = own if not total else [a + b for a, b in zip(total, own, strict=True)]
    return total


def replica(torch: Any, network: Any = None, **options: Any) -> Any:
    own = model(torch) if network is None else network
    return torch.nn.parallel.DistributedDataParallel(own, **options)


@case
def sparse_gradients(torch: Any, rank: int, size: int) -> None:
    """A table's entries come from all ranks; one of them may have none."""

    def made() -> Any:
        torch.manual_seed(5)
        return torch.nn.Sequential(torch.nn.Embedding(9, 3, sparse=True), torch.nn.Linear(3, 2))

    rows = torch.arange(4 * size).remainder(7)
    whole, own = made(), replica(torch, made())
    for first in (0, 3):  # the second time gradients add to those that are there
        (whole(rows[first:]).sum() / size).backward()
        mine = rows[first:] if rank == 0 else rows[:0]
        own(mine).sum().backward()
        table, other = own.module[0].weight.grad, whole[0].weight.grad
        assert table.is_sparse and table.is_coalesced()
        same(torch, [table.to_dense()], [other.to_dense()])
        same(torch, [own.module[1].weight.grad], [whole[1].weight.grad])


@case
def gradients(torch: Any, rank: int, size: int) -> Any:
    exact = averaged(torch, size)
    whole = model(torch)
    loss_of(torch, whole, *batch(torch, size)).backward()
    for options in (
        {},
        {"gradient_as_bucket_view": True},
        {"bucket_cap_mb": 0.0001},
        {"find_unused_parameters": True},
        {"static_graph": True},
    ):
        network = replica(torch, **options)
        for _ in range(2):
            network.zero_grad()
            loss_of(torch, network, *part(torch, rank, size)).backward()
            same(torch, grads(network), exact, exactly=True)
        same(torch, grads(network), grads(whole))
        assert next(name for name, _ in network.named_parameters()) == "module.0.weight"


@case
def starts_from_rank_0(torch: Any, rank: int, size: int) -> Any:
    torch.manual_seed(rank)
    network = replica(torch, torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)))
    network(torch.randn(5, 3) + rank)
    network(torch.randn(5, 3) + rank)
    return [value.tolist() for value in network.state_dict().values()][:2], network.module[
        1
    ].num_batches_tracked.item()


@case
def not_synchronized(torch: Any, rank: int, size: int) -> Any:
    network, exact = replica(torch), averaged(torch, size)
    with network.no_sync():
        loss_of(torch, network, *part(torch, rank, size)).backward()
    loss_of(torch, network, *part(torch, rank, size)).backward()
    same(torch, grads(network), [2 * grad for grad in exact], exactly=True)


@case
def unused(torch: Any, rank: int, size: int) -> Any:
    class Branches(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(size + 1)])

        def forward(self, x: Any) -> Any:
            return self.parts[rank](x)

    network = replica(torch, Branches(), find_unused_parameters=True)
    network(torch.ones(1, 2)).sum().backward()
    assert network.module.parts[size].weight.grad is None
    for i in range(size):
        assert network.module.parts[i].bias.grad.tolist() == [1 / size] * 2
    network = replica(torch, Branches())
    network(torch.ones(1, 2)).sum().backward()
    try:
        network(torch.ones(1, 2))
    except RuntimeError as error:
        return "find_unused_parameters=True" in str(error)


@case
def other_models(torch: Any, rank: int, size: int) -> Any:
    try:
        replica(torch, torch.nn.Linear(3, 2 + rank))
    except RuntimeError as error:
        return "same model across all ranks" in str(error)


@case
def hooks(torch: Any, rank: int, size: int) -> Any:
    from importlib import import_module

    place = f"{torch.__name__}.distributed.algorithms.ddp_comm_hooks"
    given = import_module(f"{place}.default_hooks")
    power = import_module(f"{place}.powerSGD_hook")
    exact = averaged(torch, size)
    for hook, digits in (
        (given.allreduce_hook, 1e-6),
        (given.fp16_compress_hook, 2e-3),
        (given.bf16_compress_hook, 2e-2),
        (given.fp16_compress_wrapper(given.allreduce_hook), 2e-3),
    ):
        network = replica(torch)
        network.register_comm_hook(None, hook)
        loss_of(torch, network, *part(torch, rank, size)).backward()
        for one, other in zip(grads(network), exact, strict=True):
            torch.testing.assert_close(one, other, rtol=digits, atol=digits * 0.1)
    for hook in (power.powerSGD_hook, power.batched_powerSGD_hook):
        network = replica(torch)
        state = power.PowerSGDState(
            None, matrix_approximation_rank=6, start_powerSGD_iter=2, min_compression_rate=0.1
        )
        network.register_comm_hook(state, hook)
        for step in range(4):
            network.zero_grad()
            loss_of(torch, network, *part(torch, rank, size, step)).backward()
        assert state.q_memory_dict
        if hook is power.powerSGD_hook:  # of full rank: nothing is lost
            expected = averaged(torch, size, 3)
            for one, other in zip(grads(network), expected, strict=True):
                torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    return [grad.sum().item() for grad in grads(network)]


@case
def uneven(torch: Any, rank: int, size: int) -> Any:
    network = replica(torch)
    optimizer = torch.optim.SGD(network.parameters(), 0.1)
    with network.join():
        for step in range(2 + 2 * rank):
            optimizer.zero_grad()
            loss_of(torch, network, *part(torch, rank, size, step)).backward()
            optimizer.step()
    return [p.sum().item() for p in network.parameters()]


@case
def early_end(torch: Any, rank: int, size: int) -> Any:
    network, steps = replica(torch), 0
    with contextlib.suppress(RuntimeError), network.join(throw_on_early_termination=True):
        for _ in range(2 + 2 * rank):
            loss_of(torch, network, *part(torch, rank, size)).backward()
            steps += 1
    return steps


@case
def batch_norm(torch: Any, rank: int, size: int) -> Any:
    whole = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 2), torch.nn.BatchNorm2d(3))
    torch.manual_seed(1)
    for p in whole.parameters():
        torch.nn.init.uniform_(p)
    whole.double()
    own = torch.nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(whole))
    x = (
        torch.randn(2 * size, 2, 5, 5, generator=torch.Generator().manual_seed(2)).double() * 3
        + 100
    )
    weights = torch.arange(3.0).double().view(3, 1, 1)
    out = own(x.chunk(size)[rank])
    (out * out * weights).sum().backward()
    expected = whole(x)
    (expected * expected * weights).sum().backward()
    torch.testing.assert_close(out, expected.chunk(size)[rank])
    torch.testing.assert_close(own[1].running_var, whole[1].running_var)
    for p, q in zip(own.parameters(), whole.parameters(), strict=True):
        torch.distributed.all_reduce(p.grad)
        torch.testing.assert_close(p.grad, q.grad, rtol=1e-6, atol=1e-6)


@case
def fully_sharded(torch: Any, rank: int, size: int) -> Any:
    """Two levels of modules: losses, gradients, clipping, steps and state are the whole model's."""
    from importlib import import_module

    shard = import_module(f"{torch.__name__}.distributed.fsdp").fully_shard
    states = import_module(f"{torch.__name__}.distributed.checkpoint.state_dict")
    saved = import_module(f"{torch.__name__}.distributed.checkpoint")
    whole, own = blocks(torch), blocks(torch)
    shard(own[1])
    shard(own[2], reshard_after_forward=False)
    shard(own)
    kept: list[Any] = []
    for layer in own[1:3]:
        layer[0].register_forward_hook(
            lambda layer, args, out: kept.append(weakref.ref(layer.weight._storage))
        )
    clip = torch.nn.utils.clip_grad_norm_
    pair = [torch.optim.AdamW(each.parameters(), 1e-2) for each in (whole, own)]
    for step in range(3):
        for optimizer in pair:
            optimizer.zero_grad()
        expected = loss_of(torch, whole, *batch(torch, size, step))
        loss = loss_of(torch, own, *part(torch, rank, size, step))
        assert [each() is None for each in kept] == [True, False]
        expected.backward()
        loss.backward()
        assert [each() is None for each in kept] == [True, True]
        kept.clear()
        norms = [clip(each.parameters(), 0.1, norm) for norm in (2.0, inf) for each in (whole, own)]
        same(torch, norms[1::2], norms[::2])
        same(torch, [p._shard.gather(p.grad) for p in own.parameters()], grads(whole))
        for optimizer in pair:
            optimizer.step()
    assert own[1][0].weight.shape == whole[1][0].weight.chunk(size)[rank].shape
    found, moments = states.get_state_dict(own, pair[1])
    same(torch, list(found.values()), list(whole.state_dict().values()))
    mean = moments["state"]["1.0.weight"]["exp_avg"]
    same(torch, [mean], [pair[0].state[whole[1][0].weight]["exp_avg"]])
    folder = os.environ["JOB_FOLDER"] + "/sharded"
    saved.save({"model": found, "optimizer": moments["state"]}, checkpoint_id=folder)
    other = shard(blocks(torch, seed=rank))
    again = torch.optim.AdamW(other.parameters(), 1e-2)
    states.set_state_dict(other, again, model_state_dict=found, optim_state_dict=moments)
    x, y = part(torch, rank, size)
    same(torch, [other(x)], [own(x)])
    for network, optimizer in ((own, pair[1]), (other, again)):
        optimizer.zero_grad()
        loss_of(torch, network, x, y).backward()
        optimizer.step()
    same(torch, list(other.state_dict().values()), list(own.state_dict().values()))
    try:
        shard(own)
    except ValueError as error:
        return str(error)


def blocks(torch: Any, seed: int = 0) -> Any:
    """Two levels: layers, and two blocks of layers."""
    layers = torch.nn
    torch.manual_seed(seed)
    block = [layers.Sequential(layers.Linear(6, 5), layers.Linear(5, 6)) for _ in range(2)]
    return layers.Sequential(layers.Linear(6, 6), *block, layers.LayerNorm(6), layers.Linear(6, 3))


@case
def sampler(torch: Any, rank: int, size: int) -> Any:
    return list(torch.utils.data.DistributedSampler(range(7), shuffle=False))


@case
def sharded_optimizer(torch: Any, rank: int, size: int) -> Any:
    from importlib import import_module

    cls = import_module(f"{torch.__name__}.distributed.optim").ZeroRedundancyOptimizer
    network, alone = replica(torch), model(torch)
    options = {"lr": 0.01, "weight_decay": 0.1}
    sharded = cls(network.parameters(), torch.optim.AdamW, **options)
    plain = torch.optim.AdamW(alone.parameters(), **options)
    for step in range(3):
        sharded.zero_grad()
        loss_of(torch, network, *part(torch, rank, size, step)).backward()
        for p, q in zip(alone.parameters(), network.parameters(), strict=True):
            p.grad = q.grad.clone()
        sharded.step()
        plain.step()
    same(torch, list(network.parameters()), list(alone.parameters()))
    sharded.consolidate_state_dict(0)
    if rank == 0:
        whole = sharded.state_dict()
        for index, state in plain.state_dict()["state"].items():
            same(torch, [whole["state"][index]["exp_avg"]], [state["exp_avg"]])
        torch.save(whole, os.environ["JOB_FOLDER"] + "/zero")
    torch.distributed.barrier()
    again = cls(network.parameters(), torch.optim.AdamW, **options)
    again.load_state_dict(torch.load(os.environ["JOB_FOLDER"] + "/zero"))
    assert len(sharded.optim.state) in (1, 2, 3)
    assert len(again.optim.state) == len(sharded.optim.state)


@case
def checkpoint(torch: Any, rank: int, size: int) -> Any:
    from importlib import import_module

    saved = import_module(f"{torch.__name__}.distributed.checkpoint")
    folder = os.environ["JOB_FOLDER"] + "/checkpoint"
    network = model(torch)
    optimizer = torch.optim.Adam(network.parameters())
    loss_of(torch, network, *batch(torch, size)).backward()
    optimizer.step()
    own = {f"of rank {rank}": torch.full((3,), float(rank))}
    saved.save({"model": network, "step": 7, "own": own}, checkpoint_id=folder)
    saved.save({"model": network, "step": 8, "own": own}, checkpoint_id=folder)
    other = torch.nn.Sequential(*model(torch))
    with torch.no_grad():
        other[0].weight.zero_()
    state = {"model": other, "step": 0, "own": {"of rank 1": torch.zeros(3)}}
    saved.load(state, checkpoint_id=folder)
    same(torch, list(other.parameters()), list(network.parameters()), exactly=True)
    assert state["own"]["of rank 1"].tolist() == [1.0] * 3  # type: ignore[index]
    return state["step"], len(os.listdir(folder)) == size + 1


@case
def differentiable(torch: Any, rank: int, size: int) -> Any:
    from importlib import import_module

    functional = import_module(f"{torch.__name__}.distributed.nn.functional")
    coded = import_module(f"{torch.__name__}.distributed._functional_collectives")
    group = torch.distributed.new_group(list(range(size)))
    named = torch.ops._c10d_functional
    x = torch.arange(float(2 * size)).requires_grad_()
    found = []
    for call in (
        lambda: functional.all_reduce(x),
        lambda: functional.broadcast(x, 1),
        lambda: functional.reduce(x, 0),
        lambda: torch.cat(functional.all_gather(x)),
        lambda: torch.cat(functional.gather(x, 0)),
        lambda: functional.scatter(list(x.chunk(size)), 1),
        lambda: functional.reduce_scatter(torch.empty(2), list(x.chunk(size))),
        lambda: functional.all_to_all_single(torch.empty_like(x), x),
        lambda: torch.cat(functional.all_to_all(list(x.chunk(size)), list(x.chunk(size)))),
        lambda: coded.all_gather_tensor(x.view(2, size), 1, group),
        lambda: coded.reduce_scatter_tensor(x.view(2, size).t(), "avg", 1, group),
        lambda: named.all_reduce(x.view(2, size).t(), "avg", group.group_name),
        lambda: coded.broadcast(x, 1, group),
    ):
        y = call()
        weights = torch.arange(float(y.numel())) + rank
        (grad,) = torch.autograd.grad((y.reshape(-1) * weights).sum(), x, create_graph=True)
        found.append((y.reshape(-1).tolist(), grad.tolist()))
    return found


def run_all(torch: Any, rank: int, size: int) -> dict[str, Any]:
    """Run the table."""
    return {name: function(torch, rank, size) for name, function in CASES.items()}
