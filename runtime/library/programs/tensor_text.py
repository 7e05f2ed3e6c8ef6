"""`torch._tensor_str`: the text of tensors, for classes that show themselves alike."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.tensor_api import printing

__all__ = [
    "PRINT_OPTS", "_add_suffixes", "_str", "_str_intern", "_tensor_str", "get_printoptions",
    "set_printoptions",
]  # fmt: skip

PRINT_OPTS = printing.options
get_printoptions, set_printoptions = printing.get_printoptions, printing.set_printoptions


def _tensor_str(self: Any, indent: int) -> str:
    """Return the numbers of a tensor; lines after the first stand `indent` characters in."""
    return printing.contents(self, indent)


def _add_suffixes(
    tensor_str: str, suffixes: list[str], indent: int, force_newline: bool = False
) -> str:
    """Append what the numbers do not show, on a line of its own if asked to."""
    if force_newline and suffixes:
        return f"{tensor_str},\n{' ' * indent}{', '.join(suffixes)})"
    return printing.with_suffixes(tensor_str, suffixes, indent)


def _str(self: Any, *, tensor_contents: str | None = None) -> str:
    """Return the text of a tensor; `tensor_contents` stands in place of the numbers."""
    return printing.tensor_repr(self, tensor_contents)


_str_intern = _str
