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
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from torchgen_out._runtime.backends.cuda.libraries import convolutions, cudnn
from torchgen_out._runtime.backends.cuda.libraries.cudnn import Attribute, Kind
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.conv.conv_plans import Convolution, Operand

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


def _convolution(question: dict[str, Any]) -> Convolution:
    """What is asked for. layouts: of x, w and y, whether channels come last."""
    *sizes, stride, padding, dilation, alignments = map(tuple, question["geometry"])
    described = zip(sizes, question["layouts"], alignments, strict=True)
    operands = [Operand(*each) for each in described]
    what = Convolution(
        question["direction"], dtypes.by_name(question["dtype"]), *operands, None, stride,
        padding, dilation,
    )  # fmt: skip
    if not question["bias"]:
        return what
    ones = (1,) * len(stride)
    return what._replace(bias=Operand((1, what.result.sizes[1], *ones), False, 16))


def main() -> None:
    """Answer the questions on the standard input."""
    load_driver()
    library = cudnn.find()
    assert library is not None
    target = convolutions.target_of_description(described_device(library))
    answers = []
    for question in json.load(sys.stdin):
        found = convolutions.plans(
            library, _convolution(question), frozenset(question["forbidden"]), target
        )
        with closing(found):
            kept = list(islice(found, 3))
        # The graph is gone; plans stand on their configurations alone.
        size = Attribute.EXECUTION_PLAN_WORKSPACE_SIZE
        answers.append([cudnn.read(library, plan.descriptor, size, 1)[0] for plan in kept])
        for plan in kept:
            library.destroy_descriptor(plan.descriptor)
            library.destroy_descriptor(plan.config)
    json.dump({"version": library.version(), "workspaces": answers}, sys.stdout)


if __name__ == "__main__":
    main()
