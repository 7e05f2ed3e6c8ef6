"""A program: all operators and derivatives of one run, with look-ups by name."""

from __future__ import annotations

from dataclasses import field

from ..record import record
from .derivative import Derivative
from .operator import Operator
from .surface import Surface


@record
class Program:
    """Everything read from one pair of YAML files, in file order."""

    operators: tuple[Operator, ...]
    derivatives: tuple[Derivative, ...] = ()
    base: Program | None = field(default=None, repr=False)
    """The program whose operators an out-of-tree package may call; not emitted."""
    package: str = "torchgen_out"
    """The Python package that is emitted, by its dotted name."""
    sources: tuple[str, ...] = ("native_functions.yaml", "derivatives.yaml")
    """What it was read from, for the head of generated files."""
    options: str = ""
    """What `python -m codegen` is given to make the package again."""
    formulas: tuple[str, ...] = ()
    """The library's functions for derivative formulas."""
    own_formulas: tuple[str, ...] = ()
    """Those that an out-of-tree package brings along."""
    formulas_module: str | None = None
    """The module that defines the latter."""
    surface: Surface = field(default=Surface(), repr=False)
    """The public modules over hand-written ones; the library alone has some."""
    _operators: dict[str, Operator] = field(init=False, compare=False, repr=False)
    _derivatives: dict[str, Derivative] = field(init=False, compare=False, repr=False)
    _families: dict[str, tuple[Operator, ...]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        families: dict[str, list[Operator]] = {}
        for operator in self.operators:
            families.setdefault(operator.base_name, []).append(operator)
        # Frozen: look-up tables are set once, here.
        put = object.__setattr__
        put(self, "_operators", {operator.name: operator for operator in self.operators})
        put(self, "_derivatives", {entry.operator: entry for entry in self.derivatives})
        put(self, "_families", {name: tuple(family) for name, family in families.items()})

    @property
    def families(self) -> dict[str, tuple[Operator, ...]]:
        """Base name to its entries (`max`: max, max.dim, max.other), in file order."""
        return self._families

    @property
    def is_library(self) -> bool:
        """Whether this is the library itself, not a package outside the tree."""
        return self.base is None

    @property
    def library(self) -> str:
        """The library's Python package."""
        return self.package if self.base is None else self.base.library

    def operator(self, name: str) -> Operator | None:
        """Return the operator called `mul.Tensor`, of this program alone."""
        return self._operators.get(name)

    def known_operator(self, name: str) -> Operator | None:
        """Return the operator of this name, of this program or of the library below it."""
        return self.operator(name) or (self.base.known_operator(name) if self.base else None)

    def known_names(self) -> list[str]:
        """Return the names that `known_operator` finds."""
        inherited = self.base.known_names() if self.base else []
        return [*self._operators, *inherited]

    def derivative(self, operator: Operator) -> Derivative | None:
        """Return the derivative of an operator, or None when it has none."""
        return self._derivatives.get(operator.name)

    def overloads(self, base_name: str) -> tuple[Operator, ...]:
        """Return all entries of one base name, those of the base program included."""
        inherited = self.base.overloads(base_name) if self.base else ()
        return inherited + self._families.get(base_name, ())
