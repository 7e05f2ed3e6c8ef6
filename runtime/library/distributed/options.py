"""What a collective is told beside its tensors: the arguments of a backend's methods."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed.reduce_op import ReduceOp

__all__ = [
    "AllToAllOptions", "AllgatherOptions", "AllreduceCoalescedOptions", "AllreduceOptions",
    "BarrierOptions", "BroadcastOptions", "GatherOptions", "ReduceOptions",
    "ReduceScatterOptions", "ScatterOptions",
]  # fmt: skip


@dataclass
class _Options:
    timeout: timedelta | None = None
    asyncOp: bool = True


@dataclass
class AllreduceOptions(_Options):
    """Of `allreduce`."""

    reduceOp: Any = ReduceOp.SUM


@dataclass
class AllreduceCoalescedOptions(AllreduceOptions):
    """Of `allreduce_coalesced`."""


@dataclass
class ReduceOptions(_Options):
    """Of `reduce`. rootRank: the group's rank that gets the result."""

    reduceOp: Any = ReduceOp.SUM
    rootRank: int = 0
    rootTensor: int = 0


@dataclass
class BroadcastOptions(_Options):
    """Of `broadcast`. rootRank: the group's rank that sends."""

    rootRank: int = 0
    rootTensor: int = 0


@dataclass
class AllgatherOptions(_Options):
    """Of `allgather`."""


@dataclass
class GatherOptions(_Options):
    """Of `gather`. rootRank: the group's rank that gets all."""

    rootRank: int = 0


@dataclass
class ScatterOptions(_Options):
    """Of `scatter`. rootRank: the group's rank that has all."""

    rootRank: int = 0


@dataclass
class ReduceScatterOptions(_Options):
    """Of `reduce_scatter`."""

    reduceOp: Any = ReduceOp.SUM


@dataclass
class AllToAllOptions(_Options):
    """Of `alltoall`."""


@dataclass
class BarrierOptions(_Options):
    """Of `barrier`."""

    device_ids: list[int] = field(default_factory=list)
    device: Any = None


public.place_all("distributed", globals())
