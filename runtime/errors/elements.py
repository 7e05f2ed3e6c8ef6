"""Errors of a tensor used as a Python number or sequence."""

from __future__ import annotations

from torchgen_out._runtime.errors.dtype_names import scalar_type_name


def item_of_many(count: int) -> RuntimeError:
    """item() needs one element."""
    return RuntimeError(f"a Tensor with {count} elements cannot be converted to Scalar")


def item_on_meta() -> RuntimeError:
    """A meta tensor has no elements."""
    return RuntimeError("Tensor.item() cannot be called on meta tensors")


def one_element_expected() -> ValueError:
    """int(), float() and complex() need one element."""
    return ValueError("only one element tensors can be converted to Python scalars")


def ambiguous_bool(count: int) -> RuntimeError:
    """bool() needs one element."""
    which = "more than one value" if count else "no values"
    return RuntimeError(f"Boolean value of Tensor with {which} is ambiguous")


def not_an_index() -> TypeError:
    """A tensor was used as an index of a Python sequence."""
    return TypeError("only integer tensors of a single element can be converted to an index")


def length_of_zero_dim() -> TypeError:
    """A 0-d tensor has no length."""
    return TypeError("len() of a 0-d tensor")


def iteration_of_zero_dim() -> TypeError:
    """A 0-d tensor is no sequence."""
    return TypeError("iteration over a 0-d tensor")


def invert_of_numbers(dtype: object) -> TypeError:
    """`~x` of floating-point or complex numbers."""
    return TypeError(
        "~ (operator.invert) is only implemented on integer and Boolean-type tensors, "
        f"got {scalar_type_name(dtype)}; of a comparison, put parentheses around it: ~(x > 0)"
    )


def not_contained(element: object) -> RuntimeError:
    """`element in tensor`: the element is neither a number nor a tensor."""
    return RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )
