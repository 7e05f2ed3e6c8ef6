"""A schedule that follows a measured value."""

from __future__ import annotations

import math
from typing import Any

from torchgen_out._runtime.library.optim.lr_scheduler.scheduler import LRScheduler, check_optimizer
from torchgen_out._runtime.library.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """lr *= factor when a measured value has not improved for `patience` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | list[float] = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        check_optimizer(optimizer)
        if mode not in ("min", "max"):
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.optimizer, self.factor, self.eps = optimizer, factor, eps
        count = len(optimizer.param_groups)
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.min_lrs = list(min_lr)
        else:
            self.min_lrs = [min_lr] * count
        self.patience, self.cooldown = patience, cooldown
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.last_epoch = 0
        self._last_lr = self._rates()
        self._reset()

    def _reset(self) -> None:
        """Forget what was measured."""
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    def step(  # type: ignore[override]  # as in PyTorch, this one is told what was measured
        self, metrics: Any, epoch: int | None = None
    ) -> None:
        """Take a new measurement."""
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _reduce(self) -> None:
        for group, least in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            rate = max(float(group["lr"]) * self.factor, least)
            if float(group["lr"]) - rate > self.eps:
                group["lr"] = rate

    @property
    def in_cooldown(self) -> bool:
        """Whether measurements are not counted yet."""
        return self.cooldown_counter > 0

    def is_better(self, a: float, best: float) -> bool:
        """Tell whether `a` improves on `best` by more than the threshold."""
        if self.threshold_mode == "rel":
            if self.mode == "min":
                return a < best * (1.0 - self.threshold)
            return a > best * (1.0 + self.threshold)
        return a < best - self.threshold if self.mode == "min" else a > best + self.threshold
