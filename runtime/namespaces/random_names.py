"""What `torch.random` offers: the default generators, seeding them, and going back."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core.generator import (
    default_for,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None, enabled: bool = True, device_type: str = "cuda"
) -> Generator[None, None, None]:
    """Draw inside as one likes: afterwards the default generators go on as if nothing was drawn.

    devices: numbers or names of the devices of `device_type` that are meant beside the CPU.
    """
    if not enabled:
        yield
        return
    generators = [default_generator, *(default_for(_device(d, device_type)) for d in devices or ())]
    states = [generator.get_state() for generator in generators]
    try:
        yield
    finally:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)


def _device(which: Any, device_type: str) -> devices.device:
    return devices.device(device_type, which) if isinstance(which, int) else devices.device(which)
