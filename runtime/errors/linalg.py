"""Errors of matrix products and norms."""

from __future__ import annotations

from collections.abc import Sequence

from torchgen_out._runtime.errors.dtype_names import c_name, scalar_type_name


class LinAlgError(RuntimeError):
    """A matrix has no factorisation, no inverse, or an iteration did not converge."""


LinAlgError.__module__ = "torchgen_out.linalg"


def expected_matrix(name: str) -> RuntimeError:
    """mm: an operand is not 2-d."""
    return RuntimeError(f"{name} must be a matrix")


def expected_matrix_got(name: str, ndim: int) -> RuntimeError:
    """An operand of a fused product is not 2-d."""
    return RuntimeError(f"{name} must be a matrix, got {ndim}-D tensor")


def expected_batch(name: str) -> RuntimeError:
    """An operand of a batched product is not 3-d."""
    return RuntimeError(f"{name} must be a 3D tensor")


def expected_vector_argument(operator: str, name: str, ndim: int) -> RuntimeError:
    """An operand of an outer product is not 1-d."""
    return RuntimeError(f"{operator}: Expected 1-D argument {name}, but got {ndim}-D")


def expected_vectors(ndim_a: int, ndim_b: int) -> RuntimeError:
    """dot: an operand is not 1-d."""
    return RuntimeError(f"1D tensors expected, but got {ndim_a}D and {ndim_b}D tensors")


def expected_matrix_and_vector(ndim_self: int, ndim_mat: int, ndim_vec: int) -> RuntimeError:
    """mv, addmv: an operand has the wrong number of dims."""
    return RuntimeError(
        f"vector + matrix @ vector expected, got {ndim_self}, {ndim_mat}, {ndim_vec}"
    )


def matrices_do_not_fit(shape_a: Sequence[int], shape_b: Sequence[int]) -> RuntimeError:
    """The inner sizes of a matrix product differ."""
    (n, m), (k, p) = shape_a, shape_b
    return RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{m} and {k}x{p})")


def matrix_vector_do_not_fit(size: int, mat: Sequence[int], vec: int) -> RuntimeError:
    """The sizes of beta * input + mat @ vec do not fit."""
    return RuntimeError(f"size mismatch, got input ({size}), mat ({mat[0]}x{mat[1]}), vec ({vec})")


def batches_do_not_fit(expected: Sequence[int], got: Sequence[int]) -> RuntimeError:
    """bmm: batch or inner size differ."""
    return RuntimeError(
        "Expected size for first two dimensions of batch2 tensor to be: "
        f"{list(expected)} but got: {list(got)}."
    )


def batch_counts_differ(count_a: int, count_b: int) -> RuntimeError:
    """addbmm: the numbers of matrices differ."""
    return RuntimeError(
        f"batch1 and batch2 must have same number of batches, got {count_a} and {count_b}"
    )


def batch_matrices_do_not_fit(shape_a: Sequence[int], shape_b: Sequence[int]) -> RuntimeError:
    """addbmm: the inner sizes differ."""
    (n, m), (k, p) = shape_a, shape_b
    return RuntimeError(f"Incompatible matrix sizes for bmm ({n}x{m} and {k}x{p})")


def vectors_differ_in_size(size_a: int, size_b: int) -> RuntimeError:
    """dot: the vectors have different lengths."""
    return RuntimeError(
        f"inconsistent tensor size, expected tensor [{size_a}] and src [{size_b}] to have the "
        f"same number of elements, but got {size_a} and {size_b} elements respectively"
    )


def matrices_differ_in_dtype(dtype_a: object, dtype_b: object) -> RuntimeError:
    """mm: the operands have two dtypes."""
    return RuntimeError(
        "expected m1 and m2 to have the same dtype, but got: "
        f"{c_name(dtype_a)} != {c_name(dtype_b)}"
    )


def operands_differ_in_dtype(
    name_a: str, dtype_a: object, name_b: str, dtype_b: object
) -> RuntimeError:
    """addmm and its kin: two operands have two dtypes."""
    return RuntimeError(
        f"{name_a} and {name_b} must have the same dtype, but got "
        f"{scalar_type_name(dtype_a)} and {scalar_type_name(dtype_b)}"
    )


def vectors_differ_in_dtype(dtype_a: object, dtype_b: object) -> RuntimeError:
    """dot: the vectors have two dtypes."""
    return RuntimeError(
        "dot : expected both vectors to have same dtype, but found "
        f"{scalar_type_name(dtype_a)} and {scalar_type_name(dtype_b)}"
    )


def addmv_dtypes_differ(dtype_self: object, dtype_mat: object, dtype_vec: object) -> RuntimeError:
    """addmv, mv: the operands have several dtypes."""
    return RuntimeError(
        "addmv input tensors must have the same dtype, but got "
        f"{scalar_type_name(dtype_self)}, {scalar_type_name(dtype_mat)}, and "
        f"{scalar_type_name(dtype_vec)}"
    )


def baddbmm_dtypes_differ(dtype_self: object, dtype_a: object, dtype_b: object) -> RuntimeError:
    """baddbmm: the operands have several dtypes."""
    return RuntimeError(
        f"Input dtypes must be the same, got: input {c_name(dtype_self)}, "
        f"batch1: {c_name(dtype_a)}, batch2: {c_name(dtype_b)}"
    )


def norm_needs_floating(operator: str, dtype: object) -> RuntimeError:
    """A norm of integers was asked for."""
    return RuntimeError(
        f"{operator}: Expected a floating point or complex tensor as input. "
        f"Got {scalar_type_name(dtype)}"
    )


def norm_dtype_not_floating(dtype: object) -> RuntimeError:
    """The dtype= of a norm is an integer dtype."""
    return RuntimeError(
        "linalg.vector_norm: dtype should be floating point or complex, "
        f"but got {scalar_type_name(dtype)}"
    )


def norm_dtype_narrows(own: object, dtype: object) -> RuntimeError:
    """The dtype= of a norm cannot hold the input's values."""
    return RuntimeError(
        f"linalg.vector_norm: the dtype of the input ({scalar_type_name(own)}) should be "
        f"convertible without narrowing to the specified dtype ({scalar_type_name(dtype)})"
    )


def norm_of_nothing(ord: object, where: str) -> RuntimeError:
    """A norm that is a largest or smallest magnitude was taken over no elements."""
    shown = f"{ord:g}" if isinstance(ord, (int, float)) else ord
    return RuntimeError(
        f"linalg.vector_norm cannot compute the {shown} norm {where} because the operation "
        "does not have an identity"
    )
