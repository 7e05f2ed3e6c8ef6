"""Errors of arguments: their types, and the values they may take."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.errors.dtype_names import c_name


def numbers_alone(operator: str, names: tuple[str, ...]) -> TypeError:
    """An operator whose operands may be numbers beside a tensor was given numbers only."""
    listed = " or ".join(f"'{name}'" for name in names)
    return TypeError(f"{operator}(): argument {listed} must be Tensor, but all are numbers")


def wrong_argument_type(
    operator: str, argument: str, position: int, kind: str, value: object
) -> TypeError:
    """An argument is not of the type that the schema gives. Users know `self` as `input`."""
    argument = "input" if argument == "self" else argument
    if kind == "tensors" and isinstance(value, (list, tuple)):
        at, member = next((i, v) for i, v in enumerate(value) if not hasattr(v, "_key"))
        return TypeError(
            f"{operator}(): expected Tensor as element {at} in argument {position}, "
            f"but got {type(member).__name__}"
        )
    expected = {
        "tensor": "Tensor",
        "tensors": "tuple of Tensors",
        "number": "Tensor or Number",
        "scalar": "Number",
    }
    wanted = expected.get(kind.rstrip("?"), kind)
    return TypeError(
        f"{operator}(): argument '{argument}' (position {position + 1}) must be {wanted}, "
        f"not {type(value).__name__}"
    )


def class_expected(
    operator: str, argument: str, position: int, wanted: str, got: object
) -> TypeError:
    """An argument is of another class. position: counted from 1; 0 if it is given by name only."""
    place = f" (position {position})" if position else ""
    return TypeError(
        f"{operator}(): argument '{argument}'{place} must be {wanted}, not {type(got).__name__}"
    )


def int_expected(operator: str, argument: str, position: int, got: object) -> TypeError:
    """An argument is no integer. position: counted from 1; 0 if it is given by name only."""
    return class_expected(operator, argument, position, "int", got)


def ints_expected(
    operator: str, argument: str, position: int, got: object, at: int | None = None
) -> TypeError:
    """An argument is no list of integers, or holds something else. at: where that stands."""
    place = f" (position {position})" if position else ""
    begin = f"{operator}(): argument '{argument}'{place} must be tuple of ints"
    if at is None or not isinstance(got, Sequence):
        return TypeError(f"{begin}, not {type(got).__name__}")
    kind = type(got[at]).__name__
    return TypeError(f"{begin}, but found element of type {kind} at pos {at}")


def bool_expected(function: str, argument: str, value: object) -> TypeError:
    """The first argument of a function that switches something is no truth value."""
    return wrong_argument_type(function, argument, 0, "bool", value)


def tensor_missing_in_list(values: Sequence[object]) -> TypeError:
    """A list of tensors has a None among them."""
    at = next(i for i, value in enumerate(values) if value is None)
    return TypeError(f"expected Tensor as element {at} of the list of tensors, but got NoneType")


def operand_needed(operator: str, names: Sequence[str]) -> RuntimeError:
    """An operator needs one of its optional operands, and has none."""
    listed = " or ".join(f"'{name}'" for name in names)
    return RuntimeError(f"torch.{operator}: At least one of {listed} must not be None")


def number_expected(argument: str, got: object) -> TypeError:
    """A Scalar argument is no number."""
    return TypeError(f"{argument} must be Number, not {type(got).__name__}")


def float_expected(argument: str, got: object) -> TypeError:
    """A float argument is no number, or a tensor whose gradient would be lost."""
    return TypeError(f"{argument} must be float, not {type(got).__name__}")


def out_expected(operator: str, got: object, expected: str = "Tensor") -> TypeError:
    """What was given as out= is no tensor, or one where there are several results."""
    return TypeError(f"{operator}(): argument 'out' must be {expected}, not {type(got).__name__}")


def out_count(operator: str, expected: int, got: int) -> RuntimeError:
    """out= has more or fewer tensors than there are results."""
    return RuntimeError(f"{operator} expected an out= argument of size {expected}, got size {got}")


def out_with_as_tuple() -> RuntimeError:
    """nonzero: out= is one tensor, and a vector for every dim was asked for."""
    return RuntimeError("nonzero does not support the out kwarg when as_tuple is True")


def unexpected_keyword(function: str, name: str) -> TypeError:
    """A function was given an argument that it does not have."""
    return TypeError(f"{function}() got an unexpected keyword argument '{name}'")


def old_type_expected(wanted: str, got: str) -> TypeError:
    """A constructor of old was given a tensor of another type."""
    return TypeError(f"expected {wanted} (got {got})")


def dtype_expected(got: object) -> TypeError:
    """The dtype= of a factory is no dtype."""
    return TypeError(f"argument 'dtype' must be torch.dtype, not {type(got).__name__}")


def size_not_int(got: object) -> TypeError:
    """The sizes of a new tensor hold something else than ints."""
    return TypeError(f"argument 'size' must be tuple of ints, not {type(got).__name__}")


def layout_not_strided(layout: object) -> NotImplementedError:
    """A factory was asked for a sparse tensor."""
    return NotImplementedError(f"factories make strided tensors, got layout={layout!r}")


def range_not_finite(start: object, end: object) -> RuntimeError:
    """A bound of a range is infinite or NaN."""
    return RuntimeError(f"unsupported range: {start} -> {end}")


def complex_bounds(inferred: object, given: object) -> RuntimeError:
    """Complex numbers are asked for as real ones."""
    return RuntimeError(
        f"linspace(), logspace(): complex bounds make {inferred}, "
        f"which can't be safely cast to passed dtype {given}"
    )


def fill_value_not_scalar(ndim: int) -> RuntimeError:
    """fill_ was given a tensor with dims."""
    return RuntimeError(
        f"fill_ only supports 0-dimension value tensor but got tensor with {ndim} dimensions."
    )


def bound_outside_dtype(bound: str, dtype: object) -> RuntimeError:
    """A bound of a random draw is no number that the tensor's dtype holds."""
    return RuntimeError(f"{bound} is out of bounds for {c_name(dtype)}")


def negative_deviation(std: float) -> RuntimeError:
    """A normal distribution with a negative standard deviation was asked for."""
    return RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")


def arguments_missing(function: str, names: Sequence[str]) -> TypeError:
    """A call does not give what it must give. Users know `self` as `input`."""
    listed = ", ".join(f'"{"input" if name == "self" else name}"' for name in names)
    return TypeError(f"{function}() missing {len(names)} required positional arguments: {listed}")


def too_many_arguments(function: str, count: int, got: int) -> TypeError:
    """A call gives more arguments by position than the function takes, or in no order it knows."""
    return TypeError(f"{function}() takes {count} positional arguments but {got} were given")


def no_override(function: object, types: Sequence[type]) -> TypeError:
    """All classes that were asked about a call declined."""
    name = getattr(function, "__qualname__", repr(function))
    listed = "".join(f"\n\n  - tensor subclass {each!r}" for each in types)
    return TypeError(
        f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned "
        f"NotImplemented:{listed}"
    )


def cuda_device_expected() -> RuntimeError:
    """A tensor or a module shall go to a CUDA device, and another one is named."""
    return RuntimeError("Invalid device, must be cuda device")
