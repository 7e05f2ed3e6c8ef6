"""Seeds of the CUDA devices' default generators.

A generator is two integers on the host, so seeding needs no device: where there is none these
functions do nothing, and those that return a state say what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torchgen_out._runtime.backends.cuda import current
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import generator
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.tensor import Tensor


def default_generators() -> tuple[Generator, ...]:
    """Return the default generator of each device."""
    return tuple([_default(index) for index in range(current.device_count())])


def default_generator_of(device: Any) -> Generator:
    """Return the default generator of a device, which need not be numbered."""
    return _default(current.index_of(device))


def _default(index: int) -> Generator:
    return generator.default_for(devices.device("cuda", index))


def manual_seed(seed: int) -> None:
    """Start the stream of `seed` in the generator of the current device."""
    if current.device_count():
        _default(current.current_device()).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    """Start the stream of `seed` in the generators of all devices."""
    for each in default_generators():
        each.manual_seed(seed)


def seed() -> None:
    """Seed the generator of the current device with a number from the operating system."""
    if current.device_count():
        _default(current.current_device()).seed()


def seed_all() -> None:
    """Seed the generators of all devices with one number from the operating system."""
    numbers = [each.seed() for each in default_generators()[:1]]
    for number in numbers:
        manual_seed_all(number)


def initial_seed() -> int:
    """Return the seed of the current device's generator."""
    return _default(current.current_device()).initial_seed()


def get_rng_state(device: Any = "cuda") -> Tensor:
    """Return the state of a device's generator as a uint8 tensor on the CPU."""
    return default_generator_of(device).get_state()


def get_rng_state_all() -> list[Tensor]:
    """Return the states of all devices' generators."""
    return [each.get_state() for each in default_generators()]


def set_rng_state(new_state: Tensor, device: Any = "cuda") -> None:
    """Go back to a state of a device's generator."""
    default_generator_of(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Go back to the states of all devices' generators."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)
