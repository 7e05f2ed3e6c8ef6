"""Averages of a model's weights over its training, and the schedule that goes with them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.normalization import _BatchNorm
from torchgen_out._runtime.library.optim.lr_scheduler.scheduler import LRScheduler


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] range."
        )


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """The exponential moving average of lists of tensors."""
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param_list: Any, current_param_list: Any, _: Any) -> None:
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """The equal average of lists of tensors."""

    @torch.no_grad()
    def swa_update(averaged_param_list: Any, current_param_list: Any, num_averaged: Any) -> None:
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 / (float(num_averaged) + 1))
            else:
                average.add_(((current - average) / (num_averaged + 1)).to(average.dtype))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """The exponential moving average of two tensors."""
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """The equal average of two tensors."""

    @torch.no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model whose weights are the average of those that `update_parameters` has seen.

    The average is the equal one, or `avg_fn(average, current, number)` per tensor, or
    `multi_avg_fn(averages, currents, number)` for all. Buffers are copied, or with `use_buffers`
    averaged.
    **Source** Izmailov et al., 2018; exponential: Polyak and Juditsky, 1992.
    """

    n_averaged: Any

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the present weights of a model into the average."""
        averages = [tensor.detach() for tensor in self._averaged(self.module)]
        currents = [
            tensor.detach().to(average.device)
            for tensor, average in zip(self._averaged(model), averages, strict=True)
        ]
        if self.n_averaged == 0:
            for average, current in zip(averages, currents, strict=True):
                average.copy_(current)
        elif self.avg_fn is not None:
            for average, current in zip(averages, currents, strict=True):
                average.copy_(self.avg_fn(average, current, self.n_averaged))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            update(averages, currents, self.n_averaged)
        if not self.use_buffers:
            for own, given in zip(self.module.buffers(), model.buffers(), strict=True):
                own.detach().copy_(given.detach().to(own.device))
        self.n_averaged += 1

    def _averaged(self, model: Any) -> Any:
        if not self.use_buffers:
            return model.parameters()
        return itertools.chain(model.parameters(), model.buffers())


@torch.no_grad()
def update_bn(loader: Any, model: Module, device: Any = None) -> None:
    """Compute the statistics of all batch norms anew, over the inputs of a loader.

    What the loader gives is an input, or a list or tuple that begins with one.
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    was_training, momenta = model.training, [norm.momentum for norm in norms]
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # the mean over all batches
    for batch in loader:
        input = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(input if device is None else input.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Goes from each group's rate to `swa_lr` within `anneal_epochs`, and stays there."""

    def __init__(
        self,
        optimizer: Any,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = swa_lr if isinstance(swa_lr, (list, tuple)) else None
        if rates is not None and len(rates) != len(optimizer.param_groups):
            raise ValueError(
                "swa_lr must have the same length as optimizer.param_groups: swa_lr has "
                f"{len(rates)}, optimizer.param_groups has {len(optimizer.param_groups)}"
            )
        for number, group in enumerate(optimizer.param_groups):
            group["swa_lr"] = swa_lr if rates is None else rates[number]
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must by one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _part(self, step: int) -> float:
        """How much of the way to `swa_lr` is gone."""
        part = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return part if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * part)) / 2

    def get_lr(self) -> list[Any]:
        """Compute the rates of this epoch from those of the one before."""
        self._warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            final, rate = group["swa_lr"], group["lr"]
            first = final if before == 1 else (rate - before * final) / (1 - before)
            rates.append(final * now + first * (1 - now))
        return rates
