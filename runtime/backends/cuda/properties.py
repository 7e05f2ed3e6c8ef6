"""What devices are: names, capabilities, memory."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.backends.cuda import current, driver
from torchgen_out._runtime.backends.cuda.driver import DeviceProperties

BFLOAT16_FROM = 8
"""The first capability whose devices compute in bfloat16."""


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Return what a device is: name, capability, memory, processors."""
    on = current.index_of(device)
    return driver.current().properties(on)


def get_device_name(device: Any = None) -> str:
    """Return the name of a device."""
    return get_device_properties(device).name


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability of a device, (9, 0) for an H100."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return (free, total) bytes of a device, as the driver counts them."""
    on = current.index_of(device)
    return driver.current().memory_info(on)


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Return whether one device can read the memory of another."""
    on, peer = current.index_of(device), current.index_of(peer_device)
    return driver.current().can_access_peer(on, peer)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return whether the current device computes in bfloat16; False where there is no device.

    including_emulation: whether computing in float32 counts, which every device can.
    """
    if not current.device_count():
        return False
    return including_emulation or get_device_properties().major >= BFLOAT16_FROM
