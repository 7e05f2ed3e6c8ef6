"""Calls of planned kernels whatever their arguments: tensors in any place and in lists, several
results, results written into self, random numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from torchgen_out._runtime.backends.cpu import converters as convert
from torchgen_out._runtime.backends.cpu.converters import Converters
from torchgen_out._runtime.backends.cpu.planned_calls import PlanTable, memory_of
from torchgen_out._runtime.core import generator as generators
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.dispatch.operator import Call

LISTS = (convert.arrays_of, convert.arrays_or_none)


class Places:
    """Where among the arguments of a call tensors, lists of them, and the rest stand.

    first: where those begin that the kernel reads. generator: the place of the random numbers'
    source, if there is one. Of all arguments of a call, `tensors_of` gives the tensors, those in
    lists included; `plain_of` what a plan depends on beside their geometry; `source_of` the source.
    """

    def __init__(
        self,
        first: int,
        tensors: tuple[int, ...],
        has_lists: bool,
        plain: tuple[int, ...],
        generator: int | None,
    ) -> None:
        self.first = first
        self.tensors_of = partial(tensors_in, tensors) if has_lists else picker(tensors)
        self.plain_of = picker(plain)
        self.source_of = nothing if generator is None else partial(source_in, generator)

    def plain_in_tuples(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The same where lists stand among it, which cannot be looked up."""
        plain = self.plain_of(args)
        return tuple([tuple(each) if each.__class__ is list else each for each in plain])


def picker(places: tuple[int, ...]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """What takes these arguments out of all of a call."""
    if len(places) > 1:
        return itemgetter(*places)
    if not places:
        return nothing
    (place,) = places
    return lambda args: (args[place],)


def tensors_in(places: tuple[int, ...], args: Sequence[Any]) -> list[Tensor]:
    """The tensors at these places, where a list of them may stand."""
    found: list[Tensor] = []
    for place in places:
        operand = args[place]
        if isinstance(operand, Tensor):
            found.append(operand)
        else:
            found += [each for each in operand if each is not None]
    return found


def nothing(args: Sequence[Any]) -> tuple[Any, ...]:
    """What is taken out of no places."""
    return ()


def source_in(place: int, args: Sequence[Any]) -> tuple[Any, ...]:
    """The source given at this place, or the usual one."""
    return (convert.generator_or_default(args[place]),)


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
    tensors_of, plain_of, source_of = places.tensors_of, places.plain_of, places.source_of

    def call(*args: Any) -> Any:
        nonlocal plain_of
        tensors = tensors_of(args)
        geometry = (plain_of(args), *[(t._sizes, t._strides) for t in tensors])
        try:
            plan = plans.get(geometry)
        except TypeError:
            plain_of = places.plain_in_tuples  # from now on: who gives lists does so again
            geometry = (plain_of(args), *geometry[1:])
            plan = plans.look_up(geometry)
        if plan is None:
            plan = plans.make(geometry, args)
        output, run, number = plan
        if run is None:
            return general(*args)
        buffer = output.empty(output.numel, output.numpy)
        run(buffer, *memory_of(tensors), number, *source_of(args))
        return build(output.key, output.sizes, output.strides, 0, None, buffer)

    return call


def make_several_call(plans: PlanTable, general: Call, places: Places, wrap: Any) -> Call:
    """A planned kernel that makes tensors in any order: run(*outs, *arrays, *offsets, number).

    wrap: the class of named results, or what becomes of the list of them.
    """
    tensors_of, plain_of, source_of = places.tensors_of, places.plain_of, places.source_of
    together = partial(tuple.__new__, wrap) if isinstance(wrap, type) else wrap or tuple

    def call(*args: Any) -> Any:
        nonlocal plain_of
        tensors = tensors_of(args)
        geometry = (plain_of(args), *[(t._sizes, t._strides) for t in tensors])
        try:
            plan = plans.get(geometry)
        except TypeError:
            plain_of = places.plain_in_tuples  # from now on: who gives lists does so again
            geometry = (plain_of(args), *geometry[1:])
            plan = plans.look_up(geometry)
        if plan is None:
            plan = plans.make(geometry, args)
        *outputs, run, number = plan
        if run is None:
            return general(*args)
        results, flat = [], []
        for output in outputs:
            buffer = output.empty(output.numel, output.numpy)
            flat.append(buffer)
            storage, dense = (None, buffer) if output.is_contiguous else (Storage(buffer), None)
            results.append(build(output.key, output.sizes, output.strides, 0, storage, dense))
        run(*flat, *memory_of(tensors), number, *source_of(args))
        return together(results)

    return call


def make_planned_into_call(plans: PlanTable, general: Call, places: Places) -> Call:
    """A planned kernel that writes into a dense self; as above, self's memory being the result.

    places: they begin behind self if it is only written to.
    """
    tensors_of, plain_of, source_of = places.tensors_of, places.plain_of, places.source_of

    def call(self: Tensor, *others: Any) -> Any:
        nonlocal plain_of
        flat = self._flat
        if flat is None:
            return general(self, *others)
        args = (self, *others)
        tensors = tensors_of(args)
        geometry = (plain_of(args), self._sizes, *[(t._sizes, t._strides) for t in tensors])
        try:
            plan = plans.get(geometry)
        except TypeError:
            plain_of = places.plain_in_tuples
            geometry = (plain_of(args), *geometry[1:])
            plan = plans.look_up(geometry)
        if plan is None:
            plan = plans.make(geometry, args, places.first)
        _, run, number = plan
        if run is None:
            return general(*args)
        run(flat, *memory_of(tensors), number, *source_of(args))
        (self._shared or self._storage).version += 1
        return self

    return call


def make_drawing_call(plans: PlanTable, general: Call) -> Call:
    """A planned kernel that fills a dense self with random numbers.

    Behind self come plain numbers and the source: run(self, number, source).
    """

    def call(self: Tensor, *others: Any) -> Any:
        flat = self._flat
        if flat is None:
            return general(self, *others)
        *plain, generator = others
        geometry = (self._sizes, *plain)
        plan = plans.get(geometry)
        if plan is None:
            plan = plans.make(geometry, (self, *others), 1)
        _, run, number = plan
        if run is None:
            return general(self, *others)
        run(flat, number, generators.default_generator if generator is None else generator)
        (self._shared or self._storage).version += 1
        return self

    return call
