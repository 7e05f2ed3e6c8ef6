"""The state of a walk: where code is put, what the variables are, what is to be released."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import kinds, scalars
from torchgen_out._runtime.kernels.compiler.values import (
    Array,
    Kind,
    Number,
    Tuple,
    Unset,
    Unsupported,
    Value,
    parts,
    rebuilt,
)

Env = dict[str, Value]
Edge = tuple[Any, Env]
"""The open end of a block, and the variables there."""


class Retype(Exception):
    """The walk must begin again, with a variable of a loop, or the result, of another type."""

    def __init__(self, place: Any, kind: Kind) -> None:
        self.place = place
        self.kind = kind


class Builder(ir.IRBuilder):
    """LLVM's builder, which marks arithmetic of floats with what the optimiser may assume."""

    flags: tuple[str, ...] = ()

    @contextmanager
    def exact(self) -> Iterator[None]:
        """Let the optimiser assume nothing meanwhile."""
        before, self.flags = self.flags, ()
        try:
            yield
        finally:
            self.flags = before

    def fadd(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        return super().fadd(lhs, rhs, name, flags or self.flags)

    def fsub(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        return super().fsub(lhs, rhs, name, flags or self.flags)

    def fmul(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        return super().fmul(lhs, rhs, name, flags or self.flags)

    def fdiv(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        return super().fdiv(lhs, rhs, name, flags or self.flags)

    def frem(self, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        return super().frem(lhs, rhs, name, flags or self.flags)

    def fcmp_ordered(self, op: str, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        return super().fcmp_ordered(op, lhs, rhs, name, flags or self.flags)

    def fcmp_unordered(self, op: str, lhs: Any, rhs: Any, name: str = "", flags: Any = ()) -> Any:
        return super().fcmp_unordered(op, lhs, rhs, name, flags or self.flags)

    def call(self, fn: Any, args: Any, *rest: Any, **keywords: Any) -> Any:
        if self.flags and isinstance(fn.function_type.return_type, (ir.FloatType, ir.DoubleType)):
            keywords["fastmath"] = {*keywords.get("fastmath", ()), *self.flags}
        return super().call(fn, args, *rest, **keywords)


class Scope:
    """What belongs to one function of a text while it is walked."""

    def __init__(self, names: dict[str, Any], env: Env, outer: Scope | None = None) -> None:
        self.names = names
        self.outer = outer
        self.env: Env | None = env
        self.returns: list[Edge] = []
        self.loops: list[Loop] = []
        self.owned: list[Any] = []


class Loop:
    """Where the rounds of a loop end: by `continue`, and by `break`."""

    def __init__(self) -> None:
        self.continues: list[Edge] = []
        self.breaks: list[Edge] = []


class Body:
    """A kernel that is being compiled.

    settled: types that an earlier walk found for variables of loops, and for the result.
    """

    def __init__(self, function: Any, settled: dict[Any, Kind]) -> None:
        self.builder = Builder(function.append_basic_block("entry"))
        self.function = function
        self.settled = settled
        self.met: dict[Any, Kind] = {}
        self.path: tuple[Any, ...] = ()
        self.scope = Scope({}, {})

    # Blocks.

    def block(self) -> Any:
        """A new block at the end of the function."""
        return self.function.append_basic_block()

    def enter(self, block: Any, env: Env | None) -> None:
        """Go on at the end of a block, with the variables as they are there."""
        self.builder.position_at_end(block)
        self.scope.env = env

    def edge(self) -> list[Edge]:
        """The open end where the walk stands; none if it cannot be reached."""
        env, self.scope.env = self.scope.env, None
        return [] if env is None else [(self.builder.block, env)]

    def join(self, edges: Sequence[Edge]) -> None:
        """Go on where several ends meet, with each variable as the end has it that was taken."""
        if not edges:
            self.scope.env = None
            return
        if len(edges) == 1:
            self.enter(*edges[0])
            return
        envs = [env for _, env in edges]
        names = dict.fromkeys(name for env in envs for name in env)
        merged: Env = {}
        phis: list[tuple[list[Value], str]] = []
        for name in names:
            values = [env.get(name) for env in envs]
            first = values[0]
            if first is not None and all(value is first for value in values):
                merged[name] = first
                continue
            common = self._common(values)
            if isinstance(common, Unset):
                merged[name] = common
            elif common is not None:
                phis.append((self._alike(common, edges, values), name))
        block = self.block()
        for own, _ in edges:
            self.builder.position_at_end(own)
            self.builder.branch(block)
        self.builder.position_at_end(block)
        for values_there, name in phis:
            merged[name] = self._phi(values_there, [own for own, _ in edges])
        self.scope.env = merged

    def _common(self, values: Sequence[Value | None]) -> Any:
        """The type that a variable has after several ends; None if nobody can read it there."""
        unset = next((value for value in values if isinstance(value, Unset)), None)
        known = [value for value in values if value is not None and not isinstance(value, Unset)]
        try:
            kind = known[0].kind if known else None
            for value in known[1:]:
                kind = unified(kind, value.kind)
        except Unsupported:
            return None
        if unset is not None:
            return Unset(unset.loop, kind or unset.kind)
        return kind

    def _alike(self, kind: Kind, edges: Sequence[Edge], values: Sequence[Any]) -> list[Value]:
        """A variable's values in one type, converted at the ends that they come from."""
        made: list[Value] = []
        for (block, _), value in zip(edges, values, strict=True):
            self.builder.position_at_end(block)
            made.append(undefined(kind) if value is None else self.converted(value, kind))
        return made

    def _phi(self, values: Sequence[Value], blocks: Sequence[Any]) -> Value:
        registers = []
        for each in zip(*map(parts, values), strict=True):
            phi = self.builder.phi(each[0].type)
            for register, block in zip(each, blocks, strict=True):
                phi.add_incoming(register, block)
            registers.append(phi)
        return rebuilt(values[0], iter(registers))

    # Variables.

    def __getitem__(self, name: str) -> Value | None:
        assert self.scope.env is not None
        value = self.scope.env.get(name)
        if isinstance(value, Unset):
            kind = value.kind or self.met.get((value.loop, name))
            if kind is None:
                raise Unsupported(f"{name} may be read before it is set")
            raise Retype((value.loop, name), kind)
        return value

    def __setitem__(self, name: str, value: Value) -> None:
        assert self.scope.env is not None
        self.scope.env[name] = value

    def converted(self, value: Value, kind: Kind) -> Value:
        """A value in a type that it can have."""
        if isinstance(value, Number):
            return scalars.cast(self.builder, value, kind)
        if isinstance(value, Tuple):
            pairs = zip(value.items, kind, strict=True)
            return Tuple([self.converted(item, own) for item, own in pairs])
        if isinstance(value, Array):
            strides = self.strides(value) if kind.layout == "A" else None
            return Array(kind, value.data, value.shape, strides)
        raise Unsupported(f"a variable that holds {value}")

    def strides(self, array: Array) -> tuple[Any, ...]:
        """The strides of an array, in bytes."""
        if array.strides is not None:
            return array.strides
        strides = [self.index(kinds.item_size(array.kind.dtype))]
        for size in array.shape[:0:-1]:
            strides.insert(0, self.builder.mul(strides[0], size))
        return tuple(strides)

    # Small things.

    def index(self, value: int) -> Any:
        """A whole number as sizes and strides are."""
        return ir.Constant(ir.IntType(64), value)

    @contextmanager
    def reassociating(self, flags: tuple[str, ...]) -> Iterator[None]:
        """Let the optimiser do to floats what `flags` say."""
        before, self.builder.flags = self.builder.flags, flags
        try:
            yield
        finally:
            self.builder.flags = before

    def slot(self, kind: Any) -> Any:
        """A place in memory that holds zero at the beginning."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(kind)
            self.builder.store(ir.Constant(kind, None), place)
        return place


def unified(first: Kind, second: Kind) -> Kind:
    """The type of a variable that is one or the other, a tuple element by element."""
    if first == second and first is not None:
        return first
    if first is None or second is None:
        raise Unsupported("a variable of two kinds")
    if isinstance(first, tuple) != isinstance(second, tuple):
        raise Unsupported("a variable of two kinds")
    if isinstance(first, tuple):
        if len(first) != len(second):
            raise Unsupported("a tuple of two lengths")
        return tuple(unified(*each) for each in zip(first, second, strict=True))
    return scalars.unified(first, second)


def undefined(kind: Kind) -> Value:
    """A value of a type that nobody reads."""
    if isinstance(kind, tuple):
        return Tuple([undefined(each) for each in kind])
    if isinstance(kind, kinds.Array):
        word = ir.IntType(64)
        data = ir.Constant(kind.dtype.memory.as_pointer(), ir.Undefined)
        shape = [ir.Constant(word, ir.Undefined)] * kind.ndim
        return Array(kind, data, shape, shape if kind.layout == "A" else None)
    return Number(kind, ir.Constant(kind.register, ir.Undefined))
