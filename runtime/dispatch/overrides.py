"""`__torch_function__`: classes that answer the calls which are given their instances.

A tensor of such a class has the bit `OVERRIDES` in its key: its signatures are in no table until
they are resolved to a call that asks its class. What is no tensor, but answers, is met where a
binding finds no key. Plain tensors never come here.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops, tables
from torchgen_out._runtime.dispatch import signature as signatures

if TYPE_CHECKING:
    from torchgen_out._runtime.dispatch.operator import Call, CallTable, Operator


class _State(threading.local):
    """The state of one thread. The class attributes are what a new thread starts with.

    enabled: whether classes are asked. modes: the modes entered, which are asked before them.
    """

    enabled = True
    modes: tuple[Any, ...] = ()


state = _State()

PLAIN: set[type] = {Tensor, type(None), bool, int, float, complex, str}
"""Classes of arguments that nobody has to ask; empty from the first mode on, which is always."""
TENSORS: set[type] = {Tensor}
"""Those of arguments that must be tensors."""
OPTIONAL_TENSORS: set[type] = {Tensor, type(None)}
"""Those of arguments that may be absent as well."""


class InUse:
    """What was ever seen of the process; before that, nobody looks for it."""

    classes = False
    modes = False


def use_modes() -> None:
    """Look for modes in every call from here on, in all threads."""
    if not InUse.modes:
        InUse.modes = True
        for classes in (PLAIN, TENSORS, OPTIONAL_TENSORS):
            classes.clear()
        tables.forget_calls()


class DisableTorchFunctionSubclass:
    """Within it, classes are not asked: their instances are tensors like any other."""

    modes_too = False

    def __enter__(self) -> None:
        self.before = state.enabled, state.modes
        state.enabled = False
        if self.modes_too:
            state.modes = ()

    def __exit__(self, *raised: object) -> None:
        state.enabled, state.modes = self.before


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Within it, neither classes nor modes are asked."""

    modes_too = True


def disabled(
    func: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """The `__torch_function__` of classes whose instances are plain tensors, such as parameters."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def answers(cls: type) -> bool:
    """Whether a class answers calls that are given its instances."""
    method = getattr(cls, "__torch_function__", None)
    return method is not None and method is not disabled and cls is not Tensor


def overriding(values: Iterable[Any]) -> list[Any]:
    """The first value of each class that answers, members of lists included.

    They are asked from left to right, but those of a subclass before those of its base.
    """
    found: list[Any] = []
    for value in _flat(values):
        cls = value.__class__
        if cls in PLAIN or not answers(cls) or any(cls is each.__class__ for each in found):
            continue
        at = next((i for i, each in enumerate(found) if isinstance(value, type(each))), len(found))
        found.insert(at, value)
    return found


def _flat(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (tuple, list)):
            yield from value
        else:
            yield value


def answer(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    relevant: Iterable[Any] | None = None,
) -> Any:
    """What the modes, then the arguments' classes answer to a call; NotImplemented without any.

    relevant: the arguments that are asked, if not all of them are.
    Raises: TypeError if all that are asked decline.
    """
    modes = state.modes
    if not modes and not state.enabled:
        return NotImplemented
    asked = chain(args, kwargs.values()) if relevant is None else relevant
    found = overriding(asked) if state.enabled else []
    types = tuple([each.__class__ for each in found])
    if modes:
        state.modes = modes[:-1]
        try:
            result = modes[-1].__torch_function__(function, types, args, kwargs)
        finally:
            state.modes = modes
        if result is not NotImplemented:
            return result
        found = [modes[-1], *found]
    for each in found[1:] if modes else found:
        result = each.__torch_function__(function, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if found:
        raise errors.no_override(function, types)
    return NotImplemented


# -- operators --------------------------------------------------------------------------------


def make_call(table: CallTable, signature: tuple[Any, ...]) -> Call:
    """The call for operands of which some answer for themselves."""
    bare = tuple([signatures.without(keys.OVERRIDES, entry) for entry in signature])
    below = bare if table.has_tuples else bare[0]

    def overridable_call(*args: Any) -> Any:
        found = answer_of(table, args)
        return table[below](*args) if found is NotImplemented else found

    return overridable_call


def under_modes(table: CallTable, call: Call) -> Call:
    """The call, unless a mode answers."""

    def moded_call(*args: Any) -> Any:
        found = answer_of(table, args) if state.modes else NotImplemented
        return call(*args) if found is NotImplemented else found

    return moded_call


def finish(table: CallTable, call: Call) -> Call:
    """A call as it goes into its table: with a look for modes once there are any."""
    return under_modes(table, call) if InUse.modes else call


def answer_of(table: CallTable, args: tuple[Any, ...]) -> Any:
    """What is answered to an operator's call; args: all in order, behind the results for out=."""
    if not state.modes and (not state.enabled or not overriding(args)):
        return NotImplemented
    operator, name = table.operator, table.operator.base_name
    given = args[1:] if table.variant == "out" else args
    positional, named = _as_users_write(operator, given)
    if table.variant == "out":
        named["out"] = args[0]
    function = getattr(ops, f"{name}_" if table.variant == "inplace" else name)
    return answer(function, positional, named)


def _as_users_write(
    operator: Operator, given: tuple[Any, ...]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments as a call would give them: what has its default is left out at the end."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    used = 0
    for (name, is_named, default), value in zip(parameters(operator.schema), given, strict=False):
        is_default = value.__class__ is default.__class__ and value == default
        if is_named:
            if not is_default:
                named[name] = value
            continue
        positional.append(value)
        if not is_default:
            used = len(positional)
    return tuple(positional[:used]), named


@cache
def parameters(schema: str) -> tuple[tuple[str, bool, Any], ...]:
    """Name, whether it is given by name only, and default of a schema's parameters."""
    inside = schema[schema.index("(") + 1 : schema.rindex(") ->")]
    found: list[tuple[str, bool, Any]] = []
    is_named, depth, text = False, 0, ""
    for char in f"{inside},":
        depth += (char in "([") - (char in ")]")
        if char != "," or depth:
            text += char
        elif text.strip() == "*":
            is_named, text = True, ""
        elif text.strip():
            declared, has_default, value = text.strip().partition("=")
            default = _literal(value) if has_default else NO_DEFAULT
            found.append((declared.rpartition(" ")[2], is_named, default))
            text = ""
    return tuple(found)


NO_DEFAULT = object()


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return NO_DEFAULT  # a name, such as `contiguous_format`: the argument is passed on


public.place("_C", DisableTorchFunction, DisableTorchFunctionSubclass)
