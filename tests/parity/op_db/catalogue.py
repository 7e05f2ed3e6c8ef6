"""Which entries of `op_db` are compared, and their functions in both libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property, partial
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, UnaryUfuncInfo

import torchgen_out
from tests.parity.op_db import transfer
from tests.parity.op_db.comparison import Subject
from tests.parity.op_db.transfer import Unavailable

Function = Callable[..., Any]

DTYPES = (
    *("float32", "int64", "float64", "complex64", "bool", "float16", "bfloat16", "uint8", "int32"),
    *("int8", "int16", "complex128", "complex32"),
)
"""The dtypes that both libraries have, those first that most programs use."""

UNINITIALIZED = frozenset({
    *("empty", "empty_like", "empty_strided", "empty_permuted", "new_empty"),
    *("new_empty_strided", "resize_", "resize_as_", "_resize_output_"),
})  # fmt: skip
"""Entries whose results have elements that nobody has written."""


UNSAFE_OUT = frozenset({"native_batch_norm", "nn.functional.avg_pool3d", "narrow_copy"})
"""Entries in which PyTorch itself writes outside of an out= tensor of another shape or dtype."""

FACTORS = (
    *("linalg.*", "cholesky*", "lu*", "qr", "svd", "ormqr", "geqrf", "inverse", "pinverse"),
    *("triangular_solve", "matrix_exp", "fft.*", "argwhere", "unravel_index"),
)
"""Entries whose results' layout is that of another LAPACK or FFT: `docs/deviations.md`."""


def is_public(info: Any) -> bool:
    """Whether an entry is an operator for users, of tensors that are not sparse, on a CPU."""
    parts = info.name.split(".")
    if any(part.startswith("_") and not part.startswith("__") for part in parts):
        return False
    is_function = isinstance(info.op, FunctionType)
    is_found = transfer._is_named(torch, info.name, info.op)
    is_method = getattr(torch.Tensor, info.name.split(".")[-1], None) is info.op
    if info.name in ("to_sparse", "max_pool2d_with_indices_backward"):
        return False
    return (is_function or is_found or is_method) and not info.name.startswith("sparse.")


@dataclass(frozen=True)
class Entry:
    """An OpInfo, and the forms in which its operator can be called."""

    info: Any

    def __str__(self) -> str:
        variant = self.info.variant_test_name
        return f"{self.info.name}-{variant}" if variant else self.info.name

    def dtypes(self) -> list[str]:
        """The dtypes in which PyTorch has the operator, of those that both libraries have."""
        supported = self.info.supported_dtypes("cpu")
        return [
            name
            for name in DTYPES
            if getattr(torch, name) in supported and hasattr(torchgen_out, name)
        ]

    def samples(self, dtype: str, requires_grad: bool = False) -> list[Any]:
        """PyTorch's sample inputs."""
        return list(self.info.sample_inputs("cpu", getattr(torch, dtype), requires_grad))

    def function(self, library: ModuleType) -> Function:
        """The operator as a function. Raises Unavailable if the library lacks it."""
        if library is torch:
            return self.info.op
        if transfer._is_named(torch, self.info.name, self.info.op):
            return transfer.find(library, self.info.name)
        if getattr(torch.Tensor, self.info.name, None) is self.info.op:
            return transfer.find(library, f"Tensor.{self.info.name}")
        return transfer.rebound(self.info.op, library)

    @cached_property
    def forms(self) -> dict[str, Function]:
        """The other forms of a call that PyTorch has: method, operator, aliases."""
        info = self.info
        forms = {"method": info.method_variant, "operator": info.operator_variant}
        for alias in info.aliases:
            forms[f"alias {alias.name}"] = alias.op
            forms[f"alias Tensor.{alias.name}"] = alias.method_variant
        return {name: form for name, form in forms.items() if form is not None}

    @cached_property
    def inplace_forms(self) -> dict[str, Function]:
        """The forms that write into their first argument."""
        info = self.info
        forms = {
            "inplace": info.inplace_variant,
            "inplace operator": info.inplace_operator_variant,
        }
        for alias in info.aliases:
            forms[f"alias Tensor.{alias.name}_"] = alias.inplace_variant
        return {name: form for name, form in forms.items() if form is not None}

    def ours(self, label: str, form: Function) -> Function:
        """Our function for a form of PyTorch's."""
        if label.startswith("alias "):
            path = label.removeprefix("alias ").replace("Tensor.torch.", "Tensor.")
            return transfer.find(torchgen_out, path.removeprefix("torch."))
        if getattr(form, "__module__", "") == "_operator":
            return form
        return _method(form)

    @cached_property
    def is_random(self) -> bool:
        """Whether equal calls may give different elements."""
        code = getattr(self.info.op, "__code__", None)
        seeded = code is not None and "wrapper_set_seed" in code.co_names
        return seeded or self.info.name in UNINITIALIZED

    @cached_property
    def subject(self) -> Subject:
        """How near results have to be, and what of them is compared."""
        info = self.info
        return Subject(
            info.name.replace(".", "_"),
            by_element=isinstance(info, UnaryUfuncInfo | BinaryUfuncInfo),
            elements=not self.is_random,
            strides=not any(fnmatchcase(info.name, pattern) for pattern in FACTORS),
        )


def _method(form: Function) -> Function:
    """Our method of the name that PyTorch's has."""
    if isinstance(form, partial):
        return partial(transfer.rebound(form.func, torchgen_out), *form.args, **form.keywords)
    if isinstance(form, FunctionType) and form.__module__.startswith("torch.testing"):
        return transfer.rebound(form, torchgen_out)
    return transfer.find(torchgen_out, f"Tensor.{form.__name__}")


ENTRIES = [Entry(info) for info in op_db if is_public(info)]

__all__ = ["ENTRIES", "Entry", "Unavailable"]
