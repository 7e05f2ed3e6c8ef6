"""One call of an operator inside `vmap`: its arguments as tensors of all samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from torchgen_out._runtime.core import batched, maps
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops, overrides
from torchgen_out._runtime.dispatch.operator import INPLACE, CallTable

Rule = Callable[["Given"], Any]


class Given:
    """The arguments of a call, those of the innermost map's samples replaced by all samples.

    args: in the schema's order, defaults filled in. held: for each, whether it was a sample; for a
    list, of each member. level, size: the map, and how many samples it has. before_each: what is
    done before the operator is called for one of them.
    """

    before_each: Callable[[], Any] = staticmethod(int)

    def __init__(self, table: CallTable, args: tuple[Any, ...]) -> None:
        self.table = table
        self.operator = table.operator
        self.original = args
        self.names, defaults = _parameters_of(self.operator.schema)
        levels = [_level_of(arg) for arg in args]
        self.level = level = max(levels)
        self.args: list[Any] = []
        self.held: list[Any] = []
        for arg, own in zip(args, levels, strict=True):
            if isinstance(arg, (list, tuple)):
                held = [batched.level_of(each) == level for each in arg]
                pairs = zip(arg, held, strict=True)
                if own == level:
                    arg = [batched.samples_of(each).value if of else each for each, of in pairs]
                self.args.append(arg)
                self.held.append(held)
            elif own == level:
                self.args.append(batched.samples_of(arg).value)
                self.held.append(True)
            else:
                self.args.append(arg)
                self.held.append(False)
        for default in defaults[len(args) :]:
            self.args.append(default)
            self.held.append([] if isinstance(default, (list, tuple)) else False)
        self.size = maps.state.entered[level - 1].size

    @property
    def name(self) -> str:
        """What was called."""
        return self.table.called

    @property
    def writes(self) -> bool:
        """Whether the call writes to its first argument."""
        return self.table.variant == INPLACE or getattr(self.operator, "mutates", False)

    def argument(self, name: str) -> Any:
        """The argument of a name."""
        return self.args[self.names.index(name)]

    def tensors(self) -> Iterator[tuple[int, Tensor, bool]]:
        """(place, tensor, whether it holds samples) of the operands that are single tensors."""
        for place in self.operator.operand_places:
            if place < len(self.args) and isinstance(self.args[place], Tensor):
                yield place, self.args[place], self.held[place] is True

    def ndim(self, place: int) -> int:
        """The dims of one sample of an operand."""
        return len(self.args[place]._sizes) - (self.held[place] is True)

    def expanded(self, place: int) -> Tensor:
        """An operand with a dim 0 of samples, repeated if it has none."""
        tensor: Tensor = self.args[place]
        if self.held[place] is True:
            return tensor
        return ops.expand(tensor, [self.size, *tensor._sizes])

    def call(self, args: list[Any] | None = None) -> Any:
        """What the operator gives for arguments, these by default; written over self if it does."""
        args = self.args if args is None else args
        operands = tuple([args[place] for place in self.operator.operand_places])
        return self.table[self.operator.signature(operands)](*args)

    def result(self, made: Any) -> Any:
        """Samples as the function inside the map sees them; self, if it was written to."""
        if self.writes:
            written: Tensor = self.original[0]
            written._key |= self.args[0]._key & keys.GRAD
            return written
        if isinstance(made, Tensor):
            return batched.batch(made, self.level)
        seen = [self.result(each) for each in made]
        wrap = getattr(self.operator, "wrap", None)
        return wrap(*seen) if wrap else tuple(seen)


def _level_of(arg: Any) -> int:
    """The level of the innermost map of which an argument, or a member of a list, is a sample."""
    if isinstance(arg, (list, tuple)):
        return max(map(batched.level_of, arg), default=0)
    return batched.level_of(arg)


@cache
def _parameters_of(schema: str) -> tuple[list[str], tuple[Any, ...]]:
    """The names of a schema's parameters, and their defaults: None for those that have none."""
    parameters = overrides.parameters(schema)
    defaults = [None if each is overrides.NO_DEFAULT else each for _, _, each in parameters]
    return [name for name, _, _ in parameters], tuple(defaults)


class Sides:
    """Operands of a composite, those of the innermost map's samples as all samples.

    values: with dim 0 of samples where held. level, size: the map, and how many samples it has.
    """

    def __init__(self, *operands: Any) -> None:
        self.level = max(map(batched.level_of, operands))
        self.held = [batched.level_of(each) == self.level for each in operands]
        self.values = [
            batched.samples_of(each).value if held else each
            for each, held in zip(operands, self.held, strict=True)
        ]
        pairs = zip(self.values, self.held, strict=True)
        self.size = next(int(value._sizes[0]) for value, held in pairs if held)

    def whole(self, position: int) -> Tensor:
        """An operand with dim 0 of samples, repeated if it has none."""
        value: Tensor = self.values[position]
        return value if self.held[position] else ops.expand(value, [self.size, *value._sizes])

    def batch(self, value: Tensor) -> Tensor:
        """All samples as one sample."""
        return batched.batch(value, self.level)
