"""Sparse tensors of random structure, beside guard pages, and with hostile parts.

Structures have duplicates, entries out of order, none at all, dense dims, or are transposed. What
PyTorch refuses is held against the same of dense tensors, and products against SciPy's.
"""

from __future__ import annotations

import io
import pickle
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import torch

import torchgen_out
from tests.guarded_memory import guarded, guarded_copy
from torchgen_out._runtime.kernels.cpu.sparse import checks, grouping, merging, products

pytestmark = pytest.mark.filterwarnings("ignore")

KINDS = ("ordered", "duplicates", "shuffled", "empty", "hybrid", "transposed")
CALLS = """
x.to_dense() | x.coalesce() | x+x | x-y | x*y | x*2 | x.t().coalesce() | x.sum() | x.sum(0)
x.sum(1) | x[1] | x[:,2] | x.select(1,0) | x.narrow(0,1,3) | t.cat([x,y]) | t.cat([x,y],1)
t.stack([x,y]) | x.index_select(0,i) | x.index_select(1,i) | x.sin() | x.square() | x.neg()
x.abs()
x.to_sparse_csr() | x.to_sparse_csc() | x.coalesce().to_sparse_bsr((2,3))
x.sparse_mask(y.coalesce())
z.sparse_mask(x.coalesce()) | z+x | z*x | x.norm() | x.any() | x.unsqueeze(1) | x.clone().zero_()
x.clone().mul_(3) | x.to_sparse_csr().to_sparse_csc().to_dense() | x.permute(1,0).to_dense()
"""
OF_MATRICES = """
x@m | x@x.t() | x.t()@x | x@m[:,0] | t.sparse.mm(x,m) | t.addmm(n,x,m) | t.hspmm(x,m) | t.smm(x,m)
t.sparse.softmax(x,1) | t.sparse.log_softmax(x,0) | t.sparse.mm(c,m,'mean')
t.sparse.mm(c,m,'amax')
t.sparse.mm(c,m,'amin') | c@m | c.t()@n | c.to_sparse_csc()@m | c.to_sparse_bsr((2,3))@m
m.t()@c.t()
t.sparse.sampled_addmm(c,n,m.t()) | c@c.t() | c+c | c*c | c.to_sparse() | n.t()@x
"""


def calls_of(text: str) -> list[str]:
    """The calls of a text."""
    return [call.strip() for line in text.strip().splitlines() for call in line.split(" | ")]


def operand(t: Any, kind: str, seed: int) -> Any:
    """A COO tensor (6, 9), or with a dense dim (6, 9, 2)."""
    rng = np.random.default_rng(seed)
    count = 0 if kind == "empty" else 14
    places = rng.integers(0, 54, count) if kind == "duplicates" else rng.permutation(54)[:count]
    places = np.sort(places) if kind == "ordered" else places
    indices = np.stack(np.unravel_index(places, (9, 6) if kind == "transposed" else (6, 9)))
    values = rng.integers(-4, 5, (count, 2) if kind == "hybrid" else count).astype(np.float32)
    size = {"transposed": (9, 6), "hybrid": (6, 9, 2)}.get(kind, (6, 9))
    made = t.sparse_coo_tensor(t.tensor(indices), t.tensor(values), size)
    return made.t() if kind == "transposed" else made


def operands(t: Any, kind: str) -> dict[str, Any]:
    """What calls name: x and y sparse, z dense of their sizes, c in CSR, m and n matrices."""
    x, y = (operand(t, kind, seed) for seed in (0, 1))
    rng = np.random.default_rng(2)
    sizes = tuple(x.shape), (9, 5), (6, 5)
    z, m, n = (t.tensor(rng.integers(-3, 4, size).astype(np.float32)) for size in sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        c = x.to_sparse_csr()
    return {"t": t, "x": x, "y": y, "z": z, "m": m, "n": n, "c": c, "i": t.tensor([1, 0, 5, 1])}


def outcome(call: str, given: dict[str, Any]) -> Any:
    """The elements of a result; None if the call is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = eval(call, given)
        except (RuntimeError, TypeError, IndexError):
            return None
    return found.to_dense().numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_random_structure(kind: str) -> None:
    own, other = operands(torchgen_out, kind), operands(torch, kind)
    dense = {name: x.to_dense() if name in "xyc" else x for name, x in other.items()}
    seen = 0
    for call in calls_of(CALLS) + ([] if kind == "hybrid" else calls_of(OF_MATRICES)):
        expected = outcome(call, other)
        if expected is None and "sparse" not in call:
            expected = outcome(call, dense)
        if expected is not None:
            found = outcome(call, own)
            assert found is not None, call
            np.testing.assert_allclose(found, expected, 1e-5, 1e-6, err_msg=call)
            seen += 1
    assert seen > 30


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("width", [1, 3, 17, 70])
def test_products_are_scipys_beside_guard_pages(width: int, index: Any) -> None:
    rng = np.random.default_rng(width)
    held = scipy.sparse.random(23, 31, 0.2, format="lil", random_state=rng)
    held[5:9] = 0
    held = held.tocsr().astype(np.float32)
    dense = rng.normal(size=(31, width)).astype(np.float32)
    lines = np.repeat(np.arange(23), np.diff(held.indptr))
    order = rng.permutation(held.nnz)
    parts = [held.indptr.astype(index), held.indices.astype(index), held.data, dense]
    order = order.astype(index)
    shuffled = np.empty_like(held.data)
    shuffled[order] = held.data
    for at_end in (False, True):
        given = [guarded_copy(each, at_end) for each in parts]
        mixed = guarded_copy(shuffled, at_end), given[3], guarded_copy(order, at_end)
        for values, mat, places in ((given[2], given[3], None), mixed):
            made = guarded((23, width), np.float32, at_end)
            products.spmm(made, *given[:2], values, mat, places, "sum")
            np.testing.assert_allclose(made, held @ dense, 1e-5, 1e-6)
            each = held.toarray()[:, :, None] * dense
            best = np.where(held.toarray()[:, :, None] != 0, each, -np.inf).max(1)
            best[np.diff(held.indptr) == 0] = 0
            chosen = guarded((23, width), index, at_end)
            products.spmm(made, *given[:2], values, mat, places, "amax")
            np.testing.assert_allclose(made, best, 1e-5)
            products.spmm_extreme(made, chosen, *given[:2], values, mat, True, places)
            np.testing.assert_allclose(made, best, 1e-5)
            turned = held.T.tocsr()
            by_columns = np.argsort(held.indices, kind="stable")
            at = by_columns if places is None else order[by_columns]
            side = [turned.indptr, lines[by_columns], at]
            side = [guarded_copy(each.astype(index), at_end) for each in side]
            grad = guarded_copy(rng.normal(size=(23, width)).astype(np.float32), at_end)
            back = guarded((31, width), np.float32, at_end)
            products.spmm_chosen(back, *side[:2], values, grad, chosen, side[2])
            expected = np.zeros((31, width), np.float32)
            r, c = np.nonzero(chosen >= 0)
            e = chosen[r, c] if places is None else np.argsort(order)[chosen[r, c]]
            np.add.at(expected, (held.indices[e], c), held.data[e] * grad[r, c])
            np.testing.assert_allclose(back, expected, 1e-5, 1e-5)


@pytest.mark.parametrize("count", [0, 1, 300, 70_000])
def test_entries_are_merged_and_turned_beside_guard_pages(count: int) -> None:
    """Long lines, too, entries in the order of columns, and more than one bucket of lines."""
    rng = np.random.default_rng(count)
    size, across = (5, 80) if count < 1000 else (3000, 900)
    lines, others = (size * rng.random(count) ** 3).astype(np.int64), rng.integers(0, across, count)
    for at_end in (False, True):
        given = [guarded_copy(each, at_end) for each in (lines, others)]
        _check_merged(*given, size, across, at_end)
        by_columns = np.argsort(others, kind="stable")
        given = [guarded_copy(each[by_columns], at_end) for each in (lines, others)]
        _check_merged(*given, size, across, at_end)
        transposed = np.divmod(np.unique(others * size + lines), size)
        given = [guarded_copy(each, at_end) for each in transposed[::-1]]
        _check_merged(*given, size, across, at_end)
        order = np.argsort(lines, kind="stable")
        for index in (np.int64, np.int32):
            _check_turned(lines[order], others[order], size, across, index, at_end)


def _check_turned(
    lines: Any, columns: Any, size: int, across: int, index: Any, at_end: bool
) -> None:
    count = lines.size
    offsets = np.searchsorted(lines, np.arange(size + 1))
    shapes, types = (across + 1, count, count), (index, index, np.int32)
    begins, rows, turned = (
        guarded((n,), each, at_end) for n, each in zip(shapes, types, strict=True)
    )
    parts = offsets.astype(index), columns.astype(index), np.arange(count, dtype=np.int32) - 5
    grouping.turn(begins, rows, turned, *(guarded_copy(each, at_end) for each in parts), across)
    by_columns = np.argsort(columns, kind="stable")
    assert (turned + 5).tolist() == by_columns.tolist()
    assert rows.tolist() == lines[by_columns].tolist()
    expected = np.searchsorted(columns[by_columns], np.arange(across + 1))
    assert begins.tolist() == expected.tolist()
    if count:  # a column outside, rows that end elsewhere, rows that fall
        for part, place, wrong in ((1, 0, across), (1, count - 1, -1), (0, size, count + 1)):
            hostile = [each.copy() for each in parts]
            hostile[part][place] = wrong
            with pytest.raises(RuntimeError, match="a column is not in"):
                grouping.turn(begins, rows, turned, *hostile, across)


def _check_merged(lines: Any, others: Any, size: int, across: int, at_end: bool) -> None:
    count = lines.size
    shapes = ((2, count), (count,), (count,), (1,))
    indices, one, sources, kept = (guarded(shape, np.int64, at_end) for shape in shapes)
    merging.merge(indices, one, sources, kept, lines, others, size, across)
    at = lines * across + others
    places, inverse = np.unique(at, return_inverse=True)
    assert kept[0] == len(places)
    assert (indices[0] * across + indices[1])[: kept[0]].tolist() == places.tolist()
    assert at[one[: kept[0]]].tolist() == places.tolist()
    if kept[0] < count:
        assert sources.tolist() == inverse.tolist()
    for dtype in (np.float32, np.int32):
        values = guarded_copy((np.arange(count) % 101 - 50).astype(dtype), at_end)
        where, sums, kept = (
            guarded(*each, at_end)
            for each in (((2, count), np.int64), ((count,), dtype), ((1,), np.int64))
        )
        merging.merge_values(where, sums, kept, lines, others, values, size, across)
        assert kept[0] == len(places)
        assert where.tolist() == indices.tolist()
        expected = np.zeros(count, dtype)
        np.add.at(expected, inverse, values)
        assert sums.tolist() == expected.tolist()


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool", "float16"])
def test_a_pattern_is_brought_in_order_again_and_again(dtype: str, is_transposed: bool) -> None:
    """The first time with its values, then by the order, recorded or not: with one pattern."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, 40, (2, 300))
    values = rng.integers(0, 2 if dtype == "bool" else 9, 300)
    made = {}
    for T in (torchgen_out, torch):
        given = T.sparse_coo_tensor(
            T.from_numpy(places), T.from_numpy(values).to(getattr(T, dtype)), (40, 40)
        )
        given = given.coalesce().t() if is_transposed else given
        made[T] = given
    ours, theirs = made[torchgen_out], made[torch].coalesce()
    found = [ours.coalesce() for _ in range(3)]
    if ours.dtype.is_floating_point:
        found.insert(1, ours.detach().requires_grad_().coalesce().detach())
    for each in found:
        assert each.indices().tolist() == theirs.indices().tolist()
        assert each.values().tolist() == theirs.values().tolist()
        assert each.is_coalesced()


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_indices_keep_their_dtype_among_compressed_layouts(index: str) -> None:
    """As in PyTorch; entries have int64."""
    made = []
    for T in (torchgen_out, torch):
        parts = (
            T.tensor(each, dtype=getattr(T, index)) for each in ([0, 2, 3, 3, 4], [0, 3, 1, 2])
        )
        given = T.sparse_csr_tensor(*parts, T.tensor([1.0, 2.0, 3.0, 4.0]), (4, 4))
        found = [given.to_sparse_csc(), given.to_sparse_bsr((2, 2)), given.to_sparse_bsc((2, 2))]
        found += [found[0].to_sparse_csr(), found[1].to_sparse_bsc((2, 2)), found[0].t()]
        told = []
        for each in found:
            is_by_rows = each.layout in (T.sparse_csr, T.sparse_bsr)
            edges = each.crow_indices() if is_by_rows else each.ccol_indices()
            plain = each.col_indices() if is_by_rows else each.row_indices()
            told += [str(each.layout), str(edges.dtype), edges.tolist(), str(plain.dtype)]
            told += [plain.tolist(), each.values().tolist()]
        made.append([*told, str(given.to_sparse().indices().dtype)])
    assert made[0] == made[1]


def test_a_transposed_tensor_sees_no_later_write_to_the_indices() -> None:
    """Its indices are made when they are asked for: an error, not other numbers."""
    indices = torchgen_out.tensor([[0, 1], [2, 0]])
    given = torchgen_out.sparse_coo_tensor(indices, torchgen_out.tensor([1.0, 2.0]), (3, 3))
    before, after = given.t(), given.t()
    assert before._indices().tolist() == [[2, 0], [0, 1]]
    given._indices().add_(1)
    assert before._indices().tolist() == [[2, 0], [0, 1]]
    assert before.coalesce().indices().tolist() == [[0, 2], [1, 0]]
    for call in (after.coalesce, after._indices, after.to_dense, after.t):
        with pytest.raises(RuntimeError, match="written to after another tensor"):
            call()
    assert given.t()._indices().tolist() == [[3, 1], [1, 2]]


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_line_faults_are_those_that_loops_find(index: Any) -> None:
    """Indices of random matrices, some of them broken, in batches."""
    rng = np.random.default_rng(0)
    seen = np.zeros(6, np.int64)
    for _ in range(200):
        across = int(rng.integers(1, 6))
        lengths = rng.integers(0, across + 1, (2, 4))
        lengths[1] = rng.permutation(lengths[0])
        edges = np.zeros((2, 5), np.int64)
        edges[:, 1:] = lengths.cumsum(1)
        drawn = [[np.sort(rng.permutation(across)[:n]) for n in each] for each in lengths]
        plain = np.stack([np.concatenate(each) for each in drawn]).astype(np.int64)
        for broken, least in ((edges, -1), (plain, 0)):
            if rng.random() < 0.4 and broken.size:
                broken.flat[rng.integers(broken.size)] += rng.integers(least, 3)
        expected = _line_faults(edges, plain, across)
        given = [guarded_copy(each.astype(index), True) for each in (edges, plain)]
        found = guarded((6,), np.int64, True)
        checks.line_faults(found, *given, across)
        told = 6 if expected[5] >= 0 else 5
        assert found[:told].tolist() == expected[:told]
        seen += found
    assert seen.all()


def _line_faults(edges: Any, plain: Any, across: int) -> list[int]:
    """By the rules' words; -1 for what is not told."""
    lengths = np.diff(edges)
    told = [(edges[:, 0] != 0).any(), (edges[:, -1] != plain.shape[1]).any()]
    told += [(lengths < 0).any(), (lengths > across).any(), ((plain < 0) | (plain >= across)).any()]
    if any(told[:3]):
        return [*map(int, told), -1]
    each = [m[a:b] for m, ends in zip(plain, edges, strict=True) for a, b in pairwise(ends)]
    return [*map(int, told), int(any((np.diff(line) <= 0).any() for line in each))]


HOSTILE = """
coo([[0,9]],[1.,2.],(2,)) | coo([[0,-1]],[1.,2.],(2,)) | coo([[0,1]],[1.],(2,))
coo([0,1],[1.,2.],(2,))
coo([[1j,1]],[1.,2.],(2,)) | coo([[0,1]],[1.,2.],(-2,)) | coo([[0,1]],[1.,2.],(2,2))
coo([[2**63-1,0]],[1.,2.],(2,)) | coo([[1,0]],[1.,2.],(2,),is_coalesced=True)
csr([0,1,2],[0,5],[1.,2.],(2,2)) | csr([0,1,2],[0,-1],[1.,2.],(2,2))
csr([0,2,1],[0,1],[1.,2.],(2,2))
csr([0,1,9],[0,1],[1.,2.],(2,2)) | csr([1,1,2],[0,1],[1.,2.],(2,2)) | csr([0,1],[0,1],[1.,2.],(2,2))
csr([0,-5,2],[0,1],[1.,2.],(2,2)) | csr([0,2,2],[0,0],[1.,2.],(2,2)) | csr([0,1,2],[0,1],[1.],(2,2))
csr(narrow([0,1,2]),[0,1],[1.,2.],(2,2)) | csr([0,1,2],[0,1],[1.,2.],(2,-2))
csr([0.,1.,2.],[0,1],[1.,2.],(2,2))
csc([0,1,2],[0,7],[1.,2.],(2,2)) | bsr([0,1],[3],[[[1.,2.]]],(1,2))
bsr([0,1],[0],[[[1.,2.]]],(1,3))
bsc([0,2],[0],[[[1.,2.]]],(1,2)) | bsr([0,1],[0],[1.],(1,1))
"""
UNCHECKED = (
    "coo([[0,9],[0,1]],[1.,2.],(2,2),check_invariants=False)",
    "coo([[0,-9],[0,1]],[1.,2.],(2,2),check_invariants=False)",
    "csr([0,1,2],[0,99],[1.,2.],(2,2),check_invariants=False)",
    "csr([0,99,2],[0,1],[1.,2.],(2,2),check_invariants=False)",
    "csr([0,1,99],[0,1],[1.,2.],(2,2),check_invariants=False)",
    "csr([-99,1,2],[0,1],[1.,2.],(2,2),check_invariants=False)",
)
USES = """
x.to_dense() | x@d | d@x | x@d[0] | x.t()@d | x.to_sparse_csc().to_dense() | (x+x).to_dense()
t.sparse.mm(x,d,'amax') | x@x | t.sparse.sampled_addmm(x,d,d) | x.to_sparse_coo().coalesce()
d.sparse_mask(x) | (x*d).to_dense() | d.clone().add_(x) | t.sparse.sum(x,0).to_dense()
"""


def constructors() -> dict[str, Any]:
    """The names of hostile calls."""
    t = torchgen_out
    return {
        "t": t,
        "coo": t.sparse_coo_tensor,
        **{name: getattr(t, f"sparse_{name}_tensor") for name in ("csr", "csc", "bsr", "bsc")},
        "narrow": lambda data: t.tensor(data, dtype=t.int32),
        "d": t.ones(2, 2),
    }


@pytest.mark.parametrize("call", calls_of(HOSTILE))
def test_hostile_parts_are_refused(call: str) -> None:
    with pytest.raises((RuntimeError, ValueError)):
        eval(call, constructors())


@pytest.mark.parametrize("made", UNCHECKED)
def test_unchecked_parts_do_no_harm(made: str) -> None:
    """Who switches checks off gets an error, or numbers from inside the tensor: no other memory."""
    for call in calls_of(USES):
        given = constructors()
        given["x"] = eval(made, given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                eval(call, given)
            except (RuntimeError, IndexError, ValueError):
                continue


def test_hostile_pickles_are_refused() -> None:
    """A file or pickle whose indices lie outside says so when it is read or used."""
    t = torchgen_out
    made = t.sparse_csr_tensor([0, 1, 2], [0, 1], [1.0, 2.0], (2, 2))
    made.col_indices()[1] = 77
    with pytest.raises(RuntimeError):
        made @ t.ones(2, 2)
    with pytest.raises(RuntimeError):
        pickle.loads(pickle.dumps(made)) @ t.ones(2, 2)
    file = io.BytesIO()
    t.save(made, file)
    file.seek(0)
    with pytest.raises(t.serialization.LoadError):
        t.load(file)
