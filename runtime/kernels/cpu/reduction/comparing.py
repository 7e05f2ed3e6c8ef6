"""Whether two arrays are equal, in one pass over both."""

from __future__ import annotations

from torchgen_out._runtime.kernels.build import kernel

MOST = 1 << 14
"""Elements up to which one thread is as fast as all."""


@kernel
def are_equal(a, b):
    """Whether no element differs; nan differs from all. Without an early end, so in vectors."""
    differ = False
    for i in range(a.size):
        differ |= a[i] != b[i]
    return not differ
