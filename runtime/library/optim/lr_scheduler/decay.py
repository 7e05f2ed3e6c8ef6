"""Schedules that multiply the rate: by functions, steps, constants, powers."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

from torchgen_out._runtime.library.optim.lr_scheduler.scheduler import LRScheduler
from torchgen_out._runtime.library.optim.optimizer import Optimizer

Lambdas = Callable[[int], float] | Sequence[Callable[[int], float]]


class _ByFunction(LRScheduler):
    """A function of the epoch for every group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Lambdas, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        if callable(lr_lambda):
            self.lr_lambdas = [lr_lambda] * count
        else:
            self.lr_lambdas = list(lr_lambda)
            if len(self.lr_lambdas) != count:
                raise ValueError(f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Functions cannot be saved; of callable objects the attributes are."""
        state = {
            key: value
            for key, value in self.__dict__.items()
            if key not in ("optimizer", "lr_lambdas")
        }
        state["lr_lambdas"] = [
            None if isinstance(each, FunctionType) else dict(each.__dict__)
            for each in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        state = dict(state_dict)
        for own, saved in zip(self.lr_lambdas, state.pop("lr_lambdas"), strict=True):
            if saved is not None:
                own.__dict__.update(saved)
        self.__dict__.update(state)


class LambdaLR(_ByFunction):
    """lr = initial lr * lr_lambda(epoch)."""

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        return [
            base * each(self.last_epoch)
            for each, base in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class MultiplicativeLR(_ByFunction):
    """lr *= lr_lambda(epoch)."""

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        return [
            rate * each(self.last_epoch)
            for each, rate in zip(self.lr_lambdas, self._rates(), strict=True)
        ]


class StepLR(LRScheduler):
    """lr *= gamma every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """lr *= gamma at every milestone."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Iterable[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self._rates()
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """lr = initial lr * factor for the first `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1.0 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [rate * (1.0 / self.factor) for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        early = self.last_epoch < self.total_iters
        return [base * (self.factor if early else 1.0) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """lr from start_factor to end_factor times the initial one, in a line."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal "
                "to 1."
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return [rate * (1.0 + rise / before) for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        rise = self.end_factor - self.start_factor
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + rise * part) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """lr *= gamma every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """lr = initial lr * (1 - epoch / total_iters) ^ power."""

    def __init__(
        self,
        optimizer: Optimizer,
        total_iters: int = 5,
        power: float = 1.0,
        last_epoch: int = -1,
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        now = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (now / before) ** self.power for rate in self._rates()]

    def _get_closed_form_lr(self) -> list[Any]:
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (1.0 - part) ** self.power for base in self.base_lrs]
