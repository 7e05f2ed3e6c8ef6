"""Samples that the YAML files cannot hold, and the table of known gaps.

EXTRA adds calls to an operator whose YAML samples are domains: mostly errors. GAPS says which tests
fail today and why; they are run, and a gap that has closed fails the suite until it is taken out.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

EXTRA: dict[str, list[dict[str, str]]] = {
    "add.Tensor": [
        {"self": "bools(3)", "other": "bools(3)"},
        {"self": "ints([1, 2])", "other": "0.5"},
        {"self": "ints([1])", "other": "ints([2])", "alpha": "2.5", "raises": "RuntimeError"},
        {"self": "ints([1])", "other": "ints([2])", "alpha": "2**63", "raises": "RuntimeError"},
    ],
    "addcdiv": [
        {
            "self": "ints([1])",
            "tensor1": "ints([1])",
            "tensor2": "ints([1])",
            "raises": "RuntimeError",
        }
    ],
    "abs": [{"self": "bools(3)", "raises": "NotImplementedError"}],
    "bitwise_and.Tensor": [
        {"self": "randn(3)", "other": "randn(3)", "raises": "NotImplementedError"}
    ],
    "clamp": [
        {"self": "floats([1, nan, 3])", "min": "2.0", "max": "1.0"},
        {"self": "floats([1, nan, 3])", "min": "nan"},
        {"self": "ints([1, 2, 3])", "min": "1.5"},
        {"self": "randn(3)", "raises": "RuntimeError"},
        {"self": "swaps([1, 2])", "max": "2**31", "raises": "RuntimeError"},
    ],
    "div.Tensor": [{"self": "floats([1, 0, 2])", "other": "floats([0, 0, 2])"}],
    "eq.Tensor": [{"self": "ints([1, 2])", "other": "1.5"}],
    "exp": [{"self": "ints([0, 1, 2])"}, {"self": "bools(3)"}],
    "floor_divide": [{"self": "ints([7])", "other": "ints([0])", "raises": "RuntimeError"}],
    "lt.Tensor": [{"self": "randn(3) * 1j", "other": "randn(3)", "raises": "NotImplementedError"}],
    "mean.dim": [{"self": "ints([1, 2])", "raises": "RuntimeError"}],
    "mul.Tensor": [{"self": "ints([1, 2])", "other": "True"}],
    "neg": [{"self": "bools(3)", "raises": "RuntimeError"}],
    "pow.Tensor_Tensor": [
        {"self": "floats([0, 0, 2])", "exponent": "floats([0, 1, 0])"},
        {"self": "ints([1, -1, 2, -3])", "exponent": "ints([-1, -3, -1, 3])"},
        {"self": "ints([1, 2])", "exponent": "-1", "raises": "RuntimeError"},
    ],
    "pow.Scalar": [{"self": "-2.0", "exponent": "floats([1, 2])"}],
    "remainder.Tensor": [
        {"self": "ints([7, -7, 7, -7])", "other": "ints([3, 3, -3, -3])"},
        {"self": "floats([7, -7, 7, -7])", "other": "floats([3, 3, -3, -3])"},
        {"self": "ints([7])", "other": "ints([0])", "raises": "RuntimeError"},
    ],
    "round": [{"self": "floats([0.5, 1.5, 2.5, -0.5, -1.5])"}],
    "sub.Tensor": [
        {"self": "bools(3)", "other": "bools(3)", "raises": "RuntimeError"},
        {"self": "ints([1, 2])", "other": "bools(2)", "raises": "RuntimeError"},
        {"self": "ints([1, 2])", "other": "True", "raises": "RuntimeError"},
    ],
    "sum.dim_IntList": [
        {"self": "bools(3, 4)"},
        {"self": "ints([1, 2])", "dtype": "float64"},
        {"self": "randn(3, 4)", "dim": "[0, 0]", "raises": "RuntimeError"},
        {"self": "randn(3, 4)", "dim": "()"},
    ],
    "where.self": [
        {
            "condition": "ints([1, 0])",
            "self": "randn(2)",
            "other": "randn(2)",
            "raises": "RuntimeError",
        },
        {"condition": "bools(3)", "self": "1", "other": "2.5"},
        {"condition": "bools(1)", "self": "swaps([1])", "other": "2**40", "raises": "RuntimeError"},
    ],
}


class Gap(NamedTuple):
    """Tests that are known to fail; each part is a pattern with `*`."""

    test: str
    """Function of the test, `parity.test_value`."""
    operator: str
    label: str
    """Label of the case."""
    dtype: str
    reason: str


_COMPLEX_SCALAR = "PyTorch hands a scalar back unseen"
_NOTHING_COMPUTED = "PyTorch takes 16-bit floats where there is no element"
_ROUNDED_NUMBER = "PyTorch rounds the number to 16 bits, on the CPU only"

GAPS: tuple[Gap, ...] = (
    Gap("parity.test_*gradient", "ldexp.Tensor", "[01]", "*", "PyTorch loses 2**-n for integer n"),
    Gap("parity.test_*gradient", "as_strided_scatter", "0", "*", "PyTorch keeps the replaced part"),
    Gap("parity.test_*gradient", "clamp", "extra0", "float*", "at nan it is 1, there 0"),
    Gap(
        "parity.test_gradient_at_kinks", "acosh", "*", "*", "below 1 the gradient is nan, as acosh"
    ),
    Gap("runtime.test_special_values", "_decayed_square", "*", "*", "float32 overflows"),
    Gap("runtime.test_special_values", "_binary_cross_entropy", "*", "*", "1e30 times rounding"),
    Gap("parity.test_gradient_at_kinks", "digamma", "*", "*", "infinite at the poles, there 1e30"),
    Gap(
        "parity.test_gradient_at_kinks",
        "special_*bessel_[jky]?",
        "*",
        "*",
        "PyTorch has no gradient",
    ),
    Gap("parity.test_value", "grid_sampl*", "0", "bfloat16", "PyTorch computes places in 16 bits"),
    Gap(
        "parity.test_*value",
        "grid_sampler_?d",
        "0",
        "*float16",
        "PyTorch computes places in 16 bits",
    ),
    Gap("runtime.test_gradient", "_ctc_loss", "*", "*", "it is that of what log_softmax gives"),
    Gap("runtime.test_second_gradient", "_ctc_loss", "*", "*", "not implemented, as in PyTorch"),
    *[
        Gap("parity.test_every_value", operator, label, "*float16", _NOTHING_COMPUTED)
        for operator, label in (
            ("linalg_cond", "4"),
            ("linalg_eigh", "2"),
            ("linalg_svd", "4"),
            ("linalg_det", "2"),
            ("linalg_solve", "6"),
            ("linalg_lu_factor_ex", "3"),
            ("linalg_cholesky_ex", "2"),
        )
    ],
    Gap("parity.test_every_value", "*matrix_exp", "[01]", "*float16", "nan in PyTorch"),
    Gap("parity.test_every_*", "*logdet", "2", "complex*", "a determinant of rounding errors"),
    Gap(
        "parity.test_every_*", "linalg_slogdet", "2", "complex*", "a determinant of rounding errors"
    ),
    Gap("parity.test_every_value", "am??", "empty_outer", "complex*", "PyTorch asks no dtype here"),
    Gap("parity.test_every_value", "logit", "2", "bfloat16", "PyTorch rounds 1 - x to 16 bits"),
    Gap("parity.test_every_*", "pow.Tensor_Tensor", "extra0", "complex*", "0 ** 0 is 1, there nan"),
    Gap(
        "parity.test_every_gradient",
        "div.Tensor",
        "extra0",
        "complex*",
        "inf times grad, there grad / 0",
    ),
    Gap("parity.test_every_value", "sub.Tensor", "number_other", "*float16", _ROUNDED_NUMBER),
    Gap("parity.test_every_value", "remainder.Tensor", "number_other", "*float16", _ROUNDED_NUMBER),
    Gap("parity.test_every_value", "fmod.Tensor", "number_other", "*float16", _ROUNDED_NUMBER),
    Gap("parity.test_every_value", "add.Tensor", "number_other", "bfloat16", _ROUNDED_NUMBER),
    Gap("parity.test_every_value", "rsub.Tensor", "number_other", "bfloat16", _ROUNDED_NUMBER),
    Gap("parity.test_every_value", "kthvalue", "3", "complex*", _COMPLEX_SCALAR),
    Gap("parity.test_every_value", "mode", "3", "complex*", _COMPLEX_SCALAR),
    Gap("parity.test_every_value", "cummax", "3", "complex*", _COMPLEX_SCALAR),
    Gap("parity.test_every_value", "cummin", "2", "complex*", _COMPLEX_SCALAR),
)

NOT_UNIQUE: dict[str, str] = {}
"""Operator -> why its values may rightly differ from PyTorch's: shape and dtype are compared."""

NOT_SMOOTH: dict[str, str] = {
    **dict.fromkeys(
        (
            *(f"linalg_ldl_{name}" for name in ("factor_ex-0", "factor_ex-1", "factor_ex-2")),
            *(f"linalg_ldl_{name}" for name in ("factor-0", "factor-1", "solve-0", "solve-1")),
            "_ldl_factor-0",
            "_ldl_solve-0",
        ),
        "not implemented, as in PyTorch",
    ),
    **dict.fromkeys(
        (
            *(f"fake_quantize_per_tensor_affine-{case}" for case in (0, 1)),
            "fake_quantize_per_tensor_affine.tensor_qparams-0",
            "fake_quantize_per_channel_affine-0",
            "_fake_quantize-usual",
        ),
        "the gradient passes where values are rounded",
    ),
    "embedding-1": "the row of padding_idx takes no gradient",
    "index_put-2": "of indices that repeat, one is written",
    "logit-3": "outside [0, 1]",
    "masked_log_softmax-0": "minus infinity where masked",
    "linalg_pinv.atol_rtol_float-2": "one triangle is read, the gradient is symmetric",
    "pow.Scalar-extra0": "the logarithm of a negative number is nan",
    "linalg_slogdet-2": "the determinant is 0",
    "logdet-1": "the determinant is negative: nan",
    "logdet-2": "the determinant is 0",
}
"""Case -> why finite differences do not apply."""

WITHOUT_GRADIENT: dict[str, tuple[str, ...]] = {
    "batch_norm": ("running_mean", "running_var"),
    "cross_entropy": ("weight",),
    "linalg_pinv.atol_rtol_tensor": ("atol", "rtol"),
    "linalg_pinv.rcond_tensor": ("rcond",),
    "nll_loss": ("weight",),
    "special_zeta.other_scalar": ("self",),
}
"""Composite -> arguments that take no gradient, in PyTorch neither."""

_POLYNOMIALS = (
    *(f"chebyshev_polynomial_{kind}" for kind in "tuvw"),
    *(f"shifted_chebyshev_polynomial_{kind}" for kind in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l"),
    "legendre_polynomial_p",
)

CONSTANT: dict[str, str] = {
    **dict.fromkeys(
        ("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full"),
        "the values are not the tensor's",
    ),
    **dict.fromkeys(("isreal", "isclose"), "truth values"),
    **dict.fromkeys(
        (
            *("argsort", "argsort.stable", "nonzero_static", "masked_argmax", "masked_argmin"),
            *("hash_tensor", "linalg_matrix_rank", "linalg_matrix_rank.tol_tensor"),
            *("linalg_matrix_rank.atol_rtol_tensor", "linalg_matrix_rank.atol_rtol_float"),
            "type_as-1",
        ),
        "integers",
    ),
    **dict.fromkeys(
        (
            *(f"histogram.bin_ct-{case}" for case in (0, 2, 3)),
            *("histogramdd-0", "histogramdd.int_bins"),
        ),
        "counts, and edges of bins",
    ),
    **dict.fromkeys(
        ("_polynomial", *(f"special_{name}" for name in _POLYNOMIALS)),
        "no derivative, as in PyTorch",
    ),
    "special_zeta.other_scalar": "no derivative by self, as in PyTorch",
    "view_copy.dtype": "bits read in another way",
    "detach_copy": "detached",
    "lu_unpack-2": "the pivots alone",
    "vander-2": "no columns",
    "combinations-3": "of no elements",
}
"""Operator, or one of its cases -> why its results require no grad though a float input does."""

UNCHECKED: dict[str, str] = {
    "native_batch_norm": "PyTorch checks no shapes here: it reads beyond them, or crashes",
}
"""Operator -> why PyTorch must not be called with its error samples."""


def gap(test: str, operator: str, label: str = "", dtype: str = "") -> str | None:
    """Return the reason why a test is expected to fail, or None."""
    for known in GAPS:
        parts = ((test, known.test), (operator, known.operator))
        parts += ((label, known.label), (dtype, known.dtype))
        if all(fnmatchcase(value, pattern) for value, pattern in parts):
            return known.reason
    return None
