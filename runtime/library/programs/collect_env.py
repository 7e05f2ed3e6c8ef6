"""`torch.utils.collect_env`: what a report of a fault should say of the machine."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import Any, NamedTuple

from torchgen_out._runtime import config
from torchgen_out._runtime.backends.cuda import availability
from torchgen_out._runtime.core import public, version

__all__ = ["SystemEnv", "get_env_info", "get_pretty_env_info", "main"]

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "numba-cuda", "cuda-core", "torchgen-out")
"""Those that results depend on."""


class SystemEnv(NamedTuple):
    """The answers of `get_env_info`."""

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    cpu_info: str
    pip_packages: str
    kernel_cache: str


def _packages() -> str:
    installed = {each.metadata["Name"].lower(): each.version for each in metadata.distributions()}
    return "\n".join(f"{name}=={installed[name]}" for name in PACKAGES if name in installed)


def get_env_info() -> SystemEnv:
    """Return what the machine is and which packages are installed."""
    return SystemEnv(
        torch_version=f"{version.__version__} (torchgen {config.VERSION})",
        is_debug_build=str(version.debug),
        cuda_compiled_version=str(version.cuda),
        os=f"{platform.system()} {platform.release()} ({platform.machine()})",
        libc_version="-".join(platform.libc_ver()),
        python_version=sys.version.replace("\n", " "),
        python_platform=platform.platform(),
        is_cuda_available=str(availability.is_available()),
        cpu_info=f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors",
        pip_packages=_packages(),
        kernel_cache=str(config.cache_folder()),
    )


def get_pretty_env_info() -> str:
    """Return the answers as lines of text."""
    answers: dict[str, Any] = get_env_info()._asdict()
    width = max(len(name) for name in answers)
    return "\n".join(
        f"{name.replace('_', ' '):{width}}  " + str(value).replace("\n", "\n" + " " * (width + 2))
        for name, value in answers.items()
    )


def main() -> None:
    """Print the answers."""
    print(get_pretty_env_info())


public.place_all("utils.collect_env", globals())
