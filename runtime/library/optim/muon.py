"""Muon: steps along the orthogonal matrix nearest to the momentum."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.optim.optimizer import Optimizer, check_tensor_lr, with_gradient


class Muon(Optimizer):
    """p = p (1 - lr * decay) - rate * U V^T, with U S V^T the momentum of the gradient.

    For matrices alone. The product comes from a few steps of a Newton-Schulz iteration in bfloat16.
    **Source** Jordan et al., 2024.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_tensor_lr(lr)
        for value, word in ((lr, "Learning rate"), (momentum, "momentum")):
            if not value >= 0.0:
                raise ValueError(f"{word} should be >= 0 but is: {value}")
        if not weight_decay >= 0.0:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{parameter.size()}"
                    )

    def _update(self, group: dict[str, Any]) -> None:
        lr, momentum = group["lr"], group["momentum"]
        for parameter, gradient in with_gradient(group):
            if parameter.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            state = self.state[parameter]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = torch.zeros_like(
                    gradient, memory_format=torch.preserve_format
                )
            velocity = state["momentum_buffer"].lerp_(gradient, 1 - momentum)
            update = gradient.lerp(velocity, momentum) if group["nesterov"] else velocity
            update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
            parameter.mul_(float(1 - lr * group["weight_decay"]))
            rate = float(lr * _scale(group["adjust_lr_fn"], *parameter.shape))
            parameter.add_(update.to(parameter.dtype), alpha=-rate)


def _scale(rule: str | None, rows: int, columns: int) -> float:
    """What a rate is multiplied by for a matrix of this size."""
    if rule == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1.0, rows / columns))


def _orthogonal(
    matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Any:
    """U V^T of a matrix U S V^T, about: singular values come near 1.

    Each step is X -> a X + (b A + c A^2) X with A = X X^T, on the wider form of the matrix.
    **Raises** ValueError for 100 steps and more, or three coefficients that are not three.
    """
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    is_tall = matrix.size(0) > matrix.size(1)
    x = matrix.bfloat16()
    x = x.t() if is_tall else x
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.t()
        update = torch.addmm(gram, gram, gram, beta=b, alpha=c)
        x = torch.addmm(x, update, x, beta=a)
    return x.t() if is_tall else x
