"""Reductions, softmax, norms and scans: of all elements, of the inner and of the outer dim."""

from __future__ import annotations

from benchmarks.case import (
    Case,
    Input,
    complex_normal,
    distinct,
    integers,
    mask,
    normal,
    statement,
    uniform,
)

M = 1 << 20
SQUARE = normal(1000, 1000)


def _three_ways(name: str, numpy: str, x: Input) -> list[Case]:
    """Of all elements, of the inner, and of the outer dim."""
    return [
        statement(
            f"x.{name}({dim})",
            x=x,
            numpy=f"x.{numpy}({dim})" if numpy else "",
        )
        for dim in ("", "1", "0")
    ]


WAYS = [
    *_three_ways("sum", "sum", SQUARE),
    *_three_ways("mean", "mean", SQUARE),
    *_three_ways("prod", "prod", uniform(0.99, 1.01, 1000, 1000)),
    *_three_ways("amax", "max", SQUARE),
    *_three_ways("max", "", distinct(1000, 1000)),
    *_three_ways("argmax", "argmax", distinct(1000, 1000)),
    *_three_ways("var", "", SQUARE),
    *_three_ways("all", "all", mask(1000, 1000)),
    statement("x.norm()", x=SQUARE, numpy="np.linalg.norm(x)"),
    statement("torch.linalg.vector_norm(x, dim=1)", x=SQUARE, numpy="np.linalg.norm(x, axis=1)"),
    statement("torch.linalg.vector_norm(x, dim=0)", x=SQUARE, numpy="np.linalg.norm(x, axis=0)"),
    statement("torch.logsumexp(x, (0, 1))", x=SQUARE),
    statement("torch.logsumexp(x, 1)", x=SQUARE),
    statement("torch.logsumexp(x, 0)", x=SQUARE),
    statement("torch.logsumexp(x, 1)", x=normal(60000, 4), note="short rows"),
]

SHAPES = [
    statement("x.sum()", x=normal(4096), numpy="x.sum()"),
    statement("x.sum()", x=normal(16 * M), numpy="x.sum()"),
    statement("x.sum()", x=integers(99, M), note="int64", numpy="x.sum()"),
    statement("x.sum()", x=normal(M, dtype="float64")),
    statement("x.sum()", x=normal(M, dtype="bfloat16")),
    statement("x.sum()", x=mask(M), note="bool", numpy="x.sum()"),
    statement("x.sum((0, 2, 3))", x=normal(32, 64, 28, 28), numpy="x.sum((0, 2, 3))"),
    statement("x.mean((2, 3))", x=normal(32, 64, 28, 28), numpy="x.mean((2, 3))"),
    statement("x.sum(1)", x=normal(64, 128, 64), note="middle dim", numpy="x.sum(1)"),
    statement("x.sum(1)", x=normal(65536, 10), note="short rows", numpy="x.sum(1)"),
    statement("x.sum(0)", x=normal(75000, 4), note="narrow rows", numpy="x.sum(0)"),
    statement("x.sum((0, 2, 3))", x=normal(640, 1280, 1, 1), numpy="x.sum((0, 2, 3))"),
    statement("x.prod(1)", x=uniform(0.99, 1.01, 75000, 4), note="short rows", numpy="x.prod(1)"),
    statement("x.t().sum(1)", x=SQUARE, numpy="x.T.sum(1)"),
    statement("x[:, ::2].sum(1)", x=SQUARE, numpy="x[:, ::2].sum(1)"),
    statement("x.t()[::2].sum(1)", x=SQUARE, numpy="x.T[::2].sum(1)"),
    statement("x.t()[::2].argmax(0)", x=SQUARE, numpy="x.T[::2].argmax(0)"),
    statement("x[:, 100:900].sum()", x=SQUARE, numpy="x[:, 100:900].sum()"),
    statement("x.argmax(1)", x=distinct(8192, 10), note="short rows", numpy="x.argmax(1)"),
    statement("x.max(1)", x=distinct(8192, 5), note="short rows"),
    statement("x[:, :32].amax(1)", x=normal(1024, 64), numpy="x[:, :32].max(1)"),
    statement("x[:, :4].sum(0)", x=normal(8192, 8), numpy="x[:, :4].sum(0)"),
    statement("x.argmax(0)", x=distinct(20000, 2), note="narrow rows", numpy="x.argmax(0)"),
    statement("x.mean(1)", x=normal(20000, 1), note="one element", numpy="x.mean(1)"),
    statement("x.sum(1)", x=normal(32, 300, 2), note="narrow rows", numpy="x.sum(1)"),
    statement("x.sum()", x=complex_normal(65536), numpy="x.sum()"),
    statement("x.mean(0)", x=complex_normal(256, 256), numpy="x.mean(0)"),
]

SCANS = [
    statement("x.cumsum(1)", x=SQUARE, numpy="x.cumsum(1)"),
    statement("x.cumsum(0)", x=SQUARE, numpy="x.cumsum(0)"),
    statement("x.cumprod(1)", x=uniform(0.99, 1.01, 1000, 1000), numpy="x.cumprod(1)"),
    statement("x.cummax(1)", x=distinct(1000, 1000)),
    statement("x.logcumsumexp(1)", x=SQUARE),
    statement("x.cumsum(1)", x=normal(32, 32), numpy="x.cumsum(1)"),
    statement("x.cumsum(0)", x=normal(20000, 2), note="narrow rows", numpy="x.cumsum(0)"),
    statement("x.histc(100)", x=SQUARE),
    statement("x.bincount()", x=integers(1000, M), numpy="np.bincount(x)"),
]

SOFTMAX = [
    statement("torch.softmax(x, 1)", x=normal(64, 10)),
    statement("torch.softmax(x, 1)", x=normal(128, 1000)),
    statement("torch.softmax(x, 1)", x=normal(64, 128, 64), note="middle dim"),
    statement("torch.softmax(x, 0)", x=SQUARE),
    statement("torch.log_softmax(x, 1)", x=normal(128, 1000)),
    statement("torch.log_softmax(x, 1)", x=normal(8, 32000)),
    statement("torch.softmax(x, 1)", x=normal(128, 1000), train="x"),
    statement("torch.log_softmax(x, 1)", x=normal(128, 1000), train="x"),
]

ROWS, GAIN, SHIFT = normal(128, 1024), normal(1024), normal(1024)
IMAGES, CHANNEL = normal(8, 64, 56, 56), normal(64)
BATCH_NORM = "F.batch_norm(x, None, None, w, b, True)"
NORMS = [
    statement("F.layer_norm(x, (1024,), w, b)", x=ROWS, w=GAIN, b=SHIFT),
    statement("F.layer_norm(x, (1024,), w, b)", x=ROWS, w=GAIN, b=SHIFT, train="x w b"),
    statement("F.rms_norm(x, (1024,), w)", x=ROWS, w=GAIN, train="x w"),
    statement(BATCH_NORM, x=normal(64, 128), w=normal(128), b=normal(128), train="x w b"),
    statement(BATCH_NORM, x=IMAGES, w=CHANNEL, b=CHANNEL),
    statement(BATCH_NORM, x=IMAGES, w=CHANNEL, b=CHANNEL, train="x w b"),
    statement(
        "F.batch_norm(x, m, v, w, b)",
        {"x": IMAGES, "m": CHANNEL, "v": uniform(0.5, 2, 64), "w": CHANNEL, "b": CHANNEL},
        note="evaluation",
    ),
    statement("F.group_norm(x, 8, w, b)", x=normal(8, 64, 28, 28), w=CHANNEL, b=CHANNEL),
    statement(
        "F.group_norm(x, 8, w, b)", x=normal(8, 64, 28, 28), w=CHANNEL, b=CHANNEL, train="x w b"
    ),
    statement("F.instance_norm(x)", x=normal(8, 64, 28, 28), train="x"),
]

TRAINING = [
    statement("x.sum(1)", x=SQUARE, train="x"),
    statement("x.mean()", x=SQUARE, train="x"),
    statement("x.amax(1)", x=distinct(1000, 1000), train="x"),
    statement("x.var(1)", x=SQUARE, train="x"),
    statement("x.cumsum(1)", x=SQUARE, train="x"),
    statement("x.norm()", x=SQUARE, train="x"),
]

CASES = [*WAYS, *SHAPES, *SCANS, *SOFTMAX, *NORMS, *TRAINING]
