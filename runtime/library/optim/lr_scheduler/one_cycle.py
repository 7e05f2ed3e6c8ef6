"""One cycle of the learning rate, and of the momentum against it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.library.optim.lr_scheduler.scheduler import LRScheduler, check_optimizer
from torchgen_out._runtime.library.optim.optimizer import Optimizer


def _cosine(start: float, end: float, part: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def _line(start: float, end: float, part: float) -> float:
    return (end - start) * part + start


def for_groups(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return a value per group: the given list, or one value for all."""
    count = len(optimizer.param_groups)
    if isinstance(value, (list, tuple)):
        if len(value) != count:
            raise ValueError(
                f"{name} must have the same length as optimizer.param_groups. {name} has "
                f"{len(value)} values, param_groups has {count}."
            )
        return list(value)
    return [value] * count


class OneCycleLR(LRScheduler):
    """Up from max_lr / div_factor to max_lr, down to that / final_div_factor, once.

    The momentum goes the other way. To be stepped after every batch.
    **Source** Smith and Topin, 2017.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | list[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | list[float] = 0.85,
        max_momentum: float | list[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        if last_epoch == -1:
            for group, peak in zip(
                optimizer.param_groups, for_groups("max_lr", optimizer, max_lr), strict=True
            ):
                group["initial_lr"] = peak / div_factor
                group["max_lr"] = peak
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._prepare_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _prepare_momentum(self, base: Any, largest: Any, last_epoch: int) -> None:
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in defaults
        if last_epoch != -1:
            return
        low = for_groups("base_momentum", self.optimizer, base)
        high = for_groups("max_momentum", self.optimizer, largest)
        for group, least, most in zip(self.optimizer.param_groups, low, high, strict=True):
            self._set_momentum(group, most)
            group["max_momentum"], group["base_momentum"] = most, least

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        anneal: Callable[..., float] = _cosine if self._anneal_func_type == "cos" else _line
        rates = []
        for group in self.optimizer.param_groups:
            phase, part = self._place(step)
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                start, end = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, anneal(start, end, part))
        return rates

    def _place(self, step: int) -> tuple[dict[str, Any], float]:
        """The phase in which a step lies, and how much of it has passed."""
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if step <= end or phase is self._schedule_phases[-1]:
                return phase, (step - start) / (end - start)
            start = end
        raise AssertionError("the last phase takes every step")


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    if total_steps is not None:
        return _positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    return _positive("epochs", epochs) * _positive("steps_per_epoch", steps_per_epoch)


def _positive(name: str, value: int) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


def _phases(total: int, part: float, three: bool) -> list[dict[str, Any]]:
    def phase(end: float, *names: str) -> dict[str, Any]:
        keys = ("start_lr", "end_lr", "start_momentum", "end_momentum")
        return {"end_step": end, **dict(zip(keys, names, strict=True))}

    up = phase(part * total - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if three:
        return [
            up,
            phase(2 * part * total - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
            phase(total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]
    return [up, phase(total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
