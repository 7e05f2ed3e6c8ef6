"""Layers of the fixture's surface."""


class Conv1d:
    """In one dimension."""


class Conv2d:
    """In two."""


def pair(value: int) -> tuple[int, int]:
    """Return it twice."""
    return value, value
