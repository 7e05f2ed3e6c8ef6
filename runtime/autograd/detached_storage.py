"""The storage behind `.data`: shared memory, separate version counter."""

from __future__ import annotations

from torchgen_out._runtime.core.storage import Storage


class TwinStorage(Storage):
    """The same memory under a version counter of its own.

    It refers to its original, so that the original is seen to be shared.
    """

    __slots__ = ("original",)

    def __init__(self, original: Storage, version: int = 0) -> None:
        self.buffer = original.buffer
        self.original = original
        self.version = version
