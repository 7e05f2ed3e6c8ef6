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

    **Raises** ValueError for a name in several dicts, TypeError for what is no dict; and what
    `torch.nn.utils.stateless.functional_call` raises.
    """
    given = parameter_and_buffer_dicts
    dicts = [given] if isinstance(given, dict) else given
    if not isinstance(dicts, (list, tuple)) or not all(isinstance(each, dict) for each in dicts):
        raise TypeError(
            "functional_call: expected parameter_and_buffer_dicts to be a dict, or a list or tuple "
            f"of dicts, got {type(given).__name__}"
        )
    merged: dict[str, Any] = {}
    for each in dicts:
        if repeated := merged.keys() & each.keys():
            raise ValueError(f"{sorted(repeated)} appeared in multiple dictionaries")
        merged.update(each)
    return torch.nn.utils.stateless.functional_call(
        module, merged, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def stack_module_state(models: Sequence[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the buffers of equal modules, stacked.

    **Raises** RuntimeError for no modules, or modules of several classes.
    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(type(each) is not type(models[0]) for each in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    stacked = [
        {name: torch.stack([values[name] for values in each]).detach() for name in each[0]}
        for each in (
            [dict(model.named_parameters()) for model in models],
            [dict(model.named_buffers()) for model in models],
        )
    ]
    parameters = {name: value.requires_grad_() for name, value in stacked[0].items()}
    return parameters, stacked[1]
