"""`torch.distributed.checkpoint.state_dict`: models and optimizers by names, whole on every rank.

Names are those of the module itself, without the prefix of DistributedDataParallel; an optimizer's
state stands under its parameters' names. What `fully_shard` has dealt out is gathered, so all ranks
call these functions, and another number of ranks, or one process, can load what they return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.nn.distributed_parallel import DistributedDataParallel

__all__ = [
    "StateDictOptions", "get_model_state_dict", "get_optimizer_state_dict", "get_state_dict",
    "set_model_state_dict", "set_optimizer_state_dict", "set_state_dict",
]  # fmt: skip

State = dict[str, Any]


@dataclass
class StateDictOptions:
    """full_state_dict: state dicts are whole here, whatever it says. cpu_offload: they are on the
    host. strict: names must be those of the model."""

    full_state_dict: bool = False
    cpu_offload: bool = False
    strict: bool = True


_DEFAULT = StateDictOptions()


def _plain(model: Any) -> Any:
    return model.module if isinstance(model, DistributedDataParallel) else model


def _names(model: Any) -> dict[int, str]:
    """The name of each parameter, by its identity."""
    return {id(each): name for name, each in _plain(model).named_parameters()}


def _listed(optimizers: Any) -> list[Any]:
    return list(optimizers) if isinstance(optimizers, Iterable) else [optimizers]


def _is_like(value: Any, parameter: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.shape == parameter.shape


def get_model_state_dict(
    model: Any, *, submodules: Any = None, options: StateDictOptions | None = None
) -> State:
    """Return all parameters and buffers, whole."""
    found = dict(_plain(model).state_dict())
    return _offloaded(found) if (options or _DEFAULT).cpu_offload else found


def _offloaded(state: State) -> State:
    return {
        name: value.cpu() if isinstance(value, torch.Tensor) else value
        for name, value in state.items()
    }


def get_optimizer_state_dict(
    model: Any,
    optimizers: Any,
    *,
    submodules: Any = None,
    options: StateDictOptions | None = None,
) -> State:
    """Return `state` by parameters' names, whole, and `param_groups` with these names."""
    names, state, groups = _names(model), {}, []
    for group, optimizer in _groups(optimizers):
        for parameter in group["params"]:
            own = _gathered(parameter, optimizer.state.get(parameter, {}))
            state[names[id(parameter)]] = (
                _offloaded(own) if (options or _DEFAULT).cpu_offload else own
            )
        listed = [names[id(parameter)] for parameter in group["params"]]
        groups.append({**group, "params": listed})
    return {"state": state, "param_groups": groups}


def _groups(optimizers: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    for optimizer in _listed(optimizers):
        for group in optimizer.param_groups:
            yield group, optimizer


def _gathered(parameter: Any, state: Mapping[str, Any]) -> State:
    """A parameter's state, of which each rank has its rows."""
    shard = getattr(parameter, "_shard", None)
    return {
        key: shard.gather(value) if shard is not None and _is_like(value, parameter) else value
        for key, value in state.items()
    }


def get_state_dict(
    model: Any,
    optimizers: Any,
    *,
    submodules: Any = None,
    options: StateDictOptions | None = None,
) -> tuple[State, State]:
    """Return the state dicts of a model and of its optimizers."""
    return (
        get_model_state_dict(model, options=options),
        get_optimizer_state_dict(model, optimizers, options=options),
    )


def set_model_state_dict(
    model: Any, model_state_dict: Mapping[str, Any], *, options: StateDictOptions | None = None
) -> Any:
    """Load parameters and buffers; return which names were missing or not expected."""
    strict = (options or _DEFAULT).strict
    return _plain(model).load_state_dict(model_state_dict, strict=strict)


def set_optimizer_state_dict(
    model: Any,
    optimizers: Any,
    optim_state_dict: Mapping[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load what `get_optimizer_state_dict` has returned, by any number of ranks.

    **Raises** KeyError for a parameter that it does not name, before anything is written.
    """
    names = _names(model)
    given = {name: each for each in optim_state_dict["param_groups"] for name in each["params"]}
    missing = [
        names[id(p)] for group, _ in _groups(optimizers) for p in group["params"]
        if names[id(p)] not in given
    ]  # fmt: skip
    if missing:
        raise KeyError(f"set_optimizer_state_dict: the state dict does not name {missing}")
    for group, optimizer in _groups(optimizers):
        for parameter in group["params"]:
            name = names[id(parameter)]
            state = optim_state_dict["state"].get(name)
            if state:
                optimizer.state[parameter] = _dealt(parameter, state)
            group.update({k: v for k, v in given[name].items() if k != "params"})


def _dealt(parameter: Any, state: Mapping[str, Any]) -> State:
    """This rank's part of a parameter's state."""
    shard: Any = getattr(parameter, "_shard", None)

    def own(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        is_whole = shard is not None and tuple(value.shape) == shard.shape
        return (shard.own_rows(value) if is_whole else value).to(
            parameter.device if value.ndim else value.device, copy=True
        )

    return {key: own(value) for key, value in state.items()}


def set_state_dict(
    model: Any,
    optimizers: Any,
    *,
    model_state_dict: Mapping[str, Any],
    optim_state_dict: Mapping[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Load the state dicts of a model and of its optimizers."""
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)


public.place("distributed.checkpoint.state_dict", StateDictOptions)
