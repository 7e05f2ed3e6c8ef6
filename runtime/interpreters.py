"""Refuses subinterpreters; `torchgen_out` imports this before anything that would wait in one."""

from __future__ import annotations

import importlib


def _refuse_subinterpreters() -> None:
    """Say so where NumPy and Numba, which have one state per process, would wait for ever."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # of Python 3.13, and before
        try:
            interpreters = importlib.import_module(name)
        except ImportError:
            continue
        if interpreters.get_current() != interpreters.get_main():
            raise ImportError("torchgen_out works in the main interpreter only, as NumPy does")
        return


_refuse_subinterpreters()
