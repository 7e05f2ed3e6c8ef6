"""Tensors as data: the memory they lie in, and how they are seen in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tests.guarded_memory import guarded_copy

LAYOUTS = ("dense", "permuted", "stepped", "offset", "expanded", "overlapping")


@dataclass(frozen=True, slots=True, repr=False)
class Stored:
    """memory: one-dimensional, in the format of `stored_as`; two tensors may share it."""

    memory: np.ndarray = field(repr=False)
    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    at_end: bool
    """Whether the memory's end is what must not be passed, or its beginning."""

    def repeats(self) -> bool:
        """Whether an element is shown several times."""
        return prod(self.sizes) > len(self.memory) - self.offset or self.strides.count(1) > 1

    def is_tame(self) -> bool:
        """Whether all numbers are finite and not so large that products overflow."""
        values = values_of(self.memory, self.dtype)
        if values.dtype.kind not in "fc":
            return True
        with np.errstate(all="ignore"):
            return bool((np.isfinite(values) & (np.abs(values) < 1e4)).all())

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        values = self.memory[:12].tolist() if len(self.memory) else []
        layout = f"{self.sizes}/{self.strides}+{self.offset}"
        return f"<{self.dtype} {layout} of {len(self.memory)}: {values}>"


def lay_out(data: np.ndarray, dtype: str, layout: str, rng: np.random.Generator) -> Stored:
    """Store data so that a tensor of the layout shows it, as far as the layout can."""
    sizes, strides, offset = data.shape, list(_dense(data.shape)), 0
    if layout == "permuted" and sizes:
        order = rng.permutation(len(sizes))
        placed = _dense(tuple(sizes[i] for i in order))
        for place, i in enumerate(order):
            strides[i] = placed[place]
    elif layout == "stepped":
        strides = [2 * step for step in strides]
        offset = int(rng.integers(2))
    elif layout == "offset":
        offset = int(rng.integers(1, 4))
    elif layout == "expanded" and sizes:
        strides[int(rng.integers(len(sizes)))] = 0
    elif layout == "overlapping" and sizes:
        strides = [1 for _ in sizes]
    span = offset + (1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
                     if data.size else 0)  # fmt: skip
    memory = np.ones(span, data.dtype)
    steps = [s * data.dtype.itemsize for s in strides]
    if data.size:
        np.lib.stride_tricks.as_strided(memory[offset:], sizes, steps)[...] = data
    with np.errstate(all="ignore"):
        memory = stored_as(memory, dtype)
    return Stored(memory, dtype, sizes, tuple(strides), offset, bool(rng.integers(2)))


def _dense(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(max(n, 1) for n in sizes[i + 1 :]) for i in range(len(sizes)))


EXCHANGED = {"bfloat16": np.int16, "complex32": np.int32}
"""What tensors are made of where NumPy has no such dtype."""


def stored_as(memory: np.ndarray, dtype: str) -> np.ndarray:
    """The values in the memory format of a dtype: bfloat16 as uint16, complex32 as uint32."""
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(memory, np.float32).view(np.uint32)
        return (bits >> 16).astype(np.uint16)
    if dtype == "complex32":
        parts = np.ascontiguousarray(memory, np.complex64).view(np.float32)
        return parts.astype(np.float16).view(np.uint32)
    return memory.astype(dtype)


def values_of(memory: np.ndarray, dtype: str) -> np.ndarray:
    """The reverse of `stored_as`, in a dtype of NumPy."""
    if dtype == "bfloat16":
        return (memory.astype(np.uint32) << 16).view(np.float32)
    if dtype == "complex32":
        return memory.view(np.float16).astype(np.float32).view(np.complex64)
    return memory


class Maker:
    """Makes the tensors of one call in a library, each memory once, beside guard pages."""

    def __init__(self, library: Any, is_guarded: bool) -> None:
        self.library, self.is_guarded = library, is_guarded
        self.memories: dict[int, tuple[Stored, np.ndarray]] = {}
        self.tensors: dict[int, Any] = {}

    def tensor(self, stored: Stored) -> Any:
        """The tensor; the same object for the same `Stored`."""
        if id(stored) not in self.tensors:
            key = id(stored.memory)
            if key not in self.memories:
                self.memories[key] = stored, self._copy(stored)
            self.tensors[id(stored)] = self.view(self.memories[key][1], stored)
        return self.tensors[id(stored)]

    def _copy(self, stored: Stored) -> np.ndarray:
        if self.is_guarded and stored.memory.size:
            return guarded_copy(stored.memory, stored.at_end)
        return stored.memory.copy()

    def view(self, memory: np.ndarray, stored: Stored) -> Any:
        """A tensor over memory that is there."""
        if exchanged := EXCHANGED.get(stored.dtype):
            dtype = getattr(self.library, stored.dtype)
            flat = self.library.from_numpy(memory.view(exchanged)).view(dtype)
        else:
            flat = self.library.from_numpy(memory)
        dense = stored.sizes == flat.shape and not stored.offset and stored.strides == (1,)
        return flat if dense else flat.as_strided(stored.sizes, stored.strides, stored.offset)

    def contents(self) -> list[tuple[str, np.ndarray]]:
        """What all memories hold now."""
        return [
            (stored.dtype, values_of(memory, stored.dtype).copy())
            for stored, memory in self.memories.values()
        ]
