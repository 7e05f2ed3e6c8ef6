"""Every operator from the table of samples: values, gradients, variants, layouts, dtypes, errors.

PyTorch is not needed: the references are NumPy, SciPy and the formula itself read in double
precision. tests/parity compares with PyTorch.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import torchgen_out
from codegen.model.derivative import Derivative, GradientKind
from codegen.model.operator import Index, Operator, Reduction, text_names
from tests import calls, harness, inputs, op_samples, tolerances
from tests.harness import Case, is_pointwise
from tests.references import expected_values
from torchgen_out._runtime import dispatch, errors
from torchgen_out.autograd import gradcheck, gradgradcheck

OURS = calls.Session(torchgen_out, dispatch.ops)
OPERATORS = harness.program().operators
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-40, 1e30, np.inf, -np.inf, np.nan)


def base_dtype(operator: Operator) -> str:
    """The dtype in which an operator is tested when dtypes are not the subject."""
    for name in ("float64", "int64", "complex128", "bool", "uint8"):
        if name in operator.dtype_names:
            return name
    raise AssertionError(f"{operator.name} accepts no dtype")


def parameters(test: str, cases: Iterable[Any], dtype: str = "") -> list[Any]:
    """Make the parameters of a test from cases or operators; known gaps are expected to fail."""
    made = []
    for each in cases:
        operator, label = (each.operator, each.label) if isinstance(each, Case) else (each, "")
        reason = op_samples.gap(f"runtime.{test}", operator.name, label, dtype)
        marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
        made.append(pytest.param(each, id=str(each if label else operator.name), marks=marks))
    return made


def all_cases(select: Callable[[Case], bool]) -> list[Case]:
    """All cases of all operators that `select` accepts."""
    return [case for op in OPERATORS for case in harness.cases(op) if select(case)]


def first_case(operator: Operator) -> Case | None:
    """The usual case of an operator."""
    return next((case for case in harness.cases(operator) if not case.raises), None)


def is_extra(case: Case) -> bool:
    """Whether a case is of op_samples.py: of other dtypes, or at a kink."""
    return case.label.startswith("extra")


def is_random(operator: Operator) -> bool:
    """Whether equal calls may differ."""
    return operator.has_tag("nondeterministic")


# ----------------------------------------------------------------------------------------------
# Values


WRITTEN = [op for op in OPERATORS if not (isinstance(op.kind, Index) and op.kind.is_derived)]
"""All but derived adjoints, which the gradients of their operators call."""


@pytest.mark.parametrize("operator", parameters("test_has_samples", WRITTEN))
def test_has_samples(operator: Operator) -> None:
    assert harness.cases(operator), f"{operator.name} has no samples"


GOOD = all_cases(lambda case: case.raises is None)


@pytest.mark.parametrize("case", parameters("test_value", GOOD))
def test_value(case: Case) -> None:
    dtype = base_dtype(case.operator)
    case = harness.at_dtype(case, dtype)
    result = OURS.arguments(case, dtype)()
    floats = all(each.kind != "same" for each in case.inputs)
    expected = expected_values(case, dtype) if floats or not is_extra(case) else None
    if expected is not None:
        allowed = tolerances.tolerance(tolerances.VALUE, case.operator.name, "float64")
        tolerances.assert_close(calls.values(result), expected, allowed, str(case))


SINGLE = [
    case
    for op in OPERATORS
    if is_pointwise(op) and "float32" in op.dtype_names and (case := first_case(op))
]


@pytest.mark.parametrize("case", parameters("test_value_in_single_precision", SINGLE))
def test_value_in_single_precision(case: Case) -> None:
    result = OURS.arguments(case, "float32")()
    expected = expected_values(case, "float32")
    allowed = tolerances.tolerance(tolerances.VALUE, case.operator.name, "float32")
    tolerances.assert_close(calls.values(result), expected, allowed, str(case))


REAL = [
    op
    for op in OPERATORS
    if is_pointwise(op) and op.tensor_arguments and "float64" in op.dtype_names
]


@pytest.mark.parametrize("operator", parameters("test_special_values", REAL))
def test_special_values(operator: Operator) -> None:
    usual = first_case(operator)
    assert usual is not None
    case = harness.on_grid(usual, "special", SPECIAL)
    for dtype in ("float64", "float32"):
        result = OURS.arguments(case, dtype)()
        with np.errstate(all="ignore"):
            expected = np.asarray(expected_values(case, dtype)).astype(result_kind(result))
        allowed = tolerances.tolerance(tolerances.VALUE, operator.name, dtype)
        tolerances.assert_close(calls.values(result), expected, allowed, f"{case} {dtype}")


def result_kind(result: Any) -> Any:
    """The NumPy dtype of a result, in which a reference overflows as it does."""
    return calls.values(result).dtype


# ----------------------------------------------------------------------------------------------
# Gradients


WANTED = (GradientKind.AUTO, GradientKind.FORMULA)


def derivative_of(operator: Operator) -> Derivative | None:
    """The derivative entry; of a text that was split by its optional arguments, that of the part
    that has all of them."""
    program = harness.program()
    found = program.derivative(operator)
    part = program.operator(text_names(operator)[1])
    return program.derivative(part) if found is None and part is not None else found


def is_differentiable(operator: Operator) -> bool:
    """Whether gradcheck applies: a derivative entry that gives gradients, or a composite."""
    if is_random(operator) or operator.is_inplace or not operator.returns_tensors:
        return False
    if "float64" not in operator.dtype_names:
        return False
    entry = derivative_of(operator)
    if entry is None:
        return type(operator.kind).__name__ == "Composite"
    return any(gradient.kind in WANTED for gradient in entry.gradients)


def differentiable_arguments(case: Case) -> frozenset[str]:
    """The arguments that have a derivative."""
    entry = derivative_of(case.operator)
    if entry is None:
        without = op_samples.WITHOUT_GRADIENT.get(case.operator.name, ())
        return frozenset(name for name in case.arguments if name not in without)
    gradients = [gradient for gradient in entry.gradients if gradient.kind in WANTED]
    return frozenset(name for gradient in gradients for name in gradient.inputs)


def gradient_function(case: Case) -> tuple[Callable[..., Any], tuple[Any, ...]] | None:
    """A function of the case's floating-point leaves, and these.

    None if all inputs are integers, or the results constant: that these are is asserted, too.
    """
    call = OURS.arguments(case, "float64", requires_grad=differentiable_arguments(case))
    wanted = [i for i, leaf in enumerate(call.leaves) if leaf.requires_grad]
    is_constant = {case.operator.name, str(case)} & op_samples.CONSTANT.keys()
    if not wanted:
        assert is_constant or not any(leaf.dtype.is_floating_point for leaf in call.leaves)
        return None

    def function(*leaves: Any) -> Any:
        replaced = list(call.leaves)
        for i, leaf in zip(wanted, leaves, strict=True):
            replaced[i] = leaf
        found = calls.results(OURS.arguments(case, "float64", leaves=replaced)())
        return tuple(each for each in found if hasattr(each, "grad_fn") and each.requires_grad)

    leaves = tuple(call.leaves[i] for i in wanted)
    if is_constant:
        assert not function(*leaves)
        return None
    assert function(*leaves), f"{case}: no result requires grad"
    return function, leaves


def is_smooth(case: Case) -> bool:
    """Whether finite differences say something: an inner, finite point."""
    if str(case) in op_samples.NOT_SMOOTH:
        return False
    finite = all(np.isfinite(each.data).all() for each in case.inputs)
    return is_differentiable(case.operator) and finite and not case.is_empty and not is_extra(case)


def check_gradient(case: Case) -> None:
    """Compare gradients with finite differences."""
    made = gradient_function(case)
    if made is not None:
        assert gradcheck(*made)


DIFFERENTIABLE = [case for case in GOOD if is_smooth(case)]
QUICK = [case for case in DIFFERENTIABLE if harness.is_quick(case)]
SLOW = [case for case in DIFFERENTIABLE if not harness.is_quick(case)]


@pytest.mark.parametrize("case", parameters("test_gradient", QUICK))
def test_gradient(case: Case) -> None:
    check_gradient(case)


@pytest.mark.full
@pytest.mark.parametrize("case", parameters("test_every_gradient", SLOW))
def test_every_gradient(case: Case) -> None:
    check_gradient(case)


TWICE = [case for op in OPERATORS if (case := first_case(op)) and is_smooth(case)]


@pytest.mark.parametrize("case", parameters("test_second_gradient", TWICE))
def test_second_gradient(case: Case) -> None:
    made = gradient_function(case)
    if made is not None:
        assert gradgradcheck(*made)


# ----------------------------------------------------------------------------------------------
# Variants


WITH_OUT = [case for op in OPERATORS if op.has_out and (case := first_case(op))]


def check_out(case: Case) -> None:
    """Compare what `out=` is given with the result."""
    dtype = base_dtype(case.operator)
    if is_random(case.operator) or len(case.operator.schema.returns) != 1:
        pytest.skip("random, or with several results")
    expected = OURS.arguments(case, dtype).plain()
    is_list = isinstance(expected, tuple)
    wanted = expected if is_list else (expected,)
    outs = tuple(torchgen_out.empty(0, dtype=each.dtype) for each in wanted)
    returned = OURS.arguments(case, dtype).plain(out=outs if is_list else outs[0])
    results = returned if is_list else (returned,)
    if case.operator.has_tag("silent_out"):
        assert returned is None
        results = outs
    for out, got, each in zip(outs, results, wanted, strict=True):
        assert got is out
        assert out.shape == each.shape
        tolerances.assert_close(calls.values(out), calls.values(each), tolerances.EXACT, str(case))


@pytest.mark.parametrize(
    "case",
    parameters("test_out", [each for each in WITH_OUT if harness.is_one_of(each.operator, 2)]),
)
def test_out(case: Case) -> None:
    check_out(case)


@pytest.mark.full
@pytest.mark.parametrize("case", parameters("test_every_out", WITH_OUT))
def test_every_out(case: Case) -> None:
    check_out(case)


IN_PLACE = [case for op in OPERATORS if op.has_inplace and (case := first_case(op))]


@pytest.mark.parametrize("case", parameters("test_in_place", IN_PLACE))
def test_in_place(case: Case) -> None:
    dtype = base_dtype(case.operator)
    if is_random(case.operator):
        pytest.skip("random")
    expected = OURS.arguments(case, dtype)()
    call = OURS.arguments(case, dtype)
    target = call.values["self"]
    name = f"{case.operator.public_name}_"
    returned = call.method(name) if case.operator.has_method else call.named(name)
    assert returned is target
    wanted = calls.values(expected).astype(calls.values(target).dtype)
    tolerances.assert_close(calls.values(target), wanted, tolerances.EXACT, str(case))


# ----------------------------------------------------------------------------------------------
# Dtypes


def promised(operator: Operator, dtype: str) -> str:
    """The result's dtype, by the entry's promotion rule."""
    is_integer = dtype in inputs.INTEGRAL or dtype == "bool"
    match operator.promotion.rule:
        case "always_bool":
            # DEVIATION: all and any of uint8 are uint8, as they were before there was bool.
            return dtype if dtype == "uint8" and not is_pointwise(operator) else "bool"
        case "always_double":
            return "complex128" if dtype in inputs.COMPLEX else "float64"
        case "int_to_float" if is_integer:
            return "float32"
        case "complex_to_float" if dtype in inputs.COMPLEX:
            return {"complex32": "float16", "complex64": "float32"}.get(dtype, "float64")
        case "bool_to_long" if dtype == "bool" or (
            is_integer and isinstance(operator.kind, Reduction)
        ):
            return "int64"
    return dtype


def check_dtype(operator: Operator, dtype: str) -> None:
    """Run the usual case in a dtype; its result has the promised one and comes close."""
    case = first_case(operator)
    assert case is not None
    case = harness.at_dtype(case, dtype)
    result = OURS.arguments(case, dtype)()
    assert calls.name_of(result.dtype) == promised(operator, dtype)
    if dtype in inputs.FLOATING and result.dtype.is_floating_point:
        wide = calls.values(OURS.arguments(case, "float64")())
        allowed = tolerances.tolerance(tolerances.VALUE, operator.name, dtype)
        tolerances.assert_close(calls.values(result), wide, allowed, f"{case} {dtype}")


ELEMENT_WISE = [op for op in OPERATORS if harness.is_element_wise(op) and op.tensor_arguments]
ALL = [(op, dtype) for op in ELEMENT_WISE for dtype in harness.accepted(op)]
SOME = [(op, dtype) for op in ELEMENT_WISE for dtype in harness.rarer(op)]


def dtype_parameters(pairs: Iterable[tuple[Operator, str]]) -> list[Any]:
    """Parameters (operator, dtype) of a test; known gaps are expected to fail."""
    return [
        pytest.param(operator, dtype, id=f"{operator.name}-{dtype}", marks=marks)
        for operator, dtype in pairs
        for marks in [parameters("test_dtype", [operator], dtype)[0].marks]
    ]


@pytest.mark.parametrize(("operator", "dtype"), dtype_parameters(SOME))
def test_dtype(operator: Operator, dtype: str) -> None:
    check_dtype(operator, dtype)


@pytest.mark.full
@pytest.mark.parametrize(("operator", "dtype"), dtype_parameters(ALL))
def test_every_dtype(operator: Operator, dtype: str) -> None:
    check_dtype(operator, dtype)


# ----------------------------------------------------------------------------------------------
# Errors


BAD = all_cases(lambda case: case.raises is not None)


@pytest.mark.parametrize("case", parameters("test_error", BAD))
def test_error(case: Case) -> None:
    expected = getattr(builtins, str(case.raises), errors.LinAlgError)
    own = case.operator.dtype_names
    call = OURS.arguments(case, "float32" if "float32" in own else base_dtype(case.operator))
    with pytest.raises(expected) as caught:
        call()
    assert str(caught.value).strip(), "an error says what is wrong"
