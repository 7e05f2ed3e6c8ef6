"""The hand-written functions of a package outside the tree, and how its entries name them."""

from __future__ import annotations

from dataclasses import replace
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
from ..record import record


@record
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
                faster = self._all_absolute(kind.faster)
                made = replace(kind, meta=meta, geometry=geometry, faster=faster)
                return replace(operator, kind=made)
            case Draw() as kind:
                meta = self._absolute(kind.meta) if kind.meta else None
                return replace(operator, kind=replace(kind, meta=meta))
            case Dispatch() as kind:
                backends = self._all_absolute(kind.backends)
                meta = self._absolute(kind.meta) if kind.meta else None
                return replace(operator, kind=replace(kind, backends=backends, meta=meta))
            case Case(meta=meta) as kind if meta:
                return replace(operator, kind=replace(kind, meta=self._absolute(meta)))
        return operator

    def _all_absolute(
        self, kernels: tuple[tuple[str, FunctionReference], ...]
    ) -> tuple[tuple[str, FunctionReference], ...]:
        return tuple((backend, self._absolute(kernel)) for backend, kernel in kernels)

    def _absolute(self, function: FunctionReference) -> FunctionReference:
        if function.is_absolute:
            return function
        module = f"{self.package}.{function.module}" if function.module else self.package
        return FunctionReference(module, function.name, is_absolute=True)
