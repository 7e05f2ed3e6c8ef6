"""Collectives give what PyTorch's gloo gives: one table, both libraries, both transports."""

from __future__ import annotations

import importlib
import importlib.util
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.distributed import collective_cases, jobs, marks

THREE = 3


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """What each rank has found, by how the group was carried out."""
    folder = tmp_path_factory.mktemp("collectives")
    ours = jobs.run(folder / "ours", collective_cases.run_on_both_transports, THREE)
    found = {name: [each[name] for each in ours] for name in ours[0]}
    if importlib.util.find_spec("torch") is not None:
        found["pytorch"] = jobs.run(folder / "gloo", collective_cases.run_all, THREE, "torch")
    if jobs.MPIEXEC:
        made = jobs.Job.of_mpi(folder / "mpi", collective_cases.run_all, THREE)
        found["mpi"] = made.returned()
    return found


@pytest.mark.parametrize("name", collective_cases.CASES)
def test_as_in_pytorch(name: str, results: dict[str, list[dict[str, Any]]]) -> None:
    """The table's values differ by rank, so no case can pass by doing nothing."""
    for rank in range(THREE):
        expected = results["shared"][rank][name]
        assert expected
        for other in results:
            assert results[other][rank][name] == expected, (other, rank)


def dtypes(torch: Any, rank: int, size: int) -> dict[str, Any]:
    """Reductions of dtypes and averages that PyTorch's gloo has not: of two ranks."""
    dist = torch.distributed
    found: dict[str, Any] = {}
    for name in ("float16", "bfloat16", "float64", "complex64"):
        mean = torch.full((5,), rank + 1.0, dtype=getattr(torch, name))
        dist.all_reduce(mean, dist.ReduceOp.AVG)
        found[name] = mean.tolist()
    for op in ("SUM", "MAX", "BOR", "PRODUCT", "MIN", "BAND", "BXOR"):
        flags = torch.tensor([rank == 0, False, True])
        dist.all_reduce(flags, getattr(dist.ReduceOp, op))
        found[op] = flags.tolist()
    part = torch.zeros(2, dtype=torch.float16)
    dist.reduce_scatter_tensor(part, torch.ones(4, dtype=torch.float16), dist.ReduceOp.AVG)
    dist.reduce(part, 0, dist.ReduceOp(dist.ReduceOp.PREMUL_SUM, 0.5 + rank))
    found["factors"] = part.tolist() if rank == 0 else [2.0] * 2
    number = torch.ones(2, dtype=torch.complex64) * 1j
    dist.all_reduce(number)
    found["complex"] = number.imag.tolist()
    return found


def _check_dtypes(found: dict[str, Any]) -> None:
    for name in ("float16", "bfloat16", "float64", "complex64"):
        assert found.pop(name) == [1.5] * 5, name
    for op in ("SUM", "MAX", "BOR"):
        assert found.pop(op) == [True, False, True], op
    for op in ("PRODUCT", "MIN", "BAND"):
        assert found.pop(op) == [False, False, True], op
    assert found.pop("BXOR") == [True, False, False]
    assert found == {"factors": [2.0, 2.0], "complex": [2.0, 2.0]}


@marks.needs_mpi
def test_dtypes_by_mpi(tmp_path: Path) -> None:
    for found in jobs.Job.of_mpi(tmp_path, dtypes, 2).returned():
        _check_dtypes(found)


def own(torch: Any, rank: int, size: int) -> dict[str, Any]:
    """What PyTorch's gloo has not, or leaves open."""
    dist = torch.distributed
    found: dict[str, Any] = {"dtypes": dtypes(torch, rank, size)}
    wide = torch.ones(1).expand(4)
    outs = [torch.zeros(4) for _ in range(size)]
    dist.all_gather(outs, wide + rank)
    dist.all_gather(outs, wide)
    found["expanded"] = [out.tolist() for out in outs]
    try:
        dist.all_reduce(wide)
    except RuntimeError as error:
        found["overlap"] = "single memory location" in str(error)
    x = torch.ones(3, requires_grad=True) * 2
    version = x._version
    dist.broadcast(x.detach(), 0)
    found["version"] = x._version > version or rank == 0
    dist.set_debug_level(dist.DebugLevel.DETAIL)
    try:
        dist.all_reduce(torch.ones(2, 3) if rank else torch.ones(3, 2))
    except RuntimeError as error:
        found["shapes"] = str(error)
    dist.set_debug_level(dist.DebugLevel.OFF)
    local = dist.new_group([0, 1], use_local_synchronization=True)
    factor = dist.ReduceOp(dist.ReduceOp.PREMUL_SUM, 0.5)
    scaled = torch.ones(2)
    dist.all_reduce(scaled, factor, group=local)
    found["factor"] = scaled.tolist()
    try:
        dist.all_reduce(torch.ones(2 + rank))
    except RuntimeError as error:
        found["sizes"] = str(error)
    try:
        dist.barrier()
    except RuntimeError as error:
        found["after"] = str(error)
    return found


def test_beyond_pytorch(tmp_path: Path) -> None:
    for found in jobs.run(tmp_path, own, 2):
        _check_dtypes(found["dtypes"])
        assert found["expanded"] == [[1.0] * 4] * 2
        assert found["overlap"]
        assert found["version"]
        assert "rank 0: all_reduce of torch.float32 [3, 2]; rank 1" in found["shapes"]
        assert found["factor"] == [1.0, 1.0]
        assert "all_reduce of 12 bytes of torch.float32 SUM" in found["sizes"]
        assert "cannot be used any more" in found["after"]


NOT_OF_NCCL = ("all_reduce", "point_to_point", "refusals")
"""Cases with operations on bits, with tags, and with errors that are gloo's."""


def by_nccl(torch: Any, rank: int, size: int) -> dict[str, Any]:
    """The table by `ProcessGroupNCCL` on a stand-in for NCCL; what it does with its errors."""
    fake = importlib.import_module("tests.distributed.fake_nccl")
    fake.install()
    dist, folder = torch.distributed, os.environ["JOB_FOLDER"]
    dist.init_process_group("nccl", f"file://{folder}/nccl", rank=rank, world_size=size)
    cases = collective_cases.CASES.items()
    found = {name: case(torch, rank, size) for name, case in cases if name not in NOT_OF_NCCL}
    found["flags"] = torch.tensor([rank == 0, False])
    dist.all_reduce(found["flags"])
    found["flags"] = found["flags"].tolist()
    try:
        dist.all_reduce(torch.ones(2, dtype=torch.int32), dist.ReduceOp.BXOR)
    except RuntimeError as error:
        found["bits"] = str(error)
    fake.Event.is_over, fake.Communicator.error = False, 6
    work = dist.all_reduce(torch.ones(1), async_op=True)
    while not work.is_completed():
        time.sleep(0.01)
    for name, call in (("dead", work.wait), ("after", dist.barrier)):
        try:
            call()
        except dist.DistBackendError as error:
            found[name] = str(error)
    return found


def test_nccl_by_a_stand_in(tmp_path: Path, results: dict[str, list[dict[str, Any]]]) -> None:
    """NCCL itself needs GPUs: here is seen that the backend asks it for the right things."""
    for rank, found in enumerate(jobs.run(tmp_path, by_nccl, THREE, JOB_BACKEND="none")):
        assert found.pop("flags") == [True, False]
        assert found.pop("bits") == "Backend nccl does not support ReduceOp.BXOR"
        assert "NCCL reports error 6" in found.pop("dead")
        assert "cannot be used any more: NCCL reports" in found.pop("after")
        assert len(found) > 8
        for name, value in found.items():
            assert value == results["shared"][rank][name], name
