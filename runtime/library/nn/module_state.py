"""The part of `Module` that saves and loads: `state_dict` and `load_state_dict`."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Mapping
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.autograd.hooks import RemovableHandle
from torchgen_out._runtime.core.user_warnings import warn

_EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` returns: the keys that did not match."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict:
    """Persistent state as a flat mapping of dotted names to tensors."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: OrderedDict[int, Any]
    _state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_pre_hooks: OrderedDict[int, Any]
    _load_state_dict_post_hooks: OrderedDict[int, Any]

    def get_extra_state(self) -> Any:
        """Return further state for `state_dict`; a subclass that overrides it, overrides both."""
        raise RuntimeError(
            "Reached a code path in Module.get_extra_state() that should never be called."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned."""
        raise RuntimeError(
            "Reached a code path in Module.set_extra_state() that should never be called."
        )

    # -- saving -----------------------------------------------------------------------------

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return parameters and persistent buffers by dotted name.

        The tensors share memory with the module and are detached unless `keep_vars`.
        """
        if args:
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, metadata)
            destination = destination if replaced is None else replaced
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._persistent_tensors():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA_STATE] = self.get_extra_state()

    def _persistent_tensors(self) -> list[tuple[str, Any]]:
        found = [(name, value) for name, value in self._parameters.items() if value is not None]
        for name, value in self._buffers.items():
            if value is not None and name not in self._non_persistent_buffers_set:
                found.append((name, value))
        return found

    # -- loading ----------------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy a state dict into this module, or with `assign` take over its tensors.

        **Raises** RuntimeError that lists all keys that are missing or unexpected (with `strict`)
        and all shapes that differ; TypeError if `state_dict` is no mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None)
        state: Any = OrderedDict(state_dict)
        if metadata is not None:
            state._metadata = metadata
        result = _IncompatibleKeys(missing, unexpected)
        _load(self, state, "", metadata, strict, assign, result, errors)
        if strict:
            if unexpected:
                errors.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
            if missing:
                errors.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if errors:
            joined = "\n\t".join(errors)
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{joined}"
            )
        return result

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load what belongs to this module itself; subclasses override it to read old formats."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        for name, own in self._persistent_tensors():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            problem = self._load_tensor(name, own, state_dict[key], key, assign)
            if problem:
                error_msgs.append(problem)
        self._load_extra_state(state_dict, prefix, strict, missing_keys, unexpected_keys)
        if strict:
            unexpected_keys.extend(self._unexpected(state_dict, prefix))

    def _load_tensor(self, name: str, own: Any, given: Any, key: str, assign: bool) -> str | None:
        """Copy or assign one tensor; return what is wrong with it."""
        if not isinstance(given, torch.Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                f"object from checkpoint but received {type(given)}"
            )
        if len(own.shape) == 0 and len(given.shape) == 1 and given.shape[0] == 1:
            given = given[0]
        if given.shape != own.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {given.shape} from "
                f"checkpoint, the shape in current model is {own.shape}."
            )
        if own.is_meta and not given.is_meta and not assign:
            warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a meta "
                "parameter in the current model, which is a no-op. (Did you mean to pass "
                "`assign=True` to assign items in the state dictionary to their corresponding key "
                "in the module instead of copying them in place?)"
            )
        with torch.no_grad():
            if not assign:
                own.copy_(given)
            elif name in self._parameters and not isinstance(given, type(own)):
                setattr(self, name, type(own)(given, requires_grad=own.requires_grad))
            else:
                setattr(self, name, given)
        return None

    def _load_extra_state(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
    ) -> None:
        key = prefix + _EXTRA_STATE
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            elif strict:
                missing_keys.append(key)
        elif strict and key in state_dict:
            unexpected_keys.append(key)

    def _unexpected(self, state_dict: dict[str, Any], prefix: str) -> list[str]:
        own = {name for name, _ in self._persistent_tensors()} | {_EXTRA_STATE}
        found = []
        for key in state_dict:
            if key.startswith(prefix):
                name, dot, _ = key[len(prefix) :].partition(".")
                if name not in own and not (dot and name in self._modules):
                    found.append(key)
        return found

    # -- hooks ------------------------------------------------------------------------------

    def register_state_dict_post_hook(self, hook: Callable[..., object]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after saving, in place."""

        def in_place(*args: Any) -> None:
            if hook(*args) is not None:
                raise RuntimeError("state_dict post-hook must return None")

        return _add(self._state_dict_hooks, in_place)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return _add(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before saving."""
        return _add(self._state_dict_pre_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` before loading."""
        return _add(self._load_state_dict_pre_hooks, lambda *args: hook(self, *args))

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., None], with_module: bool = False
    ) -> RemovableHandle:
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)
        return _add(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may change the lists."""
        return _add(self._load_state_dict_post_hooks, hook)


def _add(table: OrderedDict[int, Any], hook: Callable[..., Any]) -> RemovableHandle:
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle


def _load(
    module: Any,
    state: Any,
    prefix: str,
    metadata: Any,
    strict: bool,
    assign: bool,
    result: _IncompatibleKeys,
    errors: list[str],
) -> None:
    """Load a module and its submodules."""
    local = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local = {**local, "assign_to_params_buffers": True}
    module._load_from_state_dict(
        state, prefix, local, True, result.missing_keys, result.unexpected_keys, errors
    )
    for name, child in module._modules.items():
        if child is not None:
            child_prefix = f"{prefix}{name}."
            part = OrderedDict(
                (key, value) for key, value in state.items() if key.startswith(child_prefix)
            )
            _load(child, part, child_prefix, metadata, strict, assign, result, errors)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, result) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if incompatible_keys need to be modified, it should be done "
                "inplace."
            )


def _quoted(keys: list[str]) -> str:
    return ", ".join(f'"{key}"' for key in keys)
