"""Adam and AdamW: steps scaled by running means of the gradient and of its square."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.optim.optimizer import (
    Optimizer,
    check_at_least_zero,
    new_counter,
    raise_to,
    real_views,
    with_gradient,
)


def check_tensor_options(
    lr: Any, betas: tuple[Any, Any], foreach: bool | None, capturable: bool
) -> None:
    """Raise ValueError for rates and betas that are tensors where they may not be."""
    if isinstance(lr, torch.Tensor) and foreach and not capturable:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    are_tensors = [isinstance(beta, torch.Tensor) for beta in betas]
    if are_tensors[0] != are_tensors[1]:
        raise ValueError("betas must be either both floats or both Tensors")
    for index, is_tensor in enumerate(are_tensors):
        if is_tensor and foreach and not capturable:
            raise ValueError(
                f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True"
            )
        if is_tensor and betas[index].numel() != 1:
            raise ValueError(f"Tensor betas[{index}] must be 1-element")


def check_betas(betas: tuple[float, float]) -> None:
    """Raise ValueError unless both betas are in [0, 1)."""
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


class Adam(Optimizer):
    """p -= lr * m / (sqrt(v) + eps), with m and v unbiased running means of g and g^2.

    **Source** Kingma and Ba, 2014; `amsgrad` Reddi et al., 2018.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        check_at_least_zero(lr=lr)
        check_tensor_options(lr, betas, foreach, capturable)
        check_at_least_zero(eps=eps)
        check_betas(betas)
        check_at_least_zero(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in ("amsgrad", "maximize", "decoupled_weight_decay"):
                group.setdefault(name, False)
        for values in self.state.values():
            if values and not isinstance(values["step"], torch.Tensor):
                values["step"] = new_counter(float(values["step"]))

    def _state_of(self, parameter: Any, amsgrad: bool) -> dict[str, Any]:
        state: dict[str, Any] = self.state[parameter]
        if not state:
            state["step"] = new_counter()
            names = ["exp_avg", "exp_avg_sq"] + ["max_exp_avg_sq"] * amsgrad
            for name in names:
                state[name] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        return state

    def _update(self, group: dict[str, Any]) -> None:
        beta1, beta2 = map(float, group["betas"])
        lr, decay, amsgrad = float(group["lr"]), group["weight_decay"], group["amsgrad"]
        for parameter, gradient in with_gradient(group):
            state = self._state_of(parameter, amsgrad)
            parameter, gradient, state = real_views(parameter, gradient, state)
            state["step"] += 1
            step = state["step"].item()
            if group["maximize"]:
                gradient = -gradient
            if decay:
                if group["decoupled_weight_decay"]:
                    parameter.mul_(1 - lr * decay)
                else:
                    gradient = gradient.add(parameter, alpha=decay)
            mean, square = state["exp_avg"], state["exp_avg_sq"]
            mean.lerp_(gradient, 1 - beta1)
            ops._decayed_square_(square, gradient, beta2, 1 - beta2)
            if amsgrad:
                square = raise_to(state["max_exp_avg_sq"], square)
            correction = math.sqrt(1 - beta2**step)
            step_size = lr / (1 - beta1**step)
            ops._scaled_step_(parameter, mean, square, step_size, correction, group["eps"])


class AdamW(Adam):
    """Adam with weight decay apart from the gradient.

    **Source** Loshchilov and Hutter, 2017.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
