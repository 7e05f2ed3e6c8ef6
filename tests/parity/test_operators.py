"""Every operator of the table against PyTorch: value, shape, dtype, strides, gradients, errors.

The quick tier takes float32 everywhere and a few other dtypes of each operator's first case;
`-m full` takes every dtype of every case.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402
from codegen.model.operator import Operator, Reduction, View  # noqa: E402
from tests import calls, harness, inputs, op_samples, tolerances  # noqa: E402
from tests.harness import Case, is_pointwise  # noqa: E402
from torchgen_out._runtime import dispatch  # noqa: E402

OURS, THEIRS = calls.Session(torchgen_out, dispatch.ops), calls.Session(torch)
OPERATORS = harness.program().operators
ELEMENT_DTYPES = (
    *("float32", "float64", "int64", "bool", "float16", "bfloat16", "complex64", "uint8", "int32"),
)
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError)
"""How a library says that it does not compute something."""
KINKS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 6.0, 2.0, 20.0, 100.0, -100.0)
PHRASES = (
    "must match the size of tensor b",
    "Dimension out of range",
    "does not require grad and does not have a grad_fn",
    "appears multiple times in the list of dims",
    "ZeroDivisionError",
    "Integers to negative integer powers are not allowed",
    "with two bool tensors is not supported",
    "on a bool tensor is not supported",
    "must not be None",
    "must not be a floating point number",
    "Expected reduction dim to be specified",
    "could not infer output dtype",
    "cannot be multiplied",
    "is invalid for input of size",
    "index out of range",
    "out of bounds",
)
"""What people search for: when PyTorch's message has one, ours has it too."""


@contextmanager
def quiet() -> Iterator[None]:
    """Ignore the warnings of a library."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def every_warning() -> Iterator[list[Any]]:
    """Collect PyTorch's warnings, those too that it utters once only."""
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            yield warned
    finally:
        torch.set_warn_always(False)


def has_counterpart(operator: Operator) -> bool:
    """Whether PyTorch shows the operator to its users."""
    if operator.has_function:
        return THEIRS.function(operator) is not None
    return hasattr(torch.Tensor, operator.public_name)


def is_random(operator: Operator) -> bool:
    """Whether equal calls may differ."""
    return operator.has_tag("nondeterministic")


# In reverse: beside the tests without PyTorch, kernels are not compiled twice.
PUBLIC = [operator for operator in reversed(OPERATORS) if has_counterpart(operator)]
CASES = [case for operator in PUBLIC for case in harness.cases(operator)]
GOOD = [case for case in CASES if case.raises is None]
FIRST = {case.operator.name: case for case in reversed(GOOD)}


def takes_every_dtype(case: Case) -> bool:
    """Whether the inputs follow integer dtypes too."""
    return any(each.kind == "any" for each in case.inputs)


def natural(case: Case) -> list[str]:
    """One dtype that the operator accepts."""
    names = case.operator.dtype_names
    return ["float32" if "float32" in names else "int64" if "int64" in names else names[0]]


def dtypes_of(case: Case) -> list[str]:
    """All dtypes in which a case is worth running."""
    names = list(ELEMENT_DTYPES)
    if takes_every_dtype(case):
        first = natural(case)
        return [*first, *(name for name in names if name not in first)]
    if not any(each.kind == "float" for each in case.inputs):
        return ["float32"]
    return [name for name in names if name in (*inputs.FLOATING, *inputs.COMPLEX)]


def quick_dtypes(case: Case) -> list[str]:
    """float32 and two more for an operator's first case, one more, of one operator in three, where
    integers are no question; float64 for the others.

    The kernels of the tests without PyTorch are of these dtypes too, and come from the cache.
    """
    names = dtypes_of(case)
    if case is not FIRST[case.operator.name] or len(names) == 1:
        return ["float64"] if "float64" in names else names[:1]
    if takes_every_dtype(case):
        return [names[0], *harness.rarer(case.operator)]
    others = [name for name in names[1:] if name != "float64"]
    picked = others[zlib.crc32(case.operator.name.encode()) % len(others)]
    return [names[0], picked] if harness.is_one_of(case.operator, 3) else names[:1]


def parameters(test: str, cases: Iterable[Case], dtypes: Callable[[Case], list[str]]) -> list[Any]:
    """Parameters (case, dtype); known gaps are expected to fail."""
    made = []
    for case in cases:
        for dtype in dtypes(case):
            reason = op_samples.gap(f"parity.{test}", case.operator.name, case.label, dtype)
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            made.append(pytest.param(case, dtype, id=f"{case}-{dtype}", marks=marks))
    return made


def double(_: Case) -> list[str]:
    """Only float64."""
    return ["float64"]


# ----------------------------------------------------------------------------------------------
# Values


def check_value(case: Case, dtype: str) -> None:
    """Compare results; in a dtype that PyTorch refuses, ours may too, by an error of its kind."""
    case = harness.at_dtype(case, dtype)
    try:
        with every_warning() as warned:
            expected = calls.results(THEIRS.arguments(case, dtype)())
    except REFUSALS:
        if dtype == dtypes_of(case)[0]:
            raise
        with suppress(*REFUSALS):
            OURS.arguments(case, dtype)()
        pytest.skip("PyTorch does not support this dtype")
    with quiet() if warned else nullcontext():
        got = calls.results(OURS.arguments(case, dtype)())
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        compare(case, ours, theirs)


def compare(case: Case, ours: Any, theirs: Any) -> None:
    """Compare one result of both libraries."""
    operator = case.operator
    if not isinstance(theirs, torch.Tensor):
        assert ours == theirs or (ours is None and theirs is None)
        return
    assert tuple(ours.shape) == tuple(theirs.shape)
    name = calls.name_of(theirs.dtype)
    assert calls.name_of(ours.dtype) == name
    if isinstance(operator.kind, View) and theirs.numel():
        assert tuple(ours.stride()) == tuple(theirs.stride())
        assert ours.storage_offset() == theirs.storage_offset()
    if not is_random(operator) and operator.name not in op_samples.NOT_UNIQUE:
        allowed = tolerances.tolerance(tolerances.VALUE, operator.name, name)
        tolerances.assert_close(calls.values(ours), calls.values(theirs), allowed, str(case))


@pytest.mark.parametrize(("case", "dtype"), parameters("test_value", GOOD, quick_dtypes))
def test_value(case: Case, dtype: str) -> None:
    check_value(case, dtype)


@pytest.mark.full
@pytest.mark.parametrize(("case", "dtype"), parameters("test_every_value", GOOD, dtypes_of))
def test_every_value(case: Case, dtype: str) -> None:
    check_value(case, dtype)


# ----------------------------------------------------------------------------------------------
# Gradients


def weights(library: Any, like: Any) -> Any:
    """A fixed incoming gradient."""
    generator = np.random.default_rng(like.dim() + like.numel())
    data = generator.standard_normal(tuple(like.shape))
    if like.is_complex():
        data = data + 1j * generator.standard_normal(tuple(like.shape))
    return library.from_numpy(np.array(data)).to(like.dtype)


def gradients(
    session: calls.Session, case: Case, dtype: str, twice: bool = True
) -> tuple[list[Any], list[Any]]:
    """First and, if `twice`, second gradients of all leaves; None where there is none."""
    call = session.arguments(case, dtype, requires_grad=True)
    leaves = [leaf for leaf in call.leaves if leaf.requires_grad]
    first = _gradients(session.library, calls.results(call()), leaves)
    if not twice:
        return first, []
    recorded = _gradients(session.library, calls.results(call()), leaves, create_graph=True)
    second = _gradients(session.library, [each for each in recorded if each is not None], leaves)
    return first, second


def _gradients(
    library: Any, outputs: list[Any], leaves: list[Any], create_graph: bool = False
) -> list[Any]:
    outputs = [each for each in outputs if getattr(each, "requires_grad", False)]
    if not outputs or not leaves:
        return []
    incoming = [weights(library, each) for each in outputs]
    return list(
        library.autograd.grad(
            outputs, leaves, incoming, create_graph=create_graph, allow_unused=True
        )
    )


def compare_gradients(case: Case, ours: list[Any], theirs: list[Any], what: str) -> None:
    """Compare gradients; none at all counts as zero."""
    for i in range(max(len(ours), len(theirs))):
        pair = [each[i] if i < len(each) else None for each in (ours, theirs)]
        present = [each for each in pair if each is not None]
        if not present:
            continue
        got, expected = (
            np.zeros(tuple(present[0].shape)) if each is None else calls.array(each)
            for each in pair
        )
        if what == "second gradient":  # where PyTorch multiplies infinity and zero, ours may not
            got = np.where(np.isnan(expected), expected, got)
        name = calls.name_of(present[0].dtype)
        allowed = tolerances.tolerance(tolerances.GRADIENT, case.operator.name, name)
        tolerances.assert_close(got, expected, allowed, f"{case}: {what} of input {i}")


def check_gradient(case: Case, dtype: str) -> None:
    """Compare first and second gradients."""
    case = harness.at_dtype(case, dtype)
    try:
        with quiet():
            first, second = gradients(THEIRS, case, dtype)
    except (RuntimeError, TypeError, ValueError):
        pytest.skip("PyTorch has no gradient here")
    if not first:
        pytest.skip("PyTorch has no gradient here")
    ours_first, ours_second = gradients(OURS, case, dtype)
    compare_gradients(case, ours_first, first, "gradient")
    compare_gradients(case, ours_second, second, "second gradient")


def may_differentiate(case: Case) -> bool:
    """Whether a gradient can be asked for."""
    operator = case.operator
    if is_random(operator) or operator.is_inplace or operator.name in op_samples.NOT_UNIQUE:
        return False
    return operator.may_differentiate and any(each.kind != "same" for each in case.inputs)


SMOOTH = [case for case in GOOD if may_differentiate(case)]


QUICK = [case for case in SMOOTH if harness.is_quick(case)]


@pytest.mark.parametrize(("case", "dtype"), parameters("test_gradient", QUICK, double))
def test_gradient(case: Case, dtype: str) -> None:
    check_gradient(case, dtype)


@pytest.mark.full
@pytest.mark.parametrize(
    ("case", "dtype"),
    parameters("test_every_gradient", SMOOTH, lambda _: ["float64", "float32", "complex128"]),
)
def test_every_gradient(case: Case, dtype: str) -> None:
    check_gradient(case, dtype)


KINKED = [
    harness.on_grid(FIRST[operator.name], "kinks", KINKS)
    for operator in PUBLIC
    if is_pointwise(operator) and operator.tensor_arguments
    if may_differentiate(FIRST[operator.name])
]


@pytest.mark.parametrize(("case", "dtype"), parameters("test_gradient_at_kinks", KINKED, double))
def test_gradient_at_kinks(case: Case, dtype: str) -> None:
    try:
        with quiet():
            first, _ = gradients(THEIRS, case, dtype, twice=False)
    except RuntimeError:
        pytest.skip("PyTorch has no gradient here")
    ours, _ = gradients(OURS, case, dtype, twice=False)
    compare_gradients(case, ours, first, "gradient")


TIED = [
    harness.with_ties(case)
    for case in SMOOTH
    if isinstance(case.operator.kind, Reduction) and harness.is_quick(case)
]


@pytest.mark.parametrize(("case", "dtype"), parameters("test_gradient_at_ties", TIED, double))
def test_gradient_at_ties(case: Case, dtype: str) -> None:
    check_gradient(case, dtype)


# ----------------------------------------------------------------------------------------------
# Errors


def error_of(session: calls.Session, case: Case, dtype: str) -> Exception | None:
    """The exception that a call raises, or None."""
    try:
        with quiet():
            session.arguments(case, dtype)()
    except Exception as error:
        return error
    return None


def builtin_class(error: Exception) -> type:
    """The built-in class of an exception: a library's own classes derive from one."""
    return next(each for each in type(error).__mro__ if each.__module__ == "builtins")


BAD = [
    case
    for case in CASES
    if case.raises is not None and case.operator.name not in op_samples.UNCHECKED
]


@pytest.mark.parametrize(("case", "dtype"), parameters("test_error", BAD, natural))
def test_error(case: Case, dtype: str) -> None:
    theirs, ours = error_of(THEIRS, case, dtype), error_of(OURS, case, dtype)
    assert theirs is not None, f"PyTorch accepts {case.source}"
    assert ours is not None, f"PyTorch raises {theirs!r}"
    assert isinstance(ours, builtin_class(theirs)), f"{ours!r}, expected {theirs!r}"
    for phrase in PHRASES:
        assert phrase not in str(theirs) or phrase in str(ours), f"{ours}, expected {theirs}"


def test_every_reduction_and_formula_is_compared() -> None:
    internal = [op for op in OPERATORS if not op.has_tag("internal")]
    missing = [
        op.name
        for op in internal
        if (is_pointwise(op) or isinstance(op.kind, Reduction)) and not has_counterpart(op)
    ]
    assert not missing
