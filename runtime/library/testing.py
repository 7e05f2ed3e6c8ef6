"""What `torch.testing` offers: `assert_close`, with a tolerance per dtype."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import torchgen_out as torch

__all__ = ["assert_close"]

TOLERANCES: dict[str, tuple[float, float]] = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "complex32": (1e-3, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex128": (1e-7, 1e-7),
}
"""Relative and absolute; integers and truth values must be equal. PyTorch's numbers."""


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Compare tensors, numbers, and sequences and mappings of these.

    Close is `|actual - expected| <= atol + rtol * |expected|`; without `rtol` and `atol` these are
    those of the dtypes. **Raises** AssertionError that says where and by how much, ValueError if
    only one tolerance is given, TypeError for what cannot be compared.
    """
    if (rtol is None) != (atol is None):
        raise ValueError("rtol and atol must both be specified or both be unspecified")
    checks = {
        "device": check_device,
        "dtype": check_dtype,
        "layout": check_layout,
        "stride()": check_stride,
    }
    tolerance = None if rtol is None or atol is None else (rtol, atol)
    found = _difference(actual, expected, "", tolerance, equal_nan, checks, allow_subclasses)
    if found is not None:
        raise AssertionError(msg(found) if callable(msg) else msg or found)


def _difference(actual: Any, expected: Any, path: str, *rules: Any) -> str | None:
    """What is wrong first, or None."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            return f"The keys of the mappings do not match{path}: {set(actual) ^ set(expected)}"
        pairs = [(f"{path}[{key!r}]", actual[key], expected[key]) for key in actual]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch{path}: {len(actual)} != {len(expected)}"
        both = enumerate(zip(actual, expected, strict=True))
        pairs = [(f"{path}[{i}]", one, other) for i, (one, other) in both]
    else:
        found = _of_values(actual, expected, *rules)
        return f"{found}\n\nThe failure occurred for item {path}" if found and path else found
    return next((d for where, a, e in pairs if (d := _difference(a, e, where, *rules))), None)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _of_values(
    actual: Any,
    expected: Any,
    tolerance: tuple[float, float] | None,
    equal_nan: bool,
    checks: Mapping[str, bool],
    allow_subclasses: bool,
) -> str | None:
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}"
    if not _are_comparable(actual, expected, allow_subclasses):
        raise TypeError(
            "No comparison pair was able to handle inputs of type "
            f"{type(actual)} and {type(expected)}."
        )
    if isinstance(actual, bool) and isinstance(expected, bool):
        is_same = actual is expected
        return None if is_same else f"Booleans mismatch: {actual} is not {expected}"
    a, e = torch.as_tensor(actual), torch.as_tensor(expected)
    if a.shape != e.shape:
        return _mismatch("shape", a.shape, e.shape)
    for name, is_checked in checks.items():
        one, other = (_attribute(x, name) for x in (a, e))
        if is_checked and isinstance(actual, torch.Tensor) and one != other:
            return _mismatch(name, one, other)
    a, e = (each.detach().cpu() for each in (a, e))
    if a.layout is not torch.strided or e.layout is not torch.strided:
        return _of_parts(a, e, tolerance, equal_nan)
    return _of_elements(a, e, tolerance, equal_nan)


_ARRAYS = (np.ndarray, np.generic, int, float, complex)


def _are_comparable(actual: Any, expected: Any, allow_subclasses: bool) -> bool:
    """Whether both are tensors, or both numbers or arrays of NumPy's."""
    if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor):
        return allow_subclasses or type(actual) is type(expected)
    return isinstance(actual, _ARRAYS) and isinstance(expected, _ARRAYS)


_PARTS = {
    torch.sparse_coo: ("indices", "values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}


def _of_parts(a: Any, e: Any, tolerance: tuple[float, float] | None, equal_nan: bool) -> str | None:
    """What is wrong first of sparse tensors; of several layouts the elements are compared."""
    if a.layout is not e.layout:
        return _of_elements(a.to_dense(), e.to_dense(), tolerance, equal_nan)
    kind = str(a.layout).removeprefix("torch.sparse_").upper()
    if a.layout is torch.sparse_coo:
        if a._nnz() != e._nnz():
            return (
                "The number of specified values in sparse COO tensors does not match: "
                f"{a._nnz()} != {e._nnz()}"
            )
        a, e = a.coalesce(), e.coalesce()
    for name in _PARTS[a.layout]:
        one, other = getattr(a, name)(), getattr(e, name)()
        if one.shape != other.shape:
            return _mismatch("shape", one.shape, other.shape)
        rules = tolerance if name == "values" else (0.0, 0.0)
        found = _of_elements(one, other, rules, equal_nan)
        if found is not None:
            return found.replace("Tensor-likes", f"Sparse {kind} {name}", 1)
    return None


def _attribute(tensor: Any, name: str) -> Any:
    return tensor.stride() if name == "stride()" else getattr(tensor, name)


def _mismatch(what: str, actual: Any, expected: Any) -> str:
    return f"The values for attribute '{what}' do not match: {actual} != {expected}."


def _of_elements(
    a: Any, e: Any, tolerance: tuple[float, float] | None, equal_nan: bool
) -> str | None:
    relative, absolute = tolerance or _default(a, e)
    a, e = _promoted(a), _promoted(e)
    wide = torch.promote_types(a.dtype, e.dtype)
    is_exact = not (wide.is_floating_point or wide.is_complex)
    wide = torch.int64 if is_exact else torch.promote_types(wide, torch.float64)
    a, e = a.to(wide), e.to(wide)
    close = torch.isclose(a, e, rtol=relative, atol=absolute, equal_nan=equal_nan)
    if bool(close.all()):
        return None
    far = (a - e).abs()
    ratio = far / e.abs()
    allowed = f" (up to {absolute} allowed)", f" (up to {relative} allowed)"
    kind = "Scalars" if not a.dim() else "Tensor-likes"
    adverb = "equal" if not any((relative, absolute)) else "close"
    count, numel = int((~close).sum()), a.numel()
    lines = [f"{kind} are not {adverb}!", ""]
    if a.dim():
        lines.append(f"Mismatched elements: {count} / {numel} ({count / numel:.1%})")
    else:
        lines.append(f"Expected {e.item()} but got {a.item()}.")
    for title, values, bound in zip(("absolute", "relative"), (far, ratio), allowed, strict=True):
        lines.append(f"Greatest {title} difference: {_greatest(values, close)}{bound}")
    return "\n".join(lines)


def _promoted(tensor: Any) -> Any:
    """The tensor; of a dtype that has no common one with others, in the next wider that has."""
    own = tensor.dtype
    if own.is_promoted:
        return tensor
    return tensor.to(torch.float32 if own.is_floating_point else torch.int64)


def _default(a: Any, e: Any) -> tuple[float, float]:
    """The larger tolerances of two dtypes."""
    each = [TOLERANCES.get(str(x.dtype).removeprefix("torch."), (0.0, 0.0)) for x in (a, e)]
    return max(one for one, _ in each), max(other for _, other in each)


def _greatest(values: Any, close: Any) -> str:
    """The largest value of those that are not close, and where it is; NaN counts as largest."""
    ranked = values.masked_fill(close, -1)
    place = int(ranked.nan_to_num(nan=torch.inf).reshape(-1).argmax()) if values.dim() else 0
    value = values.reshape(-1)[place].item()
    if not values.dim():
        return f"{value}"
    index = torch.unravel_index(torch.tensor(place), values.shape)
    return f"{value} at index {tuple(int(i) for i in index)}"
