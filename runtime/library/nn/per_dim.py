"""One value per dim, from one value or several; and prefixes of the keys of a state dict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any


def _ntuple(count: int, name: str = "parse") -> Callable[[Any], Any]:
    """A function that makes a tuple of `count` equal values, and of an iterable its values."""

    def parse(value: Any) -> Any:
        return tuple(value) if isinstance(value, Iterable) else tuple(repeat(value, count))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """The values from the last to the first, each `count` times: the order of `F.pad`."""
    return tuple(value for value in reversed(values) for _ in range(count))


def _list_with_default(out_size: Any, defaults: list[int]) -> Any:
    """The sizes, with None replaced by the last of the defaults."""
    if isinstance(out_size, (int, float)):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    last = defaults[-len(out_size) :]
    return [
        size if size is not None else default for size, default in zip(out_size, last, strict=True)
    ]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix off all keys that begin with it, such as the "module." of `DataParallel`."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata: dict[str, Any] = getattr(state_dict, "_metadata", None) or {}
    for key in list(metadata):
        if f"{key}.".startswith(prefix):  # of the wrapped module itself: "module", without a dot
            metadata[key[len(prefix) :]] = metadata.pop(key)
