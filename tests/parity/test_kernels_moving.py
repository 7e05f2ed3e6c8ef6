"""Kernels that move, pick and order elements, called with arrays and compared with PyTorch.

Inputs come contiguous, transposed and with steps; outputs contiguous, transposed, and in place
where the kernel may run so.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import torchgen_out as tg
from tests.index_programs import cpu_kernel as made
from torchgen_out._runtime.kernels.cpu.copy import diagonal, shaping
from torchgen_out._runtime.kernels.cpu.indexing import reading as indexing
from torchgen_out._runtime.kernels.cpu.reduction import histogram, selection
from torchgen_out._runtime.kernels.cpu.scatter import masking, scatter
from torchgen_out._runtime.kernels.cpu.sort import searchsorted, sort, unique

torch = pytest.importorskip("torch")

Array = Any
DTYPES = ("float32", "float64", "int64", "uint8", "bool", "complex64")
ORDERED = ("float32", "float64", "int64", "int32", "int16", "uint8")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def make(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Small whole numbers, so that there are ties and sums are exact."""
    return np.round(rng.standard_normal(shape) * 3).astype(dtype)


def with_nan(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Ties, both zeros, infinities, and NaN of both signs."""
    x = make(rng, shape, dtype)
    if dtype.startswith("float"):
        for value, share in ((np.nan, 0.15), (-np.nan, 0.05), (np.inf, 0.05), (-0.0, 0.1)):
            x[rng.random(shape) < share] = value
    return x


def layouts(x: Array) -> Iterator[Array]:
    """The same kind of values in three layouts."""
    yield x
    yield x.transpose(*range(1, x.ndim), 0)
    yield x[:, ::2]


def with_dims(dtypes: tuple[str, ...]) -> list[Any]:
    """Each dtype, each dim and each layout in a few cases; all of them together in the full tier.

    A case of three layouts compiles up to 27 kernels, each of which takes half a second. In float64
    the samples of the operators run.
    """
    cases = []
    for dtype, dim, laid_out in product(dtypes, (0, 1, -1), (False, True)):
        is_usual = laid_out == (dim == 0) if dtype == "float32" else dim == 1 and not laid_out
        marks = [] if is_usual and dtype != "float64" else [pytest.mark.full]
        cases.append(pytest.param(dtype, dim, laid_out, marks=marks))
    return cases


def with_layouts(dtypes: tuple[str, ...]) -> list[Any]:
    """All layouts of float32, one of each other dtype; the rest in the full tier."""
    cases = []
    for dtype, laid_out in product(dtypes, (False, True)):
        marks = [] if laid_out == (dtype == "float32") else [pytest.mark.full]
        cases.append(pytest.param(dtype, laid_out, marks=marks))
    return cases


def theirs(x: Array) -> Any:
    """A PyTorch tensor of the array's values."""
    return torch.from_numpy(np.array(x, order="C"))


def check(kernel: Any, *args: Any, expected: Any, tolerance: float = 0.0) -> None:
    """Run into outputs of both layouts and compare."""
    wanted = [each.numpy() for each in (expected if isinstance(expected, tuple) else (expected,))]
    for order in "CF":
        outs = [np.empty(each.shape, each.dtype, order) for each in wanted]
        kernel(*outs, *args)
        for got, want in zip(outs, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


def check_aliasing(kernel: Any, self: Array, *args: Any, expected: Any, tol: float = 0.0) -> None:
    """The same, and with the output being self."""
    check(kernel, self, *args, expected=expected, tolerance=tol)
    if self.shape == tuple(expected.shape):
        copy = self.copy(order="K")
        kernel(copy, copy, *args)
        np.testing.assert_allclose(copy, expected.numpy(), rtol=tol, atol=tol)


# Joining and rearranging.


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_cat_and_stack(rng: np.random.Generator, dim: int) -> None:
    a, b = make(rng, (3, 4), "float32"), make(rng, (4, 3), "float32").T
    check(shaping.cat, [a, b, a], dim, expected=torch.cat([theirs(a), theirs(b), theirs(a)], dim))
    check(shaping.cat, [a, b], dim, expected=torch.stack([theirs(a), theirs(b)], dim))


@pytest.mark.parametrize("shifts, dims", [(-1, 1), ([2, -7], [0, 1]), ([1, 1], [0, 0])])
def test_roll(rng: np.random.Generator, shifts: Any, dims: Any) -> None:
    for x in layouts(make(rng, (4, 5), "int64")):
        check(made("roll"), x, shifts, dims, expected=theirs(x).roll(shifts, dims))


@pytest.mark.parametrize("diagonal", range(-6, 7))
def test_triangles(rng: np.random.Generator, diagonal: int) -> None:
    for x in layouts(make(rng, (3, 4, 5), "float64")):
        check_aliasing(made("tril"), x, diagonal, expected=theirs(x).tril(diagonal))
        check_aliasing(made("triu"), x, diagonal, expected=theirs(x).triu(diagonal))


@pytest.mark.parametrize("place", [(0, -2, -1), (2, 0, 2), (-1, 2, 0), (1, 1, 0)])
def test_diag_embed_flip_repeat(rng: np.random.Generator, place: tuple[int, int, int]) -> None:
    for x in layouts(make(rng, (4, 5), "float32")):
        check(diagonal.diag_embed, x, *place, expected=theirs(x).diag_embed(*place))
        check(made("flip"), x, [0, -1], expected=theirs(x).flip(0, -1))
        check(made("repeat"), x, (6, 2, 3), expected=theirs(x).repeat(6, 2, 3))


# Reading at places.


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_gather_and_index_select(rng: np.random.Generator, dtype: str, dim: int) -> None:
    for x in layouts(make(rng, (3, 4, 5), dtype)):
        for smaller in (0, 1):
            sizes = [size - smaller for size in x.shape]
            sizes[dim] = 7
            index = rng.integers(0, x.shape[dim], sizes)
            expected = theirs(x).gather(dim, theirs(index))
            check(made("gather"), x, dim, index, False, expected=expected)
            check(made("gather"), x, dim, index.astype(np.int32), False, expected=expected)
        vector = rng.integers(0, x.shape[dim], 7)
        expected = theirs(x).index_select(dim, theirs(vector))
        check(made("index_select"), x, dim, vector, expected=expected)


def expressions(rng: np.random.Generator, shape: tuple[int, ...]) -> list[list[Any]]:
    """Indexing expressions for three dims: neighbours, apart, masks, empty."""

    def some(dim: int, sizes: tuple[int, ...] = (2,)) -> Array:
        picked = rng.permutation(shape[dim])[: int(np.prod(sizes))]
        return picked.reshape(sizes) - shape[dim] * (dim % 2)

    return [
        [some(0)],
        [some(0, ())],
        [some(0, (0,)), some(1, (0,))],
        [some(0), some(1)],
        [some(0, (2, 1)), some(1)],
        [some(0), some(1), some(2)],
        [None, some(1)],
        [None, some(1), some(2)],
        [some(0), None, some(2)],
        [None, some(1, (2, 1)), None],
        [rng.random(shape) < 0.5],
        [np.zeros(shape, bool)],
        [rng.random(shape[:2]) < 0.5],
        [None, rng.random(shape[1:]) < 0.5],
    ]


@pytest.mark.parametrize("number", range(14))
def test_index(rng: np.random.Generator, number: int) -> None:
    for x in layouts(make(rng, (3, 4, 5), "float32")):
        indices = expressions(rng, x.shape)[number]
        tensors = [None if index is None else theirs(index) for index in indices]
        expected = torch.ops.aten.index(theirs(x), tensors)
        np.testing.assert_array_equal(indexing.index(x, indices), expected.numpy())


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("number", range(14))
def test_index_put(rng: np.random.Generator, number: int, accumulate: bool) -> None:
    for x in layouts(make(rng, (3, 4, 5), "float32")):
        found = expressions(rng, x.shape)[number]
        indices = [None if index is None else np.asarray(index) for index in found]
        tensors = [None if index is None else theirs(index) for index in indices]
        full = tuple(torch.ops.aten.index(theirs(x), tensors).shape)
        for sizes in (full, full[1:], (1,) * len(full), ()):
            values = np.asarray(make(rng, sizes, "float32"))
            expected = torch.ops.aten.index_put(theirs(x), tensors, theirs(values), accumulate)
            check_aliasing(scatter.index_put, x, indices, values, accumulate, expected=expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_and_flat_places(rng: np.random.Generator, dtype: str) -> None:
    for x in layouts(make(rng, (3, 4, 5), dtype)):
        mask = rng.random(x.shape) < 0.5
        index = rng.integers(-x.size, x.size, (4, 2))
        check(made("take"), x, index, expected=theirs(x).take(theirs(index)))
        assert (indexing.nonzero(x) == theirs(x).nonzero().numpy()).all()
        for part in (mask, mask[:1], mask[..., :1]):
            selected = theirs(x).masked_select(theirs(part))
            assert (indexing.masked_select(x, part) == selected.numpy()).all()
            source = make(rng, (x.size,), dtype)
            expected = theirs(x).masked_scatter(theirs(part), theirs(source))
            check_aliasing(masking.masked_scatter, x, part, source, expected=expected)


# Writing at places.


@pytest.mark.parametrize(("dtype", "dim", "laid_out"), with_dims(DTYPES))
def test_scatter(rng: np.random.Generator, dtype: str, dim: int, laid_out: bool) -> None:
    given = make(rng, (3, 4, 5), dtype)
    for x in layouts(given) if laid_out else [given]:
        for smaller in (0, 1):
            sizes = [max(1, size - smaller) for size in x.shape]
            distinct_places = np.argsort(rng.random(x.shape), axis=dim)
            index = distinct_places[tuple(map(slice, sizes))]
            src = make(rng, tuple(size + 1 for size in sizes), dtype)
            expected = theirs(x).scatter(dim, theirs(index), theirs(src))
            check_aliasing(made("scatter_src"), x, dim, index, src, expected=expected)
            expected = theirs(x).scatter(dim, theirs(index), 1)
            check_aliasing(made("scatter_value"), x, dim, index, 1, expected=expected)
            index = rng.integers(0, x.shape[dim], sizes)
            expected = theirs(x).scatter_add(dim, theirs(index), theirs(src))
            check_aliasing(made("scatter_add"), x, dim, index, src, expected=expected)


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.filterwarnings("ignore:index_reduce")
def test_scatter_reduce(
    rng: np.random.Generator, dtype: str, reduce: str, include_self: bool
) -> None:
    for x in layouts(make(rng, (3, 4, 5), dtype)):
        for dim in (0, 2):
            index = rng.integers(0, x.shape[dim], x.shape)
            src = make(rng, x.shape, dtype)
            args = dim, theirs(index), theirs(src), reduce
            expected = theirs(x).scatter_reduce(*args, include_self=include_self)
            ours = dim, index, src, reduce, include_self
            check_aliasing(scatter.scatter_reduce, x, *ours, expected=expected, tol=1e-6)
            if reduce != "sum":
                vector = rng.integers(0, x.shape[dim], x.shape[dim])
                args = dim, theirs(vector), theirs(src), reduce
                expected = theirs(x).index_reduce(*args, include_self=include_self)
                ours = dim, vector, src, reduce, include_self
                check_aliasing(scatter.index_reduce, x, *ours, expected=expected, tol=1e-6)


@pytest.mark.parametrize(("dtype", "dim", "laid_out"), with_dims(("float32", "int64", "complex64")))
def test_index_add_copy_fill(
    rng: np.random.Generator, dtype: str, dim: int, laid_out: bool
) -> None:
    given = make(rng, (3, 4, 5), dtype)
    for x in layouts(given) if laid_out else [given]:
        sizes = list(x.shape)
        for count in (7, 2):
            sizes[dim] = count
            source = make(rng, tuple(sizes), dtype)
            index = rng.integers(0, x.shape[dim], count)
            expected = theirs(x).index_add(dim, theirs(index), theirs(source), alpha=2)
            check_aliasing(made("index_add"), x, dim, index, source, 2, expected=expected)
        index = rng.permutation(x.shape[dim])[:2]
        expected = theirs(x).index_copy(dim, theirs(index), theirs(source))
        check_aliasing(made("index_copy"), x, dim, index, source, expected=expected)
        expected = theirs(x).index_fill(dim, theirs(index), 1)
        check_aliasing(scatter.index_fill, x, dim, index - x.shape[dim], 1, expected=expected)


# Ordering.


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", [*ORDERED, "bool"])
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 300), (1, 1), (0, 3), (3, 0)])
def test_sort(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, descending: bool
) -> None:
    for x in layouts(with_nan(rng, shape, dtype)):
        for dim in range(-x.ndim, x.ndim):
            expected = theirs(x).sort(dim=dim, descending=descending, stable=True)
            check(sort.ordered, x, None, dim, descending, expected=tuple(expected))


@pytest.mark.parametrize("descending", [False, True])
def test_sort_of_full_range(rng: np.random.Generator, descending: bool) -> None:
    """Neither key and place fit into 64 bits."""
    x = rng.integers(-(2**63), 2**63 - 1, 50)
    x = np.concatenate([x, x, [2**63 - 1, -(2**63)]])
    expected = theirs(x).sort(descending=descending, stable=True)
    check(sort.ordered, x, None, 0, descending, expected=tuple(expected))


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", ORDERED)
def test_order_statistics(rng: np.random.Generator, dtype: str, largest: bool) -> None:
    """Values are PyTorch's; of equal elements PyTorch promises no particular place."""

    def compare(kernel: Any, x: Array, dim: int, *args: Any, expected: Any) -> None:
        wanted = expected.values.numpy()
        for order in "CF":
            values = np.empty(wanted.shape, wanted.dtype, order)
            places = np.empty(wanted.shape, np.int64, order)
            kernel(values, places, x, *args)
            np.testing.assert_array_equal(values, wanted)
            if wanted.ndim < x.ndim:
                values, places = np.expand_dims(values, dim), np.expand_dims(places, dim)
            np.testing.assert_array_equal(np.take_along_axis(x, places, dim), values)

    statistic = sort.order_statistic

    def whole(value: Array, *args: Any) -> None:
        statistic(value, None, *args)

    for x in layouts(with_nan(rng, (3, 40, 5), dtype)):
        for dim in (0, 1, -1):
            for k in {1, 2, x.shape[dim] // 2, x.shape[dim]}:
                expected = theirs(x).topk(k, dim, largest)
                compare(sort.ordered, x, dim, k, dim, largest, expected=expected)
                expected = theirs(x).kthvalue(k, dim, True)
                compare(statistic, x, dim, k, dim, True, False, expected=expected)
            for skips_nan, expected in (
                (False, theirs(x).median(dim)),
                (True, theirs(x).nanmedian(dim)),
            ):
                compare(statistic, x, dim, None, dim, False, skips_nan, expected=expected)
            if x.dtype.kind != "f":  # PyTorch's order of NaN here depends on the sort
                compare(sort.mode, x, dim, dim, expected=theirs(x).mode(dim))
        for skips_nan, expected in ((False, theirs(x).median()), (True, theirs(x).nanmedian())):
            check(whole, x, None, None, False, skips_nan, expected=expected)


@pytest.mark.parametrize("dtype", [*ORDERED, "bool"])
def test_distinct(rng: np.random.Generator, dtype: str) -> None:
    for x in layouts(make(rng, (4, 3, 2), dtype)):
        both = {"return_inverse": True, "return_counts": True}
        pairs = [
            (unique.distinct(x, None, True, False, True, True), theirs(x).unique(**both)),
            (
                unique.distinct(x, None, False, True, True, True),
                theirs(x).unique_consecutive(**both),
            ),
        ]
        for dim in range(x.ndim):
            run = theirs(x).unique_consecutive(dim=dim, **both)
            pairs.append((unique.distinct(x, dim, False, True, True, True), run))
            pairs.append(
                (
                    unique.distinct(x, dim, True, False, True, True),
                    theirs(x).unique(dim=dim, **both),
                )
            )
        for got, expected in pairs:
            for ours, want in zip(got, expected, strict=True):
                np.testing.assert_array_equal(ours, want.numpy())


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_searching(rng: np.random.Generator, dtype: str, right: bool) -> None:
    sequence = np.sort(make(rng, (3, 20), dtype), -1)
    values = with_nan(rng, (3, 7), dtype)
    for bounds in (sequence, sequence[0]):
        expected = torch.searchsorted(theirs(bounds), theirs(values), right=right)
        how = False, right, None, None, False
        check(searchsorted.search, bounds, values, *how, expected=expected)
    expected = torch.bucketize(theirs(values), theirs(sequence[1]), right=right, out_int32=True)
    how = True, right, None, None, True
    check(searchsorted.search, values, sequence[1], *how, expected=expected)
    order = rng.permutation(20)
    shuffled = np.empty(20, dtype)
    shuffled[order] = sequence[0]
    expected = torch.searchsorted(theirs(shuffled), theirs(values), sorter=theirs(order))
    how = False, False, None, order, False
    check(searchsorted.search, shuffled, values, *how, expected=expected)
    expected = torch.isin(theirs(values), theirs(sequence), invert=right)
    check(searchsorted.isin, values, sequence, False, right, expected=expected)


# Picking, counting, scanning.


@pytest.mark.parametrize(("dtype", "laid_out"), with_layouts((*ORDERED, "bool")))
def test_picking(rng: np.random.Generator, dtype: str, laid_out: bool) -> None:
    given = with_nan(rng, (3, 4, 5), dtype)
    for x in layouts(given) if laid_out else [given]:
        for dim in range(-x.ndim, x.ndim):
            check(made("max_dim"), x, dim, False, expected=tuple(theirs(x).max(dim)))
            check(made("min_dim"), x, dim, True, expected=tuple(theirs(x).min(dim, True)))
            check(made("cummax"), x, dim, expected=tuple(theirs(x).cummax(dim)))
            check(made("cummin"), x, dim, expected=tuple(theirs(x).cummin(dim)))
            if dtype != "bool":
                check(made("argmax"), x, dim, False, expected=theirs(x).argmax(dim))
                check(made("argmin"), x, dim, False, expected=theirs(x).argmin(dim))
        if dtype != "bool":
            check(made("argmax"), x, None, False, expected=theirs(x).argmax())


@pytest.mark.parametrize(("dtype", "laid_out"), with_layouts((*DTYPES, "int32")))
def test_sums_and_products(rng: np.random.Generator, dtype: str, laid_out: bool) -> None:
    given = make(rng, (3, 4, 5), dtype)
    for x in layouts(given) if laid_out else [given]:
        for dim in range(-x.ndim, x.ndim):
            check(made("cumsum"), x, dim, None, expected=theirs(x).cumsum(dim))
            check(made("cumprod"), x, dim, None, expected=theirs(x).cumprod(dim))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logcumsumexp(rng: np.random.Generator, dtype: str) -> None:
    for x in layouts(with_nan(rng, (3, 4, 50), dtype)):
        for dim in range(x.ndim):
            expected = theirs(x).logcumsumexp(dim)
            check(made("logcumsumexp"), x, dim, expected=expected, tolerance=1e-5)


@pytest.mark.parametrize("bounds", [(10, 0, 0), (7, -1, 1), (100, 0, 0), (3, 2, 2)])
def test_counting(rng: np.random.Generator, bounds: tuple[int, float, float]) -> None:
    x = rng.standard_normal((40, 50))
    check(histogram.histc, x, *bounds, expected=torch.histc(theirs(x), *bounds))
    whole = rng.integers(0, 9, 50)
    for weights in (None, make(rng, (50,), "float32"), make(rng, (50,), "int64")):
        given = None if weights is None else theirs(weights)
        expected = torch.bincount(theirs(whole), given, bounds[0])
        got = selection.bincount(whole, weights, bounds[0])
        np.testing.assert_array_equal(got, expected.numpy())
        assert got.dtype == expected.numpy().dtype


def test_dims_of_any_number_are_rolled_and_padded() -> None:
    """Also more than one text shifts, in any layout, and of dtypes that are moved as words."""
    source = np.random.default_rng(5)
    for case in range(120):
        ndim = int(source.integers(1, 6))
        order = [int(dim) for dim in source.permutation(ndim)]
        numbers = source.integers(0, 9, source.integers(1, 5, ndim))
        dtype = ("float32", "bfloat16", "int64", "bool", "complex64")[case % 5]
        x = tg.tensor(numbers).to(getattr(tg, dtype)).permute(order)
        y = torch.tensor(numbers).to(getattr(torch, dtype)).permute(order)
        shifts = [int(shift) for shift in source.integers(-9, 9, ndim)]
        pad = [int(width) for width in source.integers(0, 3, 2 * ndim)]
        pad[0] -= min(1, x.shape[-1] - 1)
        value = 1 if dtype == "bool" else 5
        times = int(source.integers(0, 4))
        pairs = [
            (x.roll(shifts, order), y.roll(shifts, order)),
            (x.roll(shifts[0]), y.roll(shifts[0])),
            (tg.constant_pad_nd(x, pad, value), torch.constant_pad_nd(y, pad, value)),
            (x.repeat_interleave(times, order[0]), y.repeat_interleave(times, order[0])),
            (x.repeat_interleave(times), y.repeat_interleave(times)),
        ]
        for found, expected in pairs:
            assert tuple(found.shape) == tuple(expected.shape)
            assert found.tolist() == expected.tolist()
