"""Modules called with other parameters and buffers than their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.nn.module import Module

Place = tuple[dict[str, Any], str]
"""The table of a module and the key in it."""


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Any],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module as if these were its parameters and buffers; gradients reach them.

    Names are those of `state_dict`. With `tie_weights`, a tensor that stands under several names
    is replaced under all of them.
    **Raises** TypeError for what is no tensor, RuntimeError with `strict` for names that are
    missing or too many, ValueError for two values of one tied tensor.
    """
    given = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, parameters_and_buffers, tie_weights, strict):
        return module(*given, **(kwargs or {}))


def _places(module: Module) -> dict[str, Place]:
    """Where each parameter and buffer is kept, by its dotted name."""
    places: dict[str, Place] = {}
    for prefix, part in module.named_modules(remove_duplicate=False):
        for table in (part._parameters, part._buffers):
            for name, value in table.items():
                if value is not None:
                    places[f"{prefix}.{name}" if prefix else name] = (table, name)
    return places


@contextmanager
def _replaced(
    module: Module, values: dict[str, Any], tie_weights: bool, strict: bool
) -> Iterator[None]:
    for name, value in values.items():
        if not (value is None or isinstance(value, Tensor)):
            raise TypeError(
                f"functional_call: '{name}': {value} is not an instance of torch.Tensor"
            )
    places = _places(module)
    if tie_weights:
        values = _tied(places, values)
    if strict:
        _check_names(module, places, values)
    before = [(table, key, table[key]) for table, key in places.values()]
    try:
        for name, value in values.items():
            if name in places:
                table, key = places[name]
                table[key] = value
        yield
    finally:
        for table, key, value in before:
            table[key] = value


def _tied(places: dict[str, Place], values: dict[str, Any]) -> dict[str, Any]:
    """The values, for every name of each tensor that stands under several."""
    groups: dict[int, list[str]] = {}
    for name, (table, key) in places.items():
        groups.setdefault(id(table[key]), []).append(name)
    spread = dict(values)
    for names in groups.values():
        named = [name for name in names if name in values]
        if len({id(values[name]) for name in named}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {named}, which are tied. Consider "
                "using tie_weights=False"
            )
        if named:
            spread.update(dict.fromkeys(names, values[named[0]]))
    return spread


def _check_names(module: Module, places: dict[str, Place], values: dict[str, Any]) -> None:
    unexpected = [name for name in values if name not in places]
    missing = [name for name in places if name not in values]
    problems = []
    if unexpected:
        problems.append(f"Unexpected key(s): {', '.join(map(repr, unexpected))}.")
    if missing:
        problems.append(f"Missing key(s): {', '.join(map(repr, missing))}.")
    if problems:
        joined = "\n\t".join(problems)
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t{joined}")
