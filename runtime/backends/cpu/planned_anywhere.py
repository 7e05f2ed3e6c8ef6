"""Calls of planned kernels whatever their arguments: tensors in any place and in lists, several
results, results written into self, random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_ as is_same
from typing import Any, NamedTuple

from runtime.backends.cpu import planned_calls
from runtime.backends.cpu.converters import (
    Converters,
    arrays_of,
    arrays_or_none,
    generator_or_default,
)
from runtime.backends.cpu.planned_calls import PlanTable
from runtime.core.tensor import Tensor, build
from runtime.dispatch.operator import Call

LISTS = (arrays_of, arrays_or_none)


class Places(NamedTuple):
    """Where among the arguments of a call tensors, lists of them, and the rest stand.

    generator: the place of the random numbers' source, if there is one: no part of a plan.
    """

    tensors: tuple[int, ...]
    has_lists: bool
    plain: tuple[int, ...]
    generator: int | None

    def operands(self, args: Sequence[Any]) -> list[Any]:
        """The tensors and lists."""
        return [args[place] for place in self.tensors]

    def tensors_of(self, args: Sequence[Any]) -> list[Tensor]:
        """The tensors, those in lists included."""
        if not self.has_lists:
            return [args[place] for place in self.tensors]
        found: list[Tensor] = []
        for place in self.tensors:
            operand = args[place]
            if isinstance(operand, Tensor):
                found.append(operand)
            else:
                found += [each for each in operand if each is not None]
        return found

    def plain_of(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The other arguments."""
        return tuple([args[place] for place in self.plain])

    def frozen(self, args: Sequence[Any]) -> list[Any] | None:
        """The arguments with tuples for plain lists, so that they can be looked up; None as is."""
        frozen = list(args)
        for place in self.plain:
            if args[place].__class__ is list:
                frozen[place] = tuple(args[place])
        return None if all(map(is_same, frozen, args)) else frozen

    def source_of(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The source of random numbers, if the operator takes one."""
        return () if self.generator is None else (generator_or_default(args[self.generator]),)


def find_places(converters: Converters, first: int = 0) -> Places | None:
    """Where things stand from argument `first` on; None if a tensor has to be converted."""
    tensors, plain, generator = [], [], None
    for place in range(first, len(converters)):
        convert = converters[place]
        if convert is Tensor._array or convert in LISTS:
            tensors.append(place)
        elif convert is generator_or_default:
            generator = place
        elif convert is None:
            plain.append(place)
        else:
            return None
    has_lists = any(converters[place] in LISTS for place in tensors)
    return Places(tuple(tensors), has_lists, tuple(plain), generator)


def make_anywhere_call(plans: PlanTable, general: Call, places: Places, wrap: Any) -> Call:
    """A planned kernel that makes new tensors: run(*outs, *arrays, *offsets, number, *source)."""

    def call(*args: Any) -> Any:
        tensors = places.tensors_of(args)
        plain = places.plain_of(args)
        geometry = (plain, *[(t._sizes, t._strides) for t in tensors])
        try:
            plan = plans.get(geometry)
        except TypeError:
            frozen = places.frozen(args)
            return general(*args) if frozen is None else call(*frozen)
        if plan is None:
            plan = plans.make(geometry, args, places.operands(args), plain)
        *outputs, run, number = plan
        if run is None:
            return general(*args)
        buffers = [output.empty(output.numel, output.numpy) for output in outputs]
        arrays, offsets = planned_calls.arrays_of(tensors), planned_calls.offsets_of(tensors)
        run(*buffers, *arrays, *offsets, number, *places.source_of(args))
        results = [
            build(output.key, output.sizes, output.strides, 0, None, buffer)
            for output, buffer in zip(outputs, buffers, strict=True)
        ]
        if len(results) == 1:
            return results[0]
        return wrap(*results) if wrap else tuple(results)

    return call


def make_planned_into_call(plans: PlanTable, general: Call, places: Places) -> Call:
    """A planned kernel that writes into a dense self; as above, self's memory being the result.

    places: those of the arguments that the kernel reads.
    """

    def call(self: Tensor, *others: Any) -> Any:
        flat = self._flat
        if flat is None:
            return general(self, *others)
        args = (self, *others)
        tensors = places.tensors_of(args)
        plain = places.plain_of(args)
        geometry = (self._sizes, plain, *[(t._sizes, t._strides) for t in tensors])
        try:
            plan = plans.get(geometry)
        except TypeError:
            frozen = places.frozen(args)
            return general(*args) if frozen is None else call(*frozen)
        if plan is None:
            plan = plans.make(geometry, args, places.operands(args), plain)
        _, run, number = plan
        if run is None:
            return general(*args)
        arrays, offsets = planned_calls.arrays_of(tensors), planned_calls.offsets_of(tensors)
        run(flat, *arrays, *offsets, number, *places.source_of(args))
        (self._shared or self._storage).version += 1
        return self

    return call
