"""`ZeroRedundancyOptimizer`: each rank keeps the optimizer's state of a part of the parameters.

Source: Rajbhandari, Rasley, Ruwase, He, "ZeRO: Memory Optimizations Toward Training Trillion
Parameter Models", SC 2020, stage 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import objects, reducer, world
from torchgen_out._runtime.library.optim.optimizer import Optimizer

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer whose state is split among ranks: each updates its part, then sends it to all.

    params: tensors, or dicts of options. optimizer_class: the optimizer of each part; defaults: its
    options. Parameters go to the rank that has the fewest elements so far, largest first.
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not provided")
        self.process_group = world.resolve(process_group)
        self._class, self._options = optimizer_class, defaults
        self._whole: dict[str, Any] | None = None
        super().__init__(params, defaults)
        self._divide()

    def _divide(self) -> None:
        """Give each rank its parameters, the same on all; make this rank's optimizer."""
        size, rank = self.process_group.size(), self.process_group.rank()
        loads = [0] * size
        self._owners: list[list[int]] = []
        for group in self.param_groups:
            owners = [0] * len(group["params"])
            order = sorted(range(len(owners)), key=lambda i: -group["params"][i].numel())
            for i in order:
                owners[i] = loads.index(min(loads))
                loads[owners[i]] += group["params"][i].numel()
            self._owners.append(owners)
        own = [
            {**group, "params": self._of_rank(number, rank)}
            for number, group in enumerate(self.param_groups)
        ]
        kept = [group for group in own if group["params"]]
        self.optim: Optimizer | None = self._class(kept, **self._options) if kept else None
        self._kept = [number for number, group in enumerate(own) if group["params"]]

    def _of_rank(self, number: int, rank: int) -> list[Any]:
        parameters = self.param_groups[number]["params"]
        return [p for p, o in zip(parameters, self._owners[number], strict=True) if o == rank]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters; the state of those before starts anew if there is any."""
        super().add_param_group(param_group)
        if hasattr(self, "optim"):
            self._divide()

    def _sync_options(self) -> None:
        """Take over what a scheduler has set in the groups that users see."""
        for group, number in zip(self.optim.param_groups if self.optim else (), self._kept):  # noqa: B905
            for name, value in self.param_groups[number].items():
                if name != "params":
                    group[name] = value

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Update this rank's part; then all ranks have all parameters."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._sync_options()
        if self.optim is not None:
            self.optim.step(**kwargs)
        for rank in range(self.process_group.size()):
            part = [
                p for number in range(len(self.param_groups)) for p in self._of_rank(number, rank)
            ]
            if part:
                reducer._broadcast_coalesced(self.process_group, part, src=rank)
        return loss

    # -- its state --------------------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring the state of all parts to a rank, so that `state_dict` there has all of it."""
        own = None if self.optim is None else self.optim.state_dict()
        parts: list[Any] | None = None
        if self.process_group.rank() == to:
            parts = [None] * self.process_group.size()
        objects.gather_object(own, parts, group=self.process_group, group_dst=to)
        self._whole = None if parts is None else self._joined(parts)

    def _joined(self, parts: list[Any]) -> dict[str, Any]:
        """The state dict that one optimizer of all parameters would have."""
        state: dict[int, Any] = {}
        numbers = self._numbers()
        for rank, part in enumerate(parts):
            if part is not None:
                owned = [i for i in numbers if self._owner(i) == rank]
                for i, index in enumerate(owned):
                    if i in part["state"]:
                        state[index] = part["state"][i]
        groups, first = [], 0
        for group in self.param_groups:
            count = len(group["params"])
            rest = {name: value for name, value in group.items() if name != "params"}
            groups.append({**rest, "params": list(range(first, first + count))})
            first += count
        return {"state": dict(sorted(state.items())), "param_groups": groups}

    def _numbers(self) -> range:
        return range(sum(len(group["params"]) for group in self.param_groups))

    def _owner(self, number: int) -> int:
        return [owner for owners in self._owners for owner in owners][number]

    def state_dict(self) -> dict[str, Any]:
        """Return the whole state. **Raises** RuntimeError unless it was brought here before."""
        if self._whole is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.process_group.rank()})` on all ranks "
                "beforehand if you meant to save the global state."
            )
        return self._whole

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take this rank's part of a whole state, from whatever number of ranks it comes."""
        for group, given in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({name: value for name, value in given.items() if name != "params"})
        if self.optim is None:
            return
        rank = self.process_group.rank()
        owned = [i for i in self._numbers() if self._owner(i) == rank]
        own = self.optim.state_dict()
        own["state"] = {
            i: state_dict["state"][index]
            for i, index in enumerate(owned)
            if index in state_dict["state"]
        }
        self.optim.load_state_dict(own)
        self._sync_options()


public.place_all("distributed.optim", globals())
