"""Python text as nested brackets and words: what layout needs of it, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""(\s*)(
      [rbf]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?:\d[\w.]*(?:(?<=[eE])[-+]\d+)?|\.\d+)
    | [A-Za-z_]\w*
    | (?:\*\*=|//=|\*\*|//|->|==|!=|<=|>=|<<|>>|:=|[-+*/%@&|^~<>=.,:;()\[\]{}])
    )""",
    re.VERBOSE,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_WORD_OPERATORS = frozenset({"and", "or", "not", "in", "is", "if", "else", "for", "lambda"})


@dataclass(slots=True)
class Word:
    """A name, number, string or symbol, with the space that stands before it."""

    text: str
    space: str = ""

    @property
    def flat(self) -> str:
        """Its text on one line."""
        return self.text

    @property
    def is_value(self) -> bool:
        """Whether it can end an operand."""
        return (self.text[0].isalnum() or self.text[0] in "_\"'") and (
            self.text not in _WORD_OPERATORS
        )


@dataclass(slots=True)
class Group:
    """What stands between two brackets."""

    opening: str
    items: list[Node] = field(default_factory=list)
    space: str = ""

    @property
    def closing(self) -> str:
        """The bracket that ends it."""
        return _CLOSING[self.opening]

    @property
    def flat(self) -> str:
        """Its text on one line."""
        return f"{self.opening}{flat(self.items)}{self.closing}"

    is_value = True


Node = Word | Group


def flat(nodes: list[Node]) -> str:
    """The text of nodes on one line."""
    return "".join(node.flat if i == 0 else node.space + node.flat for i, node in enumerate(nodes))


def parse(text: str) -> list[Node]:
    """Read text with balanced brackets."""
    root: list[Node] = []
    stack: list[list[Node]] = [root]
    found = _TOKEN.findall(text)
    assert "".join(map("".join, found)) == text.rstrip(), text
    for space, token in found:
        if token in _CLOSING:
            group = Group(token, [], space)
            stack[-1].append(group)
            stack.append(group.items)
        elif token in ")]}":
            stack.pop()
        else:
            stack[-1].append(Word(token, space))
    assert len(stack) == 1, text
    return root


def split(nodes: list[Node], ends: Callable[[list[Node], int], bool]) -> Iterator[list[Node]]:
    """Cut before each node for which `ends(nodes, i)`; the node begins the next piece."""
    piece: list[Node] = []
    for i, node in enumerate(nodes):
        if piece and ends(nodes, i):
            yield piece
            piece = []
        piece.append(node)
    yield piece


def members(nodes: list[Node]) -> list[list[Node]]:
    """The parts between commas; a last comma makes no empty part."""
    parts: list[list[Node]] = [[]]
    for node in nodes:
        if isinstance(node, Word) and node.text == ",":
            parts.append([])
        else:
            parts[-1].append(node)
    return [part for part in parts if part]
