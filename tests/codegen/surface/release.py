"""A hand-written module of the fixture's surface."""

__all__ = ["MAJOR", "name"]

MAJOR = 1


def name() -> str:
    """Return what this is called."""
    return f"one, {MAJOR}"
