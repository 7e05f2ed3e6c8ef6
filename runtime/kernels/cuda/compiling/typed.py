"""Device kernels written as Python functions, and their texts for the dtypes of their arrays.

A device kernel says what it takes, arrays first: "X*" is an array, "I" an index, "T" a number of
the compute type ("T*" an array of these), "int64*" and "float64" are what they say. A capital
letter stands for the dtype of the arrays that have it. The kernel's text may use

    X, Y ...       the type as which elements of such an array are stored: 16-bit floats as uint16
    T, R           the type in which X is computed: float32 for 16-bit floats; of its real part
    load_X(v)      a stored element in the compute type, and store_X(v) a number as an element
    I, U           the type of indices, int32 while that counts all elements, and the unsigned one
    divided(a, b)  the quotient of indices that are not negative
    shuffled_up(v, delta), shuffled_across(v, bits), shuffled_from(v, lane)
                   the number T of another lane of the warp
    STORED, IS_INTEGER  the type in which shared memory holds T; whether T counts

the primitives of the formula language in T (exp, log ...), the numbers and device functions of its
own module, and constants and functions that are given by name at the launch: for each set of these
there is a text of its own. A literal takes the wider type of an operation, so results go through a
type: `i = I(i + 1)`, `x * T(2)`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels import build, narrow
from torchgen_out._runtime.kernels.cuda.compiling import primitives
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.loops.pointwise import INDEX_TYPES, inlined, storage_type
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue

NARROW = 1 << 30
"""Elements up to which 32 bits count: a thread's next index may lie a grid behind the last."""
BLOCKS_PER_PROCESSOR = 16
"""Blocks of a grid whose threads go through their work a grid at a time."""
THREADS = 256
"""Threads of a block where nothing else is said."""

PREAMBLE = '''\
"""{title}"""
T = np.{compute}
R = np.{real}
STORED = np.{stored}
IS_INTEGER = {is_integer}
I = np.{index}
U = np.u{index}


@inner
def divided(a, b):
    return I(U(a) // U(b))
'''


SHUFFLES = {
    "shuffled_up": "shfl_up_sync",
    "shuffled_across": "shfl_xor_sync",
    "shuffled_from": "shfl_sync",
}


class DeviceFunction:
    """A function that device kernels of any dtypes may call."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__


class DeviceKernel(DeviceFunction):
    """A family of device kernels, one per set of dtypes and constants."""

    def __init__(self, function: FunctionType, parameters: tuple[str, ...]) -> None:
        super().__init__(function)
        assert len(parameters) == len(inspect.signature(function).parameters), self.__name__
        assert "X*" in parameters or not {"T", "T*", "R"} & set(parameters), "T is that of X"
        self.parameters = parameters
        self.letters = [_letter(each) for each in parameters]
        """For each parameter the letter that an array binds to its dtype; empty if none."""
        self._sources: dict[Any, Source] = {}

    def source(
        self,
        dtype_of: Mapping[str, dtypes.dtype],
        wide: bool,
        given: Mapping[str, Any],
        threads: int = THREADS,
    ) -> Source:
        """The text and its arguments. dtype_of: by letter. given: constants and functions."""
        key = (*dtype_of.items(), wide, *given.items(), threads)
        found = self._sources.get(key)
        if found is None:
            found = self._sources[key] = self._make(dtype_of, wide, given, threads)
        return found

    def _make(
        self,
        dtype_of: Mapping[str, dtypes.dtype],
        wide: bool,
        given: Mapping[str, Any],
        threads: int,
    ) -> Source:
        compute = dtype_of["X"].opmath if "X" in dtype_of else dtypes.float32
        texts = _given_texts(given)
        body = _collect(self.function, texts, kernel=True)
        accesses = "\n\n".join(_access(letter, dtype) for letter, dtype in dtype_of.items())
        title = ", ".join([self.__name__, *(f"{k} {v.name}" for k, v in dtype_of.items())])
        text = _whole_text(title, compute, wide, texts, accesses, body)
        types = _argument_types(dtype_of, compute, wide)
        arguments = tuple([types.get(each, each) for each in self.parameters])
        return Source(self.__name__, text, arguments, threads)


KERNELS: list[DeviceKernel] = []
"""All that are defined so far."""


def device_kernel(*parameters: str) -> Callable[[FunctionType], DeviceKernel]:
    """A function over pointers and numbers that every thread of a grid runs.

    parameters: what it takes, in words, arrays and then numbers.
    """

    def make(function: FunctionType) -> DeviceKernel:
        KERNELS.append(DeviceKernel(function, tuple(" ".join(parameters).split())))
        return KERNELS[-1]

    return make


def device_function(function: FunctionType) -> DeviceFunction:
    """A function that device kernels may call."""
    return DeviceFunction(function)


def run(
    queue: Queue,
    kernel: DeviceKernel,
    grid: int,
    *values: Any,
    threads: tuple[int, int] | None = None,
    **given: Any,
) -> None:
    """Launch a device kernel over `grid` blocks; nothing if there are none.

    values: an Array for each pointer, None for one that is not used, which has X's dtype then.
    given: the constants and functions that the kernel's text names.
    """
    if not grid:
        return
    block = threads or (THREADS, 1)
    dtype_of: dict[str, dtypes.dtype] = {}
    wide = False
    passed: list[Any] = []
    for kind, letter, value in zip(kernel.parameters, kernel.letters, values, strict=True):
        if value.__class__ is Array:
            if letter:
                assert dtype_of.setdefault(letter, value.dtype) is value.dtype, kernel.__name__
            passed.append(value.address)
            wide = wide or value.extent > NARROW
        else:
            passed.append(0 if value is None else value)
            wide = wide or (kind == "I" and value > NARROW)
    for letter in kernel.letters:
        if letter and letter not in dtype_of:
            dtype_of[letter] = dtype_of["X"]
    source = kernel.source(dtype_of, wide, given, block[0] * block[1])
    queue.launch(source, grid, block, passed)


def run_elements(
    queue: Queue, kernel: DeviceKernel, count: int, *values: Any, **given: Any
) -> None:
    """Launch a device kernel whose threads each own elements at the distance of the grid."""
    blocks = min(-(-count // THREADS), queue.processors * BLOCKS_PER_PROCESSOR)
    run(queue, kernel, blocks, *values, **given)


def text_of(title: str, compute: dtypes.dtype, body: str, wide: bool, **given: Any) -> str:
    """The text of a kernel that was not written as a function.

    body: defines `kernel`. wide: whether indices have 64 bits. given: the constants and functions
    that it names.
    """
    return _whole_text(title, compute, wide, _given_texts(given), "", body)


# -- texts --------------------------------------------------------------------------------------


def _head(title: str, compute: dtypes.dtype, wide: bool) -> str:
    """What every text begins with."""
    return PREAMBLE.format(
        title=title,
        compute=_numpy_name(compute),
        real=_numpy_name(compute.to_real()),
        stored=storage_type(compute),
        is_integer=compute.kind == "i",
        index=INDEX_TYPES[wide],
    )


def _whole_text(
    title: str,
    compute: dtypes.dtype,
    wide: bool,
    texts: Mapping[str, str],
    accesses: str,
    body: str,
) -> str:
    """What stands before a kernel, and the kernel. texts: constants, and functions for it."""
    numbers = [text for text in texts.values() if not text.startswith("@inner")]
    functions = [text for text in texts.values() if text.startswith("@inner")]
    needed = "\n".join([*functions, accesses, body])
    library = inlined(primitives.compose_text(needed, compute.name))
    head = _head(title, compute, wide)
    head += "".join(shuffle_text(name, name, compute, "T") for name in SHUFFLES if name in needed)
    parts = [head, "".join(numbers), library, accesses, *functions, body]
    return "\n\n".join(part for part in parts if part)


def _argument_types(
    dtype_of: Mapping[str, dtypes.dtype], compute: dtypes.dtype, wide: bool
) -> dict[str, str]:
    """What the words for arrays and numbers stand for."""
    types = {
        "I": INDEX_TYPES[wide],
        "T": compute.name,
        "R": compute.to_real().name,
        "T*": f"{storage_type(compute)}*",
    }
    return types | {f"{letter}*": f"{storage_type(d)}*" for letter, d in dtype_of.items()}


def _access(letter: str, dtype: dtypes.dtype) -> str:
    """The stored type of a letter, and how its elements are read and written."""
    stored = storage_type(dtype)
    value, element = "T(v)", f"np.{stored}(v)"
    if narrow.is_narrow(dtype):
        value, element = f"T({narrow.widened('v', dtype)})", narrow.narrowed("v", dtype)
    elif dtype.name == "bool":
        value, element = "T(v != 0)", "np.uint8(v != 0)"
    return (
        f"{letter} = np.{stored}\n\n\n"
        f"@inner\ndef load_{letter}(v):\n    return {value}\n\n\n"
        f"@inner\ndef store_{letter}(v):\n    return {element}\n"
    )


def shuffle_text(name: str, way: str, dtype: dtypes.dtype, kind: str) -> str:
    """name(v, n): a number of another lane. Devices exchange signed numbers of 32 and 64 bits.

    way: a key of SHUFFLES. kind: what the text calls the dtype.
    """
    exchange = f"cuda.{SHUFFLES[way]}(0xFFFFFFFF, {{}}, n)"
    if dtype.is_complex:
        parts = ", ".join(exchange.format(f"v.{part}") for part in ("real", "imag"))
        value = f"complex({parts})"
    else:
        whole = f"np.int{max(8 * dtype.itemsize, 32)}(v)"
        value = exchange.format("v" if dtype.is_floating_point else whole)
    return f"\n\n@inner\ndef {name}(v, n):\n    return {kind}({value})\n"


def _given_texts(given: Mapping[str, Any]) -> dict[str, str]:
    """Constants, and functions under the names that the kernel calls them."""
    functions = {k: v for k, v in given.items() if isinstance(v, DeviceFunction)}
    texts = {k: f"{k} = {v!r}\n" for k, v in given.items() if k not in functions}
    for name, value in functions.items():
        source = _collect(value.function, texts)
        texts[name] = "@inner\n" + re.sub(r"^def \w+\(", f"def {name}(", source)
    return texts


def _collect(function: FunctionType, texts: dict[str, str], kernel: bool = False) -> str:
    """The source of a function; what it uses of its module joins `texts` first."""
    source = build.plain_source(function)
    for name in build.names_used(source):
        value = function.__globals__.get(name)
        if name in texts or name == function.__name__:
            continue
        if isinstance(value, DeviceFunction):
            texts[name] = ""  # stands in its place while what it uses is collected
            text = _collect(value.function, texts)
            del texts[name]
            texts[name] = "@inner\n" + text
        elif isinstance(value, (bool, int, float)):
            texts[name] = f"{name} = {value!r}\n"
    if not kernel:
        return source
    return re.sub(r"^def \w+\(", "def kernel(", source)


def _letter(parameter: str) -> str:
    """ "X" of "X*"; nothing of other words, and of "T*", which follows from X."""
    return parameter[0] if re.fullmatch(r"[A-SU-Z]\*", parameter) else ""


def _numpy_name(dtype: dtypes.dtype) -> str:
    return "bool_" if dtype.name == "bool" else dtype.name
