"""How the statements of softmax and its gradients see operands: around a dim."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.kernels.common.index import View
from torchgen_out._runtime.kernels.common.indexing import around


def softmax(out: Any, self: Any, dim: int, dtype: Any) -> dict[str, View]:
    """The result and what it is of."""
    return around(dim, out=out, self=self)


def backward(
    out: Any, grad_output: Any, output: Any, dim: int, input_dtype: Any
) -> dict[str, View]:
    """Three of the same shape."""
    return around(dim, out=out, grad_output=grad_output, output=output)
