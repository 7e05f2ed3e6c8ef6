"""All parameters at once: limits on their gradients, and their elements as one vector."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.user_warnings import warn

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "vector_to_parameters",
]


def _gradients(parameters: Any) -> list[Any]:
    listed = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    return [parameter.grad for parameter in listed if parameter.grad is not None]


def get_total_norm(
    tensors: Any,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> torch.Tensor:
    """Return the norm of all tensors taken as one vector.

    **Raises** RuntimeError if it is not finite and `error_if_nonfinite` is set.
    """
    tensors = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
    if not tensors:
        return torch.tensor(0.0)
    norms = [torch.linalg.vector_norm(tensor, norm_type) for tensor in tensors]
    total = torch.linalg.vector_norm(torch.stack(norms), norm_type)
    if error_if_nonfinite and not bool(torch.isfinite(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Scale all gradients so that a known total norm becomes at most `max_norm`."""
    factor = torch.clamp(float(max_norm) / (total_norm + 1e-6), max=1.0)
    for gradient in _gradients(parameters):
        gradient.mul_(factor)


def _norms_by_ranks(parameters: list[Any], norm_type: float) -> list[Any]:
    """Tensors with the norm of all gradients: those of parameters that ranks share, as norms."""
    own = [each for each in parameters if not hasattr(each, "_shard")]
    dealt: dict[Any, list[Any]] = {}
    for each in parameters:
        if hasattr(each, "_shard"):
            dealt.setdefault(each._shard.group, []).append(each)
    norms = []
    for among in dealt.values():
        filled = [gradient for gradient in _gradients(among) if gradient.numel()]
        norms.append(among[0]._shard.total_norm(get_total_norm(filled, norm_type), norm_type))
    return _gradients(own) + norms


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> torch.Tensor:
    """Scale all gradients so that their norm as one vector is at most `max_norm`.

    Returns the norm before. `foreach` is accepted and has no effect. What `fully_shard` has dealt
    out counts on all ranks, which call it together.
    """
    is_generator = isinstance(parameters, Generator)
    parameters = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
    if is_generator and not parameters:
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    with torch.no_grad():
        parts = _norms_by_ranks(parameters, float(norm_type))
        total = get_total_norm(parts, float(norm_type), error_if_nonfinite)
        clip_grads_with_norm_(parameters, max_norm, total)
    return total


def clip_grad_value_(
    parameters: Iterable[Any] | Any, clip_value: float, foreach: bool | None = None
) -> None:
    """Limit every gradient element to [-clip_value, clip_value]."""
    bound = float(clip_value)
    with torch.no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-bound, bound)


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """Return all elements of all parameters in one vector."""
    return torch.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Set all parameters from one vector; they become views of it.

    **Raises** TypeError if `vec` is no tensor.
    """
    if not isinstance(vec, torch.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {torch.typename(vec)}")
    position = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[position : position + count].view_as(parameter).data
        position += count
