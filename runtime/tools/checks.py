"""The checks of one operator: each is a function of its record that tells what it found."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import torchgen_out
from runtime.autograd.api import grad
from runtime.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from runtime.core import dtype as dtypes
from runtime.core.tensor import Tensor, from_array
from runtime.tools import differences, reading
from runtime.tools.cases import COMPLEX, FLOATING, Array, Case, Data, tensor_of, values_of
from runtime.tools.cases import cases as cases_of
from runtime.tools.records import Record

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not applicable"

TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-12}
"""Relative and absolute, of values; other dtypes are compared exactly."""

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


class Mismatch(Exception):
    """A check failed; the message says where and how."""


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


# -- calls --------------------------------------------------------------------------------------


def arguments_of(case: Case, dtype: str, requires_grad: bool = False) -> dict[str, Any]:
    """The arguments of a call, with tensors."""

    def made(value: Any) -> Any:
        if isinstance(value, list):
            return [made(each) for each in value]
        if not isinstance(value, Data):
            return value
        tensor: Any = tensor_of(value, dtype)
        needs = requires_grad and (tensor.is_floating_point() or tensor.is_complex())
        return tensor.requires_grad_(True) if needs else tensor

    return {name: made(value) for name, value in case.arguments.items()}


def call(record: Record, values: Mapping[str, Any], suffix: str = "", **keywords: Any) -> Any:
    """Call the operator's function, or the method where there is none; properties are read."""
    values = dict(values)
    if "property" in record.tags:
        return getattr(values["self"], record.base_name)
    positional = []
    for argument in record.arguments:
        if argument.keyword or argument.name not in values:
            break
        positional.append(values.pop(argument.name))
    if "varargs" in record.tags and positional and isinstance(positional[0], list):
        positional[:1] = positional[0]
    return record.function(suffix)(*positional, **values, **keywords)


@contextmanager
def told_as(label: str) -> Iterator[None]:
    """Turn whatever a call raises into a mismatch that names the case."""
    try:
        yield
    except Mismatch as error:
        raise Mismatch(f"{label}: {error}") from error
    except Exception as error:  # the operator under test is anybody's code
        raise Mismatch(f"{label}: {type(error).__name__}: {error}") from error


def good_cases(record: Record) -> list[Case]:
    """The cases that should succeed."""
    return [case for case in cases_of(record) if case.raises is None]


def base_dtype(record: Record) -> str:
    """The dtype with the most precise reference."""
    return next((d for d in ("float64", "int64", "complex128") if d in record.dtypes), "bool")


def at_dtype(case: Case, dtype: str) -> Case:
    """The case with values that the dtype holds; complex ones leave the real line."""

    def turned(value: Any) -> Any:
        if isinstance(value, list):
            return [turned(each) for each in value]
        if not isinstance(value, Data) or value.kind == "same":
            return value
        if dtype in COMPLEX:
            steps = np.arange(value.array.size).reshape(value.array.shape)
            return replace(value, array=value.array * np.exp(1j * (0.3 + 0.1 * steps % 1)))
        return replace(value, array=values_of(tensor_of(replace(value, dims=None), dtype)))

    arguments = {name: turned(value) for name, value in case.arguments.items()}
    return replace(case, arguments=arguments)


def flat(result: Any) -> list[Any]:
    """The results of a call in one list."""
    if isinstance(result, (tuple, list)):
        return [each for member in result for each in flat(member)]
    return [result]


def compare(found: Array, wanted: Array, tolerance: float) -> float:
    """The largest error, in units of the tolerance's scale. Raises: Mismatch beyond it."""
    if found.shape != wanted.shape:
        raise Mismatch(f"shape {found.shape}, expected {wanted.shape}")
    if not found.size:
        return 0.0
    wide = np.complex128 if "c" in (found.dtype.kind, wanted.dtype.kind) else np.float64
    found, wanted = found.astype(wide), wanted.astype(wide)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    with np.errstate(all="ignore"):
        errors = np.where(same, 0.0, np.abs(found - wanted) / np.maximum(np.abs(wanted), 1.0))
    worst = int(np.argmax(np.where(np.isnan(errors), np.inf, errors)))
    error = float(errors.flat[worst])
    if not error <= tolerance:
        place = tuple(int(i) for i in np.unravel_index(worst, found.shape))
        raise Mismatch(f"{found.flat[worst]} at {place}, expected {wanted.flat[worst]}")
    return error


# -- checks -------------------------------------------------------------------------------------


def check_values(record: Record, dtype: str | None = None) -> str | None:
    """Values against the formula or the reference."""
    dtype = dtype or base_dtype(record)
    if dtype not in record.dtypes or "nondeterministic" in record.tags:
        return None
    compared, worst = 0, 0.0
    for case in good_cases(record):
        case = at_dtype(case, dtype)
        with told_as(case.label):
            result = call(record, arguments_of(case, dtype))
            wanted = reading.expected(record, case, _COMPUTE[dtype])
            if wanted is not None:
                tolerance = TOLERANCE.get(dtype, 1e-12 if dtype in COMPLEX else 0.0)
                worst = max(worst, compare(values_of(result), wanted, tolerance))
                compared += 1
    source = record.reference or "the formula"
    if not compared:
        return f"{len(good_cases(record))} calls run; nothing independent to compare with"
    return f"{compared} calls against {source}, worst error {worst:.1e}"


Differentiable = tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]
"""A function of leaves that may receive a gradient, these, and the arguments they belong to."""


def differentiable(record: Record) -> Iterator[tuple[Case, Differentiable]]:
    """Cases as functions of their floating-point leaves."""
    for case in good_cases(record):
        if case.is_empty or not all(np.isfinite(each.array).all() for each in case.data):
            continue
        made = gradient_function(record, case)
        if made:
            yield case, made


def gradient_function(record: Record, case: Case) -> Differentiable | None:
    """The call as a function of the leaves that may receive a gradient; None without any."""
    values = arguments_of(case, "float64", requires_grad=True)
    for argument in record.arguments:
        if argument.differentiable is False and argument.name in values:
            values[argument.name] = _detached(values[argument.name])
    owners = {id(leaf): name for name, value in values.items() for leaf in flat(value)}
    leaves = [leaf for value in values.values() for leaf in flat(value)]
    wanted = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.requires_grad]

    def function(*replaced: Any) -> Any:
        table = {id(leaf): new for leaf, new in zip(wanted, replaced, strict=True)}

        def swap(value: Any) -> Any:
            if isinstance(value, list):
                return [swap(each) for each in value]
            return table.get(id(value), value)

        found = flat(call(record, {name: swap(value) for name, value in values.items()}))
        return tuple(each for each in found if isinstance(each, Tensor) and each.requires_grad)

    with told_as(case.label):
        results = function(*wanted) if wanted else ()
        if not results:
            return None
        # Of a composite, only the graph tells which inputs have a gradient.
        found = grad(
            results, wanted, [torchgen_out.ones_like(r) for r in results], allow_unused=True
        )
        for leaf, gradient in zip(list(wanted), found, strict=True):
            if gradient is None and record.kind == "composite":
                wanted.remove(leaf)
    return function, tuple(wanted), tuple(owners[id(leaf)] for leaf in wanted)


def _detached(value: Any) -> Any:
    if isinstance(value, list):
        return [_detached(each) for each in value]
    return value.detach() if isinstance(value, Tensor) else value


def check_gradient(record: Record, twice: bool = False) -> str | None:
    """First or second derivatives against finite differences."""
    if not record.differentiable or "float64" not in record.dtypes:
        return None
    count = 0
    for case, (function, leaves, names) in differentiable(record):
        with told_as(case.label):
            try:
                (gradgradcheck if twice else gradcheck)(function, leaves)
            except GradcheckError as error:
                where = differences.first_difference(function, leaves, names, twice)
                raise Mismatch(where or str(error).split("\n")[0]) from error
        count += 1
        if twice and count == 3:
            break
    return f"{count} calls against finite differences" if count else None


def first_case(record: Record) -> Case | None:
    """The usual call."""
    return next(iter(good_cases(record)), None)


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
            wanted = flat(call(record, values))
            found = flat(call(record, {name: _spread(value) for name, value in values.items()}))
            for one, other in zip(found, wanted, strict=True):
                compare(values_of(one), values_of(other), 1e-12)
        count += 1
    return f"{count} calls with every second element of larger tensors" if count else None


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
            if dtype in FLOATING and result.dtype.is_floating_point:
                wide = call(record, arguments_of(usual, "float64"))
                compare(values_of(result), values_of(wide), 4 * TOLERANCE[dtype])
    return ", ".join(record.dtypes)


def promised(record: Record, dtype: str) -> str:
    """The result's dtype by the promotion rule."""
    kind = dtypes.by_name(dtype).kind
    if record.promotion == "always_bool":  # `any` and `all` keep uint8, as they always did
        return dtype if (record.kind, dtype) == ("reduction", "uint8") else "bool"
    if record.promotion == "int_to_float" and kind in "bi":
        return dtypes.default_dtype().name
    if record.promotion == "complex_to_float" and kind == "c":
        return {"complex64": "float32", "complex128": "float64"}[dtype]
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
    "gradient": check_gradient,
    "second gradient": partial(check_gradient, twice=True),
    "in place": check_in_place,
    "out=": check_out,
    "strided": check_strided,
    "dtypes": check_dtypes,
    "errors": check_errors,
}
