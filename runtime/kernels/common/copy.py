"""What copies of every backend warn of."""

from __future__ import annotations

from torchgen_out._runtime.core.user_warnings import warn


def warn_of_discarding() -> None:
    """Warn that a cast leaves out imaginary parts."""
    warn("Casting complex values to real discards the imaginary part", UserWarning)
