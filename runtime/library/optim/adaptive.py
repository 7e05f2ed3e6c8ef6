"""Optimizers that divide by the size of past gradients: RMSprop, Adagrad, Adadelta, Adamax."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.autograd.sparse.structure import with_values
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.optim.adam import check_betas
from torchgen_out._runtime.library.optim.optimizer import (
    Optimizer,
    check_at_least_zero,
    new_counter,
    raise_to,
    real_views,
    with_gradient,
)


class RMSprop(Optimizer):
    """p -= lr * g / (sqrt(v) + eps), with v a running mean of g^2; centered and with momentum.

    **Source** Hinton's lecture 6e; centered: Graves, 2013.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(
            lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha
        )
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _state_of(self, parameter: Any, group: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = self.state[parameter]
        if not state:
            state["step"] = new_counter()
            names = ["square_avg"] + ["momentum_buffer"] * (group["momentum"] > 0)
            for name in names + ["grad_avg"] * group["centered"]:
                state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        return state

    def _update(self, group: dict[str, Any]) -> None:
        alpha, lr = group["alpha"], float(group["lr"])
        for parameter, gradient in with_gradient(group):
            state = self._state_of(parameter, group)
            parameter, gradient, state = real_views(parameter, gradient, state)
            state["step"] += 1
            if group["maximize"]:
                gradient = -gradient
            if group["weight_decay"]:
                gradient = gradient.add(parameter, alpha=group["weight_decay"])
            square = state["square_avg"]
            ops._decayed_square_(square, gradient, alpha, 1 - alpha)
            if group["centered"]:
                mean = state["grad_avg"]
                mean.lerp_(gradient, 1 - alpha)
                square = square.addcmul(mean, mean, value=-1)
            if group["momentum"] > 0:
                velocity = state["momentum_buffer"].mul_(group["momentum"])
                velocity.addcdiv_(gradient, square.sqrt() + group["eps"])
                parameter.add_(velocity, alpha=-lr)
            else:
                ops._scaled_step_(parameter, gradient, square, lr, 1.0, group["eps"])


class Adagrad(Optimizer):
    """p -= lr * g / (sqrt(sum of g^2) + eps). **Source** Duchi et al., 2011."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_at_least_zero(
            lr=lr,
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                state["step"] = new_counter()
                first: float | complex = initial_accumulator_value
                if parameter.is_complex():
                    first = complex(first, first)
                state["sum"] = torch.full_like(
                    parameter, first, memory_format=torch.preserve_format
                )

    def share_memory(self) -> None:
        """Put the state where other processes can see it."""
        for state in self.state.values():
            state["sum"].share_memory_()

    def _update(self, group: dict[str, Any]) -> None:
        for parameter, gradient in with_gradient(group, sparse=True):
            state = self.state[parameter]
            if not gradient.is_sparse:
                parameter, gradient, state = real_views(parameter, gradient, state)
            state["step"] += 1
            if group["maximize"]:
                gradient = -gradient
            lr = float(group["lr"]) / (1 + (state["step"].item() - 1) * group["lr_decay"])
            total = state["sum"]
            if gradient.is_sparse:
                _sparse_step(parameter, gradient, total, lr, group)
                continue
            if group["weight_decay"]:
                gradient = gradient.add(parameter, alpha=group["weight_decay"])
            ops._decayed_square_(total, gradient, 1.0, 1.0)
            ops._scaled_step_(parameter, gradient, total, lr, 1.0, group["eps"])


def _sparse_step(
    parameter: Any, gradient: Any, total: Any, lr: float, group: dict[str, Any]
) -> None:
    """Adagrad's step where the gradient has entries."""
    if group["weight_decay"]:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    gradient = gradient.coalesce()
    total.add_(gradient.square())
    spread = total.sparse_mask(gradient).values().sqrt().add_(group["eps"])
    parameter.add_(with_values(gradient, gradient.values() / spread), alpha=-lr)


class Adadelta(Optimizer):
    """p -= lr * g * sqrt(d + eps) / sqrt(v + eps), d and v running means of steps^2 and g^2.

    **Source** Zeiler, 2012.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps, weight_decay=weight_decay)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        rho, eps = group["rho"], group["eps"]
        for parameter, gradient in with_gradient(group):
            state = self.state[parameter]
            if not state:
                state["step"] = new_counter()
                for name in ("square_avg", "acc_delta"):
                    state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
            parameter, gradient, state = real_views(parameter, gradient, state)
            state["step"] += 1
            if group["maximize"]:
                gradient = -gradient
            if group["weight_decay"]:
                gradient = gradient.add(parameter, alpha=group["weight_decay"])
            square, steps = state["square_avg"], state["acc_delta"]
            ops._decayed_square_(square, gradient, rho, 1 - rho)
            delta = (steps + eps).sqrt() / (square + eps).sqrt() * gradient
            ops._decayed_square_(steps, delta, rho, 1 - rho)
            parameter.add_(delta, alpha=-float(group["lr"]))


class Adamax(Optimizer):
    """Adam with the running maximum of |g| in place of the root of its mean square."""

    def __init__(
        self,
        params: Any,
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr, eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        for parameter, gradient in with_gradient(group):
            state = self.state[parameter]
            if not state:
                state["step"] = new_counter()
                for name in ("exp_avg", "exp_inf"):
                    state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
            parameter, gradient, state = real_views(parameter, gradient, state)
            state["step"] += 1
            if group["maximize"]:
                gradient = -gradient
            if group["weight_decay"]:
                gradient = gradient.add(parameter, alpha=group["weight_decay"])
            mean, largest = state["exp_avg"], state["exp_inf"]
            mean.lerp_(gradient, 1 - beta1)
            raise_to(largest.mul_(beta2), gradient.abs() + group["eps"])
            lr = float(group["lr"]) / (1 - beta1 ** state["step"].item())
            parameter.addcdiv_(mean, largest, value=-lr)
