"""NumPy and JAX, for the cases that they can do in one expression: further columns of the tables.

JAX is measured where it is installed (`pip install jax`), call by call as all others: what `jit`
would make of several calls is another thing. Results are waited for.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import check
from benchmarks.case import Call, Case


def calls(case: Case, expected: list[Any]) -> dict[str, Call]:
    """The case's call by library; those that do other work, or cannot do it, are left out.

    Raises: AssertionError if NumPy's result is another than `expected`.
    """
    if case.make_array is None:
        return {}
    call = case.make_array(np)
    difference = check.numpy_difference(call(), expected)
    assert not difference, f"{case.name}: NumPy is given other work: {difference}"
    found: dict[str, Call] = {"numpy": call}
    jax = _jax()
    if jax is not None and (waiting := _waiting(jax, case, expected)) is not None:
        found["jax"] = waiting
    return found


def start_jax() -> None:
    """Have JAX start its threads, if it is installed."""
    jax = _jax()
    if jax is not None:
        jax.block_until_ready(jax.numpy.ones(8))


@cache
def _jax() -> ModuleType | None:
    """JAX, set to as many threads as the others, and to 64 bits; None if it is not installed."""
    if importlib.util.find_spec("jax") is None:
        return None
    os.environ.setdefault("PJRT_NPROC", os.environ.get("OMP_NUM_THREADS", ""))
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    importlib.import_module("jax.numpy")
    return jax


def _waiting(jax: ModuleType, case: Case, expected: list[Any]) -> Call | None:
    assert case.make_array is not None
    wait = jax.block_until_ready
    try:
        call = case.make_array(jax.numpy)
        difference = check.numpy_difference(call(), expected)
    except (AttributeError, TypeError, NotImplementedError, ValueError):  # `out=`, for one
        return None
    return None if difference else lambda: wait(call())
