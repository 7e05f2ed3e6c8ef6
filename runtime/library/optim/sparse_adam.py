"""Adam for sparse gradients."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.autograd.sparse.structure import with_values
from torchgen_out._runtime.library.optim.adam import check_betas
from torchgen_out._runtime.library.optim.optimizer import (
    Optimizer,
    check_tensor_lr,
    with_gradient,
)


class SparseAdam(Optimizer):
    """Adam that updates only the rows that a sparse gradient holds, and their moments.

    What has no entry in a gradient keeps its moments: they do not decay meanwhile.
    **Raises** RuntimeError at a step with a dense gradient.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_tensor_lr(lr)
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize}
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.is_sparse:
                    raise ValueError(
                        "Sparse params at indices [0]: SparseAdam requires dense parameter tensors"
                    )
                if parameter.is_complex():
                    raise ValueError("SparseAdam does not support complex parameters")

    def _update(self, group: dict[str, Any]) -> None:
        for parameter, gradient in with_gradient(group, sparse=True):
            if not gradient.is_sparse:
                raise RuntimeError(
                    "SparseAdam does not support dense gradients, please consider Adam instead"
                )
            state = self.state[parameter]
            if not state:
                state["step"] = 0
                for name in ("exp_avg", "exp_avg_sq"):
                    state[name] = torch.zeros_like(parameter)
            state["step"] += 1
            gradient = (-gradient if group["maximize"] else gradient).coalesce()
            if gradient._nnz():
                _step(parameter, gradient, state, group)


def _step(parameter: Any, gradient: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
    """One step of the elements that have an entry in a gradient, which is in order."""
    beta1, beta2 = group["betas"]
    given = gradient.values()
    first = _towards(state["exp_avg"], gradient, given, 1 - beta1)
    second = _towards(state["exp_avg_sq"], gradient, given.square(), 1 - beta2)
    spread = second.sqrt_().add_(group["eps"])
    count = state["step"]
    size = float(group["lr"]) * (1 - beta2**count) ** 0.5 / (1 - beta1**count)
    parameter.add_(with_values(gradient, first.div_(spread)), alpha=-size)


def _towards(moment: Any, gradient: Any, target: Any, share: float) -> Any:
    """Move a moment towards new values where a gradient has entries; what stands there then."""
    before = moment.sparse_mask(gradient).values()
    change = (target - before).mul_(share)
    moment.add_(with_values(gradient, change))
    return change.add_(before)
