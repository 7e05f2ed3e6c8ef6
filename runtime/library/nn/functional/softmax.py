"""Softmax and its kin, which choose a dim where none is given, as in PyTorch's first releases.

`_stacklevel` is PyTorch's; warnings name the user's line without it.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops


def _chosen_dim(name: str, input: Any, dim: int | None) -> int:
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument."
    )
    return 0 if input.dim() in (0, 1, 3) else 1


def softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along `dim`."""
    return ops.softmax(input, _chosen_dim("softmax", input, dim), dtype=dtype)


def log_softmax(
    input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """log(softmax(x)) along `dim`, computed without taking the logarithm of a quotient."""
    return ops.log_softmax(input, _chosen_dim("log_softmax", input, dim), dtype=dtype)


def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x) along `dim`."""
    return ops.softmax(-input, _chosen_dim("softmin", input, dim), dtype=dtype)
