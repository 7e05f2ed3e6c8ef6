"""What bindings do with arguments: varargs, missing ones, numbers, and results given as out=."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.backends.common import resizing
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import overlap, promotion
from torchgen_out._runtime.core.missing import MISSING
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch.operator import Call, guard_input, guard_out


def as_list(values: tuple[Any, ...], operator: str, argument: str) -> Any:
    """What stands in the place of several arguments: the one sequence, or the one item.

    Raises: TypeError if nothing was given.
    """
    if not values:
        raise errors.arguments_missing(operator, [argument])
    (value,) = values
    if value.__class__ is int:
        return values
    if isinstance(value, (tuple, list)):
        return tuple(value) if value.__class__ is list else value
    return value if hasattr(value, "__iter__") and not isinstance(value, Tensor) else (value,)


def is_item(value: Any) -> bool:
    """Whether the one argument given in the place of several is an item, not the list of them."""
    return is_int(value) or isinstance(value, Tensor)


def is_tensor(value: Any) -> bool:
    """Whether an argument is a tensor."""
    return isinstance(value, Tensor)


def is_tensors(value: Any) -> bool:
    """Whether an argument is a list of tensors."""
    return isinstance(value, (tuple, list)) and all(isinstance(each, Tensor) for each in value)


def is_bool(value: Any) -> bool:
    """Whether an argument is a flag."""
    return value.__class__ is bool


def is_int(value: Any) -> bool:
    """Whether an argument is an integer (a flag is none)."""
    return value.__class__ is int or (
        hasattr(value.__class__, "__index__") and not isinstance(value, (bool, Tensor))
    )


def is_ints(value: Any) -> bool:
    """Whether an argument is a list of integers, as far as its first item tells.

    A tensor of one integer is one of them.
    """
    if not isinstance(value, (tuple, list)):
        return False
    if not value or value[0].__class__ is int:
        return True
    first = value[0]
    if isinstance(first, Tensor):
        return first.dtype.kind == "i" and first.numel() == 1
    return is_int(first)


def is_int_or_ints(value: Any) -> bool:
    """Whether an argument is an integer or a list of them."""
    return is_int(value) or is_ints(value)


def is_given(value: Any) -> bool:
    """Whether an argument was given at all."""
    return value is not MISSING


def is_number(value: Any) -> bool:
    """Whether an argument is a number: Python's, NumPy's, or a tensor of one without gradient."""
    if isinstance(value, Tensor):
        return not value._sizes and not value._key & keys.GRAD
    return isinstance(value, (int, float, complex)) or hasattr(value.__class__, "__float__")


def is_numbers(value: Any) -> bool:
    """Whether an argument is a list of numbers, as far as its first item tells."""
    if not isinstance(value, (tuple, list)):
        return False
    return not value or (not isinstance(value[0], Tensor) and is_number(value[0]))


def is_number_or_tensor(value: Any) -> bool:
    """Whether an argument is a Python number or a tensor."""
    return isinstance(value, Tensor) or is_number(value)


def is_str(value: Any) -> bool:
    """Whether an argument is a string."""
    return value.__class__ is str


def is_dtype(value: Any) -> bool:
    """Whether an argument is a dtype, or a Python type that stands for one."""
    return isinstance(value, dtypes.dtype) or (
        value.__class__ is type and value in dtypes.BY_PYTHON_TYPE
    )


def assigning(read: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    """The setter of a property that views a part of the tensor: values are copied into it."""

    def assign(self: Any, value: Any) -> None:
        part = read(self)
        part.copy_(value) if isinstance(value, Tensor) else part.fill_(value)

    return assign


def guarded_out(name: str, below: Call) -> Call:
    """A call with out= where a tensor takes part in autograd.

    Raises: RuntimeError if gradients would be lost.
    """

    def call(out: Any, *args: Any) -> Any:
        if grad_mode.state.enabled:
            raise errors.out_with_grad(name)
        return below(out, *args)

    return call


guard_out(guarded_out)


def guarded_input(name: str, operand: str, below: Call) -> Call:
    """A call with an operand that requires grad and gets none.

    Raises: RuntimeError while gradients are recorded.
    """

    def call(*args: Any) -> Any:
        if grad_mode.state.enabled:
            raise errors.not_differentiable(name, operand)
        return below(*args)

    return call


guard_input(guarded_input)


def equation_of(first: Any, rest: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The equation and the operands of `einsum(x, [0, 1], y, [1, 2], [0, 2])`.

    A label is a number below 52 or an ellipsis; a last list that follows a list is the result's.
    Raises: ValueError for other numbers, or without labels; TypeError for what is no such list,
    or begins with neither an equation nor an operand.
    """
    if isinstance(first, str):
        return first, rest
    if not isinstance(first, Tensor):
        raise errors.wrong_argument_type("einsum", "equation", 0, "str", first)
    if not rest:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one "
            "operand and its subscripts list"
        )
    operands, lists = (first, *rest[1::2]), rest[::2]
    output = ""
    if len(rest) % 2 == 0:
        operands, output = operands[:-1], f"->{_labels(rest[-1])}"
    return ",".join(map(_labels, lists[: len(operands)])) + output, operands


def _labels(sublist: Any) -> str:
    if not isinstance(sublist, (list, tuple)):
        raise TypeError(
            f"einsum(): expected a list of subscripts, but got {type(sublist).__name__}"
        )
    return "".join(["..." if each is Ellipsis else _letter(each) for each in sublist])


def _letter(number: int) -> str:
    if not 0 <= number < 52:
        raise ValueError(
            f"einsum(): subscript {number} in subscript list is not within the valid range [0, 52)"
        )
    return chr(ord("A") + number if number < 26 else ord("a") + number - 26)


def check_tensors(name: str, *arguments: tuple[str, int, str, Any]) -> None:
    """Raise TypeError if one of the arguments (name, position, kind, value) is no tensor.

    kind: "tensor", "tensor?", or "tensors" for a list. Composites ask when an attribute is missing:
    no call pays for the question.
    """
    for argument, position, kind, value in arguments:
        fits = is_tensors(value) if kind == "tensors" else is_tensor(value)
        if not fits and not (kind == "tensor?" and value is None):
            raise errors.wrong_argument_type(name, argument, position, kind, value) from None


def unwritten(written: Any, *others: Any) -> Any:
    """The tensor that a composite is about to overwrite: while recording a copy of it.

    Its operators save what they read, and find it changed in backward if it is `written` itself.
    """
    if grad_mode.state.enabled:
        for each in (written, *others):
            if isinstance(each, Tensor) and each._key & keys.GRAD:
                return ops.clone(written)
    return written


def store_inplace(name: str, self: Any, result: Any, rule: str = "cast") -> Any:
    """Put the result of a composite into `self`.

    Raises: RuntimeError if `self` has another shape, or a dtype to which nothing is cast.
    """
    promotion.check_out(result.dtype, self.dtype, rule)
    if tuple(self._sizes) != tuple(result._sizes):
        raise errors.inplace_shape(name, self._sizes, result._sizes)
    return ops.copy_(self, result)


def dtype_for_out(name: str, out: Any, dtype: Any) -> Any:
    """The dtype in which to compute for `out`: the one asked for, or that of `out`."""
    if not isinstance(out, Tensor):
        raise errors.out_expected(name, out)
    return out.dtype if dtype is None else dtype


def ready_out(name: str, out: Any, sizes: Sequence[int], *inputs: Any) -> Tensor:
    """`out`, resized if need be, for a body that writes the result into it.

    Raises: TypeError if it is no tensor, RuntimeError if gradients would be lost.
    """
    if not isinstance(out, Tensor):
        raise errors.out_expected(name, out)
    tensors = [out, *(each for each in inputs if isinstance(each, Tensor))]
    if grad_mode.state.enabled and any(each._key & keys.GRAD for each in tensors):
        raise errors.out_with_grad(name)
    if tuple(out._sizes) != tuple(sizes):
        resizing.warn_of_resizing(name, out, sizes)
        out.resize_(sizes)
    return out


def store_out(
    name: str,
    out: Any,
    result: Any,
    rule: str = "cast",
    whole: Sequence[Any] = (),
    apart: Sequence[Any] = (),
) -> Any:
    """Put the result of a composite into `out`, whose dtype `rule` allows.

    whole: the operands of which `out` must not show a part; apart: those of which it must show
    nothing.
    """
    if isinstance(result, Tensor):
        if isinstance(out, Tensor):
            promotion.check_out(result.dtype, out.dtype, rule)
        ready = ready_out(name, out, result._sizes, result)
        overlap.check_whole(name, ready, whole)
        overlap.check_apart(name, ready, apart)
        return ops.copy_(ready, result)
    if not isinstance(out, (tuple, list)):
        raise errors.out_expected(name, out, "tuple of Tensors")
    if len(out) != len(result):
        raise errors.out_count(name, len(result), len(out))
    pairs = zip(out, result, strict=True)
    stored = [store_out(name, each, value, rule, whole, apart) for each, value in pairs]
    return type(result)(*stored) if hasattr(result, "_fields") else tuple(stored)


def store_in_shape(name: str, out: Any, result: Any, rule: str = "cast") -> Any:
    """As `store_out`; an `out` that has as many elements keeps its shape."""
    if isinstance(out, Tensor) and out.numel() == result.numel():
        result = result.view(out._sizes)
    return store_out(name, out, result, rule)


def store_parts(name: str, out: Any, result: Any, rule: str = "cast") -> Any:
    """As `store_out`, of the parts of one tensor; returns None."""
    store_out(name, out, result, rule)
    return None
