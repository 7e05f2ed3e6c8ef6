"""Hooks of all modules at once, for tools that watch whole programs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.autograd.hooks import RemovableHandle

Table = OrderedDict[int, Any]

forward_pre: Table = OrderedDict()
forward: Table = OrderedDict()
forward_with_kwargs: OrderedDict[int, bool] = OrderedDict()
forward_always_called: OrderedDict[int, bool] = OrderedDict()
backward_pre: Table = OrderedDict()
backward: Table = OrderedDict()
registrations: dict[str, Table] = {
    kind: OrderedDict() for kind in ("parameter", "buffer", "module")
}
around_calls = (forward_pre, forward, backward_pre, backward)

kind: dict[str, bool | None] = {"is_full": None}
"""Which kind the backward hooks are, once there is one."""

active: list[bool] = []
"""Not empty while a hook around calls is there: what each call of a module looks at."""


class GlobalHandle(RemovableHandle):
    """Removes a hook, and with the last one what makes calls look for hooks."""

    def remove(self) -> None:
        """Remove the hook."""
        super().remove()
        _note()


def _note() -> None:
    active[:] = [True] if any(around_calls) else []


def _add(table: Table, hook: Callable[..., Any], *marks: OrderedDict[int, bool]) -> RemovableHandle:
    handle = GlobalHandle(table, extra_dict=list(marks))
    table[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    _note()
    return handle


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before every module's `forward`, and before its own hooks."""
    return _add(forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after every module's `forward`, before its own hooks."""
    marks = [forward_with_kwargs] * with_kwargs + [forward_always_called] * always_call
    return _add(forward, hook, *marks)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` before the backward of every module."""
    return _add(backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` after the backward of every module."""
    kind["is_full"] = one_kind(kind["is_full"], True, "as a global Module hook")
    return _add(backward, hook)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` after the last operator of every module.

    Deprecated: use `register_module_full_backward_hook`.
    """
    kind["is_full"] = one_kind(kind["is_full"], False, "as a global Module hook")
    return _add(backward, hook)


def one_kind(before: bool | None, is_full: bool, where: str = "on a single Module") -> bool:
    """Return the kind of backward hooks; the first hook chooses it.

    **Raises** RuntimeError if there are hooks of the other kind.
    """
    if before is (not is_full):
        raise RuntimeError(
            f"Cannot use both regular backward hooks and full backward hooks {where}. "
            "Please use only one of them."
        )
    return is_full


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` at registration; what it returns replaces it."""
    return _add(registrations["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` at registration; what it returns replaces it."""
    return _add(registrations["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, submodule)` at registration; what it returns replaces it."""
    return _add(registrations["module"], hook)


def registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """The value to register, after the hooks."""
    for hook in registrations[kind].values():
        replaced = hook(module, name, value)
        value = value if replaced is None else replaced
    return value
