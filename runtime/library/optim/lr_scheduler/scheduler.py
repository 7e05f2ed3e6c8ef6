"""`LRScheduler`: what all learning rate schedulers share."""

from __future__ import annotations

import weakref
from functools import wraps
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.optim.optimizer import Optimizer
from torchgen_out.public_modules import PUBLIC_MODULES


def check_optimizer(optimizer: Any) -> None:
    """Raise TypeError for what is no optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def set_rate(group: dict[str, Any], rate: Any) -> None:
    """Set the rate of a group; a tensor stays the tensor that it is, which others may have."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(float(rate))
    else:
        group["lr"] = rate


def own_copy(rate: Any) -> Any:
    """A rate that stays as it is when the group's is set."""
    return rate.detach().clone() if isinstance(rate, Tensor) else rate


class LRScheduler:
    """Sets the learning rate of every group of an optimizer, step by step.

    A subclass implements `get_lr`: the rates at `last_epoch`, from the group's present ones. So
    several schedulers can act on one optimizer.
    """

    __module__ = "torchgen_out.optim.lr_scheduler"

    _is_initial = False
    """Whether the step of the construction runs, in which relative rates stay as they are."""

    _get_lr_called_within_step = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the library's own classes say where users find them."""
        super().__init_subclass__(**options)
        cls.__module__ = PUBLIC_MODULES.get(f"{cls.__module__}.{cls.__qualname__}", cls.__module__)

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", own_copy(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming "
                    "scheduler with last_epoch >= 0. This typically happens when creating a new "
                    "scheduler without restoring its state."
                )
        self.base_lrs = [own_copy(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _watch_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the rates of the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Any]:
        """Compute the rates of all groups at `last_epoch`."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Any]:
        """Return the rates that the last step set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go one epoch on (or to `epoch`, which PyTorch deprecates) and set the rates."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warn(
                "The epoch parameter in `scheduler.step()` was not necessary and is being "
                "deprecated where possible. Please use `scheduler.step()` to step the scheduler."
            )
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        if epoch is None:
            self.last_epoch += 1
            rates = self._rates_of_step()
        else:
            self.last_epoch = epoch
            closed = getattr(self, "_get_closed_form_lr", None)
            rates = self._rates_of_step() if closed is None else closed()
        self._set(rates)

    def _rates_of_step(self) -> list[Any]:
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _warn_outside_step(self) -> None:
        """Say whose answer is meant, where somebody asks for the rates that a next step sets."""
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use "
                "`get_last_lr()`.",
            )

    def _set(self, rates: list[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = self._rates()

    def _check_order(self) -> None:
        if not getattr(self.optimizer, "_opt_called", False):
            warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
                "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
                "before `lr_scheduler.step()`. Failure to do this will result in skipping the "
                "first value of the learning rate schedule.",
            )

    def _rates(self) -> list[Any]:
        """The present rates of all groups."""
        return [own_copy(group["lr"]) for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Return all attributes but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        self.__dict__.update(state_dict)


_LRScheduler = LRScheduler
"""The name of 1.x, from which schedulers of other libraries inherit."""


def _watch_steps(optimizer: Any) -> None:
    """Let the optimizer remember that it has stepped."""
    if hasattr(optimizer.step, "_is_watched"):
        return
    step, reference = type(optimizer).step, weakref.ref(optimizer)

    def watched(*args: Any, **kwargs: Any) -> Any:
        self: Any = reference()
        self._opt_called = True
        return step(self, *args, **kwargs)

    noted: Any = wraps(step)(watched)
    noted._is_watched = True
    optimizer.step = noted
