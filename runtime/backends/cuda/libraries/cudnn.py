"""cuDNN's graph interface, through its C functions: this module alone knows the library.

A computation is a tree of descriptors: each is made, given attributes, and finished. Numbers and
types of attributes are those of `cudnn_graph.h`; the functions are the ones that every cuDNN 9 has.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from enum import Enum, IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from torchgen_out._runtime import errors

NAME = "cudnn"
DATA_TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 9}
"""cudnnDataType_t of the elements that are convolved."""
NOT_SUPPORTED = range(3000, 4000)
"""Statuses of computations that the library, or one of its engines, does not have."""
OLDEST = 90000
"""The first version of this interface, which cuDNN 9 keeps."""

ROOM = 1024
"""Characters of the library's reason for an error."""


class Kind(IntEnum):
    """cudnnBackendDescriptorType_t."""

    POINTWISE = 0
    CONVOLUTION = 1
    ENGINE = 2
    ENGINECFG = 3
    ENGINEHEUR = 4
    EXECUTION_PLAN = 5
    OPERATION_CONVOLUTION_FORWARD = 10
    OPERATION_CONVOLUTION_BACKWARD_FILTER = 11
    OPERATION_CONVOLUTION_BACKWARD_DATA = 12
    OPERATION_POINTWISE = 13
    OPERATIONGRAPH = 15
    VARIANT_PACK = 16
    TENSOR = 17
    DEVICEPROP = 38


class Type(Enum):
    """cudnnBackendAttributeType_t, and how an element is stored."""

    HANDLE = 0, np.uintp
    DATA_TYPE = 1, np.int32
    BOOLEAN = 2, np.bool_
    INT64 = 3, np.int64
    FLOAT = 4, np.float32
    DOUBLE = 5, np.float64
    VOID_PTR = 6, np.uintp
    CONVOLUTION_MODE = 7, np.int32
    HEUR_MODE = 8, np.int32
    NUMERICAL_NOTE = 11, np.int32
    POINTWISE_MODE = 14, np.int32
    BACKEND_DESCRIPTOR = 15, np.uintp
    CHAR = 24, np.uint8


class Attribute(Enum):
    """cudnnBackendAttributeName_t, and the type of each."""

    POINTWISE_MODE = 0, Type.POINTWISE_MODE
    POINTWISE_MATH_PREC = 1, Type.DATA_TYPE
    CONVOLUTION_COMP_TYPE = 100, Type.DATA_TYPE
    CONVOLUTION_CONV_MODE = 101, Type.CONVOLUTION_MODE
    CONVOLUTION_DILATIONS = 102, Type.INT64
    CONVOLUTION_FILTER_STRIDES = 103, Type.INT64
    CONVOLUTION_POST_PADDINGS = 104, Type.INT64
    CONVOLUTION_PRE_PADDINGS = 105, Type.INT64
    CONVOLUTION_SPATIAL_DIMS = 106, Type.INT64
    ENGINEHEUR_MODE = 200, Type.HEUR_MODE
    ENGINEHEUR_OPERATION_GRAPH = 201, Type.BACKEND_DESCRIPTOR
    ENGINEHEUR_RESULTS = 202, Type.BACKEND_DESCRIPTOR
    ENGINEHEUR_DEVICEPROP = 204, Type.BACKEND_DESCRIPTOR
    ENGINECFG_ENGINE = 300, Type.BACKEND_DESCRIPTOR
    EXECUTION_PLAN_HANDLE = 400, Type.HANDLE
    EXECUTION_PLAN_ENGINE_CONFIG = 401, Type.BACKEND_DESCRIPTOR
    EXECUTION_PLAN_WORKSPACE_SIZE = 402, Type.INT64
    EXECUTION_PLAN_DEVICEPROP = 407, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_FORWARD_ALPHA = 700, Type.FLOAT
    OPERATION_CONVOLUTION_FORWARD_BETA = 701, Type.FLOAT
    OPERATION_CONVOLUTION_FORWARD_CONV_DESC = 702, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_FORWARD_W = 703, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_FORWARD_X = 704, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_FORWARD_Y = 705, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_BWD_DATA_ALPHA = 706, Type.FLOAT
    OPERATION_CONVOLUTION_BWD_DATA_BETA = 707, Type.FLOAT
    OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC = 708, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_BWD_DATA_W = 709, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_BWD_DATA_DX = 710, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_BWD_DATA_DY = 711, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_BWD_FILTER_ALPHA = 712, Type.FLOAT
    OPERATION_CONVOLUTION_BWD_FILTER_BETA = 713, Type.FLOAT
    OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC = 714, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_BWD_FILTER_DW = 715, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_BWD_FILTER_X = 716, Type.BACKEND_DESCRIPTOR
    OPERATION_CONVOLUTION_BWD_FILTER_DY = 717, Type.BACKEND_DESCRIPTOR
    OPERATION_POINTWISE_PW_DESCRIPTOR = 750, Type.BACKEND_DESCRIPTOR
    OPERATION_POINTWISE_XDESC = 751, Type.BACKEND_DESCRIPTOR
    OPERATION_POINTWISE_BDESC = 752, Type.BACKEND_DESCRIPTOR
    OPERATION_POINTWISE_YDESC = 753, Type.BACKEND_DESCRIPTOR
    OPERATIONGRAPH_HANDLE = 800, Type.HANDLE
    OPERATIONGRAPH_OPS = 801, Type.BACKEND_DESCRIPTOR
    TENSOR_BYTE_ALIGNMENT = 900, Type.INT64
    TENSOR_DATA_TYPE = 901, Type.DATA_TYPE
    TENSOR_DIMENSIONS = 902, Type.INT64
    TENSOR_STRIDES = 903, Type.INT64
    TENSOR_UNIQUE_ID = 906, Type.INT64
    TENSOR_IS_VIRTUAL = 907, Type.BOOLEAN
    VARIANT_PACK_UNIQUE_IDS = 1000, Type.INT64
    VARIANT_PACK_DATA_POINTERS = 1001, Type.VOID_PTR
    VARIANT_PACK_WORKSPACE = 1003, Type.VOID_PTR
    ENGINE_NUMERICAL_NOTE = 1303, Type.NUMERICAL_NOTE
    DEVICEPROP_JSON_REPRESENTATION = 2702, Type.CHAR


class NotSupportedError(errors.LibraryError):
    """The library has no way to do what a descriptor asks for."""


_POINTER, _INT, _LONG = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
PARAMETERS = {
    "cudnnCreate": (_POINTER,),
    "cudnnSetStream": (_POINTER, _POINTER),
    "cudnnBackendCreateDescriptor": (_INT, _POINTER),
    "cudnnBackendDestroyDescriptor": (_POINTER,),
    "cudnnBackendSetAttribute": (_POINTER, _INT, _INT, _LONG, _POINTER),
    "cudnnBackendGetAttribute": (_POINTER, _INT, _INT, _LONG, _POINTER, _POINTER),
    "cudnnBackendFinalize": (_POINTER,),
    "cudnnBackendExecute": (_POINTER, _POINTER, _POINTER),
}
"""The functions that return a status, and what they take."""


class Cudnn:
    """The library's functions. Handles and descriptors are ints, addresses those of the host."""

    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)
        self._library.cudnnGetVersion.restype = ctypes.c_size_t
        self._library.cudnnGetErrorString.restype = ctypes.c_char_p
        for name, parameters in PARAMETERS.items():
            getattr(self._library, name).argtypes = parameters
        self._set_attribute = self._library.cudnnBackendSetAttribute
        self._finalize = self._library.cudnnBackendFinalize

    def version(self) -> int:
        """The version, 91800 for 9.18.0."""
        return int(self._library.cudnnGetVersion())

    def _failure(self, status: int, name: str) -> RuntimeError:
        sentence = self._library.cudnnGetErrorString(status).decode()
        reason = ctypes.create_string_buffer(ROOM)
        self._library.cudnnGetLastErrorString(reason, ctypes.c_size_t(ROOM))
        sentence = f"{sentence}: {reason.value.decode()}"
        if status in NOT_SUPPORTED:
            return NotSupportedError(f"cuDNN: {sentence}")
        return errors.library_call_failed("cuDNN", name, sentence, status)

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            raise self._failure(status, name)

    def create(self) -> int:
        """A handle for the current device."""
        handle = ctypes.c_void_p()
        self._call("cudnnCreate", ctypes.byref(handle))
        return int(handle.value or 0)

    def set_stream(self, handle: int, stream: int) -> None:
        """Let what a handle is given go into a stream."""
        self._call("cudnnSetStream", handle, stream)

    def create_descriptor(self, kind: int) -> int:
        """A descriptor without attributes."""
        made = ctypes.c_void_p()
        self._call("cudnnBackendCreateDescriptor", kind, ctypes.byref(made))
        return int(made.value or 0)

    def destroy_descriptor(self, descriptor: int) -> None:
        """Give a descriptor back."""
        self._call("cudnnBackendDestroyDescriptor", descriptor)

    def set_attribute(
        self, descriptor: int, name: int, kind: int, count: int, address: int
    ) -> None:
        """Copy the elements of an attribute from an address."""
        status = self._set_attribute(descriptor, name, kind, count, address)
        if status:
            raise self._failure(status, "cudnnBackendSetAttribute")

    def get_attribute(self, descriptor: int, name: int, kind: int, count: int, address: int) -> int:
        """Copy up to `count` elements of an attribute to an address; return how many there are."""
        found = ctypes.c_int64()
        arguments = (descriptor, name, kind, count, ctypes.byref(found), address)
        self._call("cudnnBackendGetAttribute", *arguments)
        return found.value

    def finalize(self, descriptor: int) -> None:
        """Finish a descriptor: its attributes are checked and stay as they are.

        Raises: NotSupportedError.
        """
        status = self._finalize(descriptor)
        if status:
            raise self._failure(status, "cudnnBackendFinalize")

    def execute(self, handle: int, plan: int, pack: int) -> None:
        """Queue the work of a plan on the memory of a variant pack."""
        self._call("cudnnBackendExecute", handle, plan, pack)


@cache
def find() -> Cudnn | None:
    """Return the library, None where it is not installed."""
    from cuda import pathfinder

    try:
        found = pathfinder.load_nvidia_dynamic_lib(NAME)
    except pathfinder.DynamicLibNotFoundError:
        return None
    library = Cudnn(found.abs_path)
    return library if library.version() >= OLDEST else None


# -- descriptors -----------------------------------------------------------------------------------


class Stored(NamedTuple):
    """Elements of a type that an attribute may have besides the usual one."""

    elements: Sequence[Any]
    type: Type


Values = Mapping[Attribute, Sequence[Any] | Stored]


def make(library: Any, kind: Kind, values: Values) -> int:
    """Return a finished descriptor.

    Raises: LibraryError, above all NotSupportedError.
    """
    made = int(library.create_descriptor(kind))
    try:
        for name, elements in values.items():
            write(library, made, name, elements)
        library.finalize(made)
    except errors.LibraryError:
        library.destroy_descriptor(made)
        raise
    return made


_UNIQUE_IDS, _INT64 = Attribute.VARIANT_PACK_UNIQUE_IDS.value[0], Type.INT64.value[0]
_POINTERS, _VOID_PTR = Attribute.VARIANT_PACK_DATA_POINTERS.value[0], Type.VOID_PTR.value[0]
_WORKSPACE, _PACK = Attribute.VARIANT_PACK_WORKSPACE.value[0], int(Kind.VARIANT_PACK)
TENSORS = np.array((1, 2, 3, 4), np.int64)
"""The numbers of the tensors of a graph, which has three, or four with a bias."""
_TENSORS = int(TENSORS.ctypes.data)
_Places = ctypes.c_uint64 * (len(TENSORS) + 1)


def make_pack(library: Any, places: Sequence[int]) -> int:
    """Return a variant pack. places: addresses of the tensors, and of the workspace."""
    held = _Places(*places)
    address = ctypes.addressof(held)
    made = int(library.create_descriptor(_PACK))
    count = len(places) - 1
    library.set_attribute(made, _UNIQUE_IDS, _INT64, count, _TENSORS)
    library.set_attribute(made, _POINTERS, _VOID_PTR, count, address)
    library.set_attribute(made, _WORKSPACE, _VOID_PTR, 1, address + count * TENSORS.itemsize)
    library.finalize(made)
    return made


def write(
    library: Any, descriptor: int, attribute: Attribute, elements: Sequence[Any] | Stored
) -> None:
    """Give a descriptor an attribute."""
    number, kind = attribute.value
    if isinstance(elements, Stored):
        elements, kind = elements
    code, element = kind.value
    held = np.array(elements, element)
    library.set_attribute(descriptor, number, code, held.size, held.ctypes.data)


def read(library: Any, descriptor: int, attribute: Attribute, room: int) -> list[Any]:
    """Return up to `room` elements of an attribute."""
    number, kind = attribute.value
    code, element = kind.value
    held = np.zeros(room, element)
    count = library.get_attribute(descriptor, number, code, room, held.ctypes.data)
    return list(held[:count].tolist())


def count(library: Any, descriptor: int, attribute: Attribute) -> int:
    """Return how many elements an attribute has."""
    number, kind = attribute.value
    return int(library.get_attribute(descriptor, number, kind.value[0], 0, 0))


def read_descriptors(
    library: Any, descriptor: int, attribute: Attribute, kind: Kind, room: int
) -> list[int]:
    """Return up to `room` descriptors that an attribute consists of: they fill those made here."""
    number, stored = attribute.value
    code, element = stored.value
    held = np.array([library.create_descriptor(kind) for _ in range(room)], element)
    count = library.get_attribute(descriptor, number, code, room, held.ctypes.data)
    for unused in held[count:].tolist():
        library.destroy_descriptor(unused)
    return list(held[:count].tolist())
