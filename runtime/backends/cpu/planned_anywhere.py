"""Calls of planned kernels whatever their arguments: tensors in any place and in lists, several
results, results written into self, random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from runtime.backends.cpu import converters as convert
from runtime.backends.cpu.converters import Converters
from runtime.backends.cpu.planned_calls import PlanTable, arrays_of, offsets_of
from runtime.core.tensor import Tensor, build
from runtime.dispatch.operator import Call

LISTS = (convert.arrays_of, convert.arrays_or_none)


class Places(NamedTuple):
    """Where among the arguments of a call tensors, lists of them, and the rest stand.

    first: where those begin that the kernel reads. generator: the place of the random numbers'
    source, if there is one: no part of a plan.
    """

    first: int
    tensors: tuple[int, ...]
    has_lists: bool
    plain: tuple[int, ...]
    generator: int | None

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

    def source_of(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The source of random numbers, if the operator takes one."""
        if self.generator is None:
            return ()
        return (convert.generator_or_default(args[self.generator]),)


def find_places(converters: Converters, first: int = 0) -> Places | None:
    """Where things stand from argument `first` on; None if a tensor has to be converted."""
    tensors, plain, generator = [], [], None
    for place in range(first, len(converters)):
        converter = converters[place]
        if converter is Tensor._array or converter in LISTS:
            tensors.append(place)
        elif converter is convert.generator_or_default:
            generator = place
        elif converter is None:
            plain.append(place)
        else:
            return None
    has_lists = any(converters[place] in LISTS for place in tensors)
    return Places(first, tuple(tensors), has_lists, tuple(plain), generator)


def make_anywhere_call(plans: PlanTable, general: Call, places: Places) -> Call:
    """A planned kernel that makes one tensor: run(out, *arrays, *offsets, number, *source)."""

    def call(*args: Any) -> Any:
        tensors = places.tensors_of(args)
        plain = tuple([args[place] for place in places.plain])
        geometry = (plain, *[(t._sizes, t._strides) for t in tensors])
        try:
            plan = plans.get(geometry)
        except TypeError:
            return call_frozen(call, general, places, args)
        if plan is None:
            plan = plans.make(geometry, args)
        output, run, number = plan
        if run is None:
            return general(*args)
        buffer = output.empty(output.numel, output.numpy)
        arrays, offsets = arrays_of(tensors), offsets_of(tensors)
        run(buffer, *arrays, *offsets, number, *places.source_of(args))
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    return call


def make_several_call(plans: PlanTable, general: Call, places: Places, wrap: Any) -> Call:
    """A planned kernel that makes several tensors: run(*outs, *arrays, *offsets, number)."""

    def call(*args: Any) -> Any:
        tensors = places.tensors_of(args)
        plain = tuple([args[place] for place in places.plain])
        geometry = (plain, *[(t._sizes, t._strides) for t in tensors])
        try:
            plan = plans.get(geometry)
        except TypeError:
            return call_frozen(call, general, places, args)
        if plan is None:
            plan = plans.make(geometry, args)
        *outputs, run, number = plan
        if run is None:
            return general(*args)
        buffers = [output.empty(output.numel, output.numpy) for output in outputs]
        arrays, offsets = arrays_of(tensors), offsets_of(tensors)
        run(*buffers, *arrays, *offsets, number, *places.source_of(args))
        results = [
            build(output.key, output.sizes, output.strides, 0, None, buffer)
            for output, buffer in zip(outputs, buffers, strict=True)
        ]
        return wrap(*results) if wrap else tuple(results)

    return call


def call_frozen(call: Call, general: Call, places: Places, args: Sequence[Any]) -> Any:
    """Look up once more, with tuples for lists; nothing else can be done about what is left."""
    frozen = list(args)
    for place in places.plain:
        if frozen[place].__class__ is list:
            frozen[place] = tuple(frozen[place])
    changed = any(old is not new for old, new in zip(args, frozen, strict=True))
    return call(*frozen) if changed else general(*args)


def make_planned_into_call(plans: PlanTable, general: Call, places: Places) -> Call:
    """A planned kernel that writes into a dense self; as above, self's memory being the result.

    places: they begin behind self if it is only written to.
    """

    def call(self: Tensor, *others: Any) -> Any:
        flat = self._flat
        if flat is None:
            return general(self, *others)
        args = (self, *others)
        tensors = places.tensors_of(args)
        plain = tuple([args[place] for place in places.plain])
        geometry = (self._sizes, plain, *[(t._sizes, t._strides) for t in tensors])
        try:
            plan = plans.get(geometry)
        except TypeError:
            return call_frozen(call, general, places, args)
        if plan is None:
            plan = plans.make(geometry, args, places.first)
        _, run, number = plan
        if run is None:
            return general(*args)
        arrays, offsets = arrays_of(tensors), offsets_of(tensors)
        run(flat, *arrays, *offsets, number, *places.source_of(args))
        (self._shared or self._storage).version += 1
        return self

    return call
