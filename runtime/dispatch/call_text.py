"""The text of the function for a call's form: one template, of which the spec chooses the lines.

A function looks its launch up by the geometry of its operands, takes their memory, makes that of
the results, runs, and sets the fields of the results one by one: a constructor would cost as much
as all of them. What is new to it, `find` plans. Tracebacks show the lines; `text_of` returns them.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import count
from typing import Any

from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.call_spec import (
    MOST_UNROLLED,
    NEW,
    UPDATE,
    WRITE,
    CallSpec,
    Role,
)
from torchgen_out._runtime.dispatch.launch_cache import LaunchCache

Lines = Iterator[str]


def make_call(spec: CallSpec, launches: LaunchCache, **hooks: Any) -> Callable[..., Any]:
    """The function of a spec for a backend's launches.

    hooks: memory_of(tensor, is_dense) -> (flat memory, place), for tensors whose `_flat` is not
    known. By the spec besides: convert_<argument> for scalars; check(*arguments); wrap(results);
    source, the usual one of random numbers. For `dense`: empty, pooled, keys (of each result),
    small (elements from which memory may be pooled and threads share), load() -> the flat
    kernel, run_flat, work; update (the call in place) in mode WRITE. For `defaults`:
    default_<argument>, full (the call for other scalars).
    """
    given = {"get": launches.get, "find": launches.find, **hooks}
    maker = maker_of(spec)
    needed = maker.__code__.co_varnames[: maker.__code__.co_argcount]
    call: Callable[..., Any] = maker(*[given[name] for name in needed])
    return call


@cache
def maker_of(spec: CallSpec) -> Any:
    """The function that binds a spec's hooks and returns the call."""
    return compiled("call", text_of(spec))


def compiled(kind: str, text: str) -> Any:
    """The function `make` that a text defines; its lines are at hand for tracebacks."""
    place = f"<{kind} form {next(_numbers)}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    names = {"__name__": __name__, "Tensor": Tensor, "Storage": Storage, "new": object.__new__}
    exec(compile(text, place, "exec"), names)
    return names["make"]


_numbers = count()


def text_of(spec: CallSpec) -> str:
    """The function as it is compiled."""
    form = _Form(spec)
    body = [*(form.loading() if spec.dense else ()), *form.call(), "return call"]
    lines = [f"def make({', '.join(form.hooks)}):", *indented(body)]
    return "\n".join(lines) + "\n"


def tensor_lines(
    name: str,
    *,
    key: str,
    sizes: str,
    strides: str,
    flat: str,
    offset: str = "0",
    shared: str = "None",
    base: str = "None",
) -> Lines:
    """A new tensor of these fields, outside autograd unless the key says otherwise."""
    yield f"{name} = new(Tensor)"
    yield f"{name}._key = {key}"
    yield f"{name}._sizes = {sizes}"
    yield f"{name}._strides = {strides}"
    yield f"{name}._offset = {offset}"
    yield f"{name}._shared = {shared}"
    yield f"{name}._flat = {flat}"
    yield f"{name}._base = {base}"
    yield f"{name}._edge = None"
    yield f"{name}._meta = None"


def indented(lines: Iterable[str]) -> list[str]:
    """The lines of a block."""
    return [f"    {line}" for line in lines]


def _tuple(names: list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


class _Form:
    """The lines of one spec, and the hooks that they name."""

    def __init__(self, spec: CallSpec) -> None:
        self.spec = spec
        self.arguments = [name for name, _ in spec.named]
        self.hooks = ["get", "find", "memory_of"]
        self.operands: list[str] = []
        """Names of single tensors; of a long list, `*` and its name."""
        self._members = iter(spec.members)
        self.unpacking: list[str] = []
        for name, role in spec.named:
            if role is Role.TENSOR:
                self.operands.append(name)
            elif role is Role.TENSORS:
                self._take_list(name, next(self._members))
        self.first = self.arguments[0]
        """The result, unless results are new."""
        self.read = self.operands[1:] if spec.mode == WRITE else self.operands

    @property
    def scalars(self) -> list[str]:
        """What the kernel takes besides memory and places."""
        return [] if self.spec.defaults else self.spec.names(Role.SCALAR, Role.RAW)

    def _take_list(self, name: str, members: tuple[bool, ...]) -> None:
        if sum(members) <= MOST_UNROLLED:
            found = [f"{name}{i}" for i in range(len(members))]
            self.operands += [each for each, there in zip(found, members, strict=True) if there]
            self.unpacking += [f"{_tuple(found)} = {name}"] if found else []
            return
        self.operands.append(f"*{name}")
        if not all(members):
            self.unpacking.append(f"{name}_ = [each for each in {name} if each is not None]")
        else:
            self.unpacking.append(f"{name}_ = {name}")

    def hook(self, name: str) -> str:
        """A name that the maker is given."""
        if name not in self.hooks:
            self.hooks.append(name)
        return name

    # -- the parts in order ---------------------------------------------------------------------

    def loading(self) -> Lines:
        """A kernel is compiled or loaded by its first call, which puts it in its own place."""
        yield "def kernel(*args):"
        yield "    nonlocal kernel"
        yield f"    kernel = {self.hook('load')}()"
        yield "    kernel(*args)"

    def call(self) -> Lines:
        """The function itself."""
        yield f"def call({', '.join(self.arguments)}):"
        yield from indented(self.body())

    def body(self) -> Lines:
        """Its lines."""
        spec = self.spec
        given = ", ".join(self.arguments)
        if spec.defaults:
            scalars = spec.names(Role.SCALAR)
            others = [f"{name} != {self.hook(f'default_{name}')}" for name in scalars]
            yield f"if {' or '.join(others)}:"
            yield f"    return {self.hook('full')}({given})"
        if spec.is_checked:
            yield f"{self.hook('check')}({given})"
        yield from self.unpacking
        for name in spec.names(Role.LIST):
            yield f"if {name}.__class__ is list:"
            yield f"    {name} = tuple({name})"
        if spec.mode == WRITE and spec.dense and len(self.operands) > 1:
            sizes = " == ".join(f"{name}._sizes" for name in self.operands)
            yield f"if {self.operands[1]} is {self.first} and {sizes}:"
            yield f"    return {self.hook('update')}({', '.join(self.arguments[1:])})"
        for name in spec.names(Role.SCALAR) if not spec.defaults else ():
            yield f"{name} = {self.hook('convert_' + name)}({name})"
        if spec.mode != NEW:
            yield f"shared = {self.first}._shared"
        if spec.dense:
            yield from self.dense()
        if spec.mode != NEW and spec.at_places and len(self.operands) > 1:
            shared = " or ".join(f"shared is {name}._shared" for name in self.operands[1:])
            yield f"if shared is not None and ({shared}):"
            yield f"    {self.hook('check')}({', '.join(self.operands)})"
        yield from self.planned()

    def dense(self) -> Lines:
        """A flat loop over operands that are known to be dense, of one shape."""
        for name in self.operands:
            yield f"{name}_flat = {name}._flat"
        known = [f"{name}_flat is not None" for name in self.operands]
        sizes = " == ".join(f"{name}._sizes" for name in self.operands)
        same = [sizes] if len(self.operands) > 1 else []
        first, *others = [*known, *same, *self.apart()]
        yield "if ("
        yield f"    {first}"
        yield from [f"    and {each}" for each in others]
        yield "):"
        yield from indented(self.flat_new() if self.spec.mode == NEW else self.flat_into())

    def apart(self) -> Lines:
        """Conditions under which no operand is in the memory of a result that is given."""
        if self.spec.mode == NEW or len(self.operands) < 2:
            return
        others = self.operands[1:]
        shared = " and ".join(f"shared is not {name}._shared" for name in others)
        yield f"(shared is None or {shared})"
        if self.spec.mode != UPDATE:
            yield from [f"{self.first}_flat is not {name}_flat" for name in others]

    def flat_new(self) -> Lines:
        spec, flats = self.spec, [f"{name}_flat" for name in self.operands]
        results = [f"result{i}" for i in range(spec.results)]
        scalars = self.scalars
        yield f"size = {flats[0]}.size"
        yield f"if size < {self.hook('small')}:"
        for i, name in enumerate(results):
            yield f"    {name}_flat = {self.hook(f'empty{i}')}(size)"
        arrays = [*[f"{name}_flat" for name in results], *flats]
        yield f"    kernel({', '.join(arrays + scalars)})"
        yield "else:"
        for i, name in enumerate(results):
            yield f"    {name}_flat = {self.hook(f'pooled{i}')}(size)"
        yield f"    {self._split(arrays, scalars)}"
        for i, name in enumerate(results):
            first = self.operands[0]
            geometry = f"{first}._sizes", f"{first}._strides"
            yield from self.tensor(name, self.hook(f"key{i}"), *geometry)
        yield from self.returned(results)

    def flat_into(self) -> Lines:
        flats, scalars = [f"{name}_flat" for name in self.operands], self.scalars
        yield f"if {flats[0]}.size < {self.hook('small')}:"
        yield f"    kernel({', '.join(flats + scalars)})"
        yield "else:"
        yield f"    {self._split(flats, scalars)}"
        yield from self.written()

    def _split(self, arrays: list[str], scalars: list[str]) -> str:
        work = f"work={self.hook('work')}"
        return f"{self.hook('run_flat')}(kernel, {_tuple(arrays)}, {_tuple(scalars)}, {work})"

    def planned(self) -> Lines:
        """A launch that was planned for the geometry."""
        spec = self.spec
        yield from self.looked_up()
        outs = [f"out{i}" for i in range(spec.results)] if spec.mode == NEW else []
        yield f"{', '.join([*outs, 'run', 'params', 'is_dense'])} = found"
        for name in self.operands:
            yield from self.memory(name)
        for out in outs:
            yield f"{out}_flat = {out}.empty({out}.numel)"
        if spec.mode == NEW and not outs:
            yield f"return {self.hook('wrap')}(run({self._planned_arguments([])}))"
            return
        if spec.mode != NEW:
            yield from self.launched([self.first])
            yield from self.written()
            return
        yield from self.launched(outs)
        for i, out in enumerate(outs):
            fields = f"{out}.key", f"{out}.sizes", f"{out}.strides"
            yield from self.tensor(f"result{i}", *fields, out)
        yield from self.returned([f"result{i}" for i in range(spec.results)])

    def looked_up(self) -> Lines:
        """The launch by what it depends on."""
        spec = self.spec
        parts = []
        for name in self.operands:
            if name.startswith("*"):
                parts.append(f"*[(each._sizes, each._strides) for each in {name[1:]}_]")
            else:
                parts += [f"{name}._sizes", f"{name}._strides"]
        parts += spec.names(Role.PLAIN, Role.LIST)
        parts += [f"{name} or repr({name})" for name in spec.names(Role.NUMBER)]
        if spec.tells_shared:
            others = self.operands[1:]
            parts += [f"shared is not None and shared is {name}._shared" for name in others]
        if spec.on_devices:
            parts += [f"device_of({name})" for name in self.operands]
            self.hook("device_of")
        yield f"key = ({', '.join(parts)})"
        yield "try:"
        yield "    found = get(key)"
        yield "except TypeError:"
        yield "    found = None"
        yield "if found is None:"
        yield f"    found = find(key, {_tuple(self.arguments)})"
        if spec.mode == WRITE and spec.dense:  # it may have been resized
            yield f"    {self.first}_flat = {self.first}._flat"

    def memory(self, name: str) -> Lines:
        """Where an operand's elements are: those of a result begin with its memory."""
        if name.startswith("*"):
            yield from self.list_memory(name[1:])
            return
        if not self.spec.dense:
            yield f"{name}_flat = {name}._flat"
        yield f"{name}_at = 0"
        yield f"if {name}_flat is None:"
        yield f"    {name}_flat, {name}_at = memory_of({name}, is_dense)"

    def list_memory(self, name: str) -> Lines:
        """The same for a list: dense tensors, which mostly know their memory, begin with it."""
        yield "if is_dense:"
        yield f"    {name}_flat = ["
        yield "        memory_of(each, True)[0] if each._flat is None else each._flat"
        yield f"        for each in {name}_"
        yield "    ]"
        yield f"    {name}_at = [0] * len({name}_flat)"
        yield "else:"
        yield f"    {name}_found = [memory_of(each, False) for each in {name}_]"
        yield f"    {name}_flat = [flat for flat, _ in {name}_found]"
        yield f"    {name}_at = [at for _, at in {name}_found]"

    def launched(self, outs: list[str]) -> Lines:
        """The kernel runs; a flat loop around a formula, of `params` elements, knows no places."""
        if not self.spec.at_places:
            yield f"run({self._planned_arguments(outs)})"
            return
        starts = [f"{out}_at" if self.spec.mode != NEW else "0" for out in outs]
        results = [f"{out}_flat" for out in outs]
        flats = [f"{name}_flat" for name in self.read]
        places = [f"{name}_at" for name in self.read]
        cut = [f"{flat}[{at}:] if {at} else {flat}" for flat, at in zip(flats, places, strict=True)]
        exact = results
        if self.spec.mode != NEW:
            (flat,), (at,) = results, starts
            exact = [f"{flat} if {flat}.size == params else {flat}[{at} : {at} + params]"]
        yield "if params is None:"
        yield f"    run({', '.join([*starts, *places, *results, *flats, *self.scalars])})"
        yield "else:"
        yield f"    run({', '.join([*exact, *cut, *self.scalars])})"

    def _planned_arguments(self, outs: list[str]) -> str:
        results = [f"{out}_flat" for out in outs]
        if self.spec.mode != NEW:
            results = [f"{self.first}_flat[{self.first}_at:] if {self.first}_at else {results[0]}"]
        flats = [f"{name}_flat" for name in self.read]
        places = [f"{name}_at" for name in self.read]
        sources = [f"{name} or {self.hook('source')}" for name in self.spec.names(Role.SOURCE)]
        return ", ".join([*results, *flats, *places, "params", *self.scalars, *sources])

    # -- results --------------------------------------------------------------------------------

    def tensor(self, name: str, key: str, sizes: str, strides: str, out: str = "") -> Lines:
        """A new tensor over `<name>_flat`, or over that of an output."""
        flat = f"{out or name}_flat"
        yield from tensor_lines(name, key=key, sizes=sizes, strides=strides, flat=flat)
        if out:
            yield f"if not {out}.is_contiguous:"
            yield f"    {name}._shared = Storage({flat})"
            yield f"    {name}._flat = None"

    def returned(self, results: list[str]) -> Lines:
        if self.spec.is_wrapped:
            yield f"return {self.hook('wrap')}({_tuple(results)})"
        else:
            yield f"return {', '.join(results)}"

    def written(self) -> Lines:
        yield f"({self.first}._storage if shared is None else shared).version += 1"
        yield f"return {self.first}"
