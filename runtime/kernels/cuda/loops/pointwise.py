"""The texts of the CUDA loops around a scalar formula: contiguous, and strided.

A thread takes an element, or a vector of elements, and then every following one at the distance of
the whole grid. Which loop runs over what grid is the launch's choice (`runtime.backends.cuda`).
"""

from __future__ import annotations

import re
from functools import cache

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build, narrow
from torchgen_out._runtime.kernels.common.pointwise import INPUT_NAMES, PointwiseSpec
from torchgen_out._runtime.kernels.cuda.compiling import primitives, vectors
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.vecmath import complex_source

THREADS = 256
"""Threads of a block."""
MOST_BYTES = 32
"""What a thread loads of one operand at once, at most: two accesses."""
AT_ONCE = 2
"""Elements that a thread of the strided loop takes at once."""
INDEX_TYPES = {False: "int32", True: "int64"}
"""By whether the operands are wide: of so many elements that 32 bits do not count them."""

DIVISOR = ("size", "multiplier", "shift")
"""What a kernel takes for each size by which it divides."""
DIVIDE = """\
@inner
def divide(i, size, multiplier, shift):
    high = np.uint32((np.uint64(np.uint32(i)) * np.uint64(multiplier)) >> np.uint64(32))
    return INDEX(np.uint32(high + np.uint32(i)) >> np.uint32(shift))
"""
DIVIDE_WIDE = """\
@inner
def divide(i, size, multiplier, shift):
    return INDEX(np.uint64(i) // np.uint64(size))
"""


def divisor(size: int) -> tuple[int, int, int]:
    """(size, multiplier, shift) by which a kernel divides numbers below 2**31 by `size`.

    n // size = (high word of n * multiplier + n) >> shift, with the least shift such that
    2**shift >= size: Granlund and Montgomery, "Division by invariant integers" (1994).
    """
    shift = (size - 1).bit_length()
    multiplier = ((1 << 32) * ((1 << shift) - size)) // size + 1
    return size, multiplier & 0xFFFFFFFF, shift


def divide_text(wide: bool) -> str:
    """divide(number, *divisor), in the type `I` of indices."""
    return (DIVIDE_WIDE if wide else DIVIDE).replace("INDEX", "I")


def place_text(name: str, dims: int) -> str:
    """name(divisors, dims, strides, number): where the element of a number lies.

    divisors, strides: of each dim, the outermost first; what has no dims is one element.
    """
    lines = ["at = I(0)"]
    for dim in range(dims - 1, 0, -1):
        lines += [
            f"size, multiplier, shift = divisors[{dim}]",
            "over = divide(number, size, multiplier, shift)",
            f"at = I(at + I(number - over * size) * strides[{dim}])",
            "number = over",
        ]
    lines.append("return I(at + number * strides[0])" if dims else "return at")
    return f"def {name}(divisors, dims, strides, number):\n    " + "\n    ".join(lines) + "\n\n\n"


def vector_width(spec: PointwiseSpec) -> int:
    """How many elements a thread of the contiguous loop takes at once; 1 for complex numbers."""
    used = (*spec.inputs, *spec.outputs)
    if any(dtype.is_complex for dtype in used):
        return 1
    sizes = [dtype.itemsize for dtype in used]
    width = min(vectors.BYTES // min(sizes), MOST_BYTES // max(sizes))
    return width if width in vectors.WIDTHS else 1


def contiguous_kernel(spec: PointwiseSpec, form: tuple[int, ...], wide: bool) -> Source:
    """kernel(*outputs, *inputs, n, *scalars) over dense operands at multiples of 16 bytes.

    form: the stride of each input, 1 or 0; of one with stride 0 the first element is used. Empty
    means that all are 1.
    """
    arguments = (*_pointers(spec), INDEX_TYPES[wide], *_scalar_types(spec))
    return Source(spec.name, contiguous_text(spec, form, wide), arguments, THREADS)


def strided_kernel(spec: PointwiseSpec, ndim: int, wide: bool) -> Source:
    """kernel(*outputs, *inputs, n, *divisors, *strides, *scalars) over operands of `ndim` dims.

    divisors: (size, multiplier, shift) of each dim but the first, the innermost first. strides: of
    each operand, from the first dim to the last.
    """
    index = INDEX_TYPES[wide]
    operands = len(spec.outputs) + len(spec.inputs)
    divisors = (index, "uint32", "uint32") * (ndim - 1)
    strides = (index,) * (operands * ndim)
    arguments = (*_pointers(spec), index, *divisors, *strides, *_scalar_types(spec))
    return Source(f"{spec.name}_strided", strided_text(spec, ndim, wide), arguments, THREADS)


@cache
def contiguous_text(spec: PointwiseSpec, form: tuple[int, ...], wide: bool) -> str:
    """The text of the contiguous loop: whole vectors, then an element each for what is left."""
    outputs, inputs = operand_names(spec)
    repeated = [name for name, stride in zip(inputs, form, strict=False) if stride == 0]
    dense = [name for name in inputs if name not in repeated]
    width = vector_width(spec)
    single = {name: f"{name}[i]" for name in outputs + inputs}
    single |= {name: f"{name}_0" for name in repeated}
    lines = [
        f"def kernel({', '.join(outputs + inputs + ['n'] + _scalar_parameters(spec))}):",
        *_scalar_conversions(spec),
        *(f"    {name}_0 = {name}[0]" for name in repeated),
        "    thread = INDEX(cuda.grid(1))",
        "    step = INDEX(cuda.gridsize(1))",
    ]
    if width == 1:
        lines += [
            "    i = thread",
            "    while i < n:",
            *_element("        ", spec, single),
            "        i = INDEX(i + step)",
        ]
    else:
        lines += [
            f"    vectors = INDEX(n // {width})",
            "    i = thread",
            "    while i < vectors:",
            *_vectors(spec, dense, repeated, width),
            "        i = INDEX(i + step)",
            f"    i = INDEX(vectors * {width} + thread)",
            "    if i < n:",
            *_element("        ", spec, single),
        ]
    return preamble(spec, "contiguous", wide) + "\n".join(lines) + "\n"


def _vectors(spec: PointwiseSpec, dense: list[str], repeated: list[str], width: int) -> list[str]:
    """The statements that compute one vector."""
    outputs, _ = operand_names(spec)
    lines = []
    for name in dense:
        lanes = ", ".join(f"{name}{lane}" for lane in range(width))
        lines.append(f"        {lanes} = load{width}({name}, i)")
    for lane in range(width):
        places = {name: f"{name}{lane}" for name in dense}
        places |= {name: f"{name}_0" for name in repeated}
        places |= {name: f"{name}_v{lane}" for name in outputs}
        lines += _element("        ", spec, places)
    for name in outputs:
        values = ", ".join(f"{name}_v{lane}" for lane in range(width))
        lines.append(f"        store{width}({name}, i, ({values}))")
    return lines


@cache
def strided_text(spec: PointwiseSpec, ndim: int, wide: bool) -> str:
    """The text of the strided loop: an element's place in each operand, dim by dim.

    A thread takes two elements a grid apart, and reads both before it writes one, as one load of a
    few bytes per thread keeps no memory busy. Beyond the end the second is the first again.
    """
    outputs, inputs = operand_names(spec)
    dims = range(ndim - 1, 0, -1)
    divisors = [f"{part}{dim}" for dim in dims for part in DIVISOR]
    strides = [f"{name}_s{dim}" for name in outputs + inputs for dim in range(ndim)]
    parameters = [*outputs, *inputs, "n", *divisors, *strides, *_scalar_parameters(spec)]
    pair = ("p", "q")
    written = [{name: f"{name}[{p}_{name}]" for name in outputs} for p in pair]
    read = [{name: f"{name}_{p}" for name in inputs} for p in pair]
    lines = [
        f"def kernel({', '.join(parameters)}):",
        *_scalar_conversions(spec),
        "    i = INDEX(cuda.grid(1))",
        "    step = INDEX(cuda.gridsize(1))",
        "    while i < n:",
        "        j = INDEX(i + step)",
        *_places(outputs + inputs, ndim, "p", "i"),
        *_places(outputs + inputs, ndim, "q", "j if j < n else i"),
        *(f"        {name}_{p} = {name}[{p}_{name}]" for p in pair for name in inputs),
        *_element("        ", spec, written[0] | read[0]),
        "        if j < n:",
        *_element("            ", spec, written[1] | read[1]),
        "        i = INDEX(j + step)",
    ]
    divide = DIVIDE_WIDE if wide else DIVIDE
    return preamble(spec, "strided", wide) + divide + "\n\n" + "\n".join(lines) + "\n"


def _places(operands: list[str], ndim: int, prefix: str, element: str) -> list[str]:
    """The statements that find where an element lies in each operand."""
    lines = [f"rest = {element}", *(f"{prefix}_{name} = INDEX(0)" for name in operands)]
    for dim in range(ndim - 1, 0, -1):
        lines += [
            f"quotient = divide(rest, size{dim}, multiplier{dim}, shift{dim})",
            f"at = INDEX(rest - quotient * size{dim})",
            *(f"{prefix}_{n} = INDEX({prefix}_{n} + at * {n}_s{dim})" for n in operands),
            "rest = quotient",
        ]
    lines += [f"{prefix}_{n} = INDEX({prefix}_{n} + rest * {n}_s0)" for n in operands]
    return ["        " + line for line in lines]


# -- parts of texts -----------------------------------------------------------------------------


def preamble(spec: PointwiseSpec, loop: str, wide: bool) -> str:
    """Title, types, the primitives that are used, and the formula."""
    types = [", ".join(t.name for t in group) for group in (spec.inputs, spec.outputs)]
    source = complex_source.adapt(build.plain_source(spec.formula), spec.compute.name)
    library = primitives.compose_text(
        source + narrow.conversions((*spec.inputs, *spec.outputs)), spec.compute.name
    )
    return (
        f'"""{spec.name}: {" -> ".join(types)}, {loop}."""\n'
        f"T = np.{_numpy_name(spec.compute)}\n"
        f"INDEX = np.{INDEX_TYPES[wide]}\n" + inlined(library + "\n\n" + source) + "\n\n"
    )


def inlined(functions: str) -> str:
    """Functions marked for inlining."""
    return re.sub(r"^def ", "@inner\ndef ", functions, flags=re.MULTILINE)


def operand_names(spec: PointwiseSpec) -> tuple[list[str], list[str]]:
    """Names of outputs and inputs in the kernel's signature."""
    outputs = ["out"] if len(spec.outputs) == 1 else [f"out{i}" for i in range(len(spec.outputs))]
    return outputs, list(INPUT_NAMES[: len(spec.inputs)])


def storage_type(dtype: dtypes.dtype) -> str:
    """The type of a dtype's elements in memory."""
    return "uint8" if dtype is dtypes.bool else dtype.numpy.name


def load(place: str, dtype: dtypes.dtype, compute: dtypes.dtype) -> str:
    """The expression that reads an element of `dtype` as `compute`."""
    if narrow.is_narrow(dtype):
        value = narrow.widened(place, dtype)
        return value if compute is dtype.opmath else f"T({value})"
    if compute.name == "bool":
        return f"({place} != 0)"
    return place if dtype is compute else f"T({place})"


def store(value: str, dtype: dtypes.dtype) -> str:
    """The expression that turns a result into an element of `dtype`."""
    if narrow.is_narrow(dtype):
        return narrow.narrowed(value, dtype)
    if dtype.name == "bool":
        return f"np.uint8(({value}) != 0)"
    return f"np.{dtype.name}({value})"


def _pointers(spec: PointwiseSpec) -> list[str]:
    return [f"{storage_type(dtype)}*" for dtype in (*spec.outputs, *spec.inputs)]


def _scalars(spec: PointwiseSpec) -> list[str]:
    """The kinds of the arguments that are no tensors: 'scalar', or 'raw' for an int or bool."""
    return [kind for kind in spec.arguments if kind in ("scalar", "raw")]


def _scalar_types(spec: PointwiseSpec) -> list[str]:
    """The types of scalar parameters: the compute type, complex numbers as two reals."""
    compute = spec.compute
    number = [compute.to_real().name] * 2 if compute.is_complex else [compute.name]
    return [each for kind in _scalars(spec) for each in (number if kind == "scalar" else ["int64"])]


def _scalar_parameters(spec: PointwiseSpec) -> list[str]:
    parts = ("re", "im") if spec.compute.is_complex else ("",)
    return [
        f"scalar{i}{part}"
        for i, kind in enumerate(_scalars(spec))
        for part in (parts if kind == "scalar" else ("",))
    ]


def _scalar_conversions(spec: PointwiseSpec) -> list[str]:
    number = "T(complex(scalar{0}re, scalar{0}im))" if spec.compute.is_complex else "T(scalar{0})"
    return [
        f"    scalar{i}_ = " + (number if kind == "scalar" else "scalar{0}").format(i)
        for i, kind in enumerate(_scalars(spec))
    ]


def _element(indent: str, spec: PointwiseSpec, places: dict[str, str]) -> list[str]:
    """The statements that compute one element: load and convert, formula, convert and store."""
    tensors = iter(zip(INPUT_NAMES, spec.inputs, strict=False))
    scalars = iter(range(len(spec.arguments)))
    arguments = []
    for kind in spec.arguments:
        if kind == "tensor":
            name, dtype = next(tensors)
            arguments.append(load(places[name], dtype, spec.compute))
        else:
            arguments.append("None" if kind == "absent" else f"scalar{next(scalars)}_")
    call = f"{spec.name}({', '.join(arguments)})"
    outputs, _ = operand_names(spec)
    if len(outputs) == 1:
        value = spec.result(call, spec.outputs[0])
        return [f"{indent}{places['out']} = {store(value, spec.outputs[0])}"]
    values = [f"v{i}" for i in range(len(outputs))]
    return [f"{indent}{', '.join(values)} = {call}"] + [
        f"{indent}{places[name]} = {store(spec.result(value, dtype), dtype)}"
        for name, value, dtype in zip(outputs, values, spec.outputs, strict=True)
    ]


def _numpy_name(dtype: dtypes.dtype) -> str:
    return "bool_" if dtype.name == "bool" else dtype.name
