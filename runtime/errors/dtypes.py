"""Errors of dtypes: what one cannot hold, and which do not go together."""

from __future__ import annotations

from torchgen_out._runtime.errors.dtype_names import c_name, fixed_width_name, scalar_type_name


def no_complex_dtype(dtype: object) -> RuntimeError:
    """A dtype has no complex dtype with parts of its type."""
    return RuntimeError(f"Unknown Complex ScalarType for {scalar_type_name(dtype)}")


def no_promotion(type1: object, type2: object) -> RuntimeError:
    """No dtype holds the numbers of both."""
    names = scalar_type_name(type1), scalar_type_name(type2)
    is_float8 = any(name.startswith("Float8") for name in names)
    which = "Float8 Types" if is_float8 else "uint16, uint32, uint64 types"
    return RuntimeError(
        f"Promotion for {which} is not supported, attempted to promote {names[0]} and {names[1]}"
    )


def default_dtype_not_floating(prefix: str, got: object) -> TypeError:
    """The default dtype is to be set to something that is no floating-point dtype."""
    return TypeError(
        f"{prefix}only floating-point types are supported as the default type, got {got!r}"
    )


class CastError(RuntimeError, TypeError):
    """A result is of another kind than its tensor: a RuntimeError as in most of PyTorch's
    operators, and a TypeError as in those that put tensors together."""


def cannot_cast(source: object, target: object) -> CastError:
    """A result of dtype `source` cannot be stored in a tensor of dtype `target`."""
    return CastError(f"result type {source!r} can't be cast to the desired output type {target!r}")


def inplace_of_complex(name: str) -> RuntimeError:
    """The results of an operator are real, and a complex tensor is to hold them."""
    return RuntimeError(f"In-place {name} is not supported for complex tensors.")


def other_out_dtype(result: object, out: object) -> RuntimeError:
    """The tensor given as out= has another dtype than the result."""
    return RuntimeError(f"Expected out tensor to have dtype {result!r}, but got {out!r} instead")


def floating_out_expected(out: object) -> RuntimeError:
    """The tensor given as out= holds no real numbers, and nothing else is computed."""
    return RuntimeError(f"expects a floating point output tensor, but got {scalar_type_name(out)}")


def real_out_expected(out: object) -> NotImplementedError:
    """The tensor given as out= is complex, and only real numbers are drawn."""
    return NotImplementedError(f"expected a real output tensor, but got {scalar_type_name(out)}")


def negative_number(sentence: str, value: object) -> RuntimeError:
    """A number beside integers must not be negative; the operator's `nonnegative` says why."""
    return RuntimeError(f"{sentence} Got: {value}")


def number_overflows(dtype: object) -> RuntimeError:
    """A Python number is out of a dtype's range."""
    return RuntimeError(
        f"value cannot be converted to type {fixed_width_name(dtype)} without overflow"
    )


def int_too_big() -> OverflowError:
    """An int argument has more than 64 bits."""
    return OverflowError("int too big to convert: a number argument has at most 64 bits")


def long_overflows() -> ValueError:
    """An int that is to be an element has more than 64 bits."""
    return ValueError("Overflow when unpacking long long: an element has at most 64 bits")


def real_number_expected() -> TypeError:
    """A complex number was given for a real dtype."""
    return TypeError("must be real number, not complex")


def scalar_type_mismatch(expected: object, got: object) -> RuntimeError:
    """An operand has another dtype than the first."""
    return RuntimeError(
        f"expected scalar type {scalar_type_name(expected)} but found {scalar_type_name(got)}"
    )


def dtypes_differ(operator: str, first: object, second: object) -> RuntimeError:
    """Operands that must share one dtype do not."""
    return RuntimeError(
        f"{operator}: expected the operands to have the same dtype, "
        f"but got: {c_name(first)} != {c_name(second)}"
    )


def complex_of(real: object, imag: object) -> RuntimeError:
    """complex: a part is not of a floating-point dtype."""
    return RuntimeError(
        "Expected both inputs to be Half, Float or Double tensors but got "
        f"{scalar_type_name(real)} and {scalar_type_name(imag)}"
    )


def complex_parts_differ(real: object, imag: object) -> RuntimeError:
    """complex: the parts have two dtypes."""
    return RuntimeError(
        f"Expected object of scalar type {scalar_type_name(real)} but got scalar type "
        f"{scalar_type_name(imag)} for second argument"
    )


def condition_dtype(operator: str, name: str, got: object) -> RuntimeError:
    """A tensor that is only tested for truth is not bool."""
    return RuntimeError(
        f"{operator} expected {name} to be a boolean tensor, "
        f"but got a tensor with dtype {scalar_type_name(got)}"
    )


def zero_dim_expected(operator: str, name: str) -> RuntimeError:
    """A tensor in the place of a number has dims."""
    return RuntimeError(
        f"{operator} only supports a 0-dimensional {name} tensor, but got tensor with dimensions"
    )


def complex_among_reals(operator: str) -> RuntimeError:
    """A complex number is to become a real element."""
    return RuntimeError(
        f"{operator}(): Converting complex Scalar to non-complex type is not supported"
    )


def integral_scale_expected(name: str) -> RuntimeError:
    """An integer operator is scaled by a float."""
    return RuntimeError(
        f"For integral input tensors, argument {name} must not be a floating point number."
    )
