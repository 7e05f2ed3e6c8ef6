"""Schedules along a cosine, with and without restarts."""

from __future__ import annotations

import math
from typing import Any

from torchgen_out._runtime.library.optim.lr_scheduler.scheduler import LRScheduler
from torchgen_out._runtime.library.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """lr from the initial one to eta_min in T_max epochs along half a cosine, and back.

    **Source** Loshchilov and Hutter, 2016.
    """

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        epoch, period, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - period) % (2 * period) == 0:
            rise = (1 - math.cos(math.pi / period)) / 2
            return [
                rate + (base - low) * rise
                for rate, base in zip(self._rates(), self.base_lrs, strict=True)
            ]
        now = 1 + math.cos(math.pi * epoch / period)
        before = 1 + math.cos(math.pi * (epoch - 1) / period)
        return [now / before * (rate - low) + low for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half a cosine in T_0 epochs, again from the start, each period T_mult times as long.

    **Source** Loshchilov and Hutter, 2016.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_i, self.T_mult = T_0, T_0, T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go one epoch on, or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            self._advance()
        else:
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._jump(epoch)
        self._step_count += 1
        self._set(self._rates_of_step())

    def _advance(self) -> None:
        self.T_cur += 1
        if self.T_cur >= self.T_i:
            self.T_cur %= self.T_i
            self.T_i *= self.T_mult
        self.last_epoch += 1

    def _jump(self, epoch: float) -> None:
        self.T_cur, self.T_i = epoch, self.T_0
        if epoch >= self.T_0 and self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        elif epoch >= self.T_0:
            periods = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            before = self.T_0 * (self.T_mult**periods - 1) / (self.T_mult - 1)
            self.T_cur = epoch - before
            self.T_i = self.T_0 * self.T_mult**periods
        self.last_epoch = math.floor(epoch)
