"""Finds the bracket that is wrong, where Python's parser would only say that something is."""

from __future__ import annotations

import re

_PIECE = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[()\[\]{}'"]""")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}


def unbalanced(text: str) -> tuple[int, str] | None:
    """Return (offset, message) of the first bracket or quote without a partner, or None."""
    opened: list[tuple[str, int]] = []
    for match in _PIECE.finditer(text):
        piece = match[0]
        if piece in _CLOSERS:
            opened.append((piece, match.start()))
        elif len(piece) > 1:
            continue
        elif piece in "'\"":
            return match.start(), f"the quote {piece} is never closed"
        elif not opened:
            return match.start(), f"'{piece}' has no opening bracket"
        elif _CLOSERS[opened[-1][0]] != piece:
            return match.start(), f"'{piece}' closes '{opened[-1][0]}'"
        else:
            opened.pop()
    if opened:
        piece, offset = opened[-1]
        return offset, f"'{piece}' is never closed"
    return None
