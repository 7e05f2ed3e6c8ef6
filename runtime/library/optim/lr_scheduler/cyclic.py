"""The learning rate up and down between two bounds, and the momentum against it."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from torchgen_out._runtime.library.optim.lr_scheduler.one_cycle import for_groups
from torchgen_out._runtime.library.optim.lr_scheduler.scheduler import LRScheduler, set_rate
from torchgen_out._runtime.library.optim.optimizer import Optimizer


class CyclicLR(LRScheduler):
    """lr from base_lr to max_lr in step_size_up steps and back, again and again.

    mode: "triangular", "triangular2" (half the height each cycle) or "exp_range" (gamma^step).
    **Source** Smith, 2015.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.optimizer = optimizer
        lowest = for_groups("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, lowest, strict=True):
                set_rate(group, rate)
        self.max_lrs = for_groups("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else _scale_mode(mode)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._prepare_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def _prepare_momentum(self, base: Any, largest: Any, last_epoch: int) -> None:
        defaults = self.optimizer.defaults
        if "momentum" not in defaults and "betas" not in defaults:
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option enabled"
            )
        self.use_beta1 = "betas" in defaults
        self.base_momentums = for_groups("base_momentum", self.optimizer, base)
        self.max_momentums = for_groups("max_momentum", self.optimizer, largest)
        if last_epoch == -1:
            for group, least, most in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                self._set_momentum(group, most)
                group["max_momentum"], group["base_momentum"] = most, least

    def _set_momentum(self, group: dict[str, Any], momentum: float) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum

    def scale_fn(self, x: float) -> float:
        """How much of the height a cycle (or a step) has."""
        scale: float
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        scale = 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x
        return scale

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        place = 1.0 + self.last_epoch / self.total_size - cycle
        if place <= self.step_ratio:
            height = place / self.step_ratio
        else:
            height = (place - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, least, most in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                self._set_momentum(group, most - (most - least) * height)
        return [
            base + (top - base) * height
            for base, top in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer; of a scale function of one's own its attributes."""
        state = super().state_dict()
        own = state.pop("_scale_fn_custom")
        is_object = own is not None and not isinstance(own, FunctionType)
        state["_scale_fn_custom"] = own.__dict__.copy() if is_object else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        own = state_dict.get("_scale_fn_custom")
        super().load_state_dict({**state_dict, "_scale_fn_custom": self._scale_fn_custom})
        if own is not None:
            self._scale_fn_custom.__dict__.update(own)


def _scale_mode(mode: str) -> str:
    return "iterations" if mode == "exp_range" else "cycle"
