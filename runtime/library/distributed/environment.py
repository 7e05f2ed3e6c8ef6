"""Who this process is in its job: told by a launcher, by `mpiexec`, or by Slurm."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_NAMES: dict[str, tuple[str, ...]] = {
    "RANK": ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"),
    "WORLD_SIZE": ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"),
    "LOCAL_WORLD_SIZE": ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    "LOCAL_RANK": ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"),
}
"""The launcher's variable, and what MPICH, Open MPI and Slurm call the same."""
DEFAULT_PORT = 29500


def number(name: str, environment: Mapping[str, str] = os.environ) -> int | None:
    """Return RANK, WORLD_SIZE, LOCAL_RANK or LOCAL_WORLD_SIZE; None if nobody says.

    Who has started the job says so: a launcher, `mpiexec` or Slurm.

    Slurm counts only within a step that it has started: a shell in an allocation is no rank.
    **Raises** ValueError for what is no number.
    """
    for variable in (name, *_NAMES.get(name, ())):
        if variable.startswith("SLURM") and "SLURM_STEP_ID" not in environment:
            continue
        if variable in environment:
            try:
                return int(environment[variable])
            except ValueError:
                raise ValueError(
                    f"environment variable {variable} is {environment[variable]!r}, not a number"
                ) from None
    return None


def first_slurm_host(nodes: str) -> str:
    """Return the first of Slurm's list of hosts, such as "gpu[07-09,12],login"."""
    head, bracket, rest = nodes.partition("[")
    if not bracket or "," in head:
        return head.split(",")[0]
    inside, _, tail = rest.partition("]")
    return head + inside.split(",")[0].split("-")[0] + tail.split(",")[0]


def master_address(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return where rank 0 is: loopback for `mpiexec` on one machine; None if unknown."""
    if "MASTER_ADDR" in environment:
        return environment["MASTER_ADDR"]
    if "SLURM_STEP_ID" in environment and "SLURM_NODELIST" in environment:
        return first_slurm_host(environment["SLURM_NODELIST"])
    local = number("LOCAL_WORLD_SIZE", environment)
    if "WORLD_SIZE" not in environment and local == number("WORLD_SIZE", environment) is not None:
        return "127.0.0.1"
    return None


def master_port(environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the port there; one made from the job's number for Slurm and `mpiexec`.

    A job of `mpiexec` has no number: on one machine that of the process which has started all ranks
    stands for it, so that two jobs have two ports.
    """
    if "MASTER_PORT" in environment:
        try:
            return int(environment["MASTER_PORT"])
        except ValueError:
            raise ValueError(
                f"environment variable MASTER_PORT is {environment['MASTER_PORT']!r}, not a port"
            ) from None
    if "SLURM_STEP_ID" in environment and "SLURM_JOB_ID" in environment:
        return 15000 + int(environment["SLURM_JOB_ID"]) % 5000
    if "PMI_RANK" in environment or "OMPI_COMM_WORLD_RANK" in environment:
        return DEFAULT_PORT if master_address(environment) != "127.0.0.1" else 15000 + _starter()
    return None


def _starter() -> int:
    """The last four digits of the process that has started this machine's ranks: the nearest
    ancestor that is no rank itself. 14500, which makes the usual port, if that is not known."""
    pid = os.getppid()
    try:
        while _is_rank(pid):
            stat = Path(f"/proc/{pid}/stat").read_text()
            pid = int(stat.rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return DEFAULT_PORT - 15000
    return pid % 10000


def _is_rank(pid: int) -> bool:
    told = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return any(each.startswith((b"PMI_RANK=", b"OMPI_COMM_WORLD_RANK=")) for each in told)
