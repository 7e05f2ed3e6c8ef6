"""A classifier's last linear layer and its loss in one module."""

from __future__ import annotations

import math
from typing import Any

from torchgen_out._runtime.library.nn.functional.linear_cross_entropy import (
    LinearCrossEntropyOptions,
)
from torchgen_out._runtime.library.nn.linear import Linear
from torchgen_out._runtime.library.nn.loss import _WeightedLoss
from torchgen_out.nn import functional as F


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of a linear map's results, `nn.functional.linear_cross_entropy`.

    out_features: further dims of the classes' scores. options: work on some samples at a time.
    **Raises** RuntimeError for a class weight of another size and a smoothing outside [0, 1].
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Any = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Any, target: Any) -> Any:
        sizes, linear = (self.num_classes, *self.out_features), self.linear
        return F.linear_cross_entropy(
            input,
            linear.weight.reshape((*sizes, linear.in_features)),
            target,
            linear_bias=None if linear.bias is None else linear.bias.reshape(sizes),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        """As it is written."""
        told = {
            "in_features": self.linear.in_features,
            "num_classes": self.num_classes,
            "out_features": self.out_features,
            "bias": self.linear.bias is not None,
        }
        names = "reduction ignore_index label_smoothing options"
        told |= {name: getattr(self, name) for name in names.split()}
        return ", ".join(f"{name}={value}" for name, value in told.items())
