"""How memory is handed to another process: by a descriptor, which leaves nothing behind."""

from __future__ import annotations

_STRATEGIES = {"file_descriptor", "file_system"}
_strategy = "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """Return the names that `set_sharing_strategy` takes."""
    return set(_STRATEGIES)


def get_sharing_strategy() -> str:
    """Return the name that was set last."""
    return _strategy


def set_sharing_strategy(new_strategy: str) -> None:
    """Take the name of a strategy. DEVIATION: descriptors are sent whatever it is.

    **Raises** AssertionError for a name that there is not.
    """
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {sorted(_STRATEGIES)}"
        )
    _strategy = new_strategy
