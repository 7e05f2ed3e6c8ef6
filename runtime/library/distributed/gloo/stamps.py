"""A call in one number: what ranks compare to find out that they are not in the same call."""

from __future__ import annotations

from torchgen_out._runtime.core import dtype as dtypes

KINDS = (
    "send", "barrier", "broadcast", "all_reduce", "reduce", "all_gather", "gather", "scatter",
    "reduce_scatter", "all_to_all",
)  # fmt: skip
_OPS = ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR", "PREMUL_SUM", "")
NO_OP = len(_OPS) - 1
_BYTES = 1 << 35  # sizes are compared up to a multiple of this


def stamp(kind: int, nbytes: int = 0, dtype: int = 31, op: int = NO_OP, root: int = 1023) -> int:
    """The number of a call: what, how many bytes a rank, their dtype's index, operation, root."""
    return ((((nbytes % _BYTES) << 10 | root & 1023) << 4 | op) << 5 | dtype) << 4 | kind


def told(number: int, nbytes: int | None = None) -> str:
    """What a stamp says, in words."""
    kind, number = number & 15, number >> 4
    dtype, number = number & 31, number >> 5
    op, number = number & 15, number >> 4
    root, size = number & 1023, number >> 10
    if kind >= len(KINDS) or op >= len(_OPS):
        return "something unknown"
    found = dtypes.BY_INDEX[dtype]
    words = [KINDS[kind] if kind else "a message"]
    words.append(f"of {size if nbytes is None else nbytes} bytes")
    words += [f"of {found}"] if found is not None else []
    words += [_OPS[op]] if _OPS[op] else []
    words += [f"root {root}"] if root != 1023 else []
    return " ".join(words)


(
    SEND,
    BARRIER,
    BROADCAST,
    ALL_REDUCE,
    REDUCE,
    ALL_GATHER,
    GATHER,
    SCATTER,
    REDUCE_SCATTER,
    ALL_TO_ALL,
) = range(len(KINDS))
