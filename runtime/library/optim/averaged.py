"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.optim.optimizer import (
    Optimizer,
    check_at_least_zero,
    new_counter,
    real_views,
    with_gradient,
)


class ASGD(Optimizer):
    """SGD with a falling rate; `ax` is the mean of the parameters from step t0 on.

    **Source** Polyak and Juditsky, 1992.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        lr, lambd = float(group["lr"]), group["lambd"]
        for parameter, gradient in with_gradient(group):
            state = self.state[parameter]
            if not state:
                state["step"] = new_counter()
                state["eta"] = new_counter(lr)
                state["mu"] = new_counter(1.0)
                state["ax"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
            parameter, gradient, state = real_views(parameter, gradient, state)
            state["step"] += 1
            step, eta, mu = (state[name].item() for name in ("step", "eta", "mu"))
            if group["maximize"]:
                gradient = -gradient
            if group["weight_decay"]:
                gradient = gradient.add(parameter, alpha=group["weight_decay"])
            parameter.mul_(1 - lambd * eta)
            parameter.add_(gradient, alpha=-eta)
            if mu == 1:
                state["ax"].copy_(parameter)
            else:
                state["ax"].lerp_(parameter, mu)
            # As tensors: both are rounded to the default dtype, whatever a loaded state holds.
            state["eta"].copy_(torch.tensor(lr / (1 + lambd * lr * step) ** group["alpha"]))
            state["mu"].copy_(torch.tensor(1 / max(1, step - group["t0"])))
