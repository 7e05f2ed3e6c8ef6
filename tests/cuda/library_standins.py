"""NVIDIA's libraries replaced by stand-ins over an emulated driver."""

from __future__ import annotations

from typing import Any

from tests.cuda.emulated_driver import EmulatedDriver
from tests.cuda.standin_cublas import StandInCublas, StandInCublasLt
from tests.cuda.standin_cufft import StandInCufft
from tests.cuda.standin_cusolver import StandInCusolver

STAND_INS: dict[str, Any] = {
    "cublas": StandInCublas,
    "cublasLt": StandInCublasLt,
    "cufft": StandInCufft,
    "cusolverDn": StandInCusolver,
}
"""By the name of the module in `nvmath.bindings`."""


def stand_ins(driver: EmulatedDriver) -> dict[str, Any]:
    """One of each library."""
    return {name: kind(driver) for name, kind in STAND_INS.items()}
