"""Whether CUDA can be used here, and if not, what is missing and how to get it.

Two things are needed: NVIDIA's driver with a device behind it, and the packages of the extra
`cuda`.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from functools import cache

from torchgen_out._runtime import errors
from torchgen_out._runtime.forks import at_fork

PACKAGES = {
    "numba_cuda": "numba-cuda[cu13]",
    "cuda.core": "cuda-core",
    "cuda.bindings": "cuda-bindings",
    "nvmath": "nvmath-python",
}
"""What is imported, and the name under which pip knows it."""

DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
OLDEST_DRIVER = 13000
"""The driver's version from which it loads what the packages of CUDA 13 compile."""
NO_DEVICE, STUB_DRIVER, DRIVER_TOO_OLD, MISMATCH = 100, 34, 35, 803
EXPLAINED = {
    NO_DEVICE: "no CUDA GPUs are available: the driver shows no device (CUDA_VISIBLE_DEVICES hides "
    "devices, and a container needs --gpus)",
    STUB_DRIVER: f"{DRIVER} is the toolkit's stub, not the driver: take its folder out of the "
    "library path",
    DRIVER_TOO_OLD: "The NVIDIA driver on your system is too old for CUDA 13: install 580 or newer "
    "from https://www.nvidia.com/drivers",
    MISMATCH: "the NVIDIA driver's library and its kernel module are of different versions: "
    "restart the machine",
}


def is_available() -> bool:
    """Return whether there is a CUDA device that can be used."""
    return not missing()


def device_count() -> int:
    """Return how many CUDA devices can be used."""
    return 0 if missing() else driver_answer()[1]


def require() -> None:
    """Do nothing where CUDA can be used.

    Raises: RuntimeError saying what is missing.
    """
    reasons = missing()
    if reasons:
        raise errors.cuda_not_available(reasons)


def missing() -> tuple[str, ...]:
    """Return a sentence for each thing that is missing; none where CUDA can be used."""
    if _is_forked:
        return (
            "Cannot re-initialize CUDA in forked subprocess: the process was forked after CUDA had "
            "been asked for. To use CUDA with multiprocessing, use the 'spawn' start method",
        )
    return tuple([reason for reason in (_missing_device(), _missing_packages()) if reason])


def _missing_device() -> str:
    status, count = driver_answer()
    if status is None:
        return (
            f"Found no NVIDIA driver on your system ({DRIVER} is not there): it needs an NVIDIA "
            "GPU, and the driver from https://www.nvidia.com/drivers"
        )
    if status == 0 and count:
        return ""
    return EXPLAINED.get(status or NO_DEVICE, f"the NVIDIA driver does not start (error {status})")


@cache
def driver_answer() -> tuple[int | None, int]:
    """Return (the driver's status, how many devices it shows); the status None: no driver."""
    try:
        library = ctypes.CDLL(DRIVER)
    except OSError:
        return None, 0
    global _is_begun
    version, count = ctypes.c_int(0), ctypes.c_int(0)
    status = library.cuInit(0)
    _is_begun = not status
    status = (
        status
        or library.cuDriverGetVersion(ctypes.byref(version))
        or (DRIVER_TOO_OLD if version.value < OLDEST_DRIVER else 0)
        or library.cuDeviceGetCount(ctypes.byref(count))
    )
    return int(status), count.value


_is_begun = False
"""Whether the driver was started in this process or in the one it was forked from."""
_is_forked = False


def _note_fork() -> None:
    """A forked child has the driver's memory, but no driver."""
    global _is_forked
    _is_forked = _is_begun


at_fork(after_in_child=_note_fork)


@cache
def _missing_packages() -> str:
    absent = [name for module, name in PACKAGES.items() if not _is_installed(module)]
    if not absent:
        return ""
    return f"the packages of the extra 'cuda' are not installed ({', '.join(absent)}): " + (
        "pip install 'torchgen-out[cuda]'"
    )


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that would hold it
        return False
