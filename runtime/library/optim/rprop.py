"""Resilient backpropagation: steps by the gradient's sign alone."""

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


class Rprop(Optimizer):
    """Each element has its step size, which grows while the gradient keeps its sign."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        shrink, grow = group["etas"]
        least, most = group["step_sizes"]
        for parameter, gradient in with_gradient(group):
            state = self.state[parameter]
            if not state:
                state["step"] = new_counter()
                state["prev"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
                lr = float(group["lr"])
                full = complex(lr, lr) if parameter.is_complex() else lr
                state["step_size"] = torch.full_like(gradient, full)
            parameter, gradient, state = real_views(parameter, gradient, state)
            state["step"] += 1
            if group["maximize"]:
                gradient = -gradient
            agreement = gradient * state["prev"]
            turned = agreement < 0
            factor = torch.ones_like(agreement).masked_fill_(agreement > 0, grow)
            factor.masked_fill_(turned, shrink)
            state["step_size"].mul_(factor).clamp_(least, most)
            gradient = gradient.masked_fill(turned, 0)
            parameter.addcmul_(gradient.sign(), state["step_size"], value=-1)
            state["prev"].copy_(gradient)
