"""Who this process is in its job: told by a launcher, by `mpiexec`, or by Slurm."""

from __future__ import annotations

import os
from collections.abc import Mapping

_NAMES: dict[str, tuple[str, ...]] = {
    "RANK": ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"),
    "WORLD_SIZE": ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"),
    "LOCAL_RANK": ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"),
}
"""The launcher's variable, and what MPICH, Open MPI and Slurm call the same."""
DEFAULT_PORT = 29500


def number(name: str, environment: Mapping[str, str] = os.environ) -> int | None:
    """Return RANK, WORLD_SIZE or LOCAL_RANK by whoever has started the job; None if nobody says.

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
    size = number("WORLD_SIZE", environment)
    local = environment.get("MPI_LOCALNRANKS") or environment.get("OMPI_COMM_WORLD_LOCAL_SIZE")
    if "WORLD_SIZE" not in environment and local is not None and size == int(local):
        return "127.0.0.1"
    return None


def master_port(environment: Mapping[str, str] = os.environ) -> int | None:
    """Return the port there; one made from the job's number for Slurm and `mpiexec`."""
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
        return DEFAULT_PORT
    return None
