"""What a rule is: a function that yields a Problem per violation, registered with its code.

A rule is named after what must hold, and its docstring states it. It sees the model alone; places
are asked of the model's `places`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from ..errors import Diagnostic, Related, SourceLocation
from ..model.derivative import Derivative
from ..model.operator import Index, Operator
from ..model.program import Program
from ..model.signature import Signature, schema_signature
from ..record import record


@record
class Problem:
    """One violation of a rule; the code is the rule's."""

    where: SourceLocation
    message: str
    hint: str | None = None
    related: tuple[Related, ...] = ()
    width: int = 1


@dataclass(frozen=True)
class Context:
    """What rules may look up."""

    program: Program
    functions: Mapping[str, Signature]
    """Functions of runtime/autograd/formulas/."""
    broken: Collection[str] = field(default=())
    """Base names of entries that could not be read, and were reported."""
    unread: Collection[str] = field(default=())
    """Base names of operators whose derivative entries could not be read."""
    roots: tuple[Path, ...] = ()
    """Folders that hold the packages of hand-written functions; without any, none is looked for."""

    @property
    def begins_derivatives(self) -> bool:
        """Whether a package outside the tree has no derivative yet, perhaps no file of them."""
        return self.program.base is not None and not self.program.derivatives

    @cached_property
    def operators(self) -> dict[str, list[Signature]]:
        """Every public operator as a function, by each of its names."""
        table: dict[str, list[Signature]] = {}
        for operator in self._all():
            signature = schema_signature(operator.schema, has_out=operator.has_out)
            for name in operator.flat_names:
                table.setdefault(name, []).append(signature)
                if operator.has_inplace:
                    table.setdefault(f"{name}_", []).append(signature)
        return table

    @cached_property
    def methods(self) -> dict[str, list[Signature]]:
        """Every operator as a method, by each of its names."""
        table: dict[str, list[Signature]] = {}
        for operator in self._all():
            if not (operator.has_method or operator.has_inplace):
                continue
            signature = schema_signature(operator.schema, as_method=True)
            for name in operator.flat_names:
                if operator.has_method:
                    table.setdefault(name, []).append(signature)
                if operator.has_inplace:
                    table.setdefault(f"{name}_", []).append(signature)
        return table

    @cached_property
    def properties(self) -> frozenset[str]:
        """Operators that are attributes of a tensor."""
        return frozenset(o.base_name for o in self._all() if o.has_tag("property"))

    def is_broken(self, name: str) -> bool:
        """Whether `name` is an operator whose entry could not be read."""
        return name in self.broken or name.removesuffix("_") in self.broken

    def _all(self) -> Iterator[Operator]:
        program: Program | None = self.program
        while program is not None:
            yield from program.operators
            program = program.base


OperatorRule = Callable[[Operator, Context], Iterator[Problem]]
DerivativeRule = Callable[[Derivative, Operator, Context], Iterator[Problem]]
ProgramRule = Callable[[Context], Iterator[Problem]]

OPERATOR_RULES: dict[str, OperatorRule] = {}
DERIVATIVE_RULES: dict[str, DerivativeRule] = {}
PROGRAM_RULES: dict[str, ProgramRule] = {}

R = TypeVar("R", OperatorRule, DerivativeRule, ProgramRule)


RULES_ON_FILES: set[str] = set()
"""Rules about operators that look at other files than the YAML."""


def operator_rule(code: str, *, on_files: bool = False) -> Callable[[OperatorRule], OperatorRule]:
    """Register a rule about one operator."""

    def register(rule: OperatorRule) -> OperatorRule:
        if on_files:
            RULES_ON_FILES.add(code)
        return _register(OPERATOR_RULES, code, rule)

    return register


def derivative_rule(code: str) -> Callable[[DerivativeRule], DerivativeRule]:
    """Register a rule about one derivative and its operator."""

    def register(rule: DerivativeRule) -> DerivativeRule:
        return _register(DERIVATIVE_RULES, code, rule)

    return register


def program_rule(code: str) -> Callable[[ProgramRule], ProgramRule]:
    """Register a rule that spans entries."""

    def register(rule: ProgramRule) -> ProgramRule:
        return _register(PROGRAM_RULES, code, rule)

    return register


def _register(rules: dict[str, R], code: str, rule: R) -> R:
    assert code not in rules, code
    rules[code] = rule
    return rule


def run_rules(context: Context, names: Collection[str] | None = None) -> list[Diagnostic]:
    """Run every rule on everything it is about.

    names: the operators that may break a rule; None is all of them.
    What is wrong with an entry is not told again of its adjoints, which stand at its place.
    """
    found: list[Diagnostic] = []
    operators = context.program.operators
    for code, operator_rule_ in OPERATOR_RULES.items():
        for operator in operators:
            if names is not None and operator.name not in names and code not in RULES_ON_FILES:
                continue
            told = _diagnostics(code, operator_rule_(operator, context))
            found += _news(told, operator, found)
    for derivative in context.program.derivatives:
        if names is not None and derivative.operator not in names:
            continue
        operator_ = context.program.operator(derivative.operator)
        assert operator_ is not None  # parse drops derivatives of unknown operators
        for code, derivative_rule_ in DERIVATIVE_RULES.items():
            told = _diagnostics(code, derivative_rule_(derivative, operator_, context))
            found += _news(told, operator_, found)
    for code, program_rule_ in PROGRAM_RULES.items():
        found += _diagnostics(code, program_rule_(context))
    return found


def _news(
    told: Iterable[Diagnostic], operator: Operator, found: Sequence[Diagnostic]
) -> Iterable[Diagnostic]:
    """The diagnostics of an operator; of an adjoint, those of which there is none at its place."""
    if not isinstance(operator.kind, Index) or not operator.kind.is_derived:
        return told
    known = {(each.code, each.where) for each in found}
    return [each for each in told if (each.code, each.where) not in known]


def _diagnostics(code: str, problems: Iterator[Problem]) -> Iterator[Diagnostic]:
    for problem in problems:
        yield Diagnostic(
            code, problem.where, problem.message, problem.hint, problem.related, problem.width
        )
