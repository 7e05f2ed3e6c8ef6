"""A program: cuDNN itself plans convolutions for a GPU that is not there, and this tells how.

Run apart from the tests, since it may put an empty driver in the place of NVIDIA's, which one of
the library's files links to. What is printed is JSON: for each convolution of the standard input,
the switches' notes included, the notes and workspaces of its plans.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from runtime.backends.cuda.libraries import convolutions, cudnn
from runtime.backends.cuda.libraries.cudnn import Attribute, Kind
from runtime.core import dtype as dtypes
from runtime.kernels.cuda.convolution.convolution_plans import Convolution

H100 = {
    "deviceName": "NVIDIA H100 80GB HBM3", "deviceVer": 900, "driverVer": 13000, "cudaDeviceId": 0,
    "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1, "warpSize": 32,
    "multiProcessorCount": 132, "targetSMcount": 132, "smCountOrigin": 0, "maxCtasPerSM": 32,
    "maxThreadsPerSM": 2048, "maxThreadsPerBlock": 1024, "maxBlockSize": [1024, 1024, 64],
    "maxGridSize": [2147483647, 65535, 65535], "regsPerBlock": 65536, "maxRegistersPerSM": 65536,
    "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
    "reservedSharedMemoryPerBlock": 1024, "oversizedSharedMemoryPerBlock": 0,
    "l2CacheSize": 52428800, "totalGlobalMem": 85899345920, "memClockRateKHz": 2619000,
    "memoryBusWidth": 5120, "smClockRateKHz": 1980000,
}  # fmt: skip
"""A device, in the words in which the library describes one."""
DRIVER = "libcuda.so.1"
SYMBOLS = (
    "cuGetErrorString", "cuModuleGetFunction", "cuModuleLoadData", "cuModuleUnload",
    "cuTensorMapEncodeIm2col", "cuTensorMapEncodeTiled",
)  # fmt: skip
"""The driver's functions to which the library is linked."""


def load_driver() -> None:
    """Load NVIDIA's driver, or without one an empty library of its name."""
    try:
        ctypes.CDLL(DRIVER, ctypes.RTLD_GLOBAL)
    except OSError:
        functions = "".join(f"int {name}() {{ return 34; }}\n" for name in SYMBOLS)
        folder = Path(tempfile.mkdtemp())
        (folder / "driver.c").write_text(functions)
        path = str(folder / DRIVER)
        flags = ["-shared", "-fPIC", f"-Wl,-soname,{DRIVER}", "-o", path]
        subprocess.run(["cc", str(folder / "driver.c"), *flags], check=True)
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL)


def described_device(library: Any) -> int:
    """A descriptor of a device that need not be there."""
    text = list(json.dumps(H100).encode())
    return cudnn.make(library, Kind.DEVICEPROP, {Attribute.DEVICEPROP_JSON_REPRESENTATION: text})


def main() -> None:
    """Answer the questions on the standard input."""
    load_driver()
    library = cudnn.find()
    assert library is not None
    target = convolutions.target_of_description(described_device(library))
    answers = []
    for question in json.load(sys.stdin):
        what = Convolution(
            question["direction"],
            dtypes.by_name(question["dtype"]),
            *[tuple(each) for each in question["geometry"]],
        )
        found = convolutions.plans(library, what, frozenset(question["forbidden"]), target)
        answers.append([plan.workspace for plan in islice(found, 3)])
    json.dump({"version": library.version(), "workspaces": answers}, sys.stdout)


if __name__ == "__main__":
    main()
