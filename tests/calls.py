"""Turns cases into calls: tensors of one library, ours or PyTorch's, and that library's operator.

Both libraries get equal bits in an equal layout.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from codegen.model.operator import Operator
from tests import gauges
from tests.harness import Case
from tests.inputs import COMPLEX, FLOATING, UNSIGNED, WIDENED, DtypeName, Input, is_input


@dataclass(frozen=True, slots=True)
class Session:
    """A tensor library under test: torchgen_out, or torch."""

    library: ModuleType
    hidden: Any = None
    """Where operators with the tag `internal` are found."""

    def dtype(self, name: str) -> Any:
        """The library's dtype of that name."""
        return getattr(self.library, name)

    def tensor(self, value: Input, dtype: str, requires_grad: bool = False) -> Any:
        """Make the tensor of an input, in `dtype` if its kind allows."""
        target = storage_dtype(value, dtype)
        stored = np.ascontiguousarray(value.stored()).reshape(value.stored().shape)
        tensor = self.library.from_numpy(cast(stored, target)).to(self.dtype(target))
        if requires_grad and (tensor.is_floating_point() or tensor.is_complex()):
            tensor.requires_grad_(True)
        return tensor

    def view(self, tensor: Any, value: Input) -> Any:
        """Lay a tensor of `self.tensor` out as its input asks."""
        return tensor if value.dims is None else tensor.permute(value.dims)

    def arguments(
        self,
        case: Case,
        dtype: str,
        requires_grad: bool | frozenset[str] = False,
        leaves: Sequence[Any] | None = None,
    ) -> Call:
        """Make all tensors of a case, or lay out the ones given.

        requires_grad: whether they do, or the names of those that do.
        """
        given = iter(leaves) if leaves is not None else None
        used: list[Any] = []
        fit = case.raises is None and not case.is_empty

        def convert(value: Any, name: str) -> Any:
            if is_input(value):
                needs = requires_grad if isinstance(requires_grad, bool) else name in requires_grad
                used.append(next(given) if given else self.tensor(value, dtype, needs))
                tensor = self.view(used[-1], value)
                return gauges.prepare(case, name, tensor) if fit else tensor
            if isinstance(value, list):
                return [convert(each, name) for each in value]
            return self.dtype(value.name) if isinstance(value, DtypeName) else value

        values = {name: convert(value, name) for name, value in case.arguments.items()}
        return Call(self, case.operator, values, used)

    def function(self, operator: Operator) -> Callable[..., Any] | None:
        """The operator's public function, or None when the library has none."""
        return self.named(operator, operator.public_name)

    def named(self, operator: Operator, name: str) -> Callable[..., Any] | None:
        """A function beside the operator's, or None."""
        if operator.has_tag("internal"):
            return getattr(self.hidden, name, None)
        module: Any = self.library
        if operator.python_module not in ("torch", "Tensor"):
            for part in operator.python_module.split("."):
                module = getattr(module, part)
        return getattr(module, name, None)


def storage_dtype(value: Input, dtype: str) -> str:
    """Return the dtype that an input takes when `dtype` is under test."""
    if value.kind == "same":
        return str(value.data.dtype)
    is_float = dtype in FLOATING or dtype in COMPLEX
    if value.kind == "float" and not is_float:
        return "float32"
    if np.iscomplexobj(value.data) and dtype not in COMPLEX:
        return "complex128" if dtype == "float64" else "complex64"
    return dtype


def cast(data: np.ndarray, dtype: str) -> np.ndarray:
    """Cast to a dtype, or what holds its values; unsigned targets take absolute values.

    0-d arrays stay arrays.
    """
    if dtype in UNSIGNED and data.dtype.kind == "f":
        data = np.abs(data)
    if dtype == "bool" and data.dtype.kind == "f":
        data = data > 0
    return np.array(data, dtype=WIDENED.get(dtype, dtype))


@dataclass(frozen=True, slots=True)
class Call:
    """An operator's arguments as tensors of one library; `leaves` are those without a view."""

    session: Session
    operator: Operator
    values: Mapping[str, Any]
    leaves: Sequence[Any]

    def __call__(self, **keywords: Any) -> Any:
        """Call the operator; of results that are not unique, what is unique."""
        return gauges.observe(self.operator.name, self.plain(**keywords))

    def plain(self, **keywords: Any) -> Any:
        """Call the function, or the method where there is no function."""
        function = self.session.function(self.operator) if self.operator.has_function else None
        if function is None:
            return self.method(self.operator.public_name, **keywords)
        return self.apply(function, **keywords)

    def named(self, name: str) -> Any:
        """Call another function of the operator's module with these arguments."""
        function = self.session.named(self.operator, name)
        assert function is not None, f"no function '{name}'"
        return self.apply(function)

    def apply(self, function: Callable[..., Any], **keywords: Any) -> Any:
        """Call a function with these arguments."""
        values = dict(self.values)
        positional = self._positional(values)
        if self.operator.has_tag("varargs") and isinstance(positional[0], list):
            positional[:1] = positional[0]
        return function(*positional, **values, **keywords)

    def prepared(self) -> Callable[[], Any]:
        """The call with its arguments in place: what is left to do is the call itself."""
        values = dict(self.values)
        if not self.operator.has_function:
            receiver, name = values.pop("self"), self.operator.public_name
            if self.operator.has_tag("property"):
                return lambda: getattr(receiver, name)
            method, positional = getattr(receiver, name), self._positional(values)
            return lambda: method(*positional, **values)
        function, positional = self.session.function(self.operator), self._positional(values)
        assert function is not None
        if self.operator.has_tag("varargs") and isinstance(positional[0], list):
            positional[:1] = positional[0]
        return lambda: function(*positional, **values)

    def method(self, name: str, **keywords: Any) -> Any:
        """Call a method of the tensor `self`, or read the property."""
        values = dict(self.values)
        receiver = values.pop("self")
        if self.operator.has_tag("property"):
            return getattr(receiver, name)
        return getattr(receiver, name)(*self._positional(values), **values, **keywords)

    def _positional(self, values: dict[str, Any]) -> list[Any]:
        """Take the leading positional arguments out of `values`; a gap ends them."""
        taken = []
        for argument in self.operator.schema.positional:
            if argument.name == "self" and "self" not in values:
                continue
            if argument.name not in values:
                break
            taken.append(values.pop(argument.name))
        return taken


def results(value: Any) -> list[Any]:
    """The results of a call as a flat list."""
    if isinstance(value, tuple | list):
        return [result for each in value for result in results(each)]
    return [value]


def array(tensor: Any) -> np.ndarray:
    """The values of a tensor of either library; what NumPy lacks as the next wider type."""
    tensor = tensor.detach()
    if hasattr(tensor, "_is_zerotensor") and tensor._is_zerotensor():
        tensor = tensor.clone()  # PyTorch's zeros without storage
    name = name_of(tensor.dtype)
    if name in WIDENED:
        tensor = tensor.cfloat() if name in COMPLEX else tensor.float()
    if hasattr(tensor, "resolve_conj"):
        tensor = tensor.resolve_conj().resolve_neg()
    return np.array(tensor.numpy())


def values(result: Any) -> np.ndarray:
    """The values of one result, a tensor or a Python number."""
    return array(result) if hasattr(result, "detach") else np.asarray(result)


def name_of(dtype: Any) -> str:
    """The name of a dtype of either library: `float32`."""
    return str(dtype).removeprefix("torch.")
