"""A training in which a process is killed, and that goes on from its checkpoint.

    python -m torchgen_out.distributed.run --nproc-per-node=2 --max-restarts=3 \\
        examples/distributed/elastic.py FOLDER
    until mpiexec -n 2 python examples/distributed/elastic.py FOLDER --backend mpi; do :; done

All ranks write a checkpoint together after every step. In the first attempt rank 1 kills itself in
the middle: both are started again, and go on where the checkpoint is.
"""

from __future__ import annotations

import argparse
import os
import signal

import torchgen_out as torch
import torchgen_out.distributed as dist
import torchgen_out.distributed.checkpoint as checkpoint
from torchgen_out import nn

STEPS, LAST = 6, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--backend", default="gloo")
    arguments = parser.parse_args()
    folder = arguments.folder
    dist.init_process_group(arguments.backend)
    rank = dist.get_rank()
    torch.manual_seed(0)
    replica = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(replica.parameters(), 0.1)
    state = {"model": replica.module, "step": 0}
    is_first = not os.path.exists(f"{folder}/.metadata")
    dist.barrier()
    if not is_first:
        checkpoint.load(state, checkpoint_id=folder)
    for step in range(state["step"], STEPS):
        x = torch.randn(8, 4, generator=torch.Generator().manual_seed(2 * step + rank))
        optimizer.zero_grad()
        loss = (replica(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        checkpoint.save({"model": replica.module, "step": step + 1}, checkpoint_id=folder)
        if rank == 0:
            attempt = "first" if is_first else "later"
            print(f"{attempt} attempt, step {step + 1}: {loss.item():.4f}", flush=True)
        if is_first and step == LAST and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
