"""The names of `torch.func`."""

from __future__ import annotations

from torchgen_out._runtime.library.programs import absent
from torchgen_out._runtime.library.transforms.derivatives import grad, grad_and_value, vjp
from torchgen_out._runtime.library.transforms.forward import jvp, linearize
from torchgen_out._runtime.library.transforms.jacobians import hessian, jacfwd, jacrev
from torchgen_out._runtime.library.transforms.modules import (
    functional_call,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from torchgen_out._runtime.library.transforms.vmap import vmap

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
    "jvp", "linearize", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip

functionalize = absent.function(
    "torch.func.functionalize", "write the function without operators that write in place"
)
