"""What NumPy and SciPy say of a case; where no function is named, its formula read by NumPy.

The kernels' vector mathematics is not used, so that the two can be compared.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.special

from codegen.formula.parse import parse_formula
from codegen.formula.python import python_function
from codegen.formula.specialize import specialize
from codegen.model.formula import Argument, Formula
from codegen.model.operator import Operator, Pointwise, Reduction
from tests import calls
from tests.harness import Case, is_pointwise
from tests.inputs import is_input
from torchgen_out._runtime.kernels.vecmath import numpy_reference

_KINDS = {"Scalar": "scalar", "float": "scalar", "int": "int", "bool": "bool"}

# fmt: off
_SAME_NAME = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "fmod", "remainder", "floor_divide", "fmin",
    "fmax", "isnan", "isinf", "isfinite", "signbit", "copysign", "nextafter", "conj", "real",
    "imag", "square", "reciprocal", "abs", "left_shift", "right_shift",
)
_SPECIAL = (
    "polygamma", "zeta", "igamma", "igammac", "erfcx", "ndtri", "i0", "i0e", "i1", "i1e", "k0",
    "k0e", "k1", "k1e", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "airy_ai", "gcd", "lcm",
    "three_term_recurrence",
)
# fmt: on

PRIMITIVES: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in _SAME_NAME},
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "pow": lambda x, y: np.power(-x if np.isneginf(x) and y % 1 else x, y),  # NumPy says nan
    "min": np.minimum,
    "max": np.maximum,
    "round": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sign": lambda x: np.sign(x) if x == x else type(x)(0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "erfinv": scipy.special.erfinv,
    "lgamma": lambda x: scipy.special.gammaln(abs(x) if np.isinf(x) else x),  # SciPy says -inf
    "digamma": scipy.special.digamma,
    **{name: getattr(numpy_reference, name) for name in _SPECIAL},
    "trigamma": lambda x: np.float64(np.nan if np.isneginf(x) else scipy.special.polygamma(1, x)),
}


def formula_of(operator: Operator, absent: tuple[str, ...] = ()) -> Formula:
    """Parse the operator's formula and decide which optional arguments are None."""
    assert isinstance(operator.kind, Pointwise)
    arguments = []
    for argument in operator.arguments:
        kind: Any = "tensor" if argument.type.holds_tensors else _KINDS[argument.type.base]
        arguments.append(Argument(argument.name, kind, argument.type.is_optional))
    return specialize(parse_formula(operator.kind.formula.text, arguments=arguments), absent)


def evaluate_formula(operator: Operator, values: Mapping[str, Any], dtype: type) -> np.ndarray:
    """Evaluate a pointwise operator element by element; `dtype` is the compute type."""
    absent = tuple(name for name, value in values.items() if value is None)
    formula = formula_of(operator, absent)
    namespace = {**PRIMITIVES, "T": dtype, "pi": math.pi, "inf": math.inf, "nan": math.nan}
    namespace["eps"] = np.finfo(dtype).eps if np.issubdtype(dtype, np.inexact) else 0
    exec(python_function(formula, "formula"), namespace)
    function = namespace["formula"]
    arrays = [_operand(values[argument.name], argument, dtype) for argument in formula.arguments]
    broadcast = np.broadcast_arrays(*arrays)
    with np.errstate(all="ignore"):
        flat = [function(*each) for each in zip(*[a.ravel() for a in broadcast], strict=True)]
    return np.array(flat).reshape(broadcast[0].shape)


def _operand(value: Any, argument: Argument, dtype: type) -> np.ndarray:
    return np.asarray(value, bool if argument.kind == "bool" else dtype)


def expected_values(case: Case, dtype: str) -> np.ndarray | None:
    """What NumPy says of a case, or None where there is no independent reference."""
    plain = {
        name: value.data if is_input(value) else value for name, value in case.arguments.items()
    }
    if isinstance(case.operator.kind, Reduction):
        return reduced(case, plain)
    plain = {name: in_dtype(value, dtype) for name, value in plain.items()}
    if case.operator.reference and all(is_input(value) for value in case.arguments.values()):
        with np.errstate(all="ignore"):
            return np.asarray(named(case.operator.reference)(*plain.values()))
    if not is_pointwise(case.operator):
        return None
    return evaluate_formula(case.operator, {**defaults(case.operator), **plain}, COMPUTE[dtype])


COMPUTE: dict[str, Any] = {
    **dict.fromkeys(("float32", "float64"), np.float64),
    "complex128": np.complex128,
    "int64": np.int64,
    "bool": np.bool_,
}


def in_dtype(value: Any, dtype: str) -> Any:
    """Convert data to the dtype under test; conditions and numbers stay."""
    is_data = isinstance(value, np.ndarray) and value.dtype.kind == "f"
    return calls.cast(value, dtype) if is_data else value


def defaults(operator: Operator) -> dict[str, Any]:
    """The default values of an operator's arguments."""
    return {a.name: a.default.value for a in operator.arguments if a.default is not None}


def named(dotted: str) -> Callable[..., Any]:
    """Import the function of a dotted name."""
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def reduced(case: Case, plain: dict[str, Any]) -> np.ndarray | None:
    """The NumPy reduction of a case."""
    if case.operator.reference is None or "dtype" in plain:
        return None
    dim = plain.get("dim")
    axis = (tuple(dim) or None) if isinstance(dim, list | tuple) else dim
    keywords = {"keepdims": True} if plain.get("keepdim") else {}
    data = plain[case.operator.tensor_arguments[0].name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy warns of the mean of nothing
        return np.asarray(named(case.operator.reference)(data, axis=axis, **keywords))
