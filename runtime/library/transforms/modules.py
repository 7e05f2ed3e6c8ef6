"""Modules as functions of their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchgen_out as torch


def functional_call(
    module: torch.nn.Module,
    parameter_and_buffer_dicts: dict[str, Any] | Sequence[dict[str, Any]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module as if these were its parameters and buffers, of one dict or several.

    **Raises** ValueError for a name in several dicts, or what is no dict; and what
    `torch.nn.utils.stateless.functional_call` raises.
    """
    given = parameter_and_buffer_dicts
    dicts = [given] if isinstance(given, dict) else given
    if not isinstance(dicts, (list, tuple)) or not all(isinstance(each, dict) for each in dicts):
        raise ValueError(
            "functional_call: Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of "
            f"dicts, but got {type(given)}"
        )
    merged: dict[str, Any] = {}
    for each in dicts:
        if repeated := merged.keys() & each.keys():
            raise ValueError(
                f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional "
                "call is ambiguous"
            )
        merged.update(each)
    return torch.nn.utils.stateless.functional_call(
        module, merged, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the buffers of equal modules, stacked.

    Stacked parameters are leaves that require grad where those of the modules do.

    **Raises** RuntimeError for no modules, or modules that differ in class, in training or
    evaluation, or in which of their parameters require grad.
    """
    called = "stack_module_state"
    if not models:
        raise RuntimeError(f"{called}: Expected at least one model, got 0.")
    if any(each.training != models[0].training for each in models):
        raise RuntimeError(f"{called}: Expected all models to have the same training/eval mode.")
    if any(type(each) is not type(models[0]) for each in models):
        raise RuntimeError(f"{called}: Expected all models to be of the same class.")
    parameters = [dict(each.named_parameters()) for each in models]
    buffers = [dict(each.named_buffers()) for each in models]
    return (
        {name: _stacked(name, [each[name] for each in parameters]) for name in parameters[0]},
        {name: _stacked(name, [each[name] for each in buffers]) for name in buffers[0]},
    )


def _stacked(name: str, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    wanted = tensors[0].requires_grad
    if any(each.requires_grad is not wanted for each in tensors):
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    return torch.stack(list(tensors)).detach().requires_grad_(wanted)


def replace_all_batch_norm_modules_(root: torch.nn.Module) -> torch.nn.Module:
    """Take the running statistics from all batch norms in `root`, which then need none."""
    for module in root.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
