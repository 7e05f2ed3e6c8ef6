"""Reads the values of keys: one text, one word, words by commas or as a list."""

from __future__ import annotations

import re

from ..errors import did_you_mean
from .keys import Key
from .report import Report
from .yaml_nodes import AnyNode, Mapping, Scalar, Sequence

_WORD = re.compile(r"[^,\s]+(?: +[^,\s]+)*")


_QUOTE = "quote a text that begins with '[' or '{'"


def text_of(node: AnyNode | None, what: str, report: Report, hint: str = _QUOTE) -> Scalar | None:
    """Return a scalar with some text in it, or report that there is none.

    hint: what to do about a list or a mapping.
    """
    if isinstance(node, Scalar) and node.text.strip():
        return node
    if node is not None:
        got = "nothing" if isinstance(node, Scalar) else described(node)
        remedy = None if isinstance(node, Scalar) else hint
        report.add("E106", node.where, f"{what} must be text, got {got}", hint=remedy)
    return None


def words_of(node: AnyNode | None, what: str, report: Report) -> tuple[str, ...] | None:
    """Return the words of `a, b` or `[a, b]`; None if there is no such key."""
    if node is None:
        return None
    if isinstance(node, Sequence):
        scalars = [text_of(item, what, report) for item in node.items]
        return tuple(scalar.text.strip() for scalar in scalars if scalar)
    scalar = text_of(node, what, report)
    if scalar is None:
        return ()
    return tuple(match[0] for match in _WORD.finditer(scalar.text))


def sentences_of(
    node: AnyNode | None, what: str, report: Report
) -> tuple[tuple[str, str], ...] | None:
    """Return the pairs of `{name: sentence}`; None if there is no such key."""
    if node is None:
        return None
    if not isinstance(node, Mapping):
        report.add("E106", node.where, f"{what} must be a mapping, got {described(node)}")
        return ()
    scalars = [(name, text_of(value, what, report)) for name, value in node.values.items()]
    return tuple((name, scalar.text.strip()) for name, scalar in scalars if scalar)


def check_keys(node: Mapping, keys: tuple[Key, ...], what: str, report: Report) -> None:
    """Report unknown keys, missing required ones, and keys in the wrong order."""
    names = [key.name for key in keys]
    order = {name: i for i, name in enumerate(names)}
    last = -1
    for name, key in node.keys.items():
        if name not in order:
            hint = did_you_mean(name, names) or "known keys: " + ", ".join(names)
            report.add("E107", key.where, f"unknown key '{name}'", hint=hint, width=len(name))
        elif order[name] < last:
            hint = "the order is: " + ", ".join(n for n in names if n in node.keys)
            message = f"key '{name}' must come before '{names[last]}'"
            report.add("E110", key.where, message, hint=hint, width=len(name))
        else:
            last = order[name]
    for required in keys:
        if required.is_required and required.name not in node.keys:
            report.add("E108", node.where, f"{what} has no '{required.name}'")


def described(node: AnyNode) -> str:
    """Name a node's kind for a message."""
    if isinstance(node, Mapping):
        return "a mapping"
    return "a list" if isinstance(node, Sequence) else f"'{node.text}'"
