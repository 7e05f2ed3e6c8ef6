"""`torch.func`: calls of modules with other parameters; transforms of functions are not there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchgen_out as torch
from runtime.programs import absent

__all__ = [
    "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip

_REMEDY = (
    "use torch.autograd.functional (jacobian, hessian, vjp, jvp) or torch.autograd.grad, and a "
    "loop or broadcasting over the batch"
)

functionalize = absent.function("torch.func.functionalize", _REMEDY)
grad = absent.function("torch.func.grad", _REMEDY)
grad_and_value = absent.function("torch.func.grad_and_value", _REMEDY)
hessian = absent.function("torch.func.hessian", _REMEDY)
jacfwd = absent.function("torch.func.jacfwd", _REMEDY)
jacrev = absent.function("torch.func.jacrev", _REMEDY)
jvp = absent.function("torch.func.jvp", _REMEDY)
linearize = absent.function("torch.func.linearize", _REMEDY)
vjp = absent.function("torch.func.vjp", _REMEDY)
vmap = absent.function("torch.func.vmap", _REMEDY)


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
