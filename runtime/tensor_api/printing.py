"""`repr` of tensors, and the options that shape it; numbers come from `interop.host_values`.

The text has two parts: the nested lists of numbers, laid out on lines no longer than `linewidth`,
and suffixes for what the numbers do not show (device, size, dtype, grad_fn).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core.batched import is_batched, samples_of
from torchgen_out._runtime.core.sparse import is_sparse, storage_of
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.tensor_api import interop


@dataclass
class PrintOptions:
    """How tensors are printed.

    precision: digits after the decimal point. threshold: elements up to which all are printed.
    edgeitems: elements printed at each end of a dim that is summarised. linewidth: characters
    in a line. sci_mode: scientific notation always, never, or (None) where the numbers ask for it.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
options = PrintOptions()
"""Those that tensors are printed by."""


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed; what is None stays, but `sci_mode=None` means automatic.

    profile: "default", "short" or "full", applied before the other options; another is ignored.

    **Example** `torch.set_printoptions(precision=2, sci_mode=False)`
    """
    chosen = _PROFILES.get((profile or "").lower())
    if chosen is not None:
        options.precision, options.threshold = chosen.precision, chosen.threshold
        options.edgeitems, options.linewidth = chosen.edgeitems, chosen.linewidth
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for name, value in given.items():
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the options of printing, as `set_printoptions` takes them."""
    return asdict(options)


# Numbers.


class _RealFormat:
    """A common width and notation for all elements of an integer, bool or floating array."""

    def __init__(self, values: np.ndarray) -> None:
        self.is_floating = values.dtype.kind == "f"
        self.all_integers, self.scientific = True, False
        self.width = 1
        if self.is_floating:
            self._fit_floating(values[np.isfinite(values) & (values != 0)].astype(np.float64))
        else:
            self.width = max((len(str(value)) for value in values.ravel().tolist()), default=1)

    def _fit_floating(self, values: np.ndarray) -> None:
        if not values.size:
            return
        magnitudes = np.abs(values)
        low, high = float(magnitudes.min()), float(magnitudes.max())
        self.all_integers = bool((values == np.ceil(values)).all())
        self.scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
        if options.sci_mode is not None:
            self.scientific = options.sci_mode
        shown = (len(self._digits(value)) for value in values.tolist())
        self.width = max(self.width, *shown)

    def _digits(self, value: float) -> str:
        if self.scientific:
            return f"{value:.{options.precision}e}"
        if not self.all_integers:
            return f"{value:.{options.precision}f}"
        return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"

    def text(self, value: Any) -> str:
        """The element, right-aligned."""
        shown = self._digits(value) if self.is_floating else str(value)
        return shown.rjust(self.width)


class _ComplexFormat:
    """Formats of the real and of the imaginary parts, side by side."""

    def __init__(self, values: np.ndarray) -> None:
        self.real, self.imag = _RealFormat(values.real), _RealFormat(values.imag)
        self.width = self.real.width + self.imag.width + 1

    def text(self, value: complex) -> str:
        """The element, its real part right-aligned."""
        imag = self.imag.text(value.imag).lstrip() + "j"
        sign = "" if imag[0] in "+-" else "+"
        return self.real.text(value.real) + sign + imag


_Format = _RealFormat | _ComplexFormat


def _format_of(values: np.ndarray, summarize: bool) -> _Format:
    if summarize:
        for dim, size in enumerate(values.shape):
            if size > 2 * options.edgeitems:
                edges = np.arange(-options.edgeitems, options.edgeitems)
                values = values.take(edges, axis=dim)
    return _ComplexFormat(values) if values.dtype.kind == "c" else _RealFormat(values)


# Layout.


def _nested_text(values: np.ndarray, indent: int, summarize: bool, form: _Format) -> str:
    """The elements in brackets; `indent` is the column of the opening one."""
    if values.ndim == 0:
        return form.text(values.item())
    if values.ndim == 1:
        return _row_text(values, indent, summarize, form)
    edge = options.edgeitems

    def rows(part: np.ndarray) -> list[str]:
        return [_nested_text(row, indent + 1, summarize, form) for row in part]

    if summarize and len(values) > 2 * edge:
        shown = [*rows(values[:edge]), "...", *rows(values[len(values) - edge :])]
    else:
        shown = rows(values)
    separator = "," + "\n" * (values.ndim - 1) + " " * (indent + 1)
    return "[" + separator.join(shown) + "]"


def _row_text(values: np.ndarray, indent: int, summarize: bool, form: _Format) -> str:
    edge = options.edgeitems

    def texts(part: np.ndarray) -> list[str]:
        return [form.text(value) for value in part.tolist()]

    if summarize and not edge:
        shown = ["..."]
    elif summarize and len(values) > 2 * edge:
        shown = [*texts(values[:edge]), " ...", *texts(values[-edge:])]
    else:
        shown = texts(values)
    per_line = max(1, (options.linewidth - indent) // (form.width + 2))
    lines = [", ".join(shown[at : at + per_line]) for at in range(0, len(shown), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def with_suffixes(text: str, suffixes: list[str], indent: int, *, on_new_line: bool = False) -> str:
    """Append the suffixes, each on the last line if it fits there, else on a new one.

    on_new_line: whether the first begins one in any case.
    """
    parts = [text]
    line_length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if on_new_line or line_length + len(suffix) + 2 > options.linewidth:
            on_new_line = False
            parts.append(",\n" + " " * indent + suffix)
            line_length = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            line_length += len(suffix) + 2
    return "".join(parts) + ")"


def contents(tensor: Tensor, indent: int) -> str:
    """Return the numbers of a tensor; lines after the first stand `indent` characters in."""
    if tensor.is_meta:
        return "..."
    if not tensor.numel():
        return "[]"
    values = interop.host_values(tensor)
    summarize = values.size > options.threshold
    return _nested_text(values, indent, summarize, _format_of(values, summarize))


def _suffixes(tensor: Tensor) -> Iterator[str]:
    """What the numbers do not show, in PyTorch's order."""
    if not tensor.is_cpu:
        yield f"device='{tensor.device}'"
    default = dtypes.default_dtype()
    evident = [default]
    numel = tensor.numel()
    if tensor.is_meta or (not options.edgeitems if numel else tensor.dim() != 1):
        yield f"size={tuple(tensor.shape)}"
    if not tensor.is_meta and numel:
        evident += [default.to_complex(), dtypes.int64, dtypes.bool]
    if tensor.dtype not in evident:
        yield f"dtype={tensor.dtype}"
    yield from _history(tensor)


def _history(tensor: Tensor) -> Iterator[str]:
    """Whether, and by what, a tensor takes part in autograd."""
    if tensor.grad_fn is not None:
        yield f"grad_fn=<{tensor.grad_fn.name()}>"
    elif tensor.requires_grad:
        yield "requires_grad=True"


def tensor_repr(tensor: Tensor, instead: str | None = None) -> str:
    """Return the text of a tensor, `tensor([1., 2.])`; a subclass shows its own name.

    instead: what stands in place of the numbers.
    """
    prefix = "tensor(" if tensor.__class__.__name__ in _PLAIN else tensor.__class__.__name__ + "("
    if is_batched(tensor) and instead is None:
        samples = samples_of(tensor)
        return f"BatchedTensor(lvl={samples.level}, bdim=0, value=\n    {samples.value!r}\n)"
    if is_sparse(tensor) and instead is None:
        return _sparse_repr(tensor, prefix)
    shown = contents(tensor, len(prefix)) if instead is None else instead
    return with_suffixes(prefix + shown, list(_suffixes(tensor)), len(prefix))


_PLAIN = ("Tensor", "Parameter")
_PARTS = {
    layouts.sparse_coo: ("indices",),
    layouts.sparse_csr: ("crow_indices", "col_indices"),
    layouts.sparse_csc: ("ccol_indices", "row_indices"),
    layouts.sparse_bsr: ("crow_indices", "col_indices"),
    layouts.sparse_bsc: ("ccol_indices", "row_indices"),
}
"""What the index tensors of each layout are called."""


def _sparse_repr(tensor: Tensor, prefix: str) -> str:
    """The text of a sparse tensor: its parts, a line for each, and its size."""
    storage, indent = storage_of(tensor), len(prefix)
    named = [*zip(_PARTS[tensor.layout], storage.pattern.parts, strict=True)]
    texts = []
    for name, part in [*named, ("values", storage.values)]:
        head = f"{name}=tensor("
        size = f", size={tuple(part.shape)}" if part.is_meta or not part.numel() else ""
        texts.append(f"{head}{contents(part, indent + len(head))}{size})")
    count = named[-1][1]._sizes[-1]
    suffixes = [f"size={tuple(tensor.shape)}", f"nnz={count}"]
    evident = [
        dtypes.default_dtype(),
        dtypes.default_dtype().to_complex(),
        dtypes.int64,
        dtypes.bool,
    ]
    if not tensor.is_cpu:
        suffixes.insert(0, f"device='{tensor.device}'")
    if tensor.dtype not in (evident if storage.values.numel() else evident[:1]):
        suffixes.append(f"dtype={tensor.dtype}")
    suffixes.append(f"layout={tensor.layout}")
    suffixes += _history(tensor)
    separator = ",\n" + " " * indent
    is_coo = tensor.layout is layouts.sparse_coo
    return with_suffixes(prefix + separator.join(texts), suffixes, indent, on_new_line=is_coo)


def named_results(name: str, results: Any) -> str:
    """Return the text of a named tuple of tensors: a line for each."""
    fields = ",\n".join(
        f"{field}={value!r}" for field, value in zip(results._fields, results, strict=True)
    )
    return f"{name}(\n{fields})"
