"""Training by several processes gives what one process gives; each case checks itself."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.distributed import jobs, marks, replica_cases

TWO = 2


@pytest.fixture(scope="module", params=["gloo", pytest.param("mpi", marks=marks.needs_mpi)])
def results(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """What each rank has found, in processes that know each other by a file or by `mpiexec`."""
    folder = tmp_path_factory.mktemp(f"replicas_{request.param}_")
    if request.param == "gloo":
        return jobs.run(folder, replica_cases.run_all, TWO)
    return jobs.Job.of_mpi(folder, replica_cases.run_all, TWO).returned()


EXPECTED: dict[str, Any] = {
    "unused": [True, True],
    "other_models": [True, True],
    "early_end": [2, 2],
    "sampler": [[0, 2, 4, 6], [1, 3, 5, 0]],
    "fully_sharded": ["fully_shard: the module is sharded already"] * TWO,
    "checkpoint": [(8, True)] * TWO,
}


@pytest.mark.parametrize("name", [name for name in replica_cases.CASES if name != "differentiable"])
def test_replicas(name: str, results: list[dict[str, Any]]) -> None:
    """What a case returns is in the table, or the same on all ranks."""
    found = [each[name] for each in results]
    assert found == EXPECTED.get(name, found[:1] * TWO)


def test_gradients_of_collectives_are_their_transposes(results: list[dict[str, Any]]) -> None:
    """Collectives are linear: over all ranks, result * weight is input * gradient."""
    x = [float(i) for i in range(2 * TWO)]
    for case in zip(*[each["differentiable"] for each in results], strict=True):
        forward = backward = 0.0
        for rank, (y, grad) in enumerate(case):
            forward += sum(value * (i + rank) for i, value in enumerate(y))
            backward += sum(a * b for a, b in zip(x, grad, strict=True))
        assert forward == backward != 0


def again(torch: Any, rank: int, size: int) -> None:
    """Another number of ranks loads what two have saved; what is damaged is refused."""
    saved = import_module(f"{torch.__name__}.distributed.checkpoint")
    folder = Path(os.environ["CHECKPOINT"])
    network = torch.nn.Sequential(*replica_cases.model(torch))
    state = {"model": network, "own": {f"of rank {i}": torch.zeros(3) for i in range(2)}}
    saved.load(state, checkpoint_id=folder)
    assert state["own"]["of rank 1"].tolist() == [1.0] * 3
    for damage in (lambda data: data[:-1], lambda data: bytes([data[0] ^ 1]) + data[1:]):
        path = max(folder.glob("*.distcp"), key=lambda each: each.stat().st_size)
        whole = path.read_bytes()
        torch.distributed.barrier()
        if rank == 0:
            path.write_bytes(damage(whole))
        torch.distributed.barrier()
        before = [p.tolist() for p in network.parameters()]
        with pytest.raises(RuntimeError, match=r"not whole|damaged"):
            saved.load(state, checkpoint_id=folder)
        assert [p.tolist() for p in network.parameters()] == before
        torch.distributed.barrier()
        if rank == 0:
            path.write_bytes(whole)


def whole_again(torch: Any, rank: int, size: int) -> None:
    """One process, which shards nothing, goes on from what two have had in parts."""
    saved = import_module(f"{torch.__name__}.distributed.checkpoint")
    states = import_module(f"{torch.__name__}.distributed.checkpoint.state_dict")
    network = replica_cases.blocks(torch, seed=1)
    optimizer = torch.optim.AdamW(network.parameters())
    replica_cases.loss_of(torch, network, *replica_cases.batch(torch, 1)).backward()
    optimizer.step()
    model, moments = states.get_state_dict(network, optimizer)
    state = {"model": model, "optimizer": moments["state"]}
    saved.load(state, checkpoint_id=os.environ["CHECKPOINT"])
    states.set_state_dict(network, optimizer, model_state_dict=model, optim_state_dict=moments)
    assert optimizer.state[network[1][0].weight]["step"] == 3
    expected = replica_cases.blocks(torch).state_dict()
    assert network[1][0].weight.shape == expected["1.0.weight"].shape
    assert 0 < (network[1][0].weight - expected["1.0.weight"]).abs().max() < 0.1


def test_a_checkpoint_of_two_ranks_is_loaded_by_one(
    results: list[dict[str, Any]], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = next(tmp_path_factory.getbasetemp().glob("replicas*/checkpoint"))
    jobs.run(tmp_path / "plain", again, 1, CHECKPOINT=str(made))
    jobs.run(tmp_path / "sharded", whole_again, 1, CHECKPOINT=str(made.with_name("sharded")))
