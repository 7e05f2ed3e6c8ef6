"""Sparse matrices of graphs - citations, a power law, a grid -, and sparse gradients.

SciPy stands in the column of arrays. PyTorch's gradient of a matrix of learned weights is dense, so
that the case is small.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from benchmarks.case import Call, Case, Work

Array = NDArray[Any]
Edges = tuple[Array, Array, int]


def citations(rng: np.random.Generator, nodes: int) -> Edges:
    """Four edges a node, anywhere."""
    return rng.integers(0, nodes, 4 * nodes), rng.integers(0, nodes, 4 * nodes), nodes


def power_law(rng: np.random.Generator, nodes: int) -> Edges:
    """Eight edges a node, most of them at a few nodes."""
    favoured = (nodes * rng.random(8 * nodes) ** 4).astype(np.int64)
    return favoured, rng.integers(0, nodes, 8 * nodes), nodes


def grid(rng: np.random.Generator, nodes: int) -> Edges:
    """The five-point star on a square."""
    side = int(nodes**0.5)
    at = np.arange(side * side).reshape(side, side)
    pairs = [(at, at), (at[1:], at[:-1]), (at[:, 1:], at[:, :-1])]
    pairs += [(two, one) for one, two in pairs[1:]]
    rows, columns = (np.concatenate([pair[i].ravel() for pair in pairs]) for i in (0, 1))
    return rows, columns, side * side


GRAPHS = {"citations": citations, "power law": power_law, "grid": grid}
Body = Callable[[ModuleType, Any, Any, Any], Call]
"""What is timed, of the library, a CSR and a COO matrix, and a dense one."""


def matrix_of(kind: str, nodes: int) -> Any:
    """The matrix of a graph in SciPy's CSR."""
    rng = np.random.default_rng(0)
    rows, columns, count = GRAPHS[kind](rng, nodes)
    values = rng.random(rows.size, np.float32)
    found = scipy.sparse.csr_matrix((values, (rows, columns)), (count, count))
    found.sum_duplicates()
    return found


def case(
    title: str,
    kind: str,
    nodes: int,
    width: int,
    body: Body,
    array: Callable[..., Any] | None,
    index: Any = np.int64,
) -> Case:
    """A case of one graph. index: the dtype of compressed indices, SciPy's aside."""

    def features(count: int) -> Array:
        return np.random.default_rng(1).random((count, width), np.float32)

    def make(T: ModuleType) -> Work:
        held = matrix_of(kind, nodes)
        parts = (held.indptr.astype(index), held.indices.astype(index), held.data)
        csr = T.sparse_csr_tensor(*map(T.from_numpy, parts), held.shape, check_invariants=True)
        coo, dense = csr.to_sparse().coalesce(), T.from_numpy(features(held.shape[0]))
        return Work(body(T, csr, coo, dense), (dense,))

    def make_array(arrays: ModuleType) -> Call:
        if arrays is not np:
            raise NotImplementedError("SciPy is beside NumPy only")
        held = matrix_of(kind, nodes)
        given = features(held.shape[0])
        assert array is not None
        found = array(held, given)  # the work itself, or a call with what it needs made before
        return found if callable(found) else lambda: array(held, given)

    shown = f"{kind}, {nodes:,} nodes" + (f", {width} columns" if width > 1 else "")
    shown += ", indices of 32 bits" if index is np.int32 else ""
    return Case(title, shown, make, make_array if array else None)


def training(T: ModuleType, csr: Any, coo: Any, dense: Any) -> Call:
    """A product forward and backward, to the features."""
    dense.requires_grad_()

    def run() -> None:
        dense.grad = None
        T.sparse.mm(coo, dense).sum().backward()

    return run


def learned(T: ModuleType, csr: Any, coo: Any, dense: Any) -> Call:
    """The same where the matrix is made of weights that get a gradient, too."""
    dense.requires_grad_()
    indices, values = coo.indices(), coo.values().clone().requires_grad_()

    def run() -> None:
        dense.grad = values.grad = None
        matrix = T.sparse_coo_tensor(indices, values, coo.shape, check_invariants=True)
        T.sparse.mm(matrix, dense).sum().backward()

    return run


def coalescing(T: ModuleType, csr: Any, coo: Any, dense: Any) -> Call:
    """Entries out of order."""
    order = T.from_numpy(np.random.default_rng(2).permutation(coo._nnz()))
    indices, values = coo.indices()[:, order].contiguous(), coo.values()[order]
    shape = coo.shape
    return lambda: (
        T.sparse_coo_tensor(indices, values, shape, check_invariants=True).coalesce().values()
    )


def merged_by_scipy(held: Any, dense: Array) -> Call:
    """The same entries in the same order, to be merged."""
    order = np.random.default_rng(2).permutation(held.nnz)
    entries = held.tocoo()
    places = entries.row[order], entries.col[order]
    given = scipy.sparse.coo_matrix((entries.data[order], places), held.shape)

    def run() -> Array:
        made = given.tocsr()
        made.sum_duplicates()
        return np.asarray(made.data)

    return run


def transposed_by_scipy(held: Any, dense: Array) -> Call:
    """A list of entries, transposed, ordered by rows and looked through for doubles."""
    given = held.tocoo()

    def run() -> Array:
        made = given.T.tocsr()
        made.sum_duplicates()
        return np.asarray(made.data)

    return run


def passing(T: ModuleType, csr: Any, coo: Any, dense: Any) -> Call:
    """Messages of which each node takes the greatest, forward and backward to the features."""
    dense.requires_grad_()

    def run() -> None:
        dense.grad = None
        T.sparse.mm(csr, dense, "amax").sum().backward()

    return run


def _of_graph(kind: str, nodes: int) -> list[Case]:
    made = [
        case(
            "`torch.sparse.mm(csr, x)`", kind, nodes, width,
            lambda T, csr, coo, x: lambda: T.sparse.mm(csr, x), lambda held, x: held @ x,
        )
        for width in (1, 16, 128)
    ]  # fmt: skip
    made += [
        case("`torch.sparse.mm(coo, x)`, training", kind, nodes, width, training, None)
        for width in (1, 16, 128)
    ]
    made += [
        case(
            "`torch.sparse.mm(csr, x, 'amax')`", kind, nodes, 16,
            lambda T, csr, coo, x: lambda: T.sparse.mm(csr, x, "amax"), None,
        ),
        case(
            "`torch.sparse.mm(csr, x, 'amax')`, training", kind, nodes, 16, passing, None,
        ),
        case("coalesce", kind, nodes, 1, coalescing, merged_by_scipy),
        case(
            "`coo.t().coalesce()`", kind, nodes, 1,
            lambda T, csr, coo, x: lambda: coo.t().coalesce().values(),
            transposed_by_scipy,
        ),
        *(
            case(
                "`csr.to_sparse_csc()`", kind, nodes, 1,
                lambda T, csr, coo, x: lambda: csr.to_sparse_csc().values(),
                lambda held, x: held.tocsc().data, index,
            )
            for index in (np.int64, np.int32)
        ),
    ]  # fmt: skip
    return made


def embedding(rows: int) -> Case:
    """A step of a table that gives sparse gradients."""

    def make(T: ModuleType) -> Work:
        table = T.nn.Embedding(rows, 64, sparse=True)
        with T.no_grad():
            table.weight.copy_(T.arange(64.0).sin())
        optimizer = T.optim.SparseAdam(table.parameters(), lr=0.01)
        index = T.from_numpy(np.random.default_rng(0).integers(0, rows, 4096))

        def run() -> None:
            optimizer.zero_grad()
            table(index).square().sum().backward()
            optimizer.step()

        return Work(run)

    title = "`nn.Embedding(sparse=True)`, a step of SparseAdam"
    return Case(title, f"{rows:,} rows of 64, 4,096 indices", make)


CASES = [
    *[each for kind in GRAPHS for nodes in (1000, 100_000) for each in _of_graph(kind, nodes)],
    *[each for each in _of_graph("citations", 1_000_000) if "128 columns" not in each.sizes],
    case("learned weights, training", "citations", 1000, 16, learned, None),
    embedding(1_000_000),
]
