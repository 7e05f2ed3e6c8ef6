"""Operators as the tools are told of them: plain data, handed over as JSON by who read the YAML."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops


@dataclass(frozen=True)
class Argument:
    """One argument of a schema.

    kind: 'tensor', 'number' (a tensor or a number), 'tensors' (a list) or 'value'. domain: bounds
    of a tensor's values. choices: Python expressions of a value. differentiable: whether it may
    receive a gradient; None if only a call tells. written: whether a call writes to it.
    """

    name: str
    kind: str
    optional: bool
    keyword: bool
    required: bool
    domain: tuple[float, float]
    choices: tuple[str, ...]
    promoted: bool
    differentiable: bool | None
    written: bool = False
    default: Any = None

    @property
    def is_tensor(self) -> bool:
        """Whether it is a single tensor, or may be one."""
        return self.kind in ("tensor", "number")


@dataclass(frozen=True)
class Call:
    """One sample call: Python expressions by argument, and the exception that it must raise."""

    arguments: Mapping[str, str]
    raises: str | None


@dataclass(frozen=True)
class Record:
    """One operator.

    path: where users find it, below `package`. formula: the scalar formula as written. parts: the
    formulas of a reduction, None for one that is missing. reference: a NumPy function's name.
    """

    package: str
    name: str
    base_name: str
    path: str
    kind: str
    arguments: tuple[Argument, ...]
    calls: tuple[Call, ...]
    formula: str | None
    parts: Mapping[str, str | None]
    reference: str | None
    dtypes: tuple[str, ...]
    promotion: str
    variants: tuple[str, ...]
    tags: tuple[str, ...]
    results: int
    differentiable: bool
    writes_self: bool

    @property
    def tensors(self) -> list[Argument]:
        """The arguments that are single tensors."""
        return [argument for argument in self.arguments if argument.is_tensor]

    @property
    def written(self) -> set[str]:
        """The names of the arguments that a call writes to."""
        return {argument.name for argument in self.arguments if argument.written}

    def argument(self, name: str) -> Argument | None:
        """The argument of a name."""
        return next((a for a in self.arguments if a.name == name), None)

    def function(self, suffix: str = "") -> Callable[..., Any]:
        """The public function; suffix: `_` for the in-place variant's."""
        first, _, rest = (self.path + suffix).partition(".")
        places = {"Tensor": Tensor, "ops": ops}
        found: Any = places.get(first) or getattr(importlib.import_module(self.package), first)
        for name in rest.split(".") if rest else ():
            found = getattr(found, name)
        function: Callable[..., Any] = found
        return function


def record_of(data: dict[str, Any]) -> Record:
    """The record of what JSON gave."""
    arguments = tuple(
        Argument(**{**a, "domain": tuple(a["domain"]), "choices": tuple(a["choices"])})
        for a in data["arguments"]
    )
    calls = tuple(Call(call["arguments"], call["raises"]) for call in data["calls"])
    lists = {name: tuple(data[name]) for name in ("dtypes", "variants", "tags")}
    return Record(**{**data, **lists, "arguments": arguments, "calls": calls})
