"""`Join`: ranks that have run out of inputs take part in what the others still do together."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.distributed import collectives
from torchgen_out._runtime.library.distributed.reduce_op import ReduceOp

__all__ = ["Join", "JoinHook", "Joinable", "ReplicaHook"]


class JoinHook:
    """What a rank without inputs does in place of an iteration, and at the end."""

    def main_hook(self) -> None:
        """Take part in one iteration of others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """All have come to the end; is_last_joiner: this rank was among the last with inputs."""


class Joinable:
    """What `Join` can be used with: an object whose iterations have collectives."""

    def __init__(self) -> None:
        self._join_config: Any = None

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what a rank without inputs does."""
        raise NotImplementedError(f"{type(self).__name__} does not say what to do without inputs")

    @property
    def join_device(self) -> Any:
        """Where flags travel."""
        return torch.device("cpu")

    @property
    def join_process_group(self) -> Any:
        """Among whom."""
        raise NotImplementedError(f"{type(self).__name__} does not say its group")


class _Joined:
    """What an object in a `Join` has to know."""

    def __init__(self, enable: bool, throws: bool, is_first: bool, divides_by_all: bool) -> None:
        self.enable, self.throws, self.is_first = enable, throws, is_first
        self.divides_by_all = divides_by_all


class Join:
    """A context for training with numbers of inputs that differ by rank.

    throw_on_early_termination: all ranks raise RuntimeError as soon as one has no more inputs.
    """

    def __init__(
        self,
        joinables: list[Any],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables, self._enable = joinables, enable
        self._throws = throw_on_early_termination
        self._hooks = [each.join_hook(**kwargs) for each in joinables]
        self._group = joinables[0].join_process_group
        divides = kwargs.get("divide_by_initial_world_size", True)
        for i, each in enumerate(joinables):
            joined = _Joined(enable, self._throws, i == 0, divides)
            each._join_config = joined
            each._join = joined if enable else None

    def __enter__(self) -> None:
        """Nothing to be done before the first iteration."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if self._enable and kind is None:
                self._shadow()
        finally:
            for each in self._joinables:
                each._join = each._join_config = None

    def _shadow(self) -> None:
        """Take part in the others' iterations until all have come here."""
        is_last, count = True, 0
        while True:
            left = torch.zeros(1)
            collectives.all_reduce(left, ReduceOp.SUM, self._group)
            if not int(left):
                break
            is_last = False
            if self._throws:
                _tell_exhausted(self._group, True)
                raise RuntimeError(_EXHAUSTED.format(self._group.rank()))
            count += 1
            if count == 1000:
                warn("Join: 1000 iterations without inputs of this rank")
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(is_last)

    @staticmethod
    def notify_join_context(joinable: Any) -> Any:
        """Tell ranks without inputs that another iteration begins. Returns None: it has ended.

        **Raises** RuntimeError if one has none and the context was asked to.
        """
        joined = getattr(joinable, "_join_config", None)
        if joined is None or not joined.enable or not joined.is_first:
            return None
        group = joinable.join_process_group
        collectives.all_reduce(torch.ones(1), ReduceOp.SUM, group)
        if joined.throws and _tell_exhausted(group, False):
            raise RuntimeError(_EXHAUSTED.format(group.rank()))
        return None


_EXHAUSTED = (
    "Detected at least one rank that exhausted inputs. Throwing across all ranks (rank {})."
)


def _tell_exhausted(group: Any, is_exhausted: bool) -> bool:
    flag = torch.tensor([float(is_exhausted)])
    collectives.all_reduce(flag, ReduceOp.SUM, group)
    return bool(flag.item())


class ReplicaHook(JoinHook):
    """What a rank without inputs does for a DistributedDataParallel."""

    def __init__(self, replica: Any, **kwargs: Any) -> None:
        self._replica = replica

    def main_hook(self) -> None:
        """Follow the calls of a forward and, if it has one, of a backward."""
        replica = self._replica
        group = replica.process_group
        told = torch.zeros(2)
        collectives.all_reduce(told, ReduceOp.SUM, group)
        if not replica._join.divides_by_all:
            replica.reducer.divisor = int(told[0])
        if replica.broadcast_buffers and int(told[1]) and replica._buffers_shared:
            source = torch.tensor([-1])
            collectives.all_reduce(source, ReduceOp.MAX, group)
            torch.distributed._broadcast_coalesced(group, replica._buffers_shared, src=int(source))
        if int(told[1]):
            replica.reducer.shadow()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Take the parameters and buffers of a rank that was among the last with inputs."""
        replica = self._replica
        group = replica.process_group
        source = torch.tensor([group.rank() if is_last_joiner else -1])
        collectives.all_reduce(source, ReduceOp.MAX, group)
        values = [*replica.module.parameters(), *replica._buffers_shared]
        torch.distributed._broadcast_coalesced(group, values, src=int(source))
        replica.reducer.divisor = replica.reducer.size


public.place_all("distributed.algorithms.join", globals())
