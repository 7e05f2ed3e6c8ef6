"""What texts call by NumPy's names, without NumPy: types of numbers, and functions that are known.

What else they name is NumPy's own, which takes as long to import as a kernel to compile.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from torchgen_out._runtime.kernels.compiler import kinds
from torchgen_out._runtime.kernels.compiler.values import Kind


def numpy() -> Any:
    """NumPy itself."""
    return importlib.import_module("numpy")


class Type:
    """A type of numbers, and a dtype: of either the walk wants to know the kind."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.name = kind.name
        self.itemsize = kinds.item_size(kind)

    def __call__(self, value: Any = 0) -> Constant:
        """A known number, rounded to the type. Raises: OverflowError if it does not hold it."""
        return Constant(self.kind, _held(self.kind, value))

    @property
    def dtype(self) -> Any:
        """NumPy's, for what else a text asks of NumPy."""
        return numpy().dtype(self.name)


class Constant:
    """A known number of a type: what a text computes of it, NumPy computes."""

    def __init__(self, kind: Kind, value: Any) -> None:
        self.kind, self.value = kind, value

    def own(self) -> Any:
        """NumPy's number."""
        return numpy().dtype(self.kind.name).type(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own(), name)


def _held(kind: Kind, value: Any) -> Any:
    if isinstance(kind, kinds.Integer):
        whole = int(value)
        if not kind.minval <= whole <= kind.maxval:
            raise OverflowError(f"{whole} is no {kind.name}")
        return whole
    if isinstance(kind, kinds.Boolean):
        return bool(value)
    if isinstance(kind, kinds.Complex):
        both = complex(value)
        return complex(rounded(kind.part, both.real), rounded(kind.part, both.imag))
    return rounded(kind, float(value))


def rounded(kind: Kind, value: float) -> float:
    """The nearest number of a float type."""
    return ctypes.c_float(value).value if kind is kinds.float32 else value


class Function:
    """A function that the walk knows, or Numba."""

    def __init__(self, name: str) -> None:
        self.name = self.__name__ = name

    def __call__(self, *given: Any, **named: Any) -> Any:
        """NumPy's result: a text may compute its constants."""
        return self.own()(*map(_own, given), **{name: _own(each) for name, each in named.items()})

    def own(self) -> Any:
        """NumPy's function."""
        return getattr(numpy(), self.name)


def _own(thing: Any) -> Any:
    if isinstance(thing, Type):
        return thing.dtype
    return thing.own() if isinstance(thing, (Constant, Function)) else thing


def _operation(function: Callable[..., Any], is_turned: bool = False) -> Callable[..., Any]:
    def compute(*given: Any) -> Any:
        return function(*map(_own, reversed(given) if is_turned else given))

    return compute


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"):
    _plain = _name.rstrip("_")
    setattr(Constant, f"__{_plain}__", _operation(getattr(operator, _name)))
    setattr(Constant, f"__r{_plain}__", _operation(getattr(operator, _name), is_turned=True))
for _name in (
    "lshift",
    "rshift",
    "lt",
    "le",
    "gt",
    "ge",
    "eq",
    "ne",
    "neg",
    "pos",
    "abs",
    "invert",
):
    setattr(Constant, f"__{_name}__", _operation(getattr(operator, _name)))


TYPES = {each.name: Type(each) for each in kinds.NUMBERS}
FUNCTIONS = {
    name: Function(name)
    for name in (
        *("empty", "zeros", "ones", "full"),
        *("abs", "fabs", "sqrt", "copysign", "isnan", "isinf", "isfinite", "signbit"),
        *("rint", "trunc", "floor", "ceil"),
    )
}

_KNOWN = {**TYPES, **FUNCTIONS, "inf": math.inf, "nan": math.nan, "pi": math.pi}


class Names:
    """What `import numpy as np` means to a text."""

    bool_ = TYPES["bool"]

    @staticmethod
    def dtype(named: Any) -> Any:
        """A type's dtype: itself."""
        return named if isinstance(named, Type) else numpy().dtype(named)

    def __getattr__(self, name: str) -> Any:
        found = _KNOWN.get(name)
        return getattr(numpy(), name) if found is None else found


NAMES = Names()


def kind_of(named: Any) -> Kind | None:
    """The kind that a type or a dtype stands for, ours or NumPy's; None if it stands for none."""
    if isinstance(named, kinds.Kind):
        return named
    if isinstance(named, Type):
        return named.kind
    return kinds.BY_NAME.get(numpy().dtype(named).name) if _is_numpys(named) else None


def constant_of(thing: Any) -> Constant | None:
    """A number of ours or of NumPy's as one of ours; None if it is no such number."""
    if isinstance(thing, Constant):
        return thing
    if not isinstance(thing, type) and _is_numpys(thing.__class__) and hasattr(thing, "item"):
        kind = kind_of(thing.__class__)
        return None if kind is None else Constant(kind, thing.item())
    return None


@cache
def _generic() -> Any:
    return numpy().generic


def _is_numpys(named: Any) -> bool:
    """Whether it is a type of NumPy's numbers, or a dtype, for which NumPy need not be imported."""
    of = named if isinstance(named, type) else named.__class__
    if not of.__module__.startswith("numpy"):
        return False
    return issubclass(of, (_generic(), numpy().dtype))
