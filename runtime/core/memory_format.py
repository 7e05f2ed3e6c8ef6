"""Memory formats: the orders in which a dense tensor's elements may lie; knows no tensor."""

from __future__ import annotations


class memory_format:
    """An order of the elements in memory. Singletons, named as in PyTorch."""

    __slots__ = ("name",)
    __module__ = "torchgen_out"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return by_name, (self.name,)


contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
preserve_format = memory_format("preserve_format")

ALL = (contiguous_format, channels_last, channels_last_3d, preserve_format)
RANK = {channels_last: 4, channels_last_3d: 5}
"""The number of dims that a format wants."""
OF_RANK = {rank: each for each, rank in RANK.items()}
"""The channels-last format of so many dims."""
_BY_NAME = {each.name: each for each in ALL}


def by_name(name: str) -> memory_format:
    """Return the memory format called `name`, for instance "channels_last"."""
    return _BY_NAME[name]
