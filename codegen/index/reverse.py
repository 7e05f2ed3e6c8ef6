"""Reverse mode on statements: the adjoint of a program is again a program.

An element `a[p(i)]` that a statement reads at all `i` gets a part from each: its gradient at `q` is
a fold over all `i` where `p(i) == q`. That is written down as it stands; `rewrite.solved`
then turns it into a gather where the equation can be solved, and what remains is a scatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .. import formula as formulas
from ..formula.expressions import ONE, ZERO, call, select, substitute
from ..model import place as places
from ..model.formula import Argument, Expression, Formula, Named, type_of
from ..model.index import (
    DRAW_KEY,
    LOGSUMEXP,
    MAX,
    MIN,
    PROD,
    SUM,
    Access,
    Fold,
    IndexProgram,
    Read,
    Requirement,
    Source,
    Statement,
    Tensor,
    Test,
)
from ..model.place import Place, Size
from .folds import without_means, without_starts
from .inline import inlined, numbers_of
from .merge import merged
from .rewrite import fresh, with_formula
from .sizes import Sizes
from .solve import solved

GRAD = Argument("grad")


def backward(
    program: IndexProgram, needs: Sequence[str], results: Sequence[str], grads: Sequence[str]
) -> IndexProgram:
    """The gradients of the inputs in `needs`, as a program with one result for each.

    results, grads: what the results of the program and their gradients are called in it. Its inputs
    are the gradients, those inputs of the program that it reads, and the results that it reads.
    """
    return _Reverse(without_starts(without_means(program)), needs, results, grads).program()


@dataclass
class _Reverse:
    """One sweep from the results of a program to its inputs."""

    forward: IndexProgram
    needs: Sequence[str]
    result_names: Sequence[str]
    grads: Sequence[str]
    made: list[Statement] = field(default_factory=list)
    contributions: dict[str, list[Access]] = field(default_factory=dict)
    """Per tensor, what its gradient is the sum of; the places stand for its dims in order."""
    extents: dict[str, Place] = field(default_factory=dict)
    requirements: list[Requirement] = field(default_factory=list)
    parts: set[str] = field(default_factory=set)
    """The tensors that are contributions."""

    def __post_init__(self) -> None:
        forward = self.forward
        self.taken = {*forward.tensors, *forward.numbers, *forward.extent, "grad", "result"}
        self.taken |= {*self.grads, *self.result_names}
        self.sizes = Sizes(forward)
        self.extents = forward.extent
        self.requirements = list(forward.requirements)
        self.seeds = dict(zip(forward.results, self.grads, strict=True))
        self.saved = dict(zip(forward.results, self.result_names, strict=True))
        self.depends = self._depending()

    def _depending(self) -> set[str]:
        """The tensors through which a gradient goes."""
        found = set(self.needs)
        for each in self.forward.statements:
            is_number = each.type == "number" and not each.is_detached
            if is_number and any(access.tensor in found for access in each.accesses):
                found.add(each.target)
        return found

    def program(self) -> IndexProgram:
        forward = self.forward
        for each in reversed(forward.statements):
            if each.target in self.depends:
                self.step(each)
        outputs = [self.total(name, fresh(f"grad_{name}", self.taken)) for name in self.needs]
        statements = (*map(self.with_saved, forward.statements), *self.made)
        whole = replace(
            forward,
            inputs=(*self.grad_inputs(), *forward.inputs, *self.result_inputs()),
            statements=tuple(each for each in statements if each.target not in self.saved.values()),
            extents=tuple(self.extents.items()),
            requirements=tuple(self.requirements),
            results=tuple(outputs),
            text="",
        )
        whole = self.simplified(whole)
        return self.trimmed(whole)

    def simplified(self, program: IndexProgram) -> IndexProgram:
        return solved(inlined(merged(solved(program))))

    def trimmed(self, program: IndexProgram) -> IndexProgram:
        """Without inputs that nothing reads; those that tell sizes stay."""
        read = {access.tensor for each in program.statements for access in each.accesses}
        told = [extent for _, extent in program.extents]
        draws = tuple(draw for draw in program.draws if draw.name in read)
        told += [size for draw in draws for size in draw.sizes]
        sized = {atom.tensor for place in told for atom in place.atoms if isinstance(atom, Size)}
        if not any(t.has_batch for t in program.inputs if t.name in self.grads):
            sized |= {tensor.name for tensor in program.inputs if tensor.has_batch}
        read |= {DRAW_KEY} if draws else set()
        kept = tuple(t for t in program.inputs if t.name in read or t.name in sized)
        names = {each.name for each in kept}
        requirements = tuple(
            each
            for each in program.requirements
            if all(a.tensor in names for a in each.extent.atoms if isinstance(a, Size))
        )
        program = replace(program, inputs=kept, requirements=requirements, draws=draws)
        numbers = tuple(numbers_of(program))
        integers = tuple(name for name in program.integers if name in numbers)
        return replace(program, numbers=numbers, integers=integers)

    def grad_inputs(self) -> list[Tensor]:
        found = []
        for name, grad in self.seeds.items():
            statement = self.forward.statement(name)
            found.append(Tensor(grad, statement.has_batch, len(statement.indices)))
            for dim, index in enumerate(statement.indices):
                size = places.of(Size(grad, dim - len(statement.indices)))
                self.requirements.append(Requirement(index, size, None))
        return found

    def result_inputs(self) -> list[Tensor]:
        tensors = self.forward.tensors
        for name, saved in self.saved.items():
            indices = self.forward.statement(name).indices
            for dim, index in enumerate(indices):
                size = places.of(Size(saved, dim - len(indices)))
                self.requirements.append(Requirement(index, size, None))
        return [replace(tensors[name], name=saved) for name, saved in self.saved.items()]

    def with_saved(self, statement: Statement) -> Statement:
        """A statement that reads results that are saved, not made again."""

        def change(read: Read) -> Read:
            source = read.source
            if isinstance(source, Access) and source.tensor in self.saved:
                return Read(read.name, replace(source, tensor=self.saved[source.tensor]))
            return read

        return replace(statement, reads=tuple(map(change, statement.reads)))

    # Gradients of tensors

    def total(self, tensor: str, name: str) -> str:
        """The statement that adds up all contributions to a tensor's gradient."""
        known = self.forward.tensors[tensor]
        parts = self.contributions.get(tensor, [])
        indices = self.indices_of(tensor)
        if parts and all(each.index in self.extents for each in parts[0].places):
            indices = tuple(each.index or "" for each in parts[0].places)
        outcome: Expression = ZERO
        sources: dict[str, Source] = {}
        has_batch = known.has_batch
        for number, part in enumerate(parts):
            argument = Argument(f"part_{number}")
            sources[argument.name] = replace(part, places=tuple(map(places.index, indices)))
            outcome = argument if number == 0 else call("add", outcome, argument)
        empty = Statement(name, has_batch, indices, None, Formula((), (ZERO,)), ())
        self.made.append(with_formula(empty, outcome, sources))
        return name

    def indices_of(self, tensor: str) -> tuple[str, ...]:
        """Names of indices for the dims of a tensor."""
        if any(each.name == tensor for each in self.forward.inputs):
            rank = self.forward.tensors[tensor].rank
            return tuple(self.index_of(tensor, dim - rank) for dim in range(rank))
        return self.forward.statement(tensor).indices

    def index_of(self, tensor: str, dim: int) -> str:
        """An index of the extent of a tensor's dim: one that there is, or a new one."""
        size = places.of(Size(tensor, dim))
        for name in self.forward.extent:
            if self.sizes.canonical(self.forward.extent[name]) == self.sizes.canonical(size):
                return name
        name = fresh(f"{tensor}{-dim}", self.taken)
        self.extents[name] = size
        return name

    def gradient(self, statement: Statement) -> Access:
        """The gradient of a statement's element."""
        own = tuple(map(places.index, statement.indices))
        seed = self.seeds.get(statement.target)
        parts = self.contributions.setdefault(statement.target, [])
        if seed is not None:
            parts.insert(0, Access(seed, statement.has_batch, own))
        if len(parts) == 1 and not statement.reads_itself:
            return replace(parts[0], places=own)
        name = fresh(f"grad_{statement.target}", self.taken)
        return Access(name, statement.has_batch, own)

    # One statement

    def step(self, statement: Statement) -> None:
        """Add what a statement contributes to the gradients of what it reads."""
        if not self.contributions.get(statement.target) and statement.target not in self.seeds:
            return
        accesses = {
            read.name: read.source
            for read in statement.reads
            if isinstance(read.source, Access) and read.source.tensor in self.depends
        }
        wanted = list(accesses)
        if not wanted:
            return
        sources: dict[str, Source]
        sources = {read.name: read.source for read in self.with_saved(statement).reads}
        sources["grad"] = grad = self.gradient(statement)
        sources["result"] = self.value(statement)
        upstream = self.upstream(statement, sources)
        gradient = formulas.backward(statement.formula, wanted)
        if statement.fold is not None:
            gradient = self.without_result(gradient, statement)
        outcomes = dict(zip(wanted, gradient.outputs, strict=True))
        # What an element gives to an earlier one of its own tensor is part of that one's gradient.
        own = [name for name in wanted if accesses[name].tensor == statement.target]
        others = [name for name in wanted if name not in own]
        for name in own:
            self.contribute(statement, accesses[name], outcomes[name], upstream, sources)
        if grad.tensor not in self.seeds.values() and grad.tensor not in self.parts:
            self.total(statement.target, grad.tensor)
        for name in others:
            self.contribute(statement, accesses[name], outcomes[name], upstream, sources)

    def value(self, statement: Statement) -> Access:
        """A statement's own element, saved if it is a result."""
        own = tuple(map(places.index, statement.indices))
        name = self.saved.get(statement.target, statement.target)
        return Access(name, statement.has_batch, own)

    def without_result(self, gradient: Formula, statement: Statement) -> Formula:
        """A fold's result is not its body's: put the body in its place."""
        values: dict[Expression, Expression] = {
            Argument("result"): statement.formula.outputs[0],
        }
        outputs = tuple(substitute(output, values) for output in gradient.outputs)
        return replace(gradient, outputs=outputs)

    def upstream(self, statement: Statement, sources: dict[str, Source]) -> Expression:
        """The gradient that a fold gives to each of what it folds, in grad, result and the body."""
        fold, body, result = statement.fold, statement.formula.outputs[0], Argument("result")
        if fold is None or fold.kind == SUM:
            return GRAD
        if fold.kind in (MAX, MIN):
            hit = call("eq", body, result)
            count = self.counted(statement, select(hit, ONE, ZERO), sources, "winners")
            return select(hit, call("div", GRAD, count), ZERO)
        if fold.kind == LOGSUMEXP:
            weight = select(
                call("eq", body, call("neg", Named("inf"))),
                ZERO,
                call("exp", call("sub", body, result)),
            )
            return call("mul", GRAD, weight)
        assert fold.kind == PROD
        is_zero = call("eq", body, ZERO)
        zeros = self.counted(statement, select(is_zero, ONE, ZERO), sources, "zeros")
        others = self.counted(statement, select(is_zero, ONE, body), sources, "others", PROD)
        alone = call("logical_and", is_zero, call("eq", zeros, ONE))
        factor = select(
            call("eq", zeros, ZERO), call("div", result, body), select(alone, others, ZERO)
        )
        return call("mul", GRAD, factor)

    def counted(
        self,
        statement: Statement,
        outcome: Expression,
        sources: dict[str, Source],
        word: str,
        kind: str = SUM,
    ) -> Expression:
        """A further fold over what a statement folds, as an argument."""
        assert statement.fold is not None
        name = fresh(f"{statement.target}_{word}", self.taken)
        made = replace(statement, target=name, fold=replace(statement.fold, kind=kind))
        self.made.append(with_formula(made, outcome, sources))
        sources[word] = replace(self.value(statement), tensor=name)
        return Argument(word)

    def contribute(
        self,
        statement: Statement,
        access: Access,
        outcome: Expression,
        upstream: Expression,
        sources: dict[str, Source],
    ) -> None:
        """The statement of one contribution: a fold over all that reads the element."""
        if outcome == ZERO or type_of(outcome) == "bool":
            return
        if upstream != GRAD:
            outcome = substitute(outcome, {GRAD: upstream})
        fold = statement.fold
        known = self.forward.tensors[access.tensor]
        tests = list(fold.where) if fold else []
        indices: list[str] = []
        rank = len(access.places)
        for dim, place in enumerate(access.places):
            index = place.index
            if index is not None and index not in indices and self.spans(index, access.tensor, dim):
                indices.append(index)
                continue
            index = fresh(self.word(place), self.taken)
            self.extents[index] = self.dim_of(access.tensor, dim, rank)
            indices.append(index)
            tests.append(Test(self.landing(place) - places.index(index), "=="))
        over = tuple(each for each in statement.loops if each not in indices)
        has_batch = statement.has_batch or (fold is not None and fold.has_batch)
        folds_batch = has_batch and not access.has_batch
        made = Statement(
            fresh(f"grad_{access.tensor}_part", self.taken),
            known.has_batch and has_batch,
            tuple(indices),
            Fold(SUM, folds_batch, over, tuple(tests)) if over or tests or folds_batch else None,
            statement.formula,
            (),
        )
        self.made.append(with_formula(made, outcome, sources))
        self.parts.add(made.target)
        found = Access(made.target, made.has_batch, tuple(map(places.index, indices)))
        self.contributions.setdefault(access.tensor, []).append(found)

    def spans(self, index: str, tensor: str, dim: int) -> bool:
        """Whether an index goes through a whole dim: as a place of its own it does, unless its
        extent is said to be less."""
        if index not in self.extents:
            return False
        whole = self.dim_of(tensor, dim, self.forward.tensors[tensor].rank)
        left = self.sizes.canonical(whole) - self.sizes.canonical(self.extents[index])
        return not left.constant

    def dim_of(self, tensor: str, dim: int, rank: int) -> Place:
        if any(each.name == tensor for each in self.forward.inputs):
            return places.of(Size(tensor, dim - rank))
        return self.extents[self.forward.statement(tensor).indices[dim]]

    def landing(self, place: Place) -> Place:
        """Where a place is in its tensor: rules for places outside are part of it."""
        return place

    def word(self, place: Place) -> str:
        """A name like that of the index that a place moves with."""
        linear = [name for name in place.indices if place.is_linear_in(name)]
        sized = [n for n in linear if any(isinstance(a, Size) for a in self.extents[n].atoms)]
        return next(iter([*sized, *linear, "q"]))
