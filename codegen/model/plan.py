"""Plans: what operators and derivatives come to, decided by lower/ and spelled by emit/."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import TypeVar

from ..record import record
from .derivative import Derivative, Gradient
from .expression import SavedValue
from .formula import Formula
from .index import Answers
from .loops import LoopProgram
from .operator import FunctionReference, Operator
from .program import Program
from .roles import Role
from .schema import Argument
from .stream import DrawPlan


@record
class PointwisePlan:
    """The scalar functions of a pointwise operator."""

    forms: tuple[tuple[tuple[str, ...], Formula], ...]
    """(optional operands that are absent, formula without them), none absent first."""
    defaults: Mapping[str, int | float]
    """The scalars' default values; empty if some have none that is a number."""
    at_defaults: Formula | None
    """The formula with these in place of the scalars, if that is simpler."""
    zeros: tuple[tuple[str, ...], ...] = ()
    """Least sets of operands at whose zeros the result is zero, whatever the others are."""
    linear: tuple[str, ...] = ()
    """Those operands by themselves in such a set in which it is linear."""


@record
class BackwardCase:
    """The gradients of `needs` when the optional operands in `absent` are None: one kernel."""

    operator: Operator
    needs: tuple[str, ...]
    absent: tuple[str, ...]
    formula: Formula
    """Of `grad`, and the arguments and the result that it reads; operands first."""

    @property
    def name(self) -> str:
        """The kernel's name, `mul_Tensor_backward_self_other`."""
        without = "".join(f"_without_{name}" for name in self.absent)
        return f"{self.operator.identifier}_backward_{'_'.join(self.needs)}{without}"

    @property
    def reads(self) -> tuple[str, ...]:
        """What must be saved: arguments, and `result`."""
        return tuple(a.name for a in self.formula.arguments if a.name != "grad")

    @property
    def operands(self) -> tuple[tuple[str, Role], ...]:
        """The tensors, or numbers in their place, that the kernel takes: `grad` first."""
        return tuple((name, role) for name, role in self._roles if role.is_operand)

    @property
    def values(self) -> tuple[tuple[str, Role], ...]:
        """What it takes besides."""
        return tuple((name, role) for name, role in self._roles if not role.is_operand)

    @property
    def promoted(self) -> tuple[str, ...]:
        """The operands whose dtype counts: not a condition that the operator itself leaves out."""
        counted = {*self.operator.promoted, "grad", "result"}
        return tuple(name for name, _ in self.operands if name in counted)

    @property
    def _roles(self) -> Iterator[tuple[str, Role]]:
        roles = {a.name: self.operator.role(a) for a in self.operator.arguments}
        for argument in self.formula.arguments:
            yield argument.name, roles.get(argument.name, Role.TENSOR)

    def flags(self, inputs: tuple[Argument, ...]) -> tuple[bool | None, ...]:
        """By input, whether it needs a gradient; None if it is absent."""
        return tuple(None if a.name in self.absent else a.name in self.needs for a in inputs)


class Form(enum.Enum):
    """What a recorded call returns, as far as its history is concerned."""

    SINGLE = "one tensor"
    SEVERAL = "several tensors"
    VIEW = "a view of the first argument"
    VIEWS = "several views of the first argument"

    @property
    def has_several_outputs(self) -> bool:
        """Whether the node takes several gradients."""
        return self in (Form.SEVERAL, Form.VIEWS)


class Writes(enum.Enum):
    """Whether a recorded call writes to its first argument."""

    NEVER = "there is a function alone"
    ALWAYS = "the operator itself is in place"
    IN_PLACE = "its in-place variant does, the function does not"


class Keep(enum.Enum):
    """How a node keeps something of the call."""

    PART = "a number, a size, a dtype: as it is"
    TENSOR = "a tensor, with its version"
    OPERAND = "a tensor, with its version, or a number"
    WRITTEN = "a tensor, of which a call in place makes a copy before it writes"
    TENSORS = "a list of tensors, with their versions"
    RESULT = "a result, without its history"

    @property
    def is_tensor(self) -> bool:
        """Whether it is unpacked in backward, and dropped when the graph has been used."""
        return self is not Keep.PART


@record
class Slot:
    """One thing that a node keeps from the call."""

    value: SavedValue
    keep: Keep
    needed_by: tuple[str, ...]
    """The inputs without whose gradients it is not kept; empty if it always is."""


@record
class Edge:
    """Where the gradient of one input goes."""

    argument: Argument
    is_conditional: bool
    """Whether a recorded call may need no gradient of it."""


@record
class Step:
    """One gradient of a node, or several at once."""

    gradient: Gradient
    inputs: tuple[str, ...]
    """The inputs whose gradients it gives."""
    is_conditional: bool
    """Whether it is only computed if one of their edges is there."""
    loads: tuple[Slot, ...]
    """What only this step reads from the node."""

    @property
    def reads_mask(self) -> bool:
        """Whether its formula asks which gradients are needed."""
        expression = self.gradient.expression
        return expression is not None and expression.uses("grad_input_mask")


@record
class NodePlan:
    """A derivative as a node: what it keeps, where its gradients go, how they are computed.

    The gradients come from fused kernels, one for each case, or from steps, one for each formula.
    """

    operator: Operator
    derivative: Derivative
    inputs: tuple[Argument, ...]
    """The arguments that may receive a gradient, in schema order."""
    form: Form
    writes: Writes
    saved: tuple[Slot, ...] = ()
    edges: tuple[Edge, ...] = ()
    steps: tuple[Step, ...] = ()
    cases: tuple[BackwardCase, ...] = ()
    grad_output: int | None = None
    """Which of several output gradients the formulas call `grad`; None if they do not."""

    @property
    def loads(self) -> tuple[Slot, ...]:
        """What every gradient reads from the node."""
        return tuple(slot for slot in self.saved if not slot.needed_by)

    @property
    def reads_edges(self) -> bool:
        """Whether the steps depend on which edges are there."""
        return any(step.is_conditional or step.reads_mask for step in self.steps)


@record
class ProgramPlan:
    """The launches of one index program."""

    loops: LoopProgram
    on_device: LoopProgram | None
    """None where a kernel written by hand runs in their place."""
    on_long_rows: LoopProgram | None
    """The same on a device where rows are few and long."""
    single: LoopProgram | None
    """The same without a last index, for operands whose views are one element wide there."""
    repeated: LoopProgram | None
    """The same for whole numbers that name one place for all along the last index."""


@record
class CasePlan:
    """One of several programs of an operator."""

    values: tuple[Answers, ...]
    """What the arguments that are asked are in its calls; None is a value not told apart."""
    program: ProgramPlan


@record
class ChoicePlan:
    """Which program of an operator a call runs."""

    asked: tuple[tuple[str, Answers], ...]
    """Arguments, and the values that are told apart."""
    others: tuple[CasePlan, ...]
    """The cases behind that of none of these values."""


@record
class IndexPlan:
    """The programs of an index operator."""

    program: ProgramPlan
    is_on_host: bool
    """Whether the CPU runs them; else a kernel written by hand does, and only sizes are asked."""
    choice: ChoicePlan | None
    """Of an operator with several programs, of which arguments settle the one that a call runs."""
    geometry: FunctionReference | None
    """What says which views of its operands the programs see."""


P = TypeVar("P")


class Plans(Mapping[str, P]):
    """Plans by operator, each made when it is first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], P]]) -> None:
        self._makers = makers
        self._made: dict[str, P] = {}

    def __getitem__(self, name: str) -> P:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class Texts:
    """What is emitted of one operator alone, by artifact: made now, or in a run before this."""

    def __init__(self, known: Mapping[tuple[str, str], str] | None = None) -> None:
        self._known = known or {}
        self.used: dict[tuple[str, str], str] = {}
        """All that were asked for."""

    def of(self, artifact: str, operator: str, make: Callable[[], str]) -> str:
        """The text that is known, or made now."""
        key = artifact, operator
        found = self._known.get(key)
        text = self.used[key] = make() if found is None else found
        return text


@record
class LoweredProgram(Program):
    """A program with its plans, by operator: what emit/ spells."""

    pointwise: Mapping[str, PointwisePlan] = field(default_factory=dict, kw_only=True)
    indexed: Mapping[str, IndexPlan] = field(default_factory=dict, kw_only=True)
    statements: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """Index programs as they are written."""
    drawn: Mapping[str, DrawPlan] = field(default_factory=dict, kw_only=True)
    nodes: Mapping[str, NodePlan] = field(default_factory=dict, kw_only=True)
    """Of operators with a derivative that gives gradients."""
    texts: Texts = field(default_factory=Texts, kw_only=True, compare=False, repr=False)

    def backward_cases(self, operator: Operator) -> tuple[BackwardCase, ...]:
        """The fused backward kernels of an operator."""
        plan = self.nodes.get(operator.name)
        return () if plan is None else plan.cases
