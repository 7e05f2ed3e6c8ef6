"""Calls of view operators: another geometry over the same storage, for every backend alike.

Most views are arithmetic on sizes and strides alone. Their answers are remembered, since looking
one up costs 0.2 us and working it out up to 2.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.call_text import Lines, compiled, indented, tensor_lines

Function = TypeVar("Function", bound=Callable[..., Any])

_follows: dict[Callable[..., Any], str] = {}
"""What answers follow besides sizes, strides and arguments, as text."""
OFFSET = "self._offset"
"""Of functions that say nothing else."""
SHARED = "self._storage if self._shared is None else self._shared"

ANSWERS_KEPT = 1024
"""How many answers each call remembers before it begins anew."""


def layout_only(function: Function) -> Function:
    """Say of a view function that only sizes, strides and plain arguments count.

    The offset may enter its answer as a summand and in no other way.
    """
    _follows[function] = ""
    return function


def within_storage(function: Function) -> Function:
    """Say of a view function that it looks at the storage's size, too."""
    buffer = f"(buffer := ({SHARED}).buffer)"
    _follows[function] = f"{OFFSET}, {buffer} is not None and buffer.nbytes"
    return function


def make_copy_call(answers: Answers, apart: Callable[..., Any], memory_of: Any) -> Any:
    """The call that makes in one step what a view function shows, in memory of its own.

    answers: of a result what a view's answer has, then `empty`, which makes its memory; how many
    elements; `move`, which puts them there, and the two numbers or arrays that it is given last;
    whether the tensor is dense. An empty answer has the call left to `apart`, a call alike.
    memory_of: what finds a tensor's memory that is not known.
    """
    follows = _follows.get(answers.function, OFFSET)
    spec = ViewSpec(answers.arity, follows, answers.several, False, is_copy=True)
    return maker_of(spec)(answers.get, answers.find, apart, memory_of, *answers.defaults)


def make_view_call(
    function: Any,
    key: int,
    several: bool,
    tracked: bool,
    same_elements: bool = False,
    sized: bool = False,
) -> Any:
    """The call of a view function for tensors of one key.

    tracked: whether the view knows its base, so that a write to either reaches the other's graph.
    same_elements: whether it shows all elements in their order, so that its flat array is theirs.
    sized: whether the argument is a tensor, of which the function is given the sizes.
    """
    answers = Answers(function, key, several)
    spec = ViewSpec(
        answers.arity,
        _follows.get(function, OFFSET),
        several,
        tracked,
        same_elements and not several,
        sized,
    )
    return maker_of(spec)(answers.get, answers.find, *answers.defaults)


@dataclass(frozen=True)
class ViewSpec:
    """The form of a view's call.

    arity: arguments besides the tensor. follows: what answers follow besides sizes, strides and
    arguments, as text. several, tracked, same_elements, sized: as for `make_view_call`. is_copy:
    whether results have memory of their own.
    """

    arity: int
    follows: str
    several: bool
    tracked: bool
    same_elements: bool = False
    sized: bool = False
    is_copy: bool = False


@cache
def maker_of(spec: ViewSpec) -> Any:
    """The function that makes the calls of a form."""
    return compiled("view", "\n".join(_lines_of(spec)) + "\n")


def _lines_of(spec: ViewSpec) -> Lines:
    """The text of the function; arguments that a call leaves out have defaults."""
    names = list("abcdefgh"[: spec.arity])
    defaults = "".join(f", default_{each}" for each in names)
    given = ", ".join(f"{each}=default_{each}" for each in names)
    hooks = ", apart, memory_of" if spec.is_copy else ""
    fields = "key, sizes, strides, shift"
    if spec.is_copy:
        fields += ", empty, numel, move, to, places, is_dense"
    yield f"def make(get, find{hooks}{defaults}):"
    yield f"    def call(self, {given}):"
    yield from indented(indented(_looked_up(names, spec)))
    if spec.is_copy:
        yield "        if not answer:"
        yield f"            return apart({', '.join(['self', *names])})"
    if spec.several:
        yield "        results = []"
        yield f"        for {fields} in answer:"
        yield from indented(indented(indented(_result(spec))))
        yield "            results.append(result)"
        yield "        return tuple(results)"
    else:
        yield f"        {fields} = answer"
        yield from indented(indented(_result(spec)))
        yield "        return result"
    yield "    return call"


def _looked_up(names: list[str], spec: ViewSpec) -> Lines:
    if spec.sized:
        yield f"{names[0]} = {names[0]}._sizes"
    for each in names:
        yield f"kind_{each} = {each}.__class__"
    follows = "()"
    if spec.follows:
        follows = "follows"
        yield f"follows = {spec.follows}"
    yield "try:"
    for each in names:
        yield f"    if kind_{each} is list:"
        yield f"        {each}, kind_{each} = tuple({each}), tuple"
        yield f"    if kind_{each} is tuple:"
        yield f"        kind_{each} = sum({each}).__class__"
    kinds = [f"kind_{each}" for each in names]
    question = ["self._sizes", "self._strides", *[follows] * bool(spec.follows), *names, *kinds]
    yield f"    answer = get(({', '.join(question)}))"
    yield "except TypeError:  # nothing that could be looked up"
    yield "    answer = None"
    yield "if answer is None:"
    yield f"    answer = find(self, ({''.join(f'{each}, ' for each in names)}), {follows})"


def _result(spec: ViewSpec) -> Lines:
    if spec.is_copy:
        yield "flat = self._flat"
        yield "if flat is None:"
        yield "    flat, start = memory_of(self, is_dense)"
        yield "    shift += start"
        yield "made = empty(numel)"
        yield "move(made, 0, flat, shift, to, places)"
        geometry = {"key": "key", "sizes": "sizes", "strides": "strides"}
        yield from tensor_lines("result", **geometry, flat="made")
        return
    yield from tensor_lines(
        "result",
        key="key",
        sizes="sizes",
        strides="strides",
        offset="self._offset + shift",
        shared=SHARED,
        flat="self._flat" if spec.same_elements else "None",
        base="(self if self._base is None else self._base)" if spec.tracked else "None",
    )


class Answers(dict[Any, Any]):
    """What a view function answers, by sizes, strides, arguments and the classes of these.

    Without the classes `x.unsqueeze(1.0)` would be answered once `x.unsqueeze(1)` was: 1 == 1.0.
    An answer is the result's key, sizes, strides, and its offset from the viewed tensor's; a tuple
    of answers where there are several results.
    """

    def __init__(self, function: Callable[..., Any], key: int, several: bool) -> None:
        self.function = function
        self.arity = function.__code__.co_argcount - 1
        given = function.__defaults__ or ()
        self.defaults = [None] * (self.arity - len(given)) + list(given)[
            -self.arity or len(given) :
        ]
        self.base_key = key & ~(keys.GRAD | keys.ZERO_DIM)
        self.several = several

    def find(self, self_: Tensor, given: tuple[Any, ...], follows: Any) -> Any:
        """The answer for arguments that were not found as they are: new ones, or with lists.

        follows: what the answer follows besides, () if it is nothing.
        """
        args = tuple([tuple(arg) if arg.__class__ is list else arg for arg in given])
        try:
            kinds = tuple([sum(a).__class__ if a.__class__ is tuple else a.__class__ for a in args])
        except TypeError:
            self._check_whole(args)
            raise
        question = (self_._sizes, self_._strides, *[follows] * (follows != ()), *args, *kinds)
        answer = self.get(question)
        if answer is None:
            own = args[: self.arity]
            self._check_whole(own)
            answer = self.work_out(self_, own)
            if all(map(_is_plain, own)):
                if len(self) >= ANSWERS_KEPT:
                    self.clear()
                self[question] = answer
        return answer

    def _check_whole(self, args: Sequence[Any]) -> None:
        """Raise TypeError for a float: some functions would count with it as with the integer.

        In a tuple everything else that is no integer is refused, too.
        """
        operator, names = self.function.__name__, self.function.__code__.co_varnames
        for position, arg in enumerate(args, 1):
            if isinstance(arg, float):
                raise errors.wrong_argument_type(operator, names[position], position, "int", arg)
            for at, each in enumerate(arg if arg.__class__ is tuple else ()):
                if not hasattr(each.__class__, "__index__"):
                    raise errors.ints_expected(operator, names[position], position + 1, arg, at)

    def work_out(self, self_: Tensor, args: Sequence[Any]) -> Any:
        """Ask the function."""
        geometry = self.function(self_, *args)
        if self.several:
            return tuple([self._relative(self_, each) for each in geometry])
        return self._relative(self_, geometry)

    def _relative(self, self_: Tensor, geometry: Any) -> tuple[Any, ...]:
        sizes, strides, offset, *dtype = geometry
        shapes.check_countable(sizes)
        sizes = sizes if sizes.__class__ is Size else make_size(map(int, sizes))
        key = self.base_key if sizes else self.base_key | keys.ZERO_DIM
        if dtype:
            key = key & ~keys.DTYPE_MASK | dtype[0].index
        return key, sizes, tuple(strides), offset - self_._offset


def _is_plain(arg: Any) -> bool:
    """Whether equality with an argument, and its kind, say everything: numbers, no tensors."""
    if isinstance(arg, tuple):
        return all(each.__class__ is int for each in arg)
    return arg is None or arg.__class__ in (int, bool, dtypes.dtype)
