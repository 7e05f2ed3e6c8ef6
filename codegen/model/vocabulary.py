"""The closed vocabularies of the YAML files: dtype sets, promotion rules, tags, dunders ..."""

from __future__ import annotations

from .. import library

_INTEGRAL = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
_FLOAT8 = (
    *("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"),
)
_FLOATING = ("float16", "bfloat16", "float32", "float64")
_LAPACK_COMPLEX = ("complex64", "complex128")
_COMPLEX = ("complex32", *_LAPACK_COMPLEX)

DTYPE_SETS: dict[str, tuple[str, ...]] = {
    "all": ("bool", *_INTEGRAL, *_FLOATING, *_COMPLEX, *_FLOAT8),
    "numeric": (*_INTEGRAL, *_FLOATING, *_COMPLEX, *_FLOAT8),
    "real": ("bool", *_INTEGRAL, *_FLOATING, *_FLOAT8),
    "real_numeric": (*_INTEGRAL, *_FLOATING, *_FLOAT8),
    "floating": _FLOATING,
    "floating_and_complex": (*_FLOATING, *_COMPLEX),
    "lapack_real": ("float32", "float64"),
    "lapack": ("float32", "float64", *_LAPACK_COMPLEX),
    "integral": _INTEGRAL,
    "integral_and_bool": ("bool", *_INTEGRAL),
    "boolean": ("bool",),
    "byte": ("uint8",),
    "complex": _COMPLEX,
}

PROMOTIONS: dict[str, str] = {
    "default": "inputs are cast to their common dtype, which is the result's",
    "int_to_float": "as default; integers and bool become the default float dtype",
    "always_double": "inputs are cast to float64, to complex128 if one is complex",
    "always_bool": "inputs are cast to their common dtype; the result is bool",
    "complex_to_float": "as default; the result of a complex input is real",
    "bool_to_long": "as default; bool and integers become int64",
    "same": "the named tensors must share one dtype",
    "none": "no rule: kernel and meta function decide",
}

VARIANTS: dict[str, str] = {
    "function": "a function in python_module",
    "method": "a method of Tensor",
    "inplace": "a method `name_` that writes to self, and its function",
    "out": "a keyword `out=` of the function",
    "copy": "a function `name_copy`: what the view shows, in memory of its own",
}

GRADIENTS: dict[str, str] = {
    "auto": "the derivative of the pointwise formula, to any order",
    "non_differentiable": "there is none",
    "refused": "there is none, and who asks for one is told",
    'not_implemented("name")': "there is one, but nobody has written it",
}
"""What may stand for the gradient of an argument in the place of a formula."""

TANGENTS: dict[str, str] = {
    "auto_linear": "the operator itself, of the tangents",
    "auto_element_wise": "the gradients' formulas, of the tangents",
    'not_implemented("name")': "as above",
}
"""What may stand for the tangent of a result in the place of a formula."""

NAMESPACES = ("linalg", "fft", "special", "masked", "signal.windows")
"""Modules that hold operators and nothing else."""

PYTHON_MODULES = ("torch", "Tensor", "nn.functional", *NAMESPACES)

SYNONYMS: dict[str, tuple[str, ...]] = {
    "input": ("x", "a", "x1"),
    "other": ("x2",),
    "dim": ("axis",),
    "keepdim": ("keepdims",),
}
"""NumPy's words for parameters of these names; nn.functional has none."""

FOREACH_SYNONYMS: dict[str, tuple[str, ...]] = {
    "exponent": (),
    "value": ("scalars",),
    "end": ("tensors1",),
    "weight": ("weights",),
}
"""PyTorch's words for parameters of these names where an operator runs over lists."""

FOREACH_OPERAND = ("other", "scalar", "scalars")
"""Its words for any other parameter that is a tensor or a number: each for what it is given."""

SCHEMA_PREFIXES: dict[str, str] = {name: name.replace(".", "_") + "_" for name in NAMESPACES}
"""Prefix of operator names per module; users do not see it."""

TAGS: dict[str, str] = {
    "factory": "creates a tensor: the binding takes requires_grad=",
    "nondeterministic": "draws random numbers: equal calls may differ",
    "data_dependent": "the result's shape depends on values",
    "inplace_flag": "in nn.functional, a last parameter inplace=False calls the in-place variant",
    "property": "an attribute of Tensor, read without a call",
    "assignable": "a property that can be assigned: the value is copied into what it views",
    "varargs": "the first list may be given as several arguments",
    "labelled": "operands may come each with a list of its dims' labels, in place of an equation",
    "reinterpret": "the result has another dtype over the same memory",
    "number_first": "the first of several operands may be a number beside a tensor: `mul(2, x)`",
    "number_each": "all operands may be numbers: `mul(2, 3)`",
    "bool_conditions": "operands outside the promotion are bool; bytes, as elsewhere, are refused",
    "same_elements": "the view has all elements, in their order",
    "across_devices": "the tensors may lie on different devices",
    "host_lists": "the tensors of a list may lie on the host, wherever the others do",
    "autocast_lower": "under autocast it runs in the lower precision",
    "autocast_float32": "under autocast it runs in float32",
    "autocast_float32_on_cuda": "under autocast it runs in float32 on CUDA",
    "autocast_widest": "under autocast it runs in the widest of its operands' precisions",
    "writes_statistics": "the running statistics that it is given are updated",
    "empty_dim_keeps": "`dim=[]` folds no dim, where by default it folds all",
    "computes_in_double": "a draw's floats are computed in float64; an index program's on the CPU",
    "exact_out": "out= must have the result's dtype: nothing is cast on the way there",
    "floating_out": "out= must have a real floating-point dtype",
    "real_out": "out= may have any real dtype, whatever the result's",
    "dtype_of_out": "out= says the dtype when the caller does not, and must have it if he does",
    "shape_of_out": "out= keeps its shape if it has as many elements as the result",
    "apart_out": "out= must not show memory of other operands than those in 'aliasing'",
    "whole_out": "out= may be an operand, but must not show a part of one",
    "frequent": "the family's shortest calls are told apart before its table is looked up",
    "takes_out": "the composite's function takes out= itself",
    "silent_out": "nothing is returned beside out=",
    "any_flags": "whatever is true may stand for a truth value, as in PyTorch's Python functions",
    "internal": "called by generated or runtime code; not shown to users",
}

OUT_RULES: dict[str, str] = {
    "exact_out": "exact",
    "dtype_of_out": "exact",
    "factory": "exact",
    "floating_out": "floating",
    "real_out": "real",
}
"""What tags say of the dtypes of out=; without one of them, results are cast to it."""

AUTOCAST_RULES = ("lower", "float32", "float32_on_cuda", "widest")
"""What follows `autocast_` in a tag."""

BACKENDS = ("CPU", "CUDA", "Meta", "CompositeExplicitAutograd")
"""The last one stands for all that have no kernel of their own: a function over tensors."""
TEXT_BACKENDS = ("CPU", "CUDA")
"""Those for which kernels are made of texts."""

LAYOUTS: dict[str, str] = {
    "Sparse": "entries by their indices (COO)",
    "SparseCsr": "compressed rows or columns, of entries or blocks (CSR, CSC, BSR, BSC)",
}
"""Dispatch keys of layouts; with a backend behind them PyTorch's `SparseCPU`, `SparseCsrCUDA`."""

VMAP: dict[str, str] = {
    "elements": "operands broadcast against each other, element by element",
    "leading": "operands may have leading dims, which are a batch",
    "along": "`dim` counts dims of operands that have equally many",
    "rows": "the same, but for `index`, which chooses among them",
    "folded": "the first dim counts what is computed alike, as images or channels",
    "joined": "a list of tensors along `dim`",
    "written": "what is written at indices (`index_put`)",
    "drawn": "elements, with a random number for each",
}
"""Structures of dims from which it follows how an operator works on many samples at once."""

# fmt: off
_BINARY = (
    "add", "sub", "mul", "truediv", "div", "floordiv", "mod", "divmod", "pow", "matmul",
    "and", "or", "xor", "lshift", "rshift",
)
_PLAIN = (
    "eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert", "bool", "int", "float",
    "complex", "index", "len", "contains", "getitem", "setitem", "round", "trunc", "floor", "ceil",
)
# fmt: on

DUNDERS = frozenset(
    [f"__{name}__" for name in (*_PLAIN, *_BINARY)]
    + [f"__r{name}__" for name in _BINARY]
    + [f"__i{name}__" for name in _BINARY if name != "divmod"]
)

_IN_PLACE_DUNDERS = frozenset(f"__i{name}__" for name in _BINARY if name != "divmod")


def in_place_dunder(name: str) -> bool:
    """Whether a dunder is an augmented assignment, `__iadd__`."""
    return name in _IN_PLACE_DUNDERS


FUNCTION_FOLDERS: dict[str, str] = {
    "bodies": f"{library.RUNTIME}.ops.composite",
    "shapes": f"{library.RUNTIME}.ops.shapes",
    "views": f"{library.RUNTIME}.ops.views",
    "geometry": f"{library.RUNTIME}.kernels.common",
    "CPU": f"{library.RUNTIME}.kernels.cpu",
    "CUDA": f"{library.RUNTIME}.kernels.cuda",
    "CompositeExplicitAutograd": f"{library.RUNTIME}.ops.composite",
}
"""Where a hand-written function named without a package is: by what it is, or by backend."""

SAMPLE_CONSTRUCTORS: dict[str, str] = {
    "randn": "randn(*shape)",
    "rand": "rand(*shape)",
    "uniform": "uniform(low, high, shape)",
    "randint": "randint(low, high, shape)",
    "bools": "bools(*shape)",
    "bytes": "bytes(*shape)",
    "ints": "ints(list)",
    "floats": "floats(list)",
    "arange": "arange(n)",
    "permuted": "permuted(x, dims)",
    "distinct": "distinct(*shape)",
    "same_floats": "same_floats(list)",
    "definite": "definite(*shape)",
    "triangular": "triangular(*shape)",
    "swaps": "swaps(list)",
}

EXPRESSION_BUILTINS = frozenset(
    ("len", "int", "float", "bool", "tuple", "list", "range", "zip", "enumerate", "isinstance")
)
"""Python functions that expressions may call."""

EXPRESSION_CONSTANTS = frozenset(
    ("inf", "nan", "pi", "math", "contiguous_format", *DTYPE_SETS["all"])
)
"""Names that expressions may read besides arguments: numbers, Python's math, dtypes, a format."""

EXCEPTIONS = frozenset(
    (
        "ArithmeticError", "AttributeError", "IndexError", "KeyError", "LinAlgError",
        "NotImplementedError", "OverflowError", "RuntimeError", "TypeError", "ValueError",
        "ZeroDivisionError",
    )
)  # fmt: skip
"""What a sample may say that a call raises."""

# fmt: off
RECORD_METHODS = frozenset((
    "bfloat16", "bool", "cpu", "cuda", "data_ptr", "dim", "double", "element_size", "float", "half",
    "int", "is_complex", "is_contiguous", "is_floating_point", "is_signed", "item", "long",
    "ndimension", "nelement", "new_tensor", "numel", "requires_grad_", "short", "size",
    "storage_offset", "stride", "to", "to_complex", "to_real", "tolist", "type", "untyped_storage",
))
"""Methods of tensors, dtypes and devices that are written by hand, not operators."""

RECORD_PROPERTIES = frozenset((
    "data", "device", "dtype", "grad", "grad_fn", "index", "is_complex", "is_cuda",
    "is_floating_point", "is_leaf", "is_signed", "is_sparse", "itemsize", "layout", "ndim",
    "requires_grad", "shape", "type",
))
"""Attributes of tensors, dtypes and devices that are no operators."""
# fmt: on

SAMPLE_NAMES = frozenset(("float", "complex", "slice", "inf", "nan", "pi", *DTYPE_SETS["all"]))
"""Names that sample values may read besides the constructors."""
