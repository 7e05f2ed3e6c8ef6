"""Large calls of operators whose samples do not grow by themselves: images, matrices, spectra.

Sizes of kernels, windows and matrices have meanings of their own there. The format is that of
`op_samples.EXTRA`: expressions by argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from codegen.model.operator import Operator
from tests.harness import Case, evaluate
from tests.inputs import constructors

_IMAGES = (
    ("randn(2, 1, 65, 131)", "randn(7, 1, 3, 3)", {}),
    ("randn(3, 3, 65, 63)", "randn(16, 3, 5, 3)", {"stride": "2", "padding": "(2, 1)"}),
    ("randn(2, 64, 33, 29)", "randn(32, 64, 3, 3)", {"padding": "1", "bias": "randn(32)"}),
    ("randn(2, 64, 33, 29)", "randn(65, 64, 1, 1)", {"bias": "randn(65)"}),
    ("randn(2, 64, 33, 29)", "randn(64, 1, 3, 3)", {"groups": "64", "padding": "1"}),
    ("randn(2, 12, 61, 57)", "randn(8, 3, 3, 5)", {"groups": "4", "dilation": "(2, 3)"}),
    ("randn(1, 5, 131, 7)", "randn(3, 5, 7, 7)", {"padding": "3", "stride": "(3, 1)"}),
    ("permuted(randn(2, 61, 57, 8), (0, 3, 1, 2))", "randn(9, 8, 3, 3)", {"padding": "1"}),
    ("randn(70, 16, 12, 11)", "randn(24, 16, 3, 3)", {}),
)
_TRANSPOSED_IMAGES = (
    ("randn(2, 3, 65, 31)", "randn(3, 7, 3, 3)", {"stride": "2", "output_padding": "1"}),
    ("randn(2, 64, 17, 29)", "randn(64, 33, 3, 3)", {"padding": "1", "bias": "randn(33)"}),
    ("randn(2, 12, 31, 27)", "randn(12, 2, 4, 3)", {"groups": "4", "dilation": "2"}),
)
_SIGNALS = (
    ("randn(3, 1, 70001)", "randn(2, 1, 9)", {"padding": "4"}),
    ("randn(5, 33, 1001)", "randn(17, 33, 5)", {"stride": "3", "bias": "randn(17)"}),
    ("randn(4, 24, 501)", "randn(24, 1, 7)", {"groups": "24", "dilation": "5"}),
)
_VOLUMES = (
    ("randn(2, 3, 17, 21, 19)", "randn(8, 3, 3, 3, 3)", {"padding": "1"}),
    ("randn(1, 16, 9, 15, 17)", "randn(16, 4, 2, 3, 3)", {"groups": "4", "stride": "2"}),
)
_POOLED_IMAGES = ("distinct(3, 5, 131, 129)", "distinct(2, 64, 33, 31)", "distinct(1, 1, 513, 257)")
_WINDOWS = (
    {"kernel_size": "2"},
    {"kernel_size": "3", "stride": "2", "padding": "1"},
    {"kernel_size": "(5, 3)", "stride": "(1, 2)", "padding": "(2, 1)", "ceil_mode": "True"},
)
_PRODUCTS = (
    ("(67, 131)", "(131, 33)"),
    ("(64, 64)", "(64, 64)"),
    ("(300, 300)", "(300, 300)"),
    ("(1, 3001)", "(3001, 1000)"),
    ("(3001, 2)", "(2, 129)"),
    ("(513, 1001)", "(1001, 1)"),
    ("(5, 20011)", "(20011, 7)"),
)
_BATCHES = (
    ("(5, 67, 131)", "(5, 131, 33)"),
    ("(64, 64, 64)", "(64, 64, 64)"),
    ("(300, 9, 7)", "(300, 7, 11)"),
    ("(3, 1, 1001)", "(3, 1001, 513)"),
    ("(2000, 4, 4)", "(2000, 4, 4)"),
)


def _named(first: str, second: str, calls: Sequence[tuple[str, str, Mapping[str, str]]]) -> list:
    return [{first: a, second: b, **others} for a, b, others in calls]


def _random(first: str, second: str, shapes: Sequence[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """Dense operands, and each of them transposed."""
    for a, b in shapes:
        yield {first: f"randn{a}", second: f"randn{b}"}
        yield {first: _transposed(a), second: f"randn{b}"}
        yield {first: f"randn{a}", second: _transposed(b)}


def _transposed(shape: str) -> str:
    sizes = shape.strip("()").split(", ")
    *batch, rows, columns = sizes
    dims = [*map(str, range(len(batch))), str(len(batch) + 1), str(len(batch))]
    stored = ", ".join((*batch, columns, rows))
    return f"permuted(randn({stored}), ({', '.join(dims)}))"


def _pools(argument: str) -> list[dict[str, str]]:
    return [{argument: image, **window} for image in _POOLED_IMAGES for window in _WINDOWS]


def _each(argument: str, *texts: str, **others: str) -> list[dict[str, str]]:
    return [{argument: text, **others} for text in texts]


_SQUARE = ("randn(100, 100)", "randn(257, 257)", "randn(7, 65, 65)", "randn(3000, 4, 4)")
_TALL = (
    "randn(300, 100)",
    "randn(100, 300)",
    "randn(5, 65, 33)",
    "permuted(randn(33, 129), (1, 0))",
)
_DEFINITE = ("definite(100, 100)", "definite(257, 257)", "definite(7, 65, 65)")
_SYSTEMS = [
    {"A": "randn(200, 200) + eye(200) * 20", "B": "randn(200, 33)"},
    {"A": "permuted(randn(65, 65), (1, 0))", "B": "randn(65)"},
    {"A": "randn(40, 33, 33) + eye(33) * 9", "B": "randn(40, 33, 7)"},
    {"A": "randn(5000, 3, 3) + eye(3) * 4", "B": "randn(5000, 3, 2)"},
]
_REAL_SIGNALS = ("randn(70001)", "randn(129, 1000)", "permuted(randn(1000, 129), (1, 0))")
_SPECTRA = tuple(f"{each} * 1j + {each}" for each in ("randn(65536)", "randn(129, 999)"))
_PLANES = ("randn(3, 130, 103)", "randn(64, 64, 64)")

CALLS: Mapping[str, Sequence[Mapping[str, str]]] = {
    "conv1d": _named("input", "weight", _SIGNALS),
    "conv2d": _named("input", "weight", _IMAGES),
    "conv3d": _named("input", "weight", _VOLUMES),
    "conv_transpose1d": _named(
        "input", "weight", [("randn(3, 5, 3001)", "randn(5, 7, 4)", {"stride": "3"})]
    ),
    "conv_transpose3d": _named(
        "input", "weight", [("randn(2, 3, 9, 11, 13)", "randn(3, 4, 3, 2, 3)", {"stride": "2"})]
    ),
    "conv_transpose2d": _named("input", "weight", _TRANSPOSED_IMAGES),
    "max_pool2d": _pools("input"),
    "avg_pool2d": _pools("self"),
    "max_pool1d": _each("input", "distinct(3, 5, 20011)", kernel_size="3", stride="2"),
    "avg_pool1d": _each("self", "randn(3, 5, 20011)", kernel_size="4", padding="1"),
    "max_pool3d": _each("input", "distinct(2, 3, 17, 31, 29)", kernel_size="3", stride="2"),
    "avg_pool3d": _each("self", "randn(2, 3, 17, 31, 29)", kernel_size="2"),
    "adaptive_avg_pool2d": _each("input", *_POOLED_IMAGES, output_size="(7, 5)"),
    "adaptive_max_pool2d": _each("input", *_POOLED_IMAGES, output_size="(7, 5)"),
    "im2col": _each(
        "self",
        *("randn(3, 5, 65, 63)",),
        kernel_size="(3, 5)",
        dilation="1",
        padding="2",
        stride="1",
    ),
    "mm": [*_random("self", "mat2", _PRODUCTS)],
    "bmm": [*_random("self", "mat2", _BATCHES)],
    "matmul": [
        *_random("self", "other", [("(5, 67, 131)", "(131, 33)"), ("(67, 131)", "(9, 131, 65)")]),
        {"self": "randn(6, 1, 65, 33)", "other": "randn(5, 33, 64)"},
        {"self": "randn(1001)", "other": "randn(1001, 513)"},
    ],
    "mv": [
        {"self": "randn(1001, 513)", "vec": "randn(513)"},
        {"self": "permuted(randn(513, 1001), (1, 0))", "vec": "randn(513)"},
        {"self": "randn(3, 70001)", "vec": "randn(70001)"},
        {"self": "randn(70001, 3)", "vec": "randn(3)"},
    ],
    "addmm": [
        {"self": "randn(33)", "mat1": "randn(257, 131)", "mat2": "randn(131, 33)"},
        {"self": "randn(257, 1)", "mat1": "randn(257, 65)", "mat2": _transposed("(65, 300)")},
    ],
    "linear": [
        {"input": "randn(257, 131)", "weight": "randn(65, 131)", "bias": "randn(65)"},
        {"input": "randn(7, 33, 300)", "weight": "randn(129, 300)"},
        {"input": "randn(3001, 5)", "weight": "randn(3, 5)", "bias": "randn(3)"},
    ],
    "linalg_cholesky": _each("self", *_DEFINITE),
    "linalg_eigvalsh": _each("self", *_DEFINITE),
    "linalg_inv": _each("A", "randn(130, 130) + eye(130) * 20", "randn(999, 5, 5) + eye(5) * 4"),
    "linalg_solve": _SYSTEMS,
    "linalg_lu": _each("A", *_SQUARE, *_TALL),
    "linalg_qr": _each("A", *_SQUARE, *_TALL),
    "linalg_det": _each("A", "randn(7, 9, 9)", "randn(3000, 4, 4)"),
    "linalg_slogdet": _each("A", *_SQUARE),
    "linalg_svdvals": _each("A", *_SQUARE, *_TALL),
    "linalg_eigvals": _each("self", "randn(65, 65)", "randn(3000, 4, 4)"),
    "linalg_pinv.atol_rtol_tensor": _each("self", "randn(129, 33)", "randn(200, 5, 7)"),
    "linalg_lstsq": [{"self": "randn(301, 33)", "b": "randn(301, 5)"}],
    "linalg_matrix_exp": _each("self", "randn(65, 65) * 0.1", "randn(2000, 3, 3)"),
    "linalg_solve_triangular": [
        {"self": "triangular(129, 129) * 0.05 + eye(129)", "B": "randn(129, 33)", "upper": "False"}
    ],
    "cholesky_solve": [{"self": "randn(65, 33)", "input2": "triangular(65, 65) * 0.1 + eye(65)"}],
    "fft_fft": _each("self", *_REAL_SIGNALS, *_SPECTRA),
    "fft_ifft": _each("self", *_SPECTRA),
    "fft_rfft": _each("self", *_REAL_SIGNALS),
    "fft_irfft": _each("self", *_SPECTRA),
    "fft_fft2": _each("self", *_PLANES),
    "fft_rfftn": _each("self", *_PLANES),
    "stft": _each("self", "randn(2, 40011)", n_fft="512", return_complex="True"),
    "pdist": _each("self", "randn(301, 33)"),
    "prod": _each("self", "uniform(0.9999, 1.0001, (300001,))"),
    "prod.dim_int": _each("self", "uniform(0.99, 1.01, (700, 1001))", dim="1")
    + _each("self", "uniform(0.99, 1.01, (1001, 700))", dim="0"),
    "cumprod": _each("self", "uniform(0.99, 1.01, (300, 1001))", dim="1")
    + _each("self", "uniform(0.99, 1.01, (1001, 300))", dim="0"),
    "_unique2": _each("self", "randint(-500, 500, (300001,))", "randint(0, 9**9, (70001,))"),
    "max_unpool2d": [
        {
            "input": "randn(3, 65, 63)",
            "indices": "places(130 * 126, (3, 65, 63))",
            "kernel_size": "2",
        }
    ],
    "embedding": [
        {"weight": "randn(1001, 129)", "indices": "randint(0, 1001, (33, 257))"},
        {"weight": "randn(70001, 5)", "indices": "randint(0, 70001, (20011,))"},
        {"weight": "randn(7, 300)", "indices": "randint(0, 7, (3001,))", "padding_idx": "3"},
    ],
    "index_put": [
        {
            "self": "randn(70001, 3)",
            "indices": "[randint(0, 70001, (100003,))]",
            "values": "randn(100003, 3)",
            "accumulate": "True",
        },
        {"self": "randn(1001, 300)", "indices": "[bools(1001, 300)]", "values": "randn()"},
    ],
    "index_add": [
        {
            "self": "randn(1001, 70)",
            "dim": "0",
            "index": "randint(0, 1001, (3001,))",
            "source": "randn(3001, 70)",
        },
        {
            "self": "randn(70, 1001)",
            "dim": "1",
            "index": "randint(0, 1001, (3001,))",
            "source": "randn(70, 3001)",
        },
    ],
    "scatter_add": [
        {
            "self": "randn(1001, 70)",
            "dim": "0",
            "index": "randint(0, 1001, (3001, 70))",
            "src": "randn(3001, 70)",
        },
        {
            "self": "randn(70, 1001)",
            "dim": "1",
            "index": "randint(0, 1001, (70, 3001))",
            "src": "randn(70, 3001)",
        },
    ],
}

NOT_GROWN: Mapping[str, str] = {
    "max_unpool?d": "of places that repeat, any may win",
    "*conv*": "kernels would grow along",
    "mode": "which of equal numbers it names is not said",
    "*matrix_exp": "exponentials of large matrices overflow",
    **dict.fromkeys(("det", "linalg_det"), "gradients of large determinants overflow"),
    **dict.fromkeys(
        (
            "triangular_solve",
            "linalg_solve_triangular",
            "cholesky_solve",
            "cholesky_inverse",
            "*lu_solve",
        ),
        "random triangular matrices are singular to rounding",
    ),
    **dict.fromkeys(
        ("ormqr", "*householder_product"), "random columns are no reflections: products overflow"
    ),
    **dict.fromkeys(("bucketize*", "searchsorted*"), "a sequence that grows is not sorted"),
    "nanquantile*": "which of equal numbers has the gradient is not said",
    "sort-5": "the order of equal numbers is not said",
    **dict.fromkeys(("index_copy", "index_put*"), "of places that repeat, any may win"),
    "pdist": "the distances of n points are n**2, each gradient n**3 operations",
}
"""Operator, or operator and sample -> why samples do not grow."""
MOST_ELEMENTS: Mapping[str, int] = {
    **dict.fromkeys(("*linalg_*", "*qr*", "svd", "lu*", "*det", "*inv*", "*chol*"), 40_000),
    "nuclear_norm*": 40_000,
    "bilinear": 70_000,
    "tensor_split*": 40_000,
}
"""Operator -> to how many elements its samples grow at most: it is of the third order, or PyTorch's
gradient of each of many pieces is a tensor as large as the whole."""


def most_elements(operator: Operator, count: int) -> int:
    """To how many elements samples grow that usually grow to `count`."""
    found = [n for pattern, n in MOST_ELEMENTS.items() if fnmatchcase(operator.name, pattern)]
    return min([count, *found])


def may_grow(case: Case) -> bool:
    """Whether a sample means the same at a larger size."""
    names = case.operator.name, f"{case.operator.name}-{case.label}"
    return not any(fnmatchcase(name, pattern) for name in names for pattern in NOT_GROWN)


NOT_REPEATED: Mapping[str, str] = {
    **dict.fromkeys(
        ("*linalg_*", "*qr*", "svd", "lu*", "*det", "*inv*", "cholesky*"), "a matrix of rank 1"
    ),
    "*_norm": "equal numbers have no variance: what is left are rounding errors",
    "zero_": "memory that repeats is not written to",
}
"""Operator -> why its rows must not all be the same."""


def may_repeat(operator: Operator) -> bool:
    """Whether all rows of an operator's tensors may be the same memory."""
    return not any(fnmatchcase(operator.name, pattern) for pattern in NOT_REPEATED)


def labels(operator: Operator) -> list[str]:
    """The labels of an operator's large calls: `large0`, `large1`..."""
    return [f"large{i}" for i in range(len(CALLS.get(operator.name, ())))]


def large_call(operator: Operator, label: str) -> Case:
    """Make the data of a large call."""
    texts = CALLS[operator.name][int(label.removeprefix("large"))]
    names = constructors(f"{operator.name} {label}")
    values = {
        name: evaluate(text, names, operator.schema.argument(name)) for name, text in texts.items()
    }
    return Case(operator, label, values)
