"""`torch.distributed` as in a PyTorch built without it: one process, and no as the answer."""

from __future__ import annotations

import os

from torchgen_out.distributed.absent_names import *  # noqa: F403
from torchgen_out.distributed.absent_names import __all__ as _absent

__all__ = [
    "get_rank", "get_world_size", "is_available", "is_backend_available", "is_gloo_available",
    "is_initialized", "is_mpi_available", "is_nccl_available", "is_torchelastic_launched",
    "is_ucc_available",
]  # fmt: skip
__all__ += _absent


def is_available() -> bool:
    """Return False: there are no process groups."""
    return False


def is_initialized() -> bool:
    """Return False: there are no process groups."""
    return False


def is_torchelastic_launched() -> bool:
    """Return whether `torchrun` has started the process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_backend_available(backend: str) -> bool:
    """Return False: there are no process groups."""
    return False


is_gloo_available = is_mpi_available = is_nccl_available = is_ucc_available = is_initialized


def _refuse() -> ValueError:
    return ValueError(
        "Default process group has not been initialized, please make sure to call "
        "init_process_group; torch.distributed is not provided by torchgen_out, see is_available()"
    )


def get_rank(group: object = None) -> int:
    """Refuse, as PyTorch does outside of process groups. **Raises** ValueError."""
    raise _refuse()


def get_world_size(group: object = None) -> int:
    """Refuse, as PyTorch does outside of process groups. **Raises** ValueError."""
    raise _refuse()
