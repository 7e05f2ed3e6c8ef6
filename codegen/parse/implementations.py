"""The hand-written functions of a package outside the tree, and how its entries name them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ..model.operator import (
    Case,
    Composite,
    Dispatch,
    FunctionReference,
    Index,
    Operator,
    Pointwise,
    View,
)
from ..model.stream import Draw


@dataclass(frozen=True, slots=True)
class Implementations:
    """A Python package: `kernels.mm` in an entry means its module `kernels`."""

    folder: Path
    package: str
    """The dotted name under which the folder is imported."""

    @property
    def formulas(self) -> Path:
        """The module whose functions derivative formulas may call, if there is such a file."""
        return self.folder / "formulas.py"

    def located(self, operator: Operator) -> Operator:
        """The operator with absolute names of its functions."""
        match operator.kind:
            case Composite(body, function) if function:
                return replace(operator, kind=Composite(body, self._absolute(function)))
            case Pointwise(formula, check) if check:
                return replace(operator, kind=Pointwise(formula, self._absolute(check)))
            case View(function):
                return replace(operator, kind=View(self._absolute(function)))
            case Index() as kind:
                meta, geometry = (
                    self._absolute(each) if each else None for each in (kind.meta, kind.geometry)
                )
                return replace(operator, kind=replace(kind, meta=meta, geometry=geometry))
            case Draw() as kind:
                meta = self._absolute(kind.meta) if kind.meta else None
                return replace(operator, kind=replace(kind, meta=meta))
            case Dispatch() as kind:
                backends = tuple((name, self._absolute(kernel)) for name, kernel in kind.backends)
                meta = self._absolute(kind.meta) if kind.meta else None
                return replace(operator, kind=replace(kind, backends=backends, meta=meta))
            case Case(meta=meta) as kind if meta:
                return replace(operator, kind=replace(kind, meta=self._absolute(meta)))
        return operator

    def _absolute(self, function: FunctionReference) -> FunctionReference:
        if function.is_absolute:
            return function
        module = f"{self.package}.{function.module}" if function.module else self.package
        return FunctionReference(module, function.name, is_absolute=True)
