"""Several schedulers: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.library.optim.lr_scheduler.scheduler import LRScheduler, set_rate
from torchgen_out._runtime.library.optim.optimizer import Optimizer


class SequentialLR(LRScheduler):
    """Schedulers one after the other; each begins at its milestone."""

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        _check_one_optimizer(self, schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers, self._milestones = list(schedulers), list(milestones)
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:
            set_rate(group, group["initial_lr"])
        for scheduler in self._schedulers:  # undo the first step of each
            scheduler.last_epoch -= 1
        self._schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()

    def state_dict(self) -> dict[str, Any]:
        return _state_with_parts(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        _load_with_parts(self, state_dict)


class ChainedScheduler(LRScheduler):
    """Schedulers that all act on every step."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no "
                "scheduler."
            )
        optimizer = schedulers[0].optimizer if optimizer is None else optimizer
        _check_one_optimizer(self, schedulers, optimizer)
        self._schedulers, self.optimizer = list(schedulers), optimizer
        self._last_lr = self._rates()

    def step(self, epoch: int | None = None) -> None:
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()

    def state_dict(self) -> dict[str, Any]:
        return _state_with_parts(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        _load_with_parts(self, state_dict)


def _check_one_optimizer(
    owner: Any, schedulers: Sequence[LRScheduler], optimizer: Optimizer
) -> None:
    for number, scheduler in enumerate(schedulers):
        if scheduler.optimizer is not optimizer:
            raise ValueError(
                f"{type(owner).__name__} expects all schedulers to belong to the same optimizer, "
                f"but got scheduler {type(scheduler).__name__} at index {number}, which is of "
                "another optimizer."
            )


def _state_with_parts(self: Any) -> dict[str, Any]:
    state = {
        key: value
        for key, value in self.__dict__.items()
        if key not in ("optimizer", "_schedulers")
    }
    state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
    return state


def _load_with_parts(self: Any, state_dict: dict[str, Any]) -> None:
    state = dict(state_dict)
    for scheduler, saved in zip(self._schedulers, state.pop("_schedulers"), strict=True):
        scheduler.load_state_dict(saved)
    self.__dict__.update(state)
