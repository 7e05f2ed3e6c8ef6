"""Whether operators must give equal bits for equal calls.

All of the library's own kernels do, always; the switch also holds the libraries to it.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "use_deterministic_algorithms",
]

_MODES = ("default", "warn", "error")
_mode = 0


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Have equal calls give equal bits. **Raises** TypeError unless both are flags."""
    global _mode
    for name, flag in (("mode", mode), ("warn_only", warn_only)):
        if not isinstance(flag, bool):
            raise TypeError(
                f"use_deterministic_algorithms(): argument '{name}' must be bool, "
                f"not {type(flag).__name__}"
            )
    _mode = 0 if not mode else 1 if warn_only else 2


def are_deterministic_algorithms_enabled() -> bool:
    """Return whether `use_deterministic_algorithms` is on."""
    return _mode > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return whether operators that cannot would warn, not raise."""
    return _mode == 1


def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """Set the same by number or name: 0 "default", 1 "warn", 2 "error"."""
    global _mode
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, "
                f"but got {debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if not isinstance(debug_mode, int):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if not 0 <= debug_mode < len(_MODES):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    _mode = int(debug_mode)


def get_deterministic_debug_mode() -> int:
    """Return 0 if the switch is off, 1 if it would warn, 2 if it would raise."""
    return _mode
