"""A training in which a process is killed, and that goes on from its checkpoint.

    python -m torchgen_out.distributed.run --nproc-per-node=2 --max-restarts=3 \\
        examples/distributed/elastic.py FOLDER

All ranks write a checkpoint together after every step. In the first attempt rank 1 kills itself in
the middle: the launcher starts both again, and they go on where the checkpoint is.
"""

from __future__ import annotations

import os
import signal
import sys

import torchgen_out as torch
import torchgen_out.distributed as dist
import torchgen_out.distributed.checkpoint as checkpoint
from torchgen_out import nn

STEPS, LAST = 6, 3


def main(folder: str) -> None:
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))
    torch.manual_seed(0)
    replica = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(replica.parameters(), 0.1)
    state = {"model": replica.module, "step": 0}
    if os.path.exists(f"{folder}/.metadata"):
        checkpoint.load(state, checkpoint_id=folder)
    for step in range(state["step"], STEPS):
        x = torch.randn(8, 4, generator=torch.Generator().manual_seed(2 * step + rank))
        optimizer.zero_grad()
        loss = (replica(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        checkpoint.save({"model": replica.module, "step": step + 1}, checkpoint_id=folder)
        if rank == 0:
            print(f"attempt {attempt}, step {step + 1}: {loss.item():.4f}", flush=True)
        if attempt == 0 and step == LAST and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
