"""The checks of one operator: each is a function of its record that tells what it found."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor, from_array
from torchgen_out._runtime.dispatch.tables import forget_calls
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.library.tools import reading
from torchgen_out._runtime.library.tools.calling import (
    TOLERANCE,
    Mismatch,
    arguments_of,
    at_dtype,
    base_dtype,
    call,
    compare,
    first_case,
    flat,
    good_cases,
    told_as,
)
from torchgen_out._runtime.library.tools.cases import COMPLEX, Case, values_of
from torchgen_out._runtime.library.tools.cases import cases as cases_of
from torchgen_out._runtime.library.tools.derivatives import check_gradient
from torchgen_out._runtime.library.tools.records import Record

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not applicable"

_COMPUTE = {
    "float64": np.float64,
    "float32": np.float64,
    "complex128": np.complex128,
    "int64": np.int64,
    "bool": np.bool_,
}


@dataclass(frozen=True)
class Outcome:
    """What a check found: one of the three words, and a line that says more."""

    status: str
    detail: str


Check = Callable[[Record], str | None]
"""Returns a line for the table, None where the check does not apply. Raises: Mismatch."""


def run(check: Check, record: Record) -> Outcome:
    """Run one check; an error of the operator is a failure as well."""
    try:
        detail = check(record)
    except Mismatch as mismatch:
        return Outcome(FAILED, str(mismatch))
    if detail is None:
        return Outcome(NOT_APPLICABLE, "")
    return Outcome(PASSED, detail)


def check_values(record: Record, dtype: str | None = None) -> str | None:
    """Values against the formula or the reference."""
    dtype = dtype or base_dtype(record)
    if dtype not in record.dtypes:
        return None
    is_random = "nondeterministic" in record.tags
    compared, worst = 0, 0.0
    for case in good_cases(record):
        case = at_dtype(case, dtype)
        with told_as(case.label):
            values = arguments_of(case, dtype)
            result = call(record, values)
            check_untouched(record, case, values, dtype)
            wanted = None if is_random else reading.expected(record, case, _COMPUTE[dtype])
            if wanted is not None:
                tolerance = TOLERANCE.get(dtype, 1e-12 if dtype in COMPLEX else 0.0)
                worst = max(worst, compare(values_of(result), wanted, tolerance))
                compared += 1
    source = record.reference or "the formula"
    if not compared:
        return f"{len(good_cases(record))} calls run; nothing independent to compare with"
    return f"{compared} calls against {source}, worst error {worst:.1e}"


def check_untouched(record: Record, case: Case, values: Mapping[str, Any], dtype: str) -> None:
    """No call writes into its arguments, but for those that the schema says. Raises: Mismatch."""
    if record.writes_self or "writes_statistics" in record.tags:
        return
    before = arguments_of(case, dtype)
    for name, value in values.items():
        if name in record.written:
            continue
        for one, other in zip(flat(value), flat(before[name]), strict=True):
            if isinstance(one, Tensor) and not np.array_equal(
                values_of(one), values_of(other), equal_nan=values_of(one).dtype.kind in "fc"
            ):
                raise Mismatch(f"the call wrote into its argument '{name}'")


def check_written(record: Record) -> str | None:
    """A kernel writes every element of the results that were allocated for it."""
    if record.kind != "dispatch" or "nondeterministic" in record.tags or record.writes_self:
        return None
    dtype = base_dtype(record)
    for case in good_cases(record):
        with told_as(case.label):
            found = []
            for fill in (7, 77):
                with memory_full_of(fill):
                    found.append(flat(call(record, arguments_of(case, dtype))))
            for number, (one, other) in enumerate(zip(*found, strict=True)):
                if not np.array_equal(values_of(one), values_of(other), equal_nan=True):
                    raise Mismatch(f"the kernel leaves elements of result {number} unwritten")
    return "every element of the results"


@contextmanager
def memory_full_of(fill: int) -> Iterator[None]:
    """Let the results of kernels begin with a value that is no accident."""
    maker = pool.maker

    def filled(nbytes: int, dtype: Any) -> Callable[[int], Any]:
        return lambda numel: np.full(numel, fill, dtype)

    module: Any = pool
    module.maker = filled
    forget_calls()
    try:
        yield
    finally:
        module.maker = maker
        forget_calls()


def check_in_place(record: Record) -> str | None:
    """The in-place variant against the function."""
    case = first_case(record)
    if "inplace" not in record.variants or case is None or "nondeterministic" in record.tags:
        return None
    dtype = base_dtype(record)
    with told_as(case.label):
        wanted = values_of(call(record, arguments_of(case, dtype)))
        values = arguments_of(case, dtype)
        target = values["self"]
        if call(record, values, suffix="_") is not target:
            raise Mismatch(f"{record.base_name}_ does not return its argument")
        compare(values_of(target), wanted.astype(values_of(target).dtype), 1e-12)
    return f"{record.base_name}_ writes what {record.base_name} returns"


def check_out(record: Record) -> str | None:
    """out= against the result returned."""
    case = first_case(record)
    is_plain = record.results == 1 and "nondeterministic" not in record.tags
    if "out" not in record.variants or case is None or not is_plain:
        return None
    dtype = base_dtype(record)
    with told_as(case.label):
        wanted = call(record, arguments_of(case, dtype))
        out = from_array(np.empty(wanted.shape, wanted.dtype.numpy))
        if call(record, arguments_of(case, dtype), out=out) is not out:
            raise Mismatch("the call with out= does not return out")
        compare(values_of(out), values_of(wanted), 1e-12)
    return "out= receives what is returned"


def check_strided(record: Record) -> str | None:
    """Transposed and strided inputs against contiguous ones."""
    depends = record.kind == "view" or "nondeterministic" in record.tags
    if depends or record.writes_self:
        return None
    dtype, count = base_dtype(record), 0
    for case in good_cases(record):
        values = arguments_of(case, dtype)
        if not any(isinstance(v, Tensor) and v.dim() for v in values.values()) or case.is_empty:
            continue
        with told_as(f"{case.label}, strided"):
            spread = {name: _spread(value) for name, value in values.items()}
            wanted = _made(record, values)
            for one, other in zip(_made(record, spread), wanted, strict=True):
                compare(values_of(one), values_of(other), 1e-12)
        count += 1
    return f"{count} calls with every second element of larger tensors" if count else None


def _made(record: Record, values: Mapping[str, Any]) -> list[Any]:
    """What a call returns, and what it leaves in the arguments that it writes to."""
    found = call(record, values)
    written = [values[name] for name in values if name in record.written]
    return [*(flat(found) if record.results else ()), *written]


def _spread(value: Any) -> Any:
    """The same values in memory twice as large, in the opposite order of dims."""
    if not isinstance(value, Tensor) or not value.dim():
        return value
    tensor: Any = value
    wide = tensor.new_zeros([2 * size for size in reversed(tensor.shape)])
    dims = tuple(reversed(range(tensor.dim())))
    view = wide.permute(dims)[tuple(slice(0, None, 2) for _ in dims)]
    view.copy_(tensor)
    return view


def check_dtypes(record: Record) -> str | None:
    """Every declared dtype runs and gives the dtype that the promotion rule says."""
    case = first_case(record)
    if record.kind not in ("pointwise", "reduction") or case is None or not record.tensors:
        return None
    for dtype in record.dtypes:
        usual = at_dtype(case, dtype)
        with told_as(dtype):
            result = call(record, arguments_of(usual, dtype))
            if result.dtype.name != promised(record, dtype):
                said = f"gives {result.dtype.name}, not {promised(record, dtype)}"
                raise Mismatch(f"{said} as '{record.promotion}' says")
            if dtype in TOLERANCE and result.dtype.is_floating_point:
                wide = call(record, arguments_of(usual, "float64"))
                compare(values_of(result), values_of(wide), 4 * TOLERANCE[dtype])
    return ", ".join(record.dtypes)


def promised(record: Record, dtype: str) -> str:
    """The result's dtype by the promotion rule."""
    kind = dtypes.by_name(dtype).kind
    if record.promotion == "always_bool":  # `any` and `all` keep uint8, as they always did
        return dtype if (record.kind, dtype) == ("reduction", "uint8") else "bool"
    if record.promotion == "always_double":
        return "complex128" if kind == "c" else "float64"
    if record.promotion == "int_to_float" and kind in "bi":
        return dtypes.default_dtype().name
    if record.promotion == "complex_to_float" and kind == "c":
        return dtypes.by_name(dtype).to_real().name
    if record.promotion == "bool_to_long" and kind in "bi":
        return "int64" if kind == "b" or record.kind == "reduction" else dtype
    return dtype


def check_errors(record: Record) -> str | None:
    """The calls that must fail do, with the exception that the sample names."""
    bad = [case for case in cases_of(record) if case.raises is not None]
    dtype = "float32" if "float32" in record.dtypes else base_dtype(record)
    for case in bad:
        wanted = getattr(builtins, str(case.raises), RuntimeError)
        try:
            call(record, arguments_of(case, dtype))
        except wanted as error:
            if not str(error).strip():
                raise Mismatch(f"{case.label}: {case.raises} without a message") from error
        except Exception as error:  # the operator under test is anybody's code
            found = type(error).__name__
            raise Mismatch(f"{case.label}: {found}, expected {case.raises}: {error}") from error
        else:
            raise Mismatch(f"{case.label}: no error, expected {case.raises}")
    return f"{len(bad)} calls" if bad else None


CHECKS: dict[str, Check] = {
    "values": check_values,
    "values in float32": partial(check_values, dtype="float32"),
    "written": check_written,
    "gradient": check_gradient,
    "second gradient": partial(check_gradient, twice=True),
    "in place": check_in_place,
    "out=": check_out,
    "strided": check_strided,
    "dtypes": check_dtypes,
    "errors": check_errors,
}
