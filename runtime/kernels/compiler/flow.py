"""Statements: assignments, branches, loops and returns."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import (
    arrays,
    calls,
    convention,
    expressions,
    kinds,
    memory,
    scalars,
)
from torchgen_out._runtime.kernels.compiler.body import (
    Body,
    Edge,
    Env,
    Loop,
    Retype,
    undefined,
    unified,
)
from torchgen_out._runtime.kernels.compiler.values import (
    Array,
    Kind,
    Number,
    Static,
    Tuple,
    Unset,
    Unsupported,
    Value,
    parts,
    rebuilt,
)

HINTS = {
    "in_turn": {"interleave.count": 1},
    "few": {"vectorize.width": 1, "interleave.count": 1, "unroll.count": 1},
    "in_lanes": {"unroll.count": 1},
}
"""Other names for `range`, and what they tell LLVM of a loop. in_turn: one vector of rounds is
computed after the other; LLVM takes up to four side by side, and what then remains of few rounds
takes longer than they do. few: no more rounds than it takes to ask whether vectors are worth it.
in_lanes: as many as a vector has elements, which LLVM would write out before it thinks of one."""


def run(body: Body, statements: Iterable[ast.stmt]) -> None:
    """Compile statements up to one that leaves."""
    for statement in statements:
        if body.scope.env is None:
            return
        make = _STATEMENTS.get(statement.__class__)
        if make is None:
            raise Unsupported(f"a statement: {ast.unparse(statement)}")
        make(body, statement)


def _assign(body: Body, node: ast.Assign) -> None:
    value = expressions.value(body, node.value)
    for target in node.targets:
        _store(body, target, value)


def _store(body: Body, target: ast.expr, value: Value) -> None:
    if isinstance(target, ast.Name):
        body[target.id] = value
    elif isinstance(target, ast.Subscript):
        arrays.store(body, target, value)
    elif isinstance(target, ast.Tuple):
        if isinstance(value, Array):
            items = arrays.first_elements(body, value, len(target.elts))
        else:
            items = expressions.items_of(body, value)
        if len(items) != len(target.elts):
            raise Unsupported("a tuple of another length")
        for each, item in zip(target.elts, items, strict=True):
            _store(body, each, item)
    else:
        raise Unsupported(f"an assignment to {ast.unparse(target)}")


def _assign_of_a_type(body: Body, node: ast.AnnAssign) -> None:
    """x: type = value; the type is for who reads the text."""
    if node.value is not None:
        _store(body, node.target, expressions.value(body, node.value))


def _assign_in_place(body: Body, node: ast.AugAssign) -> None:
    if isinstance(node.target, ast.Subscript):
        arrays.update(body, node)
        return
    assert isinstance(node.target, ast.Name)
    left = expressions.value(body, ast.Name(node.target.id, ast.Load()))
    right = expressions.value(body, node.value)
    body[node.target.id] = expressions.binary(body, node.op, left, right)


def _expression(body: Body, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        expressions.value(body, node.value)


def _pass(body: Body, node: ast.Pass) -> None:
    """Nothing."""


def _return(body: Body, node: ast.Return) -> None:
    value = Static(None) if node.value is None else expressions.value(body, node.value)
    env = body.scope.env
    if env is not None:
        body.scope.env = {calls.RESULT: value}
        body.scope.returns += body.edge()


def _raise(body: Body, node: ast.Raise) -> None:
    raised = node.exc
    if not isinstance(raised, ast.Call) or node.cause:
        raise Unsupported(f"an error: {ast.unparse(node)}")
    kind = expressions.value(body, raised.func)
    arguments = [expressions.value(body, each) for each in raised.args]
    if not isinstance(kind, Static) or not all(isinstance(each, Static) for each in arguments):
        raise Unsupported("an error with numbers")
    memory.release_all(body)
    told = tuple(each.value for each in arguments if isinstance(each, Static))
    convention.raise_error(body.builder, kind.value, told)
    body.scope.env = None


def _if(body: Body, node: ast.If) -> None:
    branch(body, node.test, lambda: run(body, node.body), lambda: run(body, node.orelse))


def branch(
    body: Body, test: ast.expr, then: Callable[[], None], otherwise: Callable[[], None]
) -> None:
    """Compile what is done if a test holds, and what is done if not; and where both go on."""
    for_true, for_false = expressions.condition(body, test)
    edges: list[Edge] = []
    for ends, work in ((for_true, then), (for_false, otherwise)):
        body.join(ends)
        if body.scope.env is not None:
            work()
            edges += body.edge()
    body.join(edges)


# Loops.


def _while(body: Body, node: ast.While) -> None:
    if node.orelse:
        raise Unsupported("else of a loop")
    header = _Header(body, node, node.body)
    inside, outside = expressions.condition(body, node.test)
    body.join(inside)
    loop = _rounds(body, node.body)
    header.close(body, loop.continues)
    body.join([*outside, *loop.breaks])


def _for(body: Body, node: ast.For) -> None:
    if node.orelse:
        raise Unsupported("else of a loop")
    source = node.iter
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name):
        _unrolled(body, node)
        return
    function = expressions.value(body, source.func)
    if not isinstance(function, Static) or function.value is not range:
        _unrolled(body, node)
        return
    start, stop, step = _bounds(body, [expressions.number(body, each) for each in source.args])
    _counted(body, node, start, stop, step, HINTS.get(source.func.id, {}))


def _bounds(body: Body, given: Sequence[Number]) -> tuple[Number, Number, Number]:
    """Start, stop and step of a range, in the type that Numba counts in."""
    kind = scalars.counted_in([each.kind for each in given])
    if kind not in (kinds.int64, kinds.uint64, kinds.int32):
        raise Unsupported(f"a range of {kind}")
    numbers = [scalars.cast(body.builder, each, kind) for each in given]
    zero, one = scalars.constant(kind, 0), scalars.constant(kind, 1)
    if len(numbers) == 1:
        return zero, numbers[0], one
    return numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else one


def _counted(
    body: Body, node: ast.For, start: Number, stop: Number, step: Number, hints: Mapping[str, int]
) -> None:
    """A loop over a range: a counter of its own, which no assignment in the loop changes."""
    builder, kind = body.builder, start.kind
    header = _Header(body, node, node.body, start)
    counter = header.counter
    compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
    if step.literal is not None:
        goes_on = compare("<" if step.literal > 0 else ">", counter, stop.ir)
    else:
        upwards = builder.icmp_signed(">", step.ir, step.ir.type(0))
        rising, falling = compare("<", counter, stop.ir), compare(">", counter, stop.ir)
        goes_on = builder.select(upwards, rising, falling)
    inside, after = body.block(), body.block()
    builder.cbranch(goes_on, inside, after)
    assert body.scope.env is not None
    outside = (after, dict(body.scope.env))
    body.enter(inside, body.scope.env)
    rises = step.literal is not None and step.literal > 0
    _store(body, node.target, Number(kind, counter, is_natural=rises and start.is_natural))
    loop = _rounds(body, node.body)
    goes_back = header.close(body, loop.continues, step)
    if hints and goes_back is not None:
        goes_back.set_metadata("llvm.loop", _hinted(body.builder.module, hints))
    body.join([outside, *loop.breaks])


def _hinted(module: Any, hints: Mapping[str, int]) -> Any:
    """What tells LLVM of one loop: a node that begins with itself."""
    told = [
        module.add_metadata([ir.MetaDataString(module, f"llvm.loop.{name}"), ir.IntType(32)(count)])
        for name, count in hints.items()
    ]
    node = ir.values.MDValue(module, (), str(len(module.metadata)))
    node.operands = (node, *told)
    return node


def _unrolled(body: Body, node: ast.For) -> None:
    """A loop over a tuple: its rounds one after the other."""
    source = expressions.value(body, node.iter)
    if not isinstance(source, Tuple) or any(
        isinstance(each, (ast.Break, ast.Continue)) for each in ast.walk(node)
    ):
        raise Unsupported("a loop over something else than a range")
    for at, item in enumerate(source.items):
        if body.scope.env is not None:
            _store(body, node.target, item)
            outer, body.path = body.path, (*body.path, (id(node), at))
            run(body, node.body)
            body.path = outer


def _rounds(body: Body, statements: Sequence[ast.stmt]) -> Loop:
    """Compile what a loop repeats; its ends that go to the next round are all in `continues`."""
    loop = Loop()
    body.scope.loops.append(loop)
    run(body, statements)
    loop.continues += body.edge()
    body.scope.loops.pop()
    return loop


class _Header:
    """The block where the rounds of a loop begin, with the variables that they change.

    Such a variable has the same type in all rounds: where that turns out to be another one at the
    end of a round than at the beginning of the first, the walk begins again with the common one.
    """

    def __init__(
        self,
        body: Body,
        node: ast.stmt,
        statements: Sequence[ast.stmt],
        start: Number | None = None,
    ) -> None:
        builder, env = body.builder, body.scope.env
        assert env is not None
        self.loop = (body.path, id(node))
        self.assigned = _assigned(node)
        initial: dict[str, Value] = {}
        for name in self.assigned:
            value = env.get(name)
            kind = body.settled.get((self.loop, name))
            if value is None or isinstance(value, Unset):
                if kind is not None:
                    initial[name] = undefined(kind)
            elif kind is not None and kind != value.kind:
                initial[name] = body.converted(value, kind)
            elif isinstance(value, (Number, Array, Tuple)):
                initial[name] = value
            else:
                raise Unsupported(f"a loop that sets {name}, which is no value")
        before, self.block = builder.block, body.block()
        builder.branch(self.block)
        env = dict(env)
        body.enter(self.block, env)
        self.phis: dict[str, tuple[Value, list[Any]]] = {}
        self.marks: dict[str, Any] = {}
        for name in self.assigned:
            if name in initial:
                self._begin(body, env, name, initial[name], before)
            else:
                earlier = env.get(name)
                env[name] = mark = earlier if isinstance(earlier, Unset) else Unset(self.loop)
                self.marks[name] = mark.loop
        if start is not None:
            self.counter = builder.phi(start.ir.type)
            self.counter.add_incoming(start.ir, before)

    def _begin(self, body: Body, env: Env, name: str, value: Value, before: Any) -> None:
        registers = []
        for part in parts(value):
            phi = body.builder.phi(part.type)
            phi.add_incoming(part, before)
            registers.append(phi)
        env[name] = rebuilt(value, iter(registers))
        self.phis[name] = (env[name], registers)

    def close(self, body: Body, edges: Sequence[Edge], step: Number | None = None) -> Any:
        """Go back from the ends of a round to the beginning of the next, by a branch or not."""
        body.join(edges)
        env = body.scope.env
        if env is None:
            return None
        for name in self.assigned:
            value = env.get(name)
            if name not in self.phis:
                if isinstance(value, (Number, Array, Tuple)):
                    body.met[self.marks[name], name] = value.kind
                continue
            self._end(body, name, value)
        if step is not None:
            flags = ("nsw",) if step.kind.signed else ("nuw",)
            following = body.builder.add(self.counter, step.ir, flags=flags)
            self.counter.add_incoming(following, body.builder.block)
        goes_back = body.builder.branch(self.block)
        body.scope.env = None
        return goes_back

    def _end(self, body: Body, name: str, value: Value | None) -> None:
        begun, phis = self.phis[name]
        kind: Kind = begun.kind
        if value is None or isinstance(value, Unset):
            raise Unsupported(f"{name} is of different kinds in a loop")
        if value.kind != kind:
            common = unified(kind, value.kind)
            if common != kind:
                raise Retype((self.loop, name), common)
            value = body.converted(value, kind)
        for phi, register in zip(phis, parts(value), strict=True):
            phi.add_incoming(register, body.builder.block)


@lru_cache(512)
def _assigned(node: ast.stmt) -> tuple[str, ...]:
    """The variables that the rounds of a loop set."""
    found = [
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    return tuple(dict.fromkeys(found))


def _break(body: Body, node: ast.Break) -> None:
    body.scope.loops[-1].breaks += body.edge()


def _continue(body: Body, node: ast.Continue) -> None:
    body.scope.loops[-1].continues += body.edge()


_STATEMENTS: dict[type, Callable[[Body, Any], None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _assign_of_a_type,
    ast.AugAssign: _assign_in_place,
    ast.Expr: _expression,
    ast.Pass: _pass,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Break: _break,
    ast.Continue: _continue,
}
