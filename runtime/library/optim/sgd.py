"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.optim.optimizer import (
    Optimizer,
    check_at_least_zero,
    with_gradient,
)


class SGD(Optimizer):
    """p -= lr * v, with v = momentum * v + (1 - dampening) * g and g the gradient plus decay."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_at_least_zero(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("nesterov", "maximize", "differentiable"):
                group.setdefault(name, False)

    def _update(self, group: dict[str, Any]) -> None:
        momentum, decay = group["momentum"], group["weight_decay"]
        lr = -float(group["lr"])
        for parameter, gradient in with_gradient(group, sparse=True):
            if group["maximize"]:
                gradient = -gradient
            if decay:
                gradient = gradient.add(parameter, alpha=decay)
            if momentum:
                gradient = self._velocity(parameter, gradient, group)
            parameter.add_(gradient, alpha=lr)

    @staticmethod
    def _follow(velocity: Any, gradient: Any, momentum: float, share: float) -> None:
        if gradient.is_sparse:
            velocity.mul_(momentum).add_(gradient.coalesce(), alpha=share)
        else:
            ops._decayed_add_(velocity, gradient, momentum, share)

    def _velocity(self, parameter: Any, gradient: Any, group: dict[str, Any]) -> Any:
        state = self.state[parameter]
        velocity = state.get("momentum_buffer")
        if velocity is None:
            first = gradient.coalesce() if gradient.is_sparse else gradient
            velocity = state["momentum_buffer"] = first.detach().clone()
        else:
            self._follow(velocity, gradient, group["momentum"], 1 - group["dampening"])
        if group["nesterov"]:
            return gradient.add(velocity, alpha=group["momentum"])
        return velocity
