"""The groups of cases: their names, titles and budgets. The cases stand in `cases/<name>.py`.

Nothing is imported here: which groups there are is known before NumPy is loaded.
"""

from __future__ import annotations

from typing import NamedTuple

LIMIT = 1.3
"""No single case may take longer than this many times PyTorch's time."""
FEW = 1.5
"""Of all operators' first samples, at most twenty may take longer than this."""


class Group(NamedTuple):
    """Cases that share a budget: the geometric mean of ours by PyTorch's times."""

    title: str
    budget: float
    limit: float = LIMIT
    arrays: str = "NumPy"
    """What the column of libraries of arrays holds."""
    note: str = ""
    """What a reader must know to compare the columns; below the verdict on the group's page."""


SPARSE_NOTE = """\
SciPy's indices take 32 bits, those that PyTorch's tensors show and ours take 64, unless a case says
otherwise. Given the 64 bits of ours, SciPy narrows them first: `tocsc()` of the grid of 100,000
nodes then takes 3.3 ms in place of 0.8, and `coo.T.tocsr()` 3.9 in place of 1.4.
`coo.t().coalesce()` stands beside `coo.T.tocsr()` and `sum_duplicates()`: both begin with a list of
entries, order them by rows and look for doubles. Nothing of it is kept for the next call.
`csr.to_sparse_csc()` and SciPy's `tocsc()` are the same counting sort, bound by the bytes that it
reads and writes, of which 64 bits are more.
A product with one column of the grid takes about twice as long as its memory is read in: rows of
five entries leave lanes of a gather of eight empty."""


GROUPS = {
    "overhead": Group("Calls on eight elements", 0.7),
    "operators": Group("Every operator on its first sample", 0.75, FEW),
    "autograd": Group("Recording and backward on eight elements", 0.75),
    "pointwise": Group("Pointwise operators", 0.6),
    "reductions": Group("Reductions, softmax, norms and scans", 0.6),
    "indexing": Group("Gathering, scattering, ordering, joining and drawing", 0.7),
    "sparse": Group(
        "Sparse matrices of graphs, and sparse gradients", 0.8, arrays="SciPy", note=SPARSE_NOTE
    ),
    "linalg": Group("Matrix products, factorisations, FFT", 0.8),
    "convolution": Group("Convolutions", 0.8),
    "pooling": Group("Pooling", 0.8),
    "losses": Group("Losses, forward and backward", 0.8),
    "training": Group("Whole training steps", 0.7),
}

PAGES = (
    "breakdown", "engine", "start", "cold", "memory", "code_memory", "busy", "turns", "loading",
    "author_loop", "regenerate", "distributed",
)  # fmt: skip
"""Measurements that PyTorch has no part in, or of whole processes; each writes its own page."""
