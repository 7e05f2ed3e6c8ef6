"""Further steps from the running means of Adam: with Nesterov momentum, and rectified."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.optim.adam import check_betas
from torchgen_out._runtime.library.optim.optimizer import (
    Optimizer,
    check_at_least_zero,
    new_counter,
    real_views,
    with_gradient,
)


class _WithMeans(Optimizer):
    """Running means of the gradient and its square, and weight decay of both kinds."""

    def __init__(
        self,
        params: Any,
        lr: float,
        betas: tuple[float, float],
        eps: float,
        weight_decay: float,
        **further: Any,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            **further,
        }
        super().__init__(params, defaults)

    def _new_state(self, parameter: Any) -> dict[str, Any]:
        state = {"step": new_counter()}
        for name in ("exp_avg", "exp_avg_sq"):
            state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        return state

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        for parameter, gradient in with_gradient(group):
            if not self.state[parameter]:
                self.state[parameter] = self._new_state(parameter)
            state = self.state[parameter]
            parameter, gradient, state = real_views(parameter, gradient, state)
            state["step"] += 1
            if group["maximize"]:
                gradient = -gradient
            if group["weight_decay"]:
                if group["decoupled_weight_decay"]:
                    parameter.mul_(1 - float(group["lr"]) * group["weight_decay"])
                else:
                    gradient = gradient.add(parameter, alpha=group["weight_decay"])
            state["exp_avg"].lerp_(gradient, 1 - beta1)
            ops._decayed_square_(state["exp_avg_sq"], gradient, beta2, 1 - beta2)
            self._move(parameter, gradient, state, group)

    def _move(
        self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        raise NotImplementedError


class NAdam(_WithMeans):
    """Adam with Nesterov momentum. **Source** Dozat, 2016."""

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        if momentum_decay < 0.0:
            raise ValueError(f"Invalid momentum_decay value: {momentum_decay}")
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            momentum_decay=momentum_decay,
            decoupled_weight_decay=decoupled_weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
        )

    def _new_state(self, parameter: Any) -> dict[str, Any]:
        means = super()._new_state(parameter)
        return {"step": means.pop("step"), "mu_product": new_counter(1.0), **means}

    def _move(
        self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        step, (beta1, beta2), lr = state["step"].item(), group["betas"], float(group["lr"])
        decay = group["momentum_decay"]
        now, following = (beta1 * (1 - 0.5 * 0.96 ** ((step + i) * decay)) for i in (0, 1))
        state["mu_product"] *= now
        product = state["mu_product"].item()
        square, correction = state["exp_avg_sq"], math.sqrt(1 - beta2**step)
        for direction, weight in (
            (gradient, (1 - now) / (1 - product)),
            (state["exp_avg"], following / (1 - product * following)),
        ):
            ops._scaled_step_(parameter, direction, square, lr * weight, correction, group["eps"])


class RAdam(_WithMeans):
    """Adam with plain steps until the mean square is reliable. **Source** Liu et al., 2019."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            decoupled_weight_decay=decoupled_weight_decay,
            differentiable=differentiable,
        )

    def _move(
        self, parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        step, (beta1, beta2) = state["step"].item(), group["betas"]
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        rate = float(group["lr"]) / (1 - beta1**step)
        unbiased = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / unbiased
        if length <= 5.0:
            parameter.add_(mean, alpha=-rate)
            return
        rectified = math.sqrt(
            (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        )
        rate *= rectified * math.sqrt(unbiased)
        ops._scaled_step_(parameter, mean, square, rate, 1.0, group["eps"])
