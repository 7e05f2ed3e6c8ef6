"""What optimizers of other libraries, written beside PyTorch's, take from `optim.optimizer`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.optim.optimizer import scalar_dtype as _get_scalar_dtype

__all__ = [
    "_default_to_fused_or_foreach", "_disable_dynamo_if_unsupported",
    "_get_capturable_supported_devices", "_get_scalar_dtype", "_get_value",
    "_stack_if_compiling", "_use_grad_for_differentiable", "_view_as_real",
]  # fmt: skip


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """Run a step with gradients recorded if the optimizer is differentiable, else without."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with torch.set_grad_enabled(bool(self.defaults.get("differentiable"))):
            return func(self, *args, **kwargs)

    return step


def _default_to_fused_or_foreach(
    params: list[Any], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Return whether fused and foreach steps are the default: a loop is on the CPU."""
    if differentiable or not params:
        return False, False
    are_on_cuda = all(each is None or each.is_cuda for each in params)
    return use_fused and are_on_cuda, are_on_cuda and not use_fused


def _get_value(x: Any) -> Any:
    """Return the number that a tensor holds, or that is given."""
    return x.item() if isinstance(x, torch.Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """Return the list: nothing is compiled."""
    return x


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """Return the kinds of devices on which steps can be captured in a graph."""
    return ["cuda"]


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Put views as real numbers in place of complex tensors, in lists of one length."""
    for number, parameter in enumerate(params):
        if parameter.is_complex():
            for each in (params, *state_and_grads):
                each[number] = torch.view_as_real(each[number])


def _disable_dynamo_if_unsupported(
    single_tensor_fn: Callable[..., object] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a decorator that gives back what it decorates: there is no compiler."""
    return lambda function: function
