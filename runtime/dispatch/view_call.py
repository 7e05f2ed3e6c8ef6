"""Calls of view operators: another geometry over the same storage, for every backend alike.

Most views are arithmetic on sizes and strides alone. Their answers are remembered, since looking
one up costs 0.2 us and working it out up to 2.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size, make_size
from torchgen_out._runtime.core.tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])

_new = object.__new__
_layout_only: set[Callable[..., Any]] = set()

ANSWERS_KEPT = 1024
"""How many answers each call remembers before it begins anew."""


def layout_only(function: Function) -> Function:
    """Say of a view function that only sizes, strides and plain arguments count.

    The offset may enter its answer as a summand and in no other way.
    """
    _layout_only.add(function)
    return function


def make_view_call(
    function: Any, key: int, several: bool, tracked: bool, same_elements: bool = False
) -> Any:
    """The call of a view function for tensors of one key.

    tracked: whether the view knows its base, so that a write to either reaches the other's graph.
    same_elements: whether it shows all elements in their order, so that its flat array is theirs.
    """
    if function not in _layout_only:
        return _make_anew(function, key, several, tracked, same_elements)
    answers = Answers(function, key, several)
    if several:
        return _make_remembering_several(answers, tracked)
    return _make_remembering(answers, tracked, same_elements)


def _make_anew(function: Any, key: int, several: bool, tracked: bool, same_elements: bool) -> Any:
    """The call that asks `function` each time."""
    base_key = key & ~(keys.GRAD | keys.ZERO_DIM)

    def call(self: Tensor, *args: Any) -> Tensor:
        return look(self, function(self, *args))

    def call_several(self: Tensor, *args: Any) -> tuple[Tensor, ...]:
        return tuple([look(self, geometry) for geometry in function(self, *args)])

    def look(self: Tensor, geometry: Any) -> Tensor:
        sizes = geometry[0]
        result = _new(Tensor)
        result._key = base_key if sizes else base_key | keys.ZERO_DIM
        result._sizes = sizes if sizes.__class__ is Size else Size(sizes)
        result._strides = tuple(geometry[1])  # no copy is made of a tuple
        result._offset = geometry[2]
        result._shared = self._shared or self._storage
        result._flat = self._flat if same_elements else None
        result._base = (self if self._base is None else self._base) if tracked else None
        result._edge = None
        result._meta = None
        if len(geometry) == 4:
            result._key = result._key & ~keys.DTYPE_MASK | geometry[3].index
        return result

    return call_several if several else call


class Answers(dict[Any, Any]):
    """What a view function answers, by sizes, strides, arguments and the classes of these.

    Without the classes `x.unsqueeze(1.0)` would be answered once `x.unsqueeze(1)` was: 1 == 1.0.
    An answer is the result's key, sizes, strides, and its offset from the viewed tensor's; a tuple
    of answers where there are several results.
    """

    def __init__(self, function: Callable[..., Any], key: int, several: bool) -> None:
        self.function = function
        self.arity = function.__code__.co_argcount - 1
        self.base_key = key & ~(keys.GRAD | keys.ZERO_DIM)
        self.several = several

    def find(self, self_: Tensor, given: tuple[Any, ...]) -> Any:
        """The answer for arguments that were not found as they are: new ones, or with lists."""
        args = tuple([tuple(arg) if arg.__class__ is list else arg for arg in given])
        try:
            kinds = tuple([sum(a).__class__ if a.__class__ is tuple else a.__class__ for a in args])
        except TypeError:
            self._check_whole(args)
            raise
        question = (self_._sizes, self_._strides, *args, *(kinds if self.arity < 3 else (kinds,)))
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
        sizes, strides, offset = geometry
        shapes.check_countable(sizes)
        sizes = sizes if sizes.__class__ is Size else make_size(map(int, sizes))
        key = self.base_key if sizes else self.base_key | keys.ZERO_DIM
        return key, sizes, tuple(strides), offset - self_._offset


def _is_plain(arg: Any) -> bool:
    """Whether equality with an argument, and its kind, say everything: numbers, no tensors."""
    if isinstance(arg, tuple):
        return all(each.__class__ is int for each in arg)
    return arg is None or arg.__class__ is int or arg.__class__ is bool


def _make_remembering(answers: Answers, tracked: bool, same_elements: bool) -> Any:
    """The call of one argument or none, which stands beside its class in the question."""
    if answers.arity > 1:
        more = _make_remembering_two if answers.arity == 2 else _make_remembering_more
        return more(answers, tracked, same_elements)
    get, find = answers.get, answers.find

    def call(self: Tensor, a: Any = None) -> Tensor:
        kind = a.__class__
        try:
            if kind is tuple:
                kind = sum(a).__class__
            elif kind is list:
                a, kind = tuple(a), sum(a).__class__
            answer = get((self._sizes, self._strides, a, kind))
        except TypeError:  # nothing that could be looked up
            answer = None
        result = _new(Tensor)
        result._key, result._sizes, result._strides, shift = answer or find(self, (a,))
        result._offset = self._offset + shift
        result._shared = self._shared or self._storage
        result._flat = self._flat if same_elements else None
        result._base = (self if self._base is None else self._base) if tracked else None
        result._edge = None
        result._meta = None
        return result

    return call


def _make_remembering_two(answers: Answers, tracked: bool, same_elements: bool) -> Any:
    """The call of two arguments, of which an operator may leave out one that has a default."""
    get, find = answers.get, answers.find
    default = (answers.function.__defaults__ or (None,))[-1]

    def call(self: Tensor, a: Any, b: Any = default) -> Tensor:
        kind_a, kind_b = a.__class__, b.__class__
        try:
            if kind_a is tuple or kind_a is list:
                a, kind_a = tuple(a), sum(a).__class__
            if kind_b is tuple or kind_b is list:
                b, kind_b = tuple(b), sum(b).__class__
            answer = get((self._sizes, self._strides, a, b, kind_a, kind_b))
        except TypeError:
            answer = None
        result = _new(Tensor)
        result._key, result._sizes, result._strides, shift = answer or find(self, (a, b))
        result._offset = self._offset + shift
        result._shared = self._shared or self._storage
        result._flat = self._flat if same_elements else None
        result._base = (self if self._base is None else self._base) if tracked else None
        result._edge = None
        result._meta = None
        return result

    return call


def _make_remembering_more(answers: Answers, tracked: bool, same_elements: bool) -> Any:
    """The call of three or four arguments."""
    get, find = answers.get, answers.find

    def call(self: Tensor, a: Any, b: Any, c: Any, d: Any = None) -> Tensor:
        sizes, strides = self._sizes, self._strides
        try:
            kinds = a.__class__, b.__class__, c.__class__, d.__class__
            answer = get((sizes, strides, a, b, c, d, kinds))
        except TypeError:
            answer = None
        result = _new(Tensor)
        result._key, result._sizes, result._strides, shift = answer or find(self, (a, b, c, d))
        result._offset = self._offset + shift
        result._shared = self._shared or self._storage
        result._flat = self._flat if same_elements else None
        result._base = (self if self._base is None else self._base) if tracked else None
        result._edge = None
        result._meta = None
        return result

    return call


def _make_remembering_several(answers: Answers, tracked: bool) -> Any:
    """The call of up to two arguments, with several results."""
    get, find = answers.get, answers.find

    def call(self: Tensor, a: Any = None, b: Any = None) -> tuple[Tensor, ...]:
        kind_a, kind_b = a.__class__, b.__class__
        try:
            if kind_a is tuple or kind_a is list:
                a, kind_a = tuple(a), sum(a).__class__
            answer = get((self._sizes, self._strides, a, b, kind_a, kind_b))
        except TypeError:
            answer = None
        offset, shared = self._offset, self._shared or self._storage
        base = (self if self._base is None else self._base) if tracked else None
        results = []
        for key, sizes, strides, shift in answer or find(self, (a, b)):
            result = _new(Tensor)
            result._key = key
            result._sizes = sizes
            result._strides = strides
            result._offset = offset + shift
            result._shared = shared
            result._flat = None
            result._base = base
            result._edge = None
            result._meta = None
            results.append(result)
        return tuple(results)

    return call
