"""Per-call overhead: operators, views and indexing on eight to sixteen elements."""

from __future__ import annotations

from types import ModuleType

from benchmarks.case import Case, Work, integers, normal, statement

X, Y, MATRIX = normal(8), normal(8), normal(8, 8)
TABLE, LEAF = normal(3, 4), normal(3, 4, grad=True)
HALF = normal(16, 16, dtype="bfloat16")


def _chain(T: ModuleType) -> Work:
    x, y = T.ones(8), T.ones(8)

    def chain() -> object:
        result = x
        for _ in range(20):
            result = result + y
        return result

    return Work(chain)


CASES = [
    statement("x + y", x=X, y=Y, numpy="x + y"),
    statement("x + 1.0", x=X, numpy="x + 1.0"),
    statement("x * y", x=X, y=Y, numpy="x * y"),
    statement("x.exp()", x=X, numpy="np.exp(x)"),
    statement("x.add_(y)", x=X, y=Y, note="in place"),
    statement("matrix + row", matrix=MATRIX, row=X, numpy="matrix + row"),
    statement("x.sum()", x=X, numpy="x.sum()"),
    statement("matrix.sum(1)", matrix=MATRIX, numpy="matrix.sum(1)"),
    statement("matrix.view(64)", matrix=MATRIX, numpy="matrix.reshape(64)"),
    statement("matrix.t()", matrix=MATRIX, numpy="matrix.T"),
    statement("torch.mm(a, b)", a=MATRIX, b=MATRIX, numpy="a @ b"),
    statement("F.linear(x, w, b)", x=MATRIX, w=MATRIX, b=X),
    statement("F.relu(x)", x=X),
    statement("torch.softmax(x, 0)", x=X),
    statement("x.float()", x=X),
    statement("torch.zeros(8)", x=X, numpy="np.zeros(8, np.float32)"),
    Case("20 additions in a row", "8", _chain),
    statement("x[1]", x=TABLE, numpy="x[1]"),
    statement("x[1:3]", x=TABLE, numpy="x[1:3]"),
    statement("x[0, 1]", x=TABLE, numpy="x[0, 1]"),
    statement("x[:, 1]", x=TABLE, numpy="x[:, 1]"),
    statement("x[0, 1:]", x=TABLE, numpy="x[0, 1:]"),
    statement("x[None]", x=TABLE, numpy="x[None]"),
    statement("x[...]", x=TABLE, numpy="x[...]"),
    statement("x[i]", x=TABLE, i=integers(3, 2), numpy="x[i]"),
    statement("x[x > 0]", x=TABLE, numpy="x[x > 0]"),
    statement("x[0, 0].item()", x=TABLE, numpy="x[0, 0].item()"),
    statement("setitem(x, 0, 1.0)", x=TABLE),
    statement("setitem(x, (0, 1), 1.0)", x=TABLE),
    statement("setitem(x, slice(1, None), x[:1])", x=TABLE),
    statement("F.pad(x, (1, 1, 1, 1), mode='reflect')", x=normal(1, 2, 4, 4)),
    statement("F.interpolate(x, scale_factor=2, mode='bilinear')", x=normal(1, 2, 4, 4)),
    statement("torch.tensor([[1.0, 2.0], [3.0, 4.0]])", x=X),
    statement("torch.from_numpy(x.numpy())", x=X),
    statement("F.layer_norm(x, (16,), w, w)", x=HALF, w=HALF._replace(sizes=(16,))),
    statement("torch.softmax(x, 1)", x=HALF),
    statement("torch.ones_like(x)", x=HALF),
    statement("x[1]", x=LEAF, note="recorded"),
    statement("x[:, None]", x=LEAF, note="recorded"),
    statement("x[0, 1:]", x=LEAF, note="recorded"),
    statement("x[i]", x=LEAF, i=integers(3, 2), note="recorded"),
]
