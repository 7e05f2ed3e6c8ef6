"""Backends by name: those that are here, and those that others register."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import torchgen_out as torch
from torchgen_out._runtime.core import public


class Plugin(NamedTuple):
    """How a backend is made."""

    create: Callable[..., Any]
    """(store, rank, size, timeout), or (options of both kinds) with the extended interface."""
    extended: bool


class Backend(str):
    """The name of a backend, in lower case: `Backend("GLOO") == "gloo"`.

    **Raises** ValueError for anything but a string.
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"
    backend_list = ["undefined", "gloo", "nccl", "mpi"]  # noqa: RUF012 (grows)
    default_device_backend_map = {"cpu": "gloo", "cuda": "nccl"}  # noqa: RUF012 (grows)
    backend_capability = {  # noqa: RUF012 (grows)
        "gloo": ["cpu", "cuda"],
        "nccl": ["cuda"],
        "mpi": ["cpu"],
    }
    _plugins: dict[str, Plugin] = {}  # noqa: RUF012 (grows)

    def __new__(cls, name: str) -> Backend:
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish: {name!r}")
        return super().__new__(cls, getattr(cls, name.upper(), name.lower()))

    @classmethod
    def register_backend(
        cls, name: str, func: Callable[..., Any], extended_api: bool = False, devices: Any = None
    ) -> None:
        """Let `func` make the process groups of a backend that is not here.

        func: called with (store, rank, size, timeout), or with `extended_api` with two objects:
        one with the attributes `store`, `group_rank`, `group_size`, `timeout`, `group_id` and
        `global_ranks_in_group`, and the user's `pg_options`. devices: names of device types.
        **Raises** AssertionError if the name is taken.
        """
        lower = name.lower()
        if lower in cls._plugins:
            raise AssertionError(f"{name.upper()} c10d backend creator function already exist")
        if lower not in cls.backend_list:
            cls.backend_list.append(lower)
            setattr(cls, name.upper(), lower)
        kinds = [devices] if isinstance(devices, str) else list(devices or ("cpu", "cuda"))
        cls.backend_capability[lower] = kinds
        for kind in kinds:
            cls.default_device_backend_map.setdefault(kind, lower)
        cls._plugins[lower] = Plugin(func, extended_api)

    @classmethod
    def plugin(cls, name: str) -> Plugin | None:
        """How a backend from outside is made; None for one that is here, or that nobody knows."""
        return cls._plugins.get(name)


def parse(backend: str | None) -> dict[str, str]:
    """Return the backend of each device type that "gloo" or "cpu:gloo,cuda:nccl" names.

    None stands for gloo, and for NCCL where there is CUDA. **Raises** ValueError.
    """
    if backend is None or backend == Backend.UNDEFINED:
        found = {"cpu": "gloo"}
        if torch.cuda.is_available() and is_nccl_available():
            found["cuda"] = "nccl"
        return found
    if ":" not in backend:
        name = str(Backend(backend))
        _check_known(name)
        return dict.fromkeys(Backend.backend_capability[name], name)
    found = {}
    for pair in backend.lower().split(","):
        device, colon, name = pair.strip().partition(":")
        if not colon or device in found:
            raise ValueError(
                f"The custom backend string argument is invalid: {backend}. "
                "Expected one backend per device type: 'cpu:gloo,cuda:nccl'"
            )
        _check_known(name)
        found[device] = name
    return found


def _check_known(name: str) -> None:
    if name not in Backend.backend_capability:
        known = sorted(Backend.backend_capability)
        raise ValueError(f"Invalid backend: {name!r}, expected one of {known}")


def is_gloo_available() -> bool:
    """Return True: the backend of this library answers to that name."""
    return True


def is_mpi_available() -> bool:
    """Return whether mpi4py is installed."""
    return importlib.util.find_spec("mpi4py") is not None


def is_nccl_available() -> bool:
    """Return whether nccl4py is installed."""
    return importlib.util.find_spec("nccl") is not None


def is_ucc_available() -> bool:
    """Return False: there is no such backend."""
    return False


def is_xccl_available() -> bool:
    """Return False: there is no such backend."""
    return False


def is_backend_available(backend: str) -> bool:
    """Return whether a backend can be used."""
    here = {"gloo": True, "mpi": is_mpi_available(), "nccl": is_nccl_available()}
    return here.get(backend.lower(), backend.lower() in Backend._plugins)


public.place("distributed", Backend)
