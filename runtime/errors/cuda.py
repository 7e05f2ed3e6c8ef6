"""Errors of CUDA: what is missing to use it, and what the driver refuses."""

from __future__ import annotations

from collections.abc import Sequence


class OutOfMemoryError(RuntimeError):
    """A device has no memory left for a tensor."""

    __module__ = "torchgen_out"


class AcceleratorError(RuntimeError):
    """The driver refused a call, or a kernel met what it cannot compute with.

    error_code: the driver's number; 710 is cudaErrorAssert.
    """

    __module__ = "torchgen_out"
    error_code = 710


def device_side_assert(found: Sequence[str]) -> AcceleratorError:
    """Kernels noted faults: sentences that begin with an operator."""
    return AcceleratorError(
        f"CUDA error: device-side assert triggered: {'; '.join(found)}. What lay outside was read "
        "as zero and not written; the device goes on"
    )


def cuda_not_available(missing: Sequence[str]) -> RuntimeError:
    """A CUDA device is asked for and cannot be used; `missing` says why and what to do."""
    return RuntimeError(
        f"CUDA is not available: {'; '.join(missing)}. "
        "Tensors on the CPU need device='cpu', or no device= at all"
    )


def invalid_device_ordinal(index: int, count: int) -> RuntimeError:
    """A device index is not below the number of devices."""
    return RuntimeError(
        f"CUDA error: invalid device ordinal: there is no device cuda:{index}, the driver shows "
        f"{count}"
    )


def not_a_cuda_device(given: object) -> ValueError:
    """A device of another type was given to a function of `torch.cuda`."""
    return ValueError(f"Expected a cuda device, but got: {given}")


def cuda_call_failed(function: str, name: str, sentence: str, code: int) -> AcceleratorError:
    """The driver returned an error."""
    error = AcceleratorError(f"CUDA error: {sentence} ({name}, from {function})")
    error.error_code = code
    return error


class LibraryError(RuntimeError):
    """One of NVIDIA's libraries refuses or fails. status: the number that it returned."""

    status = 0


def library_call_failed(library: str, function: str, sentence: str, status: int) -> LibraryError:
    """One of NVIDIA's libraries returned an error."""
    made = LibraryError(f"{library} error: {sentence} (from {function})")
    made.status = status
    return made


def cuda_out_of_memory(
    wanted: int, index: int, total: int, free: int, allocated: int, cached: int
) -> OutOfMemoryError:
    """A device has no room for `wanted` bytes, although unused memory was given back."""
    return OutOfMemoryError(
        f"CUDA out of memory. Tried to allocate {_size(wanted)}. GPU {index} has a total capacity "
        f"of {_size(total)} of which {_size(free)} is free. Tensors take up {_size(allocated)}, "
        f"{_size(cached)} is kept by the allocator in pieces that do not fit"
    )


def no_host_memory(wanted: int) -> RuntimeError:
    """The host has no memory left that could be page-locked."""
    return RuntimeError(f"CUDA error: out of memory: the host cannot page-lock {_size(wanted)}")


def wait_during_capture() -> RuntimeError:
    """A call waits for work that a graph only writes down."""
    return RuntimeError(
        "CUDA error: operation not permitted when stream is capturing: while a graph is captured, "
        "work is written down and not done, so that item(), cpu(), printing, synchronize() and "
        "whatever else waits for values have no place there"
    )


def capture_on_default_stream() -> RuntimeError:
    """A graph was to be captured on the default stream."""
    return RuntimeError(
        "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to "
        "replay them on the default stream.)"
    )


def not_captured() -> RuntimeError:
    """A graph without work was asked for something."""
    return RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")


def captured_already() -> RuntimeError:
    """A graph that has been captured was to be captured again."""
    return RuntimeError(
        "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a "
        "new instance."
    )


def random_during_capture() -> RuntimeError:
    """Random numbers were drawn, while a graph was captured, that replays could not draw anew."""
    return RuntimeError(
        "while a graph was captured, the device's generator was seeded, or another was drawn from: "
        "replays go on in the stream of the device's own generator. Seed it before, and draw "
        "without generator="
    )


def device_too_old(capability: tuple[int, int], oldest: tuple[int, int]) -> RuntimeError:
    """Nothing can be compiled for a device."""
    (major, minor), (first, second) = capability, oldest
    return RuntimeError(
        f"CUDA error: this device has compute capability {major}.{minor}, and CUDA 13 compiles for "
        f"{first}.{second} and above"
    )


def event_of_other_device(own: int, other: int) -> RuntimeError:
    """An event was to be recorded in, or compared with one of, another device."""
    return RuntimeError(f"Event device {own} does not match recording stream's device {other}.")


def unknown_compiler(name: str, known: Sequence[str]) -> RuntimeError:
    """TORCHGEN_CUDA_COMPILER names a package that no module here knows."""
    return RuntimeError(f"TORCHGEN_CUDA_COMPILER={name}: expected one of {', '.join(known)}")


def no_product_algorithm(dtype: object) -> RuntimeError:
    """cuBLASLt knows no way to compute a product."""
    return RuntimeError(f"CUDA error: cuBLASLt has no algorithm for this product of {dtype}")


def _size(count: int) -> str:
    for unit, scale in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << scale:
            return f"{count / (1 << scale):.2f} {unit}"
    return f"{count} bytes"


def pin_of_device(device: object) -> RuntimeError:
    """Page-locked memory was asked for a tensor that is not in host memory."""
    return RuntimeError(f"cannot pin a tensor on {device}: only dense CPU tensors can be pinned")


def export_from_other_device(index: int, current: int) -> BufferError:
    """A tensor of another than the current device was to be exported by DLPack."""
    return BufferError(
        "Can't export tensors on a different CUDA device index. "
        f"Expected: {index}. Current device: {current}."
    )


def event_without_timing() -> ValueError:
    """The time between events was asked of one that takes none."""
    return ValueError("Both events must be created with argument 'enable_timing=True'.")


def event_not_recorded() -> ValueError:
    """The time between events was asked before both were recorded."""
    return ValueError("Both events must be recorded before calculating elapsed time.")
