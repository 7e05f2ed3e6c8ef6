"""Finds the place of a key, a value or a word of an entry, when a diagnostic asks for it."""

from __future__ import annotations

import re

from ..errors import SourceLocation
from ..record import record
from .yaml_nodes import AnyNode, Mapping, Scalar, Sequence


@record
class OnePlace:
    """The places of an entry of which nobody needs more than where it is."""

    where: SourceLocation

    def has(self, name: str) -> bool:
        """Nothing is known of its keys."""
        return False

    def key(self, name: str) -> SourceLocation:
        """Return the place of the entry."""
        return self.where

    def value(self, *path: str) -> SourceLocation:
        """Return the place of the entry."""
        return self.where

    def word(self, word: str, *path: str) -> SourceLocation:
        """Return the place of the entry."""
        return self.where


class NodePlaces:
    """The places of one entry. Costs nothing until asked."""

    __slots__ = ("node",)

    def __init__(self, node: Mapping) -> None:
        self.node = node

    def has(self, name: str) -> bool:
        """Whether the entry has a key."""
        return name in self.node.keys

    def key(self, name: str) -> SourceLocation:
        """Return the place of a key; of the entry when the key is absent."""
        key = self.node.keys.get(name)
        return key.where if key else self.node.where

    def value(self, *path: str) -> SourceLocation:
        """Return the place of the value under `path`; of the entry when it is absent."""
        node = self._find(path)
        return node.where if node else self.node.where

    def word(self, word: str, *path: str) -> SourceLocation:
        """Return the place of `word` inside the value under `path`."""
        node = self._find(path)
        if node is None:
            return self.node.where
        return _find_word(node, word) or node.where

    def _find(self, path: tuple[str, ...]) -> AnyNode | None:
        node: AnyNode | None = self.node
        for step in path:
            if isinstance(node, Mapping):
                node = node.get(step) or _listed(node, step)
            elif isinstance(node, Sequence) and step.isdigit():
                node = node.items[int(step)]
            elif not isinstance(node, Scalar):  # one name for all steps
                return None
        return node


def _listed(node: Mapping, word: str) -> AnyNode | None:
    """Return the value of the key that lists `word` among others: `CPU, CUDA`."""
    return next((value for key, value in node.values.items() if word in _words(key)), None)


def _words(key: str) -> list[str]:
    return [word.strip() for word in key.split(",")]


def _find_word(node: AnyNode, word: str) -> SourceLocation | None:
    """Return the first place of a whole word in a node, keys included."""
    if isinstance(node, Scalar):
        match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", node.text)
        return node.where.at(match.start()) if match else None
    children: list[AnyNode] = []
    if isinstance(node, Sequence):
        children = node.items
    else:
        children = [child for pair in zip(node.keys.values(), node.values.values(), strict=True)
                    for child in pair]  # fmt: skip
    return next((place for child in children if (place := _find_word(child, word))), None)
