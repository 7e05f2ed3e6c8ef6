"""Pointwise operators: functions by size, then layouts, dtypes, in-place and composites."""

from __future__ import annotations

from benchmarks.case import Case, Input, complex_normal, integers, mask, normal, statement, uniform

K, M = 1 << 10, 1 << 20
SIZES = (4 * K, 64 * K, M)

TRANSCENDENTAL = {
    "exp": (-5, 5, "np.exp(x)"),
    "exp2": (-5, 5, "np.exp2(x)"),
    "expm1": (-5, 5, "np.expm1(x)"),
    "log": (0.01, 100, "np.log(x)"),
    "log2": (0.01, 100, "np.log2(x)"),
    "log1p": (-0.9, 100, "np.log1p(x)"),
    "sin": (-10, 10, "np.sin(x)"),
    "cos": (-10, 10, "np.cos(x)"),
    "tan": (-1.4, 1.4, "np.tan(x)"),
    "asin": (-1, 1, "np.arcsin(x)"),
    "atan": (-10, 10, "np.arctan(x)"),
    "sinh": (-5, 5, "np.sinh(x)"),
    "tanh": (-5, 5, "np.tanh(x)"),
    "sigmoid": (-5, 5, ""),
    "erf": (-3, 3, ""),
    "erfinv": (-0.99, 0.99, ""),
    "lgamma": (0.1, 20, ""),
    "digamma": (0.1, 20, ""),
}
"""Domain, and NumPy's call where it has one."""

SIMPLE = {
    "x.sqrt()": "np.sqrt(x)",
    "x.rsqrt()": "",
    "x.abs()": "np.abs(x)",
    "x.clamp(0.5, 2.0)": "np.clip(x, 0.5, 2.0)",
    "F.relu(x)": "",
    "x + y": "x + y",
    "x * y": "x * y",
    "x / y": "x / y",
    "x * 1.5": "x * np.float32(1.5)",
    "x ** y": "x ** y",
    "x ** 2": "x ** 2",
    "torch.maximum(x, y)": "np.maximum(x, y)",
    "torch.atan2(x, y)": "np.arctan2(x, y)",
    "x > y": "x > y",
    "torch.addcmul(x, x, y)": "",
    "torch.lerp(x, y, 0.3)": "",
}
"""Of positive numbers."""


def _positive(size: int) -> Input:
    return uniform(0.1, 3, size)


def _of(text: str, size: int, numpy: str = "") -> Case:
    """A case with `y` only where the expression names it."""
    inputs = {name: _positive(size) for name in "xy" if name in text.replace("maximum", "")}
    return statement(text, inputs, numpy=numpy)


def _by_size() -> list[Case]:
    cases = [
        statement(f"x.{name}()", numpy=numpy, x=uniform(low, high, size))
        for name, (low, high, numpy) in TRANSCENDENTAL.items()
        for size in SIZES
    ]
    cases += [_of(text, size, numpy) for text, numpy in SIMPLE.items() for size in SIZES]
    return cases


HUGE = [
    statement("x.exp()", x=uniform(-5, 5, 16 * M), numpy="np.exp(x)"),
    statement("x.tanh()", x=uniform(-5, 5, 16 * M), numpy="np.tanh(x)"),
    statement("x + y", x=normal(16 * M), y=normal(16 * M), numpy="x + y"),
    statement("F.relu(x)", x=normal(16 * M)),
    statement("torch.exp(x, out=y)", x=normal(16 * M), y=normal(16 * M), numpy="np.exp(x, out=y)"),
]

SQUARE = normal(1024, 1024)
LAYOUTS = [
    statement("torch.exp(x, out=y)", x=normal(M), y=normal(M), numpy="np.exp(x, out=y)"),
    statement("torch.add(x, y, out=z)", x=normal(M), y=normal(M), z=normal(M), numpy="x + y"),
    statement("x.add_(y)", x=normal(M), y=normal(M)),
    statement("x.sigmoid_()", x=normal(M)),
    statement("x.copy_(y)", x=normal(M), y=normal(M), numpy="np.copyto(x, y)"),
    statement("x.clone()", x=normal(M), numpy="x.copy()"),
    *(statement("x.fill_(2.5)", x=normal(size), numpy="x.fill(2.5)") for size in (1 << 16, M)),
    statement("torch.zeros(1_000_000)", x=normal(8), numpy="np.zeros(1_000_000, np.float32)"),
    statement("torch.ones(200_000)", x=normal(8), numpy="np.ones(200_000, np.float32)"),
    statement("x + y", x=SQUARE, y=normal(1024), note="a row broadcast", numpy="x + y"),
    statement("x + y", x=SQUARE, y=normal(1024, 1), note="a column broadcast", numpy="x + y"),
    statement("x * y", x=normal(1024, 1), y=normal(1024), note="outer product", numpy="x * y"),
    statement("x + y", x=normal(32, 64, 28, 28), y=normal(64, 1, 1), numpy="x + y"),
    statement("x + y.t()", x=SQUARE, y=SQUARE, numpy="x + y.T"),
    statement("x.t().exp()", x=SQUARE, numpy="np.exp(x.T)"),
    statement("x[::2, ::2].exp()", x=SQUARE, numpy="np.exp(x[::2, ::2])"),
    statement("x[:, :512] + y[:, 512:]", x=SQUARE, y=SQUARE, numpy="x[:, :512] + y[:, 512:]"),
    statement("-x[:, :16]", x=normal(4096, 32), note="narrow rows", numpy="-x[:, :16]"),
    statement("x[:, :16] + y", x=normal(4096, 32), y=normal(4096, 16), numpy="x[:, :16] + y"),
    statement("x.t().contiguous()", x=SQUARE, numpy="x.T.copy()"),
    statement("x.permute(0, 2, 3, 1).contiguous()", x=normal(32, 64, 28, 28)),
]

DTYPES = [
    statement("x.double()", x=normal(M), numpy="x.astype(np.float64)"),
    statement("x.float()", x=normal(M, dtype="float64")),
    statement("x.bfloat16()", x=normal(M)),
    statement("x.float()", x=normal(M, dtype="bfloat16")),
    statement("x.half()", x=normal(M), numpy="x.astype(np.float16)"),
    statement("x.float()", x=integers(1000, M), note="from int64", numpy="x.astype(np.float32)"),
    statement("x.long()", x=uniform(-1000, 1000, M), numpy="x.astype(np.int64)"),
    statement("x + y", x=integers(99, M), y=integers(99, M), note="int64", numpy="x + y"),
    statement("x * y", x=integers(99, M), y=integers(99, M), note="int64", numpy="x * y"),
    statement("x // 7", x=integers(99, M), note="int64", numpy="x // 7"),
    statement("x == y", x=integers(9, M), y=integers(9, M), note="int64", numpy="x == y"),
    statement("x & y", x=mask(M), y=mask(M), note="bool", numpy="x & y"),
    statement("x + y", x=integers(99, M), y=normal(M), note="int64 and float32"),
    statement("x.exp()", x=normal(M, dtype="float64")),
    statement("x.tanh()", x=normal(M, dtype="float64")),
    statement("x * y", x=normal(M, dtype="float64"), y=normal(M, dtype="float64")),
    statement("x.exp()", x=normal(M, dtype="bfloat16")),
    statement("x + y", x=normal(M, dtype="bfloat16"), y=normal(M, dtype="bfloat16")),
    statement("F.silu(x)", x=normal(M, dtype="bfloat16")),
]

FEW = [
    statement("x.long()", x=uniform(-100, 100, 17, 17), numpy="x.astype(np.int64)"),
    statement("x.permute(2, 0, 1).float()", x=integers(99, 32, 32, 3), note="int64"),
    statement("x.t().half()", x=normal(17, 17)),
    statement("x.bool()", x=normal(17, 17), numpy="x.astype(bool)"),
]
"""Casts of few elements."""

COMPLEX = [
    statement(text, x=complex_normal(65536), numpy=numpy)
    for text, numpy in (
        ("x.abs()", "np.abs(x)"),
        ("x.angle()", "np.angle(x)"),
        ("x.exp()", "np.exp(x)"),
        ("x * x", "x * x"),
        ("x / x", "x / x"),
        ("x**3", "x**3"),
        ("x.sgn()", ""),
    )
]

COMPOSITES = [
    statement("F.gelu(x)", x=normal(M)),
    statement("F.gelu(x, approximate='tanh')", x=normal(M)),
    statement("F.silu(x)", x=normal(M)),
    statement("F.mish(x)", x=normal(M)),
    statement("F.softplus(x)", x=normal(M)),
    statement("F.elu(x)", x=normal(M)),
    statement("F.hardswish(x)", x=normal(M)),
    statement("0.5 * x * (1 + torch.erf(x * 0.70710678))", x=normal(M), note="gelu by hand"),
    statement("x * torch.sigmoid(x)", x=normal(M), note="silu by hand"),
    statement("F.gelu(x)", x=normal(M), train="x"),
    statement("F.silu(x)", x=normal(M), train="x"),
    statement("F.relu(x)", x=normal(M), train="x"),
    statement("x * torch.sigmoid(x)", x=normal(M), train="x", note="silu by hand"),
    statement("x * y + b", x=SQUARE, y=SQUARE, b=normal(1024), train="x y b"),
]

SPECIAL = [
    *(
        statement(f"torch.special.{name}(x)", x=uniform(0.1, 0.9, M))
        for name in ("i0", "i1e", "bessel_j0", "bessel_y1", "airy_ai", "erfcx", "log_ndtr", "ndtri")
    ),
    statement("torch.special.modified_bessel_k0(x)", x=uniform(0.1, 9, M)),
    statement("torch.special.gammainc(x, y)", x=uniform(0.5, 4, M), y=uniform(0.5, 4, M)),
    statement("torch.special.zeta(x, y)", x=uniform(1.1, 9, 64 * 1024), y=_positive(64 * 1024)),
    statement("torch.special.hermite_polynomial_h(x, 5)", x=normal(64 * 1024)),
    statement("torch.gcd(x, y)", x=integers(9999, M), y=integers(9999, M)),
]

CASES = [*_by_size(), *HUGE, *LAYOUTS, *DTYPES, *FEW, *COMPLEX, *COMPOSITES, *SPECIAL]
