"""Settings that the environment gives: read once, at import, by whoever needs them."""

from __future__ import annotations

import os
from pathlib import Path

VERSION = "0.1.0"
"""The library's own; `torch.__version__` names the PyTorch that it stands in for."""


def env_text(name: str) -> str:
    """Return environment variable `name`; empty if it is not set."""
    return os.environ.get(name, "").strip()


def env_int(name: str, default: int) -> int:
    """Return environment variable `name` as an int.

    Raises: ValueError naming the variable if it holds no int.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"environment variable {name}: expected an int, got '{text}'") from None


def cache_folder() -> Path | None:
    """Return the user's folder for compiled kernels, which need not exist; None without a home.

    TORCHGEN_CACHE_DIR names it; otherwise `torchgen` in XDG_CACHE_HOME or in ~/.cache.
    """
    explicit = os.environ.get("TORCHGEN_CACHE_DIR")
    if explicit:
        return Path(explicit)
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base, "torchgen")
    home = os.environ.get("HOME") or os.path.expanduser("~")
    return Path(home, ".cache", "torchgen") if os.path.isabs(home) else None
