"""All tables of resolved calls, to be emptied when something that calls know has changed."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import dtype as dtypes

_tables: list[dict[Any, Any]] = []


def remember(table: dict[Any, Any]) -> None:
    """Have a table emptied with the others."""
    _tables.append(table)


def forget_calls() -> None:
    """Empty all tables, after something that calls were resolved for has changed."""
    for table in _tables:
        table.clear()


dtypes.on_default_change(forget_calls)
