"""Steps of optimizers as functions of lists: parameters, gradients, and the state of each.

`torch.optim.adam.adam(params, grads, exp_avgs, ..., state_steps, lr=..., ...)` writes into what the
lists hold. What a step computes is the optimizer's; a table says which lists and options it has.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.optim.adafactor import Adafactor
from torchgen_out._runtime.library.optim.adam import Adam, AdamW
from torchgen_out._runtime.library.optim.adam_variants import NAdam, RAdam
from torchgen_out._runtime.library.optim.adaptive import Adadelta, Adagrad, Adamax, RMSprop
from torchgen_out._runtime.library.optim.averaged import ASGD
from torchgen_out._runtime.library.optim.optimizer import Optimizer
from torchgen_out._runtime.library.optim.rprop import Rprop
from torchgen_out._runtime.library.optim.sgd import SGD

__all__ = [
    "adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw", "asgd", "nadam", "radam",
    "rmsprop", "rprop", "sgd",
]  # fmt: skip

_FLAGS = {"foreach": None, "capturable": False, "differentiable": False}
_FUSED = {"fused": None, "grad_scale": None, "found_inf": None}
_BETAS = {"betas": ("beta1", "beta2")}


@dataclass(frozen=True, slots=True)
class Step:
    """An optimizer's step: its arguments, and where the optimizer looks for them."""

    optimizer: type[Optimizer]
    lists: Mapping[str, str]
    """The lists behind the gradients, and the name that each has in the state."""
    options: str
    """Options that must be given, by name; divided by blanks."""
    defaults: Mapping[str, Any] = field(default_factory=lambda: _FLAGS | {"has_complex": False})
    """Options that need not be given, in order."""
    pairs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Options of the optimizer that are two arguments here."""
    always: Mapping[str, Any] = field(default_factory=dict)
    """Options of the optimizer that are no arguments here."""
    gradients: str = "grads"

    def signature(self) -> inspect.Signature:
        """The parameters of the function."""
        kinds = inspect.Parameter
        names = ["params", self.gradients, *self.lists]
        parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in names]
        parameters += [
            kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=value)
            for name, value in self.defaults.items()
        ]
        parameters += [kinds(name, kinds.KEYWORD_ONLY) for name in self.options.split()]
        return inspect.Signature(parameters)

    def run(self, given: dict[str, Any]) -> None:
        """Step all parameters once."""
        scale, found_inf = given.get("grad_scale"), given.get("found_inf")
        if found_inf is not None and found_inf.item():
            return
        parameters, gradients = given["params"], given[self.gradients]
        if scale is not None:
            gradients = [gradient / scale for gradient in gradients]
        lists = {name: given[each] for each, name in self.lists.items() if given[each]}
        _check_steps(lists.get("step", ()))
        group = {name: given[name] for name in (*self.defaults, *self.options.split())}
        group |= {name: (given[a], given[b]) for name, (a, b) in self.pairs.items()}
        optimizer = object.__new__(self.optimizer)
        for i, (parameter, gradient) in enumerate(zip(parameters, gradients, strict=True)):
            state = {name: each[i] for name, each in lists.items() if each[i] is not None}
            optimizer.state = defaultdict(dict, {parameter: state})
            pairs = [(parameter, gradient)]
            optimizer._update({"params": [parameter], "pairs": pairs, **group, **self.always})
            for name, each in lists.items():
                each[i] = state.get(name)


def _check_steps(steps: Sequence[Any]) -> None:
    if not all(isinstance(each, torch.Tensor) for each in steps):
        raise RuntimeError(
            "API has changed, `state_steps` argument must contain a list of singleton tensors"
        )


def _function(name: str, step: Step) -> Callable[..., None]:
    signature = step.signature()

    def functional(*args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        step.run(bound.arguments)

    functional.__name__ = functional.__qualname__ = name
    functional.__doc__ = f"Step parameters as `{step.optimizer.__name__}` does, in place."
    made: Any = functional
    made.__signature__ = signature
    return functional


_MEANS = {"exp_avgs": "exp_avg", "exp_avg_sqs": "exp_avg_sq"}
_STEPS = {"state_steps": "step"}
_ADAM_LISTS = {**_MEANS, "max_exp_avg_sqs": "max_exp_avg_sq", **_STEPS}
_ADAM = "amsgrad beta1 beta2 lr weight_decay eps maximize"
_LAST = {"has_complex": False}
_LATE_FLAGS = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}
_DECOUPLED = {"decoupled_weight_decay": False}

adadelta = _function("adadelta", Step(
    Adadelta, {"square_avgs": "square_avg", "acc_deltas": "acc_delta", **_STEPS},
    "lr rho eps weight_decay maximize",
    {"capturable": False, "foreach": None, "differentiable": False, **_LAST},
))  # fmt: skip
adafactor = _function("adafactor", Step(
    Adafactor,
    {"row_vars": "row_var", "col_vars": "col_var", "variances": "variance", **_STEPS},
    "d lr beta2_decay weight_decay eps1 eps2 maximize",
    {"foreach": None, "grad_scale": None, "found_inf": None, **_LAST},
    {"eps": ("eps1", "eps2")},
))  # fmt: skip
adagrad = _function("adagrad", Step(
    Adagrad, {"state_sums": "sum", **_STEPS}, "lr weight_decay lr_decay eps maximize",
    {**_FUSED, "has_sparse_grad": False, "foreach": None, "differentiable": False, **_LAST},
))  # fmt: skip
adam = _function("adam", Step(
    Adam, _ADAM_LISTS, _ADAM, {**_FLAGS, **_FUSED, **_LAST, **_DECOUPLED}, _BETAS,
))  # fmt: skip
adamw = _function("adamw", Step(
    AdamW, _ADAM_LISTS, _ADAM, {**_FLAGS, **_FUSED, **_LAST}, _BETAS,
    {"decoupled_weight_decay": True},
))  # fmt: skip
adamax = _function("adamax", Step(
    Adamax, {"exp_avgs": "exp_avg", "exp_infs": "exp_inf", **_STEPS},
    "eps beta1 beta2 lr weight_decay", {**_LATE_FLAGS, **_LAST}, _BETAS,
))  # fmt: skip
asgd = _function("asgd", Step(
    ASGD, {"axs": "ax", "mus": "mu", "etas": "eta", **_STEPS},
    "lambd lr t0 alpha weight_decay", {**_LATE_FLAGS, **_LAST},
))  # fmt: skip
nadam = _function("nadam", Step(
    NAdam, {**_MEANS, "mu_products": "mu_product", **_STEPS},
    "beta1 beta2 lr weight_decay momentum_decay eps",
    {**_DECOUPLED, **_FLAGS, **_LAST, "maximize": False}, _BETAS,
))  # fmt: skip
radam = _function("radam", Step(
    RAdam, {**_MEANS, **_STEPS}, "beta1 beta2 lr weight_decay eps",
    {**_DECOUPLED, "foreach": None, "differentiable": False, "capturable": False, **_LAST,
     "maximize": False}, _BETAS,
))  # fmt: skip
rmsprop = _function("rmsprop", Step(
    RMSprop,
    {"square_avgs": "square_avg", "grad_avgs": "grad_avg",
     "momentum_buffer_list": "momentum_buffer", **_STEPS},
    "lr alpha eps weight_decay momentum centered", {**_LATE_FLAGS, **_LAST},
))  # fmt: skip
rprop = _function("rprop", Step(
    Rprop, {"prevs": "prev", "step_sizes": "step_size", **_STEPS},
    "step_size_min step_size_max etaminus etaplus",
    {"foreach": None, "capturable": False, "maximize": False, "differentiable": False, **_LAST},
    {"etas": ("etaminus", "etaplus"), "step_sizes": ("step_size_min", "step_size_max")},
))  # fmt: skip
sgd = _function("sgd", Step(
    SGD, {"momentum_buffer_list": "momentum_buffer"},
    "weight_decay momentum lr dampening nesterov maximize",
    {"has_sparse_grad": False, "foreach": None, **_FUSED}, gradients="d_p_list",
))  # fmt: skip
