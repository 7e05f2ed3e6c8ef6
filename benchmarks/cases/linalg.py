"""Matrix products, factorisations and Fourier transforms."""

from __future__ import annotations

from benchmarks.case import Case, integers, normal, statement


def _mm(m: int, k: int, n: int) -> Case:
    return statement("torch.mm(a, b)", a=normal(m, k), b=normal(k, n), numpy="a @ b")


HEADS = normal(8, 4, 128, 64)
SQUARE = normal(256, 256)
PRODUCTS = [
    *(_mm(n, n, n) for n in (8, 64, 256, 512, 1024)),
    _mm(2048, 64, 128),
    _mm(64, 4096, 64),
    _mm(1024, 128, 10),
    _mm(1, 1024, 1024),
    *(
        statement("F.linear(x, w, b)", x=normal(m, 1024), w=normal(1024, 1024), b=normal(1024))
        for m in (1, 4)
    ),
    _mm(4, 1024, 1024),
    statement("torch.bmm(a, b)", a=normal(8, 1, 64), b=normal(8, 64, 512), numpy="a @ b"),
    statement("torch.mm(a, b.t())", a=normal(256, 512), b=normal(256, 512), numpy="a @ b.T"),
    statement("torch.mm(a.t(), b)", a=normal(512, 256), b=normal(512, 256), numpy="a.T @ b"),
    statement(
        "torch.mm(a, b)", a=normal(256, 256, dtype="float64"), b=SQUARE._replace(dtype="float64")
    ),
    *(
        statement(
            "torch.mm(a, b)",
            a=integers(99, n, n),
            b=integers(99, n, n),
            note="int64",
            numpy="a @ b",
        )
        for n in (64, 256)
    ),
    statement("torch.bmm(a, b)", a=normal(32, 64, 64), b=normal(32, 64, 64), numpy="a @ b"),
    statement("torch.bmm(a, b)", a=normal(512, 8, 8), b=normal(512, 8, 8), numpy="a @ b"),
    statement("a @ b.mT", a=normal(4000, 3, 3), b=normal(4000, 3, 3)),
    statement("torch.matmul(a, b)", a=normal(8, 64, 64), b=normal(64, 64), numpy="a @ b"),
    statement("a @ b.transpose(2, 3)", a=HEADS, b=HEADS, numpy="a @ b.swapaxes(2, 3)"),
    statement("torch.mv(a, x)", a=normal(1024, 1024), x=normal(1024), numpy="a @ x"),
    statement("torch.mv(a.t(), x)", a=normal(1024, 1024), x=normal(1024), numpy="a.T @ x"),
    statement("torch.addmv(c, a, x)", c=normal(75000), a=normal(75000, 4), x=normal(4)),
    statement("torch.dot(x, y)", x=normal(65536), y=normal(65536), numpy="x @ y"),
    statement("torch.outer(x, y)", x=normal(1024), y=normal(1024), numpy="np.outer(x, y)"),
    statement("torch.addmm(c, a, b)", c=normal(256), a=SQUARE, b=SQUARE),
    statement("torch.addmm(c, a, b, beta=0.5)", c=SQUARE, a=SQUARE, b=SQUARE),
    statement(
        "torch.baddbmm(c, a, b)", c=normal(32, 64, 64), a=normal(32, 64, 64), b=normal(32, 64, 64)
    ),
    statement("torch.einsum('bij,bjk->bik', a, b)", a=normal(8, 16, 16), b=normal(8, 16, 16)),
    statement("torch.einsum('bhid,bhjd->bhij', a, b)", a=HEADS, b=HEADS),
]

TRAINING = [
    statement("torch.mm(a, b)", a=SQUARE, b=SQUARE, train="a b"),
    statement("torch.bmm(a, b)", a=normal(32, 64, 64), b=normal(32, 64, 64), train="a b"),
    statement("F.linear(x, w, b)", x=normal(128, 512), w=normal(512, 512), b=normal(512)),
    statement("F.linear(x, w, b)", x=normal(20000, 4), w=normal(4, 4), b=normal(4), train="x w b"),
    statement(
        "F.linear(x, w, b)", x=normal(128, 512), w=normal(512, 512), b=normal(512), train="x w b"
    ),
    statement("F.linear(x, w, b)", x=normal(32, 64), w=normal(10, 64), b=normal(10), train="x w b"),
    statement("F.scaled_dot_product_attention(q, k, v)", q=HEADS, k=HEADS, v=HEADS),
    statement("F.scaled_dot_product_attention(q, k, v)", q=HEADS, k=HEADS, v=HEADS, train="q k v"),
]


SMALL = normal(4000, 3, 3)
FACTORISATIONS = [
    statement("torch.linalg.cholesky(x @ x.mT + 256 * torch.eye(256))", x=SQUARE),
    statement("torch.linalg.solve(x, y)", x=SQUARE, y=SQUARE, numpy="np.linalg.solve(x, y)"),
    statement("torch.linalg.inv(x)", x=SQUARE, numpy="np.linalg.inv(x)"),
    statement("torch.linalg.det(x)", x=normal(64, 64), numpy="np.linalg.det(x)"),
    statement("torch.linalg.svdvals(x)", x=SQUARE, numpy="np.linalg.svd(x, compute_uv=False)"),
    statement("torch.linalg.svd(x)[1]", x=SQUARE),
    statement("torch.linalg.qr(x)[1].abs()", x=SQUARE),
    statement("torch.linalg.eigvalsh(x @ x.mT)", x=SQUARE),
    statement("torch.linalg.solve(x, y)", x=normal(64, 64), y=normal(64, 4), train="x y"),
    statement("torch.linalg.cholesky(x @ x.mT + 3 * torch.eye(3))", x=SMALL),
    statement("torch.linalg.inv(x)", x=SMALL, numpy="np.linalg.inv(x)"),
    statement("torch.linalg.qr(x, mode='r')[1].abs()", x=SMALL),
    statement("torch.linalg.eigvalsh(x)", x=SMALL),
    statement("torch.linalg.svdvals(x)", x=SMALL),
    statement("torch.linalg.matrix_exp(x)", x=SMALL),
    statement("torch.linalg.det(x)", x=SMALL._replace(dtype="complex64")),
    statement("torch.linalg.solve(x, y)", x=SMALL, y=normal(4000, 3, 1), train="x y"),
    statement("torch.cholesky_solve(b, x)", x=normal(16, 16), b=normal(500, 16, 8)),
    statement("torch.fft.rfft(x)", x=normal(65536), numpy="np.fft.rfft(x)"),
    statement("torch.fft.fft(x)", x=normal(256, 256), numpy="np.fft.fft(x)"),
    statement("torch.fft.fft2(x)", x=SQUARE, numpy="np.fft.fft2(x)"),
    statement("torch.fft.fft(x)", x=normal(256, dtype="complex64"), numpy="np.fft.fft(x)"),
    statement("torch.fft.rfft(x)", x=normal(7, 512), numpy="np.fft.rfft(x)"),
    statement("torch.fft.fft2(x)", x=normal(64, 64, dtype="complex64"), numpy="np.fft.fft2(x)"),
]

CASES = [*PRODUCTS, *TRAINING, *FACTORISATIONS]
