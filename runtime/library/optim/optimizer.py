"""`Optimizer`: parameter groups, state per parameter, saving and loading of both."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import wraps
from typing import Any, TypeAlias

import torchgen_out as torch
from torchgen_out._runtime.autograd import accumulate
from torchgen_out._runtime.autograd.hooks import RemovableHandle, add_hook
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out.public_modules import PUBLIC_MODULES

Closure: TypeAlias = Callable[[], Any] | None
ParamsT: TypeAlias = Iterable[Any]
"""Parameters, pairs of names and parameters, or groups of options with parameters."""
_params_t = ParamsT


class _RequiredParameter:
    """Marks an option without default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()
_step_hooks: dict[str, OrderedDict[int, Any]] = {"pre": OrderedDict(), "post": OrderedDict()}
"""Hooks around the steps of all optimizers."""


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before every step of every optimizer."""
    return add_hook(_step_hooks["pre"], hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after every step of every optimizer."""
    return add_hook(_step_hooks["post"], hook)


def _with_hooks(step: Any) -> Any:
    """A step method that runs the hooks, whichever class has written it.

    Hooks see the optimizer among the arguments, as the method does.
    """

    @wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not hasattr(self, "_hooks"):  # wraps another optimizer, and never was made one itself
            return step(self, *args, **kwargs)
        args = (self, *args)
        for hook in (*_step_hooks["pre"].values(), *self._hooks["step_pre"].values()):
            replaced = hook(self, args, kwargs)
            if replaced is not None:
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got "
                        f"{replaced}."
                    )
                args, kwargs = replaced
        result = step(*args, **kwargs)
        for hook in (*self._hooks["step_post"].values(), *_step_hooks["post"].values()):
            hook(self, args, kwargs)
        return result

    return hooked


class Optimizer:
    """Base class of all optimizers.

    `params` are tensors, (name, tensor) pairs, or dicts with a key "params" and options of their
    own. A subclass implements `_update(group)`, which steps all parameters of one group.
    """

    __module__ = "torchgen_out.optim.optimizer"

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the library's own classes say where users find them."""
        super().__init_subclass__(**options)
        if "step" in vars(cls):
            own: Any = cls
            own.step = _with_hooks(cls.step)
        cls.__module__ = PUBLIC_MODULES.get(f"{cls.__module__}.{cls.__qualname__}", cls.__module__)

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        if isinstance(params, torch.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {torch.typename(params)}"
            )
        self.defaults = defaults
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._hooks: dict[str, OrderedDict[int, Any]] = _hook_tables()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        if defaults.get("fused"):
            self._check_fused()

    def _check_fused(self) -> None:
        """Refuse what PyTorch's fused steps refuse; here every step is fused."""
        if self.defaults.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if self.defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
        for group in self.param_groups:
            for parameter in group["params"]:
                if not parameter.is_floating_point():
                    raise RuntimeError(
                        "`fused=True` requires all the params to be floating point Tensors of "
                        f"supported devices: ['cuda', 'cpu'] but {parameter.dtype} and "
                        f"{parameter.device.type}"
                    )

    def __getstate__(self) -> dict[str, Any]:
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("_hooks", _hook_tables())
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"

    # -- stepping ---------------------------------------------------------------------------

    @_with_hooks
    def step(self, closure: Closure = None) -> Any:
        """Update all parameters once.

        A closure computes the loss anew, with gradients; its value is returned.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        differentiable = bool(self.defaults.get("differentiable"))
        if differentiable:
            self._keep_state()
        with torch.set_grad_enabled(differentiable):
            for group in self.param_groups:
                self._update(group)
        return loss

    def _keep_state(self) -> None:
        """Go on with copies of the state: the graph of the steps before holds the tensors."""
        for state in self.state.values():
            for name, value in state.items():
                if isinstance(value, torch.Tensor):
                    state[name] = value.clone()

    def _update(self, group: dict[str, Any]) -> None:
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        for group in self.param_groups:
            for parameter in group["params"]:
                accumulate.clear(parameter, set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with options of their own.

        **Raises** TypeError or ValueError for what is no leaf tensor, or is there already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        given = param_group["params"]
        if isinstance(given, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the "
                "ordering of tensors in sets will change between runs. Please use a list instead."
            )
        listed = [given] if isinstance(given, torch.Tensor) else list(given)
        if listed and isinstance(listed[0], tuple):
            if not all(isinstance(pair, tuple) for pair in listed):
                raise _with_and_without_names()
            param_group["param_names"] = [name for name, _ in listed]
            listed = [parameter for _, parameter in listed]
        elif any(isinstance(pair, tuple) for pair in listed):
            raise _with_and_without_names()
        for parameter in listed:
            _check_parameter(parameter, bool(self.defaults.get("differentiable")))
        param_group["params"] = listed
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
            param_group.setdefault(name, default)
        if len(listed) != len({id(parameter) for parameter in listed}):
            warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error",
            )
        known = {id(parameter) for group in self.param_groups for parameter in group["params"]}
        if not known.isdisjoint(id(parameter) for parameter in listed):
            raise ValueError("some parameters appear in more than one parameter group")
        if self.param_groups:
            was_named, is_named = (
                "param_names" in self.param_groups[0],
                "param_names" in param_group,
            )
            if was_named != is_named:
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param "
                    f"group {'with' if is_named else 'without'} names to the optimizer"
                )
        self.param_groups.append(param_group)

    # -- saving and loading -----------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return state and groups, with parameters replaced by their numbers."""
        for hook in self._hooks["state_dict_pre"].values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            packed["params"] = [numbers[id(parameter)] for parameter in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, torch.Tensor) else key: value
            for key, value in self.state.items()
        }
        result = {"state": state, "param_groups": groups}
        for hook in self._hooks["state_dict_post"].values():
            replaced = hook(self, result)
            result = result if replaced is None else replaced
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a copy of state and options; tensors get dtype and device of their parameter.

        **Raises** ValueError if the groups differ in number or size.
        """
        state_dict = dict(state_dict)
        for hook in self._hooks["load_state_dict_pre"].values():
            replaced = hook(self, state_dict)
            state_dict = state_dict if replaced is None else replaced
        saved = deepcopy(state_dict["param_groups"])
        if len(self.param_groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        pairs = list(zip(self.param_groups, saved, strict=True))
        if any(len(own["params"]) != len(given["params"]) for own, given in pairs):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        by_number = {
            number: parameter
            for own, given in pairs
            for number, parameter in zip(given["params"], own["params"], strict=True)
        }
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_number:
                state[by_number[key]] = _for_parameter(value, by_number[key])
            else:
                state[key] = value
        for own, given in pairs:
            given["params"] = own["params"]
            if "param_names" in own:
                given.setdefault("param_names", own["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._hooks["load_state_dict_post"].values():
            hook(self)

    # -- hooks ------------------------------------------------------------------------------

    def _register(
        self, table: str, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        handle = RemovableHandle(self._hooks[table])
        self._hooks[table][handle.id] = hook
        if prepend:
            self._hooks[table].move_to_end(handle.id, last=False)
        return handle

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before every step."""
        return self._register("step_pre", hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after every step."""
        return self._register("step_post", hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict`."""
        return self._register("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after `state_dict`; what it returns replaces it."""
        return self._register("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; what it returns replaces it."""
        return self._register("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` after loading."""
        return self._register("load_state_dict_post", hook, prepend)


def _hook_tables() -> dict[str, OrderedDict[int, Any]]:
    kinds = ("step", "state_dict", "load_state_dict")
    return {f"{kind}_{when}": OrderedDict() for kind in kinds for when in ("pre", "post")}


def _with_and_without_names() -> ValueError:
    return ValueError(
        "all optimizer params should be with/without names. Some param names are missing"
    )


def _check_parameter(parameter: Any, may_have_history: bool) -> None:
    if not isinstance(parameter, torch.Tensor):
        raise TypeError(
            "optimizer can only optimize Tensors, but one of the params is "
            f"{torch.typename(parameter)}"
        )
    if not (may_have_history or parameter.is_leaf or parameter.retains_grad):
        raise ValueError("can't optimize a non-leaf Tensor")


def _for_parameter(value: Any, parameter: Any, key: str | None = None) -> Any:
    """A copy of loaded state in the parameter's dtype and device; step counts stay as they are."""
    if isinstance(value, torch.Tensor):
        if key == "step":
            return value.clone()
        if parameter.is_floating_point():
            return value.detach().clone().to(dtype=parameter.dtype, device=parameter.device)
        return value.detach().clone().to(device=parameter.device)
    if isinstance(value, dict):
        return {name: _for_parameter(item, parameter, name) for name, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        kind: Any = type(value)
        return kind(_for_parameter(item, parameter) for item in value)
    return value


def check_tensor_lr(lr: Any) -> None:
    """Raise ValueError for a learning rate that is a tensor of several."""
    if isinstance(lr, torch.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def new_counter(value: float = 0.0) -> Any:
    """A step count or a factor, a tensor as in PyTorch's files."""
    return torch.tensor(value, dtype=scalar_dtype())


def scalar_dtype(is_fused: bool | None = None) -> Any:
    """Return the dtype of counters of steps: float64 where that is the default, else float32."""
    is_double = not is_fused and torch.get_default_dtype() is torch.float64
    return torch.float64 if is_double else torch.float32


def real_views(
    parameter: Any, gradient: Any, state: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """The same, with views as real numbers in place of complex tensors.

    Real and imaginary parts are optimised as two numbers. What is written goes through the views.
    """
    if not parameter.is_complex():
        return parameter, gradient, state
    parts = {
        name: torch.view_as_real(value)
        if isinstance(value, torch.Tensor) and value.is_complex()
        else value
        for name, value in state.items()
    }
    return torch.view_as_real(parameter), torch.view_as_real(gradient), parts


def raise_to(largest: Any, value: Any) -> Any:
    """Set each element of `largest` to `value`'s where that is larger."""
    if torch.is_grad_enabled():  # the maximum needs what it was computed from
        return largest.copy_(torch.maximum(largest.clone(), value))
    return torch.maximum(largest, value, out=largest)


def check_at_least_zero(**options: float) -> None:
    """Raise ValueError in PyTorch's words for a negative option."""
    check_tensor_lr(options.get("lr"))
    words = {
        "lr": "learning rate",
        "eps": "epsilon value",
        "weight_decay": "weight_decay value",
        "momentum": "momentum value",
        "alpha": "alpha value",
        "lr_decay": "lr_decay value",
        "initial_accumulator_value": "initial_accumulator_value value",
        "rho": "rho value",
    }
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {words[name]}: {value}")


def with_gradient(group: dict[str, Any], sparse: bool = False) -> Iterable[tuple[Any, Any]]:
    """The parameters of a group that have a gradient, with it; or the group's own pairs.

    sparse: whether the optimizer takes sparse gradients.

    **Raises** RuntimeError for one otherwise, AssertionError if steps shall be captured in a
    graph of CUDA and a parameter is elsewhere.
    """
    must_be_on_a_device = group.get("capturable", False)
    for parameter, gradient in group.get("pairs") or _gradients(group["params"]):
        if must_be_on_a_device and not parameter.is_cuda:
            raise AssertionError(
                "If capturable=True, params and state_steps must be on supported devices: ['cuda']."
            )
        if gradient is not None:
            if gradient.is_sparse and not sparse:
                raise RuntimeError("sparse gradients are not supported by this optimizer")
            yield parameter, gradient


def _gradients(parameters: Iterable[Any]) -> Iterable[tuple[Any, Any]]:
    return ((parameter, parameter.grad) for parameter in parameters)
