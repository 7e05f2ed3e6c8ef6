"""The layout of what commands print: titled sections of lines."""

from __future__ import annotations

from collections.abc import Iterable

from ..record import record


@record
class Section:
    """A title, and the lines that stand below it."""

    title: str
    lines: Iterable[str]


def render(sections: Iterable[Section]) -> str:
    """All sections that have lines, an empty line between them."""
    blocks = []
    for section in sections:
        lines = [f"  {line}".rstrip() for line in section.lines]
        if lines:
            blocks.append("\n".join([section.title, *lines]))
    return "\n\n".join(blocks)


def columns(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Rows with their cells below each other."""
    rows = list(rows)
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
