"""The names of `torch.jit.annotations`: types that annotations of compiled functions use."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "List",
    "Optional", "Tuple", "Union",
]  # fmt: skip


class _BroadcastingList:
    """A type of lists, or of one number for all of their places: `BroadcastingList2[int]`."""

    def __getitem__(self, item: Any) -> Any:
        return item | list[item]


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _BroadcastingList()
