"""Adam for sparse gradients, of which the library makes none yet."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.library.optim.adam import check_betas
from torchgen_out._runtime.library.optim.optimizer import Optimizer, check_tensor_lr


class SparseAdam(Optimizer):
    """Adam that updates only the rows that a sparse gradient holds.

    Its options are checked and kept. Gradients here are dense: a step says that Adam is for these.
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
                if parameter.is_complex():
                    raise ValueError("SparseAdam does not support complex parameters")

    def _update(self, group: dict[str, Any]) -> None:
        if any(parameter.grad is not None for parameter in group["params"]):
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
