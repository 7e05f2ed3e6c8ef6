"""Memory layouts: how a tensor's elements are kept; knows no tensor."""

from __future__ import annotations


class layout:
    """The way a tensor keeps its elements: strided or one of the sparse formats. Singletons."""

    __slots__ = ("index", "name")
    __module__ = "torchgen_out"

    def __init__(self, name: str, index: int) -> None:
        self.name = name
        self.index = index

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return by_name, (self.name,)


strided = layout("strided", 0)
sparse_coo = layout("sparse_coo", 1)
sparse_csr = layout("sparse_csr", 2)
sparse_csc = layout("sparse_csc", 3)
sparse_bsr = layout("sparse_bsr", 4)
sparse_bsc = layout("sparse_bsc", 5)
batched = layout("batched", 6)
"""That of samples inside `vmap`, which nobody sees: they are strided to whoever asks."""

BY_INDEX: list[layout] = [
    strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc, strided,
]  # fmt: skip
_BY_NAME = {each.name: each for each in BY_INDEX}


def by_name(name: str) -> layout:
    """Return the layout called `name`, for instance "strided"."""
    return _BY_NAME[name]
