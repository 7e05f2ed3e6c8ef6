"""State of random numbers: a seed and a position in its Philox stream; the kernels draw from it.

Philox4x32-10 is a function of (seed, counter): every counter value gives a *block* of four 32-bit
words. So a generator is two integers, a draw of `n` blocks reads the position and moves it on by
`n`, and the same seed gives the same numbers on every device and for any number of threads.

Source: J. K. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import os
import struct
import threading

import numpy as np

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.core.tensor import Tensor, make_tensor
from torchgen_out._runtime.forks import at_fork

DEFAULT_SEED = 67280421310721  # PyTorch's
_WORD = 1 << 64
_STATE = struct.Struct("<QQ")
_PYTORCH_STATE_SIZE = 5056


class Generator:
    """A stream of random numbers for tensors on `device`."""

    __slots__ = ("_lock", "_offset", "_seed", "device")
    __module__ = "torchgen_out"

    def __init__(self, device: device | str | int = "cpu") -> None:
        self.device = devices.device(device)
        self._lock = threading.Lock()
        self._seed = DEFAULT_SEED
        self._offset = 0

    def advance(self, count: int) -> tuple[int, int]:
        """Take `count` blocks of the stream: return (seed, first block) and move on behind them."""
        # Of two threads no two get the same: the interpreter changes from one to another after
        # calls, and this has none. (A lock costs as much as all the rest.)
        start = self._offset
        self._offset = (start + count) % _WORD
        return self._seed, start

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream of `seed`, in [-2**63, 2**64); return the generator.

        **Raises** ValueError if the seed does not fit in 64 bits.
        """
        if not hasattr(seed.__class__, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        seed = seed.__index__()
        if not -_WORD // 2 <= seed < _WORD:
            raise ValueError(f"manual_seed: expected a seed of 64 bits, got {seed}: Overflow")
        with self._lock:
            self._seed, self._offset = seed % _WORD, 0
        return self

    def initial_seed(self) -> int:
        """Return the seed of the current stream."""
        return self._seed

    def seed(self) -> int:
        """Start the stream of a seed that the operating system draws, and return that seed."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little") >> 1)
        return self._seed

    def get_offset(self) -> int:
        """Return the position in the stream, in blocks."""
        return self._offset

    def set_offset(self, offset: int) -> None:
        """Move to a position in the stream, in blocks."""
        with self._lock:
            self._offset = offset % _WORD

    def get_state(self) -> Tensor:
        """Return seed and position as a uint8 tensor of 16 elements."""
        packed = _STATE.pack(self._seed, self._offset)
        return make_tensor(np.frombuffer(packed, np.uint8).copy(), (16,), dtypes.uint8)

    def set_state(self, new_state: Tensor) -> Generator:
        """Go back to a state that `get_state` returned; return the generator.

        **Raises** TypeError if the state is no uint8 tensor, RuntimeError if it is no state.
        """
        if not isinstance(new_state, Tensor) or new_state.dtype is not dtypes.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if new_state.numel() == _PYTORCH_STATE_SIZE:
            raise RuntimeError(
                "RNG state is PyTorch's: it belongs to another generator (mt19937), which this "
                "library does not have; seed anew with manual_seed"
            )
        if new_state.numel() != _STATE.size:
            raise RuntimeError(
                f"RNG state is wrong size: expected {_STATE.size} bytes, got {new_state.numel()}"
            )
        with self._lock:
            self._seed, self._offset = _STATE.unpack(new_state._array().tobytes())
        return self

    def clone_state(self) -> Generator:
        """Return a new generator at the same place of the same stream."""
        return Generator(self.device).set_state(self.get_state())

    graphsafe_get_state = clone_state

    def graphsafe_set_state(self, state: Generator) -> Generator:
        """Go to the place of another generator; return this one."""
        return self.set_state(state.get_state())

    def __reduce__(self) -> tuple[object, tuple[device], Tensor]:
        return Generator, (self.device,), self.get_state()

    def __setstate__(self, state: Tensor) -> None:
        self.set_state(state)


default_generator = Generator()
_defaults: dict[device, Generator] = {devices.cpu: default_generator}

# No thread may hold the lock when the process forks: in the child, no one would release it.
at_fork(
    before=default_generator._lock.acquire,
    after_in_parent=default_generator._lock.release,
    after_in_child=default_generator._lock.release,
)


def default_for(on: device) -> Generator:
    """Return the generator that an operator on device `on` draws from when it is given none."""
    found = _defaults.get(on)
    if found is None:
        found = Generator(on).manual_seed(default_generator.initial_seed())
        found = _defaults.setdefault(on, found)
    return found


def manual_seed(seed: int) -> Generator:
    """Start the stream of `seed` in the default generators of all devices; return the CPU's."""
    seed = int(seed)
    for generator in list(_defaults.values()):
        generator.manual_seed(seed)
    return default_generator


def seed() -> int:
    """Seed the default generators with a number from the operating system, and return it."""
    new = default_generator.seed()
    manual_seed(new)
    return new


def initial_seed() -> int:
    """Return the seed of the CPU's default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Return the state of the CPU's default generator as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Set the state of the CPU's default generator."""
    default_generator.set_state(new_state)
