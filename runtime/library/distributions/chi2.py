"""Sums of squares of normal numbers."""

from __future__ import annotations

from typing import Any, ClassVar

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.distributions import constraints
from torchgen_out._runtime.library.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers."""

    concentration: Tensor

    arg_constraints: ClassVar = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def _expanded(self, shape: Any) -> dict[str, Any]:
        return {name: getattr(self, name).expand(shape) for name in Gamma.arg_constraints}

    @property
    def df(self) -> Any:
        """The degrees of freedom."""
        return self.concentration * 2
