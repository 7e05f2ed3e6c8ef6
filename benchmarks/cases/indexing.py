"""Gathering, scattering, ordering, joining and drawing, small (32 x 32) and large (1000 x 1000)."""

from __future__ import annotations

from typing import Any

from benchmarks.case import (
    Case,
    ascending,
    distinct,
    integers,
    mask,
    normal,
    pixels,
    statement,
)


def _by_side(side: int) -> list[Case]:
    """What is measured on small and on large matrices."""
    x, y = normal(side, side), normal(side, side)
    index, row, where = integers(side, side, side), integers(side, side), mask(side, side)
    reading = [
        statement("x.gather(1, i)", x=x, i=index, numpy="np.take_along_axis(x, i, 1)"),
        statement("x.gather(0, i)", x=x, i=index, numpy="np.take_along_axis(x, i, 0)"),
        statement("x.t().gather(1, i)", x=x, i=index),
        statement("x.gather(0, row[:, None].expand_as(x))", x=x, row=row),
        statement("x.index_select(0, row)", x=x, row=row, numpy="np.take(x, row, 0)"),
        statement("x.index_select(1, row)", x=x, row=row, numpy="np.take(x, row, 1)"),
        statement("x[row]", x=x, row=row, numpy="x[row]"),
        statement("x[i, row]", x=x, i=index, row=row, numpy="x[i, row]"),
        statement("x[mask]", x=x, mask=where, numpy="x[mask]"),
        statement("x.take(i)", x=x, i=index, numpy="np.take(x, i)"),
        statement("mask.nonzero()", mask=where, numpy="np.argwhere(mask)"),
        statement("torch.where(mask, x, y)", mask=where, x=x, y=y, numpy="np.where(mask, x, y)"),
    ]
    writing = [
        statement("x.masked_fill(mask, 0.0)", x=x, mask=where),
        statement("x.masked_fill(mask, 0.0)", x=x, mask=mask(side), note="a row of the mask"),
        statement("x.scatter(1, i, 2.0)", x=x, i=index),
        statement("x.scatter_add(1, i, y)", x=x, i=index, y=y),
        statement("x.scatter_add(0, i, y)", x=x, i=index, y=y),
        statement("x.scatter_reduce(1, i, y, 'amax')", x=x, i=index, y=y),
        statement("x.scatter_add(0, row[:, None].expand_as(y), y)", x=x, row=row, y=y),
        statement("x.scatter_reduce(0, row[:, None].expand_as(y), y, 'mean')", x=x, row=row, y=y),
        statement("x.index_add(0, row, y)", x=x, row=row, y=y),
        statement("x.index_add(1, row, y)", x=x, row=row, y=y),
        statement("x.index_put((row,), v)", x=x, row=row, v=normal(1, side)),
        statement("x.index_put((i, row), y, True)", x=x, i=index, row=row, y=y),
    ]
    joining = [
        statement("torch.cat([x, y])", x=x, y=y, numpy="np.concatenate([x, y])"),
        statement("torch.cat([x, y], 1)", x=x, y=y, numpy="np.concatenate([x, y], 1)"),
        statement("torch.stack([x, y])", x=x, y=y, numpy="np.stack([x, y])"),
        statement("torch.stack([x, y], -1)", x=x, y=y, numpy="np.stack([x, y], -1)"),
        statement("x.flip(1)", x=x, numpy="x[:, ::-1].copy()"),
        statement("x.roll(1, 1)", x=x, numpy="np.roll(x, 1, 1)"),
        statement("x.tril()", x=x, numpy="np.tril(x)"),
        statement("x.repeat(2, 2)", x=x, numpy="np.tile(x, (2, 2))"),
        statement("x.repeat_interleave(2, 1)", x=x, numpy="np.repeat(x, 2, 1)"),
        statement("F.pad(x, (1, 1, 1, 1))", x=x, numpy="np.pad(x, 1)"),
    ]
    return [*reading, *writing, *joining, *_ordering(side, index), *_drawing(side, x, where)]


def _ordering(side: int, index: Any) -> list[Case]:
    """What is sorted, and searched in what is sorted."""
    order, few, many = distinct(side, side), max(2, side // 500), side // 4
    return [
        statement("x.sort()", x=order, numpy="np.sort(x)"),
        statement("x.sort(0)", x=order, numpy="np.sort(x, 0)"),
        statement("x.argsort()", x=order, numpy="np.argsort(x)"),
        statement(f"x.topk({few})", x=order),
        statement(f"x.topk({many})", x=order),
        statement(f"x.kthvalue({many})", x=order),
        statement("x.median(1)", x=order),
        statement("i.unique()", i=index, numpy="np.unique(i)"),
        statement("i.unique(return_inverse=True)", i=index),
        statement(
            "torch.searchsorted(bounds, i)",
            bounds=ascending(side, side),
            i=index,
            numpy="np.searchsorted(bounds, i)",
        ),
    ]


def _drawing(side: int, x: Any, where: Any) -> list[Case]:
    """What is drawn at random."""
    return [
        statement("x.uniform_()", x=x, random=True),
        statement("x.normal_()", x=x, random=True),
        statement("x.bernoulli_(0.5)", x=x, random=True),
        statement("x.exponential_()", x=x, random=True),
        statement("torch.dropout(x, 0.5, True)", x=x, random=True),
        statement(f"torch.randperm({side * side})", x=normal(side * side), random=True),
        statement("mask.float().multinomial(1)", mask=where, random=True),
    ]


VIEWS = [
    statement("x[:, [0, 3, 5, 7]]", x=pixels(4, 32, 28, 28)),
    statement("x[[0, 2]]", x=pixels(4, 32, 28, 28)),
    statement("x[i, j, None]", x=normal(64, 2), i=integers(64, 32), j=integers(2, 32)),
    statement("x[:, i, j]", x=normal(7, 5, 5), i=integers(5, 15), j=integers(5, 15)),
    statement("x[:, 2][i]", x=normal(60, 4), i=integers(60, 30)),
    statement("x[:, mask]", x=normal(17, 17), mask=mask(17)),
    statement("setitem(x, mask, y)", x=normal(17, 17), mask=mask(17), y=normal(17)),
    statement("x[None, ..., 1:]", x=normal(2, 3, 4, 8)),
    statement("F.pad(x.t(), (1, 1, 1, 1))", x=normal(512, 512)),
    statement("F.pad(x, (1, 2))", x=normal(20000, 2), note="narrow rows"),
    statement("x.repeat(2, 2)", x=normal(20000, 5), note="narrow rows"),
    statement("torch.cat([x, x, x], 1)", x=normal(1000, 100)),
    statement("x.tril()", x=normal(100, 20000), note="long rows"),
    statement("x[:, :, 3:4].copy_(y)", x=normal(1, 8, 512, 64), y=normal(1, 8, 1, 64)),
    statement("torch.cat([-x[..., 16:], x[..., :16]], -1)", x=normal(2, 8, 64, 32)),
    statement(
        "torch.stack([x[:, :, i:i + 32, i:i + 32] for i in range(8)])", x=normal(4, 3, 96, 96)
    ),
]
"""Tensors with gaps or turned dims, and what is cut out of them."""

LARGE = [
    statement("x.sort()", x=distinct(1 << 20), numpy="np.sort(x)"),
    statement("x.unique(dim=0)", x=normal(1000, 500), numpy="np.unique(x, axis=0)"),
    statement("x.topk(2, dim=0)", x=distinct(5, 1 << 16)),
    statement("x.median(0)", x=distinct(5, 1 << 16)),
    statement("torch.isin(x, 2)", x=normal(1 << 20)),
    statement("i.sort(stable=True)", i=integers(1 << 40, 1 << 20), note="int64"),
    statement("F.embedding(i, w)", i=integers(10000, 64, 128), w=normal(10000, 256)),
    statement("F.embedding(i, w)", i=integers(10000, 64, 128), w=normal(10000, 256), train="w"),
    statement("x[row]", x=normal(10000, 64), row=integers(10000, 4096), train="x"),
    statement("x.gather(1, i)", x=normal(512, 512), i=integers(512, 512, 512), train="x"),
    statement("torch.cat([x, y], 1)", x=normal(512, 512), y=normal(512, 512), train="x y"),
    statement("x.masked_fill(mask, 0.0)", x=normal(512, 512), mask=mask(512, 512), train="x"),
    statement("F.one_hot(i, 100)", i=integers(100, 8192)),
]

CASES = [*_by_side(32), *_by_side(1000), *VIEWS, *LARGE]
