"""Builders of the exceptions that users see: each sentence is written once, here.

A builder returns the exception, the caller raises it: `raise errors.dim_out_of_range(dim, ndim)`.
Classes and the phrases that people search for are PyTorch's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Shapes and dims.


def dim_out_of_range(dim: int, ndim: int) -> IndexError:
    """`dim` does not name a dim of a tensor with `ndim` dims; a 0-d tensor has dims -1 and 0."""
    bound = max(ndim, 1)
    return IndexError(
        f"Dimension out of range (expected to be in range of [{-bound}, {bound - 1}], "
        f"but got {dim})"
    )


def dim_repeated(dim: int) -> RuntimeError:
    """A list of dims names one dim twice."""
    return RuntimeError(f"dim {dim} appears multiple times in the list of dims")


def broadcast_mismatch(size_a: int, size_b: int, dim: int) -> RuntimeError:
    """Two sizes at `dim` (of the broadcast shape) are neither equal nor 1."""
    return RuntimeError(
        f"The size of tensor a ({size_a}) must match the size of tensor b ({size_b}) "
        f"at non-singleton dimension {dim}"
    )


def view_incompatible() -> RuntimeError:
    """No strides give the wanted shape over the same memory."""
    return RuntimeError(
        "view size is not compatible with input tensor's size and stride (at least one dimension "
        "spans across two contiguous subspaces). Use .reshape(...) instead."
    )


def shape_invalid_for_numel(shape: Sequence[int], numel: int) -> RuntimeError:
    """A tensor of `numel` elements cannot be seen as `shape`."""
    return RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")


def several_inferred_dims() -> RuntimeError:
    """A shape holds -1 more than once."""
    return RuntimeError("only one dimension can be inferred")


def inferred_dim_ambiguous(shape: Sequence[int]) -> RuntimeError:
    """A shape holds -1 and 0 for a tensor without elements: any size would do."""
    return RuntimeError(
        f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
        "dimension size -1 can be any value and is ambiguous"
    )


def invalid_shape_dim(size: int, index: int, shape: Sequence[int]) -> RuntimeError:
    """A shape holds a negative size other than -1."""
    return RuntimeError(f"invalid shape dimension {size} at index {index} of shape {list(shape)}")


def negative_size(size: int, sizes: Sequence[int]) -> RuntimeError:
    """A tensor is to be created with a negative size."""
    return RuntimeError(f"Trying to create tensor with negative dimension {size}: {list(sizes)}")


# Dtypes and devices.


def no_complex_dtype(dtype: object) -> RuntimeError:
    """A dtype has no complex dtype with parts of its type."""
    return RuntimeError(f"Unknown Complex ScalarType for {dtype!r}")


def default_dtype_not_floating(prefix: str, got: object) -> TypeError:
    """The default dtype is to be set to something that is no floating-point dtype."""
    return TypeError(
        f"{prefix}only floating-point types are supported as the default type, got {got!r}"
    )


def unsupported_numpy_dtype(numpy_dtype: object) -> TypeError:
    """A NumPy array's dtype has no counterpart here."""
    return TypeError(
        f"can't convert np.ndarray of type {numpy_dtype}. The only supported types are: float64, "
        "float32, float16, bfloat16, complex64, complex128, int64, int32, int16, int8, uint8, "
        "and bool."
    )


def foreign_byte_order() -> ValueError:
    """A NumPy array is stored in the other byte order."""
    return ValueError(
        "given numpy array has byte order different from the native byte order. "
        "Conversion between byte orders is currently not supported."
    )


def unknown_device_type(text: str, known: Sequence[str]) -> RuntimeError:
    """A device string starts with no known device type."""
    return RuntimeError(
        f"Expected one of {', '.join(known)} device type at start of device string: {text}"
    )


def invalid_device_string(text: str) -> RuntimeError:
    """A device string is not `type` or `type:index`."""
    return RuntimeError(f"Invalid device string: '{text}'")


def same_device_expected(device_a: object, device_b: object) -> RuntimeError:
    """Two operands of one operator live on different devices."""
    return RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{device_a} and {device_b}!"
    )


def cannot_cast(source: object, target: object) -> RuntimeError:
    """A result of dtype `source` cannot be stored in a tensor of dtype `target`."""
    return RuntimeError(
        f"result type {source!r} can't be cast to the desired output type {target!r}"
    )


# What messages call a dtype.

_SCALAR_TYPE_NAMES = {
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "float16": "Half",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
    "bool": "Bool",
    "bfloat16": "BFloat16",
}


def scalar_type_name(dtype: object) -> str:
    """Return the name by which PyTorch's messages call a dtype: "Float" for float32."""
    return _SCALAR_TYPE_NAMES[repr(dtype).removeprefix("torch.")]


def wrong_argument_type(
    operator: str, argument: str, position: int, kind: str, value: object
) -> TypeError:
    """An argument is not of the type that the schema gives."""
    expected = {"tensor": "Tensor", "tensors": "tuple of Tensors", "number": "Tensor or Number"}
    wanted = expected.get(kind.rstrip("?"), kind)
    return TypeError(
        f"{operator}(): argument '{argument}' (position {position + 1}) must be {wanted}, "
        f"not {type(value).__name__}"
    )


def no_backend(device_type: str) -> NotImplementedError:
    """No backend is registered for a device type."""
    return NotImplementedError(
        f"device type '{device_type}' has no backend here; "
        "register one with runtime.dispatch.operator.register_backend"
    )


def dtype_not_supported(operator: str, dtype: object, accepted: object) -> NotImplementedError:
    """An operator does not compute in a dtype."""
    return NotImplementedError(
        f"\"{operator}\" not implemented for '{scalar_type_name(dtype)}'; it computes in {accepted}"
    )


def no_kernel(operator: str, backend: str) -> NotImplementedError:
    """An operator has no kernel for a backend."""
    return NotImplementedError(
        f"no {backend} kernel for '{operator}'; add it to native_functions.yaml under dispatch"
    )


def overlapping_write(operator: str) -> RuntimeError:
    """In-place writing to a tensor whose elements share memory."""
    return RuntimeError(
        f"{operator}: unsupported operation: more than one element of the written-to tensor refers "
        "to a single memory location; clone() the tensor before writing to it"
    )


def partly_overlapping(operator: str) -> RuntimeError:
    """The written-to tensor and an input share some, but not all, of their memory."""
    return RuntimeError(
        f"{operator}: unsupported operation: some elements of the input tensor and the written-to "
        "tensor refer to a single memory location; clone() the input before writing"
    )


def inplace_shape(operator: str, out: object, broadcast: object) -> RuntimeError:
    """The written-to tensor would have to grow."""
    return RuntimeError(
        f"{operator}: output with shape {list(out)} doesn't match the broadcast shape "  # type: ignore[call-overload]
        f"{list(broadcast)}"  # type: ignore[call-overload]
    )


def out_with_grad(operator: str) -> RuntimeError:
    """out= was given together with arguments that require grad."""
    return RuntimeError(
        f"{operator}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad."
    )


# Matrix products.


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


def expand_mismatch(
    wanted: int, size: int, dim: int, target: Sequence[int], own: Sequence[int]
) -> RuntimeError:
    """A tensor cannot be expanded to the sizes of the result."""
    return RuntimeError(
        f"The expanded size of the tensor ({wanted}) must match the existing size ({size}) at "
        f"non-singleton dimension {dim}.  Target sizes: {list(target)}.  "
        f"Tensor sizes: {list(own)}"
    )


def expand_to_fewer_dims(own: Sequence[int], target: Sequence[int]) -> RuntimeError:
    """A tensor has more dims than the result it should expand to."""
    return RuntimeError(
        f"expand(size={list(target)}): the number of sizes provided ({len(target)}) must be "
        f"greater or equal to the number of dimensions in the tensor ({len(own)})"
    )


def linear_weight_ndim(ndim: int) -> RuntimeError:
    """linear: the weight is neither a matrix nor a vector."""
    return RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")


def cpp_type_name(dtype: object) -> str:
    """Return the C++ name of a dtype that some messages use: "float" for float32."""
    names = {"Float": "float", "Double": "double", "Long": "long", "Int": "int", "Bool": "bool"}
    short = {"Byte": "unsigned char", "Char": "signed char", "Short": "short"}
    wide = {"ComplexFloat": "c10::complex<float>", "ComplexDouble": "c10::complex<double>"}
    half = {"Half": "c10::Half", "BFloat16": "c10::BFloat16"}
    return (names | short | wide | half)[scalar_type_name(dtype)]


def matrices_differ_in_dtype(dtype_a: object, dtype_b: object) -> RuntimeError:
    """mm: the operands have two dtypes."""
    return RuntimeError(
        "expected m1 and m2 to have the same dtype, but got: "
        f"{cpp_type_name(dtype_a)} != {cpp_type_name(dtype_b)}"
    )


def scalar_type_mismatch(expected: object, got: object) -> RuntimeError:
    """An operand has another dtype than the first."""
    return RuntimeError(
        f"expected scalar type {scalar_type_name(expected)} but found {scalar_type_name(got)}"
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
        f"Input dtypes must be the same, got: input {cpp_type_name(dtype_self)}, "
        f"batch1: {cpp_type_name(dtype_a)}, batch2: {cpp_type_name(dtype_b)}"
    )


def integral_scale_expected(name: str) -> RuntimeError:
    """An integer operator is scaled by a float."""
    return RuntimeError(
        f"For integral input tensors, argument {name} must not be a floating point number."
    )


# Norms.


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


_DIM_WANTED = (
    "Expected reduction dim to be specified for input.numel() == 0. "
    "Specify the reduction dim with the 'dim' argument."
)


def empty_reduction(operator: str) -> IndexError:
    """An index of an extremum is asked of no elements."""
    return IndexError(f"{operator}(): {_DIM_WANTED}")


def empty_extremum(operator: str) -> RuntimeError:
    """A full reduction without identity over no elements."""
    return RuntimeError(f"{operator}(): {_DIM_WANTED}")


def empty_reduction_dim(operator: str, dim: int) -> IndexError:
    """A reduction without identity over a dim of size 0."""
    return IndexError(f"{operator}(): Expected reduction dim {dim} to have non-zero size.")


def no_meta(operator: str) -> NotImplementedError:
    """The shape of a result depends on data that a meta tensor does not have."""
    return NotImplementedError(
        f"{operator}: the result's shape depends on the data, which tensors on 'meta' do not have"
    )


def dtypes_differ(operator: str, first: object, second: object) -> RuntimeError:
    """Operands that must share one dtype do not."""
    return RuntimeError(
        f"{operator}: expected the operands to have the same dtype, "
        f"but got: {_c_name(first)} != {_c_name(second)}"
    )


_C_NAMES = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
    "bool": "bool",
}


def _c_name(dtype: object) -> str:
    """The spelling of a dtype in PyTorch's messages about kernels."""
    return _C_NAMES.get(getattr(dtype, "name", ""), str(dtype))


# Autograd.

_VIEW_CREATION = {
    "multi_output": (
        "This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace: use an out-of-place operator, or clone."
    ),
    "custom_function": (
        "This view was created inside a custom Function (or because an input was returned as-is); "
        "a write to it would bypass the Function's backward: clone the Function's output."
    ),
    "no_grad": (
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
        "Given that this use case is ambiguous, it is forbidden: put both the view and the write "
        "inside no_grad, or both outside."
    ),
}


def forbidden_view_write(
    node_name: str | None, output_nr: int, creation: str, indirect: bool = False
) -> RuntimeError:
    """A view that must not be written to, nor its base, was; `creation` says why it must not."""
    if creation == "no_grad":
        text = _VIEW_CREATION[creation]
        if indirect:
            text = text.replace("is being", "its base or another view of its base has been", 1)
        return RuntimeError(text)
    written = (
        "its base or another view of its base has been modified inplace"
        if indirect
        else "is being modified inplace"
    )
    return RuntimeError(
        f"Output {output_nr} of {node_name} is a view and {written}. {_VIEW_CREATION[creation]}"
    )


def inplace_on_leaf(what: str) -> RuntimeError:
    """`what` ("a leaf Variable", "a view of a leaf Variable") is written to while recording."""
    return RuntimeError(f"{what} that requires grad is being used in an in-place operation.")


def saved_tensor_modified(
    what: str, made_by: str, node_name: str, found: int, expected: int
) -> RuntimeError:
    """A tensor kept for backward was written to. what: its type and sizes; made_by: its origin."""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{what}], which is {made_by}, is at version {found}; {node_name} expected "
        f"version {expected} instead. Hint: enable anomaly detection to find the forward "
        "operation, with autograd.set_detect_anomaly(True)."
    )


def saved_tensors_released() -> RuntimeError:
    """Backward runs over a part of the graph that has been used up."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed by "
        ".backward() and autograd.grad(): specify retain_graph=True in all calls but the last."
    )


def pack_hook_wrote() -> RuntimeError:
    """A hook of saved tensors wrote to the tensor it was given."""
    return RuntimeError(
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
        "pack hook can not be modified by in-place operations."
    )


def unpack_hook_result(got: object) -> TypeError:
    """A hook of saved tensors gave something back that is no tensor."""
    return TypeError(
        f"Output of saved tensor unpack_hook expected to be a Tensor but got {type(got).__name__}"
    )


def nothing_to_differentiate(position: int) -> RuntimeError:
    """Backward is asked for a tensor outside autograd."""
    return RuntimeError(
        f"element {position} of tensors does not require grad and does not have a grad_fn"
    )


def implicit_gradient(sizes: Sequence[int]) -> RuntimeError:
    """Backward of several elements was called without a gradient."""
    return RuntimeError(
        "grad can be implicitly created only for scalar outputs "
        f"(the output has shape {list(sizes)}: pass gradient=)"
    )


def implicit_gradient_complex(dtype: object) -> RuntimeError:
    """Backward of a complex number was called without a gradient."""
    return RuntimeError(
        f"grad can be implicitly created only for real scalar outputs but got {dtype!r}"
    )


def gradient_shape(position: int, got: Sequence[int], expected: Sequence[int]) -> RuntimeError:
    """The gradient passed for an output has another shape."""
    return RuntimeError(
        f"Mismatch in shape: grad_output[{position}] has a shape of {got} and "
        f"output[{position}] has a shape of {expected}."
    )


def gradient_complexity(position: int, got: object, expected: object) -> RuntimeError:
    """The gradient passed for an output is complex, or the output is, and not both."""
    return RuntimeError(
        "For complex Tensors, both grad_output and output are required to have the same dtype. "
        f"Mismatch in dtype: grad_output[{position}] has a dtype of {got!r} and "
        f"output[{position}] has a dtype of {expected!r}."
    )


def unused_input(position: int) -> RuntimeError:
    """An input of `grad` cannot be reached from the outputs."""
    return RuntimeError(
        f"The differentiated Tensor at index {position} appears to not have been used in the "
        "graph. Set allow_unused=True if this is the desired behavior."
    )


def gradient_not_needed() -> RuntimeError:
    """An input of `grad` does not require grad."""
    return RuntimeError("One of the differentiated Tensors does not require grad")


def invalid_gradient(
    node_name: str, position: int, got: Sequence[int], expected: Sequence[int]
) -> RuntimeError:
    """A node made a gradient of a shape that its input cannot have."""
    return RuntimeError(
        f"Function {node_name} returned an invalid gradient at index {position} - got "
        f"{list(got)} but expected shape compatible with {list(expected)}"
    )


def gradient_count(node_name: str, expected: int, got: int) -> RuntimeError:
    """A custom Function's backward returned too many or too few gradients."""
    return RuntimeError(
        f"function {node_name} returned an incorrect number of gradients "
        f"(expected {expected}, got {got})"
    )


def requires_grad_dtype(dtype: object) -> RuntimeError:
    """An integer or boolean tensor is to require grad."""
    return RuntimeError(
        f"only Tensors of floating point and complex dtype can require gradients, got {dtype!r}"
    )


def requires_grad_of_non_leaf() -> RuntimeError:
    """requires_grad of a computed tensor is to be switched off."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables. To use a computed variable "
        "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
    )


# Indices.


def dim_of_scalar(dim: int) -> IndexError:
    """A dim of a tensor without dims was named where only a real dim will do."""
    return IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def index_out_of_bounds(index: int, dim: int, size: int) -> IndexError:
    """An index tensor of an indexing expression names a place that is not there."""
    if not size:
        return IndexError("index is out of bounds for dimension with size 0")
    return IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def scatter_index_out_of_bounds(index: int, dim: int, size: int) -> RuntimeError:
    """An index of `gather` or `scatter` names a place that is not there."""
    return RuntimeError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def index_out_of_range_in_self() -> IndexError:
    """An index of `index_select` or `embedding` names a slice that is not there."""
    return IndexError("index out of range in self")


def flat_index_out_of_range(index: int, numel: int) -> IndexError:
    """An index of `take` or `put_` lies outside the flattened tensor."""
    return IndexError(
        f"out of range: tried to access index {index} on a tensor of {numel} elements."
    )


def index_ndim_mismatch(other: str) -> RuntimeError:
    """The index of `gather` or `scatter` has another number of dims than the tensor `other`."""
    return RuntimeError(f"Index tensor must have the same number of dimensions as {other} tensor")


def index_larger_than(
    index: Sequence[int], self: Sequence[int], dim: int, src: Sequence[int] | None
) -> RuntimeError:
    """The index of `scatter` does not fit into self or into src."""
    message = f"Expected index {list(index)} to be no larger than self {list(self)} "
    message += f"apart from dimension {dim}"
    if src is not None:
        message += f" and to be no larger size than src {list(src)}"
    return RuntimeError(message)


def long_index_expected(name: str, got: object) -> RuntimeError:
    """An operator that takes int64 indices only was given others."""
    return RuntimeError(
        f"{name}(): Expected a long tensor for index, but got {scalar_type_name(got)}"
    )


def value_overflows(dtype: object) -> RuntimeError:
    """A Python number does not fit in a tensor's dtype."""
    return RuntimeError(f"value cannot be converted to type {dtype!r} without overflow")


# Random numbers.


def bound_outside_dtype(bound: str, dtype: object) -> RuntimeError:
    """A bound of a random draw is no number that the tensor's dtype holds."""
    return RuntimeError(f"{bound} is out of bounds for {_c_name(dtype)}")


def dropout_probability(p: float) -> RuntimeError:
    """The probability of dropping out is none."""
    return RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")


def index_dtype() -> IndexError:
    """An index tensor holds neither integers nor booleans."""
    return IndexError("tensors used as indices must be long, int, byte or bool tensors")


def no_index() -> IndexError:
    """An indexing expression holds no index tensor at all."""
    return IndexError("at least one index must be provided")


def too_many_indices(ndim: int, count: int) -> IndexError:
    """An indexing expression speaks of more dims than there are."""
    return IndexError(f"too many indices for tensor of dimension {ndim} (got {count})")


def mask_mismatch(mask: Sequence[int], mask_dim: int, shape: Sequence[int], dim: int) -> IndexError:
    """A boolean index has another size than the dim it stands for."""
    return IndexError(
        f"The shape of the mask {list(mask)} at index {mask_dim} does not match the shape of the "
        f"indexed tensor {list(shape)} at index {dim}"
    )


def indices_do_not_broadcast(index_shapes: Sequence[Sequence[int]]) -> IndexError:
    """Index tensors of one expression do not broadcast against each other."""
    listed = ", ".join(str(list(shape)) for shape in index_shapes)
    return IndexError(
        f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
    )


def values_do_not_broadcast(values: Sequence[int], target: Sequence[int]) -> RuntimeError:
    """The values to write do not broadcast to the places indexed."""
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(values)} cannot be broadcast to indexing "
        f"result of shape {list(target)}"
    )


def not_a_gradient(got: object) -> TypeError:
    """Something that is no tensor arrives as a gradient."""
    return TypeError(f"expected Tensor or None (got {type(got).__name__})")


def gradient_type(got: object) -> TypeError:
    """The gradient passed for an output is no tensor."""
    return TypeError(f"gradients can be either Tensors or None, but got {type(got).__name__}")


def gradients_counted(tensors: int, gradients: int) -> RuntimeError:
    """Backward got one gradient too many or too few."""
    return RuntimeError(f"got {tensors} tensors and {gradients} gradients")


def both_grad_arguments() -> RuntimeError:
    """Backward got the old and the new spelling of one argument."""
    return RuntimeError(
        "'grad_tensors' and 'grad_variables' (deprecated) arguments both passed to backward(). "
        "Use only 'grad_tensors'."
    )


def no_inputs() -> RuntimeError:
    """Backward is to accumulate into nothing."""
    return RuntimeError("`inputs` argument to `backward()` cannot be empty.")


def not_batched() -> NotImplementedError:
    """Batched gradients need vmap."""
    return NotImplementedError("grad(): is_grads_batched=True is not supported; loop over the rows")


def materialize_needs_unused() -> ValueError:
    """materialize_grads contradicts allow_unused=False."""
    return ValueError("Expected allow_unused to be True or not passed when materialize_grads=True")


def edge_without_grad() -> RuntimeError:
    """A tensor outside autograd has no place in the graph."""
    return RuntimeError(
        "It is not possible to get the gradient edge of a Tensor that does not require gradients"
    )


def edge_needs_gradient() -> RuntimeError:
    """A place in the graph has no value from which a gradient could be made."""
    return RuntimeError(
        "grad can be implicitly created only for scalar outputs: pass a gradient for a GradientEdge"
    )


def hook_result(got: object) -> TypeError:
    """A tensor's hook returned something that is no tensor."""
    return TypeError(f"expected Tensor, but hook returned '{type(got).__name__}'")


def hook_size(hook: object, got: Sequence[int], expected: Sequence[int]) -> RuntimeError:
    """A tensor's hook returned a gradient of another shape."""
    name = getattr(hook, "__name__", type(hook).__name__)
    return RuntimeError(
        f"hook '{name}' has changed the size of value (from {list(expected)} to {list(got)})"
    )


def hook_count(expected: int, got: int) -> RuntimeError:
    """A node's hook returned too many or too few gradients."""
    return RuntimeError(
        f"hook has returned an incorrect number of values (got {got}, but expected {expected})"
    )


# Losses.


def class_weights_do_not_fit(operator: str, classes: int, shape: Sequence[int]) -> RuntimeError:
    """A loss over classes got weights for another number of classes."""
    return RuntimeError(
        f"{operator}weight tensor should be defined either for all {classes} classes or no "
        f"classes but got weight tensor of shape: {list(shape)}"
    )


def invalid_reduction(reduction: object) -> ValueError:
    """A loss's reduction is none of 'none', 'mean' and 'sum'."""
    return ValueError(f"{reduction} is not a valid value for reduction")


def slice_out_of_bounds(index: int, dim: int, size: int) -> IndexError:
    """An index of `index_copy_` names a slice that is not there."""
    return IndexError(
        f"index_copy_(): index {index} is out of bounds for dimension {dim} with size {size}"
    )


# Copies and fills.


def number_overflows(dtype: object) -> RuntimeError:
    """A Python number is out of a dtype's range."""
    name = repr(dtype).removeprefix("torch.")
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def fill_value_not_scalar(ndim: int) -> RuntimeError:
    """fill_ was given a tensor with dims."""
    return RuntimeError(
        f"fill_ only supports 0-dimension value tensor but got tensor with {ndim} dimensions."
    )


def no_data_on_meta() -> NotImplementedError:
    """The elements of a meta tensor were asked for."""
    return NotImplementedError("Cannot copy out of meta tensor; no data!")


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


def format_needs_rank(format_name: str, ndim: int) -> RuntimeError:
    """A memory format suits another number of dims."""
    return RuntimeError(f"required rank {ndim} tensor to use {format_name} format")


# Factories.


def dtype_expected(got: object) -> TypeError:
    """The dtype= of a factory is no dtype."""
    return TypeError(f"argument 'dtype' must be torch.dtype, not {type(got).__name__}")


def size_not_int(got: object) -> TypeError:
    """The sizes of a new tensor hold something else than ints."""
    return TypeError(f"argument 'size' must be tuple of ints, not {type(got).__name__}")


def layout_not_strided(layout: object) -> NotImplementedError:
    """A factory was asked for a sparse tensor."""
    return NotImplementedError(f"factories make strided tensors, got layout={layout!r}")


def strides_do_not_match(sizes: Sequence[int], strides: Sequence[int]) -> RuntimeError:
    """empty_strided: as many strides as sizes are needed."""
    return RuntimeError(
        f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides "
        f"({len(strides)})"
    )


def range_not_finite(start: object, end: object) -> RuntimeError:
    """A bound of a range is infinite or NaN."""
    return RuntimeError(f"unsupported range: {start} -> {end}")


def hook_without_grad() -> RuntimeError:
    """A hook is registered where no gradient will come."""
    return RuntimeError("cannot register a hook on a tensor that doesn't require gradient")


def post_hook_on_non_leaf() -> RuntimeError:
    """A hook for after accumulation is registered where nothing accumulates."""
    return RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")


def retain_without_grad() -> RuntimeError:
    """A gradient is to be kept that will not come."""
    return RuntimeError("can't retain_grad on Tensor that has requires_grad=False")


def assigned_grad_type(got: object) -> TypeError:
    """Something that is no tensor is assigned to .grad."""
    return TypeError(
        f"assigned grad expected to be a Tensor or None but got grad of type {type(got).__name__}"
    )


def own_grad() -> RuntimeError:
    """A tensor is assigned to its own .grad."""
    return RuntimeError("can't assign Variable as its own grad")


def assigned_grad_size(got: Sequence[int], expected: Sequence[int]) -> RuntimeError:
    """A gradient of another shape is assigned to .grad."""
    return RuntimeError(
        f"attempting to assign a gradient of size '{list(got)}' to a tensor of size "
        f"'{list(expected)}'. Please ensure that the gradient and the tensor are the same size"
    )


def assigned_grad_dtype(got: object, expected: object) -> RuntimeError:
    """A gradient of another dtype is assigned to .grad."""
    return RuntimeError(
        f"attempting to assign a gradient with dtype '{got!r}' to a tensor with dtype "
        f"'{expected!r}'. The gradient must match the tensor's dtype"
    )


def assigned_grad_device(got: object, expected: object) -> RuntimeError:
    """A gradient on another device is assigned to .grad."""
    return RuntimeError(
        f"attempting to assign a gradient located on device '{got}' to a tensor located on "
        f"device '{expected}'. Please ensure that the gradient and the tensor are on the same "
        "device"
    )


def data_type(got: object) -> TypeError:
    """Something that is no tensor is assigned to .data."""
    return TypeError(f"Variable data has to be a tensor, but got {type(got).__name__}")


# Data from elsewhere.


def no_dtype_for(data: object) -> RuntimeError:
    """`tensor` was given something that is no number, sequence or array."""
    return RuntimeError(f"Could not infer dtype of {type(data).__name__}")


def real_number_expected() -> TypeError:
    """A complex number was given for a real dtype."""
    return TypeError("must be real number, not complex")


def negative_numpy_stride() -> ValueError:
    """An array that is read backwards cannot be shared."""
    return ValueError(
        "At least one stride in the given numpy array is negative, and tensors with negative "
        "strides are not currently supported. (You can probably work around this by making a copy "
        "of your array with array.copy().)"
    )


def fractional_numpy_stride() -> ValueError:
    """An array's strides do not count whole elements."""
    return ValueError(
        "given numpy array strides not a multiple of the element byte size. "
        "Copy the numpy array to reallocate the memory."
    )


def buffer_offset(offset: int, size: int) -> ValueError:
    """frombuffer: the first byte lies outside."""
    return ValueError(
        f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
        f"({size} bytes) minus 1"
    )


def buffer_remainder(size: int, itemsize: int) -> ValueError:
    """frombuffer: the bytes do not divide into elements."""
    return ValueError(
        f"buffer length ({size} bytes) after offset must be a multiple of element size ({itemsize})"
    )


def buffer_too_short(count: int, size: int) -> ValueError:
    """frombuffer: fewer elements than asked for."""
    return ValueError(
        f"requested buffer length ({count} elements) must not be greater than actual buffer "
        f"length ({size} bytes)"
    )


def saved_is_no_tensor(got: object) -> TypeError:
    """save_for_backward got something that is no tensor."""
    return TypeError(
        f"save_for_backward can only save variables, but got {type(got).__name__}; keep other "
        "values as attributes of ctx"
    )


def backward_and_vjp() -> RuntimeError:
    """A custom Function has both spellings of one method."""
    return RuntimeError(
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
        "only implement one of them."
    )


def dirty_not_returned() -> RuntimeError:
    """A custom Function marked an argument as written to, and does not return it."""
    return RuntimeError(
        "Some elements marked as dirty during the forward method were not returned as output. The "
        "inputs that are modified inplace must all be outputs of the Function."
    )


def dirty_not_argument() -> RuntimeError:
    """A custom Function marked a tensor as written to that is none of its arguments."""
    return RuntimeError(
        "A tensor marked as dirty is not an input of the Function; mark only inputs with mark_dirty"
    )


def dirty_view_among_others() -> RuntimeError:
    """A custom Function writes to a view and has several results."""
    return RuntimeError(
        "If your Function modifies inplace an input that is a view of another tensor, it must "
        "return only that input: give it one output, or clone the view first."
    )


# Elements as Python numbers and arrays.


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


def numpy_of_grad() -> RuntimeError:
    """An array would lose the tensor's history."""
    return RuntimeError(
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
    )


def numpy_of_device(device: object) -> TypeError:
    """An array lives in host memory."""
    return TypeError(
        f"can't convert {device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor "
        "to host memory first."
    )


def bfloat16_needs_package() -> TypeError:
    """NumPy has no bfloat16 of its own."""
    return TypeError(
        "Got unsupported ScalarType BFloat16: install ml_dtypes, or convert with .float() first"
    )


def array_needs_copy(own: object, wanted: object) -> ValueError:
    """__array__ was asked for another dtype without a copy."""
    return ValueError(f"Unable to avoid copy: the tensor is {own}, an array of {wanted} was asked")


def exporter_cannot_copy(exporter: object) -> BufferError:
    """An exporter of an old DLPack version does not know `copy`."""
    return BufferError(f"{type(exporter).__name__}.__dlpack__ does not take copy=")


def deepcopy_of_non_leaf() -> RuntimeError:
    """A computed tensor cannot be copied together with its graph."""
    return RuntimeError(
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
        "at the moment. Use .detach().clone() for a computed tensor."
    )


def length_of_zero_dim() -> TypeError:
    """A 0-d tensor has no length."""
    return TypeError("len() of a 0-d tensor")


def iteration_of_zero_dim() -> TypeError:
    """A 0-d tensor is no sequence."""
    return TypeError("iteration over a 0-d tensor")


# Indexing.


def int_out_of_bounds(index: int, dim: int, size: int) -> IndexError:
    """An int index lies outside its dim."""
    return IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")


def index_of_zero_dim() -> IndexError:
    """A 0-d tensor was indexed."""
    return IndexError(
        "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor to a number"
    )


def invalid_index(item: object) -> IndexError:
    """Something that is no index."""
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid "
        f"indices (got {type(item).__name__})"
    )


def cannot_assign(value: object, dtype: object) -> TypeError:
    """tensor[index] = value: the value is neither a number nor a tensor."""
    got = type(value)
    name = got.__name__ if got.__module__ == "builtins" else f"{got.__module__}.{got.__name__}"
    return TypeError(f"can't assign a {name} to a torch.{scalar_type_name(dtype)}Tensor")


def not_contained(element: object) -> RuntimeError:
    """`element in tensor`: the element is neither a number nor a tensor."""
    return RuntimeError(
        "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
        f"{type(element)}."
    )


# Memory.


def resize_of_grad() -> RuntimeError:
    """A tensor that requires grad was to be resized."""
    return RuntimeError("cannot resize variables that require grad")


def python_write_to_grad(method: str) -> RuntimeError:
    """A Python function was to rewrite a tensor that requires grad."""
    return RuntimeError(
        f"Can't call {method}() on Variable that requires grad. Use var.detach().{method}() "
        "instead."
    )


def no_accelerator() -> RuntimeError:
    """A device is needed, and there is none."""
    return RuntimeError("Cannot access accelerator device when none is available.")


# Normalisation.


def one_value_per_channel(size: object) -> ValueError:
    """A batch statistic would be taken over one value, whose variance is 0."""
    return ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def no_backward_runs() -> RuntimeError:
    """A callback for the end of backward is given while no backward runs."""
    return RuntimeError("Final callbacks can only be installed during backward pass.")


def raise_not_differentiable(name: str) -> Any:
    """A gradient was asked for that derivatives.yaml says is not implemented."""
    raise NotImplementedError(
        f"the derivative for '{name}' is not implemented; it stands as not_implemented in "
        "derivatives.yaml"
    )


def condition_dtype(operator: str, name: str, got: object) -> RuntimeError:
    """A tensor that is only tested for truth is not bool."""
    return RuntimeError(
        f"{operator} expected {name} to be a boolean tensor, "
        f"but got a tensor with dtype {scalar_type_name(got)}"
    )
