"""What `nn.utils` shows: tools for the parameters of modules."""

from typing import Any

from torchgen_out._runtime.core.deprecation import renamed
from torchgen_out._runtime.library.nn.parameter_sets import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)
from torchgen_out._runtime.library.nn.weight_hooks import (
    remove_spectral_norm,
    remove_weight_norm,
    spectral_norm,
    weight_norm,
)


def clip_grad_norm(*args: Any, **keywords: Any) -> Any:
    """`clip_grad_norm_` by the name of 0.4."""
    renamed("torch.nn.utils.clip_grad_norm", "torch.nn.utils.clip_grad_norm_")
    return clip_grad_norm_(*args, **keywords)


__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "remove_spectral_norm",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
