"""Adafactor: mean squares kept as the product of a row and a column."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.optim.optimizer import (
    Optimizer,
    check_tensor_lr,
    new_counter,
    with_gradient,
)


class Adafactor(Optimizer):
    """p -= alpha * u / max(1, rms(u) / d), with u = g / sqrt(v) and alpha relative to p's size.

    Of gradients of several dims, v is the outer product of the running means over rows and columns.
    **Source** Shazeer and Stern, 2018.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_tensor_lr(lr)
        for is_wrong, text in (
            (not lr >= 0.0, f"Learning rate should be >= 0 but is: {lr}"),
            (not beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}"),
            (eps[0] is not None and not eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}"),
            (not eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}"),
            (not d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}"),
            (not weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}"),
        ):
            if is_wrong:
                raise ValueError(text)
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _state_of(self, parameter: Any, gradient: Any) -> dict[str, Any]:
        state: dict[str, Any] = self.state[parameter]
        if not state:
            state["step"] = new_counter()
            if gradient.dim() > 1:
                *batch, rows, columns = gradient.shape
                state["row_var"] = gradient.new_zeros((*batch, rows, 1))
                state["col_var"] = gradient.new_zeros((*batch, 1, columns))
            else:
                state["variance"] = torch.zeros_like(gradient, memory_format=torch.preserve_format)
        return state

    def _update(self, group: dict[str, Any]) -> None:
        lr, (least, least_size) = float(group["lr"]), group["eps"]
        for parameter, gradient in with_gradient(group):
            if parameter.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            state = self._state_of(parameter, gradient)
            state["step"] += 1
            step = state["step"].item()
            if group["maximize"]:
                gradient = -gradient
            tiny = torch.finfo(parameter.dtype).eps if least is None else least
            size = float(parameter.norm(2)) / math.sqrt(parameter.numel())
            rate = max(least_size, size) * min(lr, 1 / math.sqrt(step))
            if group["weight_decay"]:
                parameter.mul_(1 - lr * group["weight_decay"])
            square = _mean_square(state, gradient, step ** group["beta2_decay"], tiny)
            update = square.clamp_(min=tiny * tiny).rsqrt_().mul_(gradient)
            excess = float(update.norm(2)) / (math.sqrt(update.numel()) * group["d"])
            parameter.add_(update, alpha=-rate / max(1.0, excess))


def _mean_square(state: dict[str, Any], gradient: Any, weight: float, tiny: float) -> Any:
    """The running mean of squares, as a tensor of its own."""
    if "variance" in state:
        return state["variance"].lerp_(gradient * gradient, weight).clone()
    rows = gradient.norm(2, dim=-1, keepdim=True).square_().div_(gradient.size(-1))
    columns = gradient.norm(2, dim=-2, keepdim=True).square_().div_(gradient.size(-2))
    state["row_var"].lerp_(rows, weight)
    state["col_var"].lerp_(columns, weight)
    product = state["row_var"] @ state["col_var"]
    return product.div_(state["row_var"].mean(dim=-2, keepdim=True).clamp_(min=tiny))
