"""Convolutions as graphs of cuDNN: an operation, or two where a bias is added."""

from __future__ import annotations

from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda.libraries import cudnn
from torchgen_out._runtime.backends.cuda.libraries.cudnn import DATA_TYPES, Attribute, Kind, Type
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.conv.conv_plans import (
    FORWARD,
    INPUT,
    RESULT,
    WEIGHT,
    Convolution,
    Operand,
)

CROSS_CORRELATION = 1
"""cudnnConvolutionMode_t: kernels are not mirrored."""
ADD = 0
"""cudnnPointwiseMode_t."""
BETWEEN = 5
"""The number of what a bias is added to, which never is in memory."""


class Operation(NamedTuple):
    """The descriptor of a direction, and what its attributes are called."""

    kind: Kind
    prefix: str
    tensors: tuple[str, str, str]


OPERATIONS = {
    FORWARD: Operation(Kind.OPERATION_CONVOLUTION_FORWARD, "FORWARD", ("X", "W", "Y")),
    INPUT: Operation(Kind.OPERATION_CONVOLUTION_BACKWARD_DATA, "BWD_DATA", ("DX", "W", "DY")),
    WEIGHT: Operation(Kind.OPERATION_CONVOLUTION_BACKWARD_FILTER, "BWD_FILTER", ("X", "DW", "DY")),
}


class Graph:
    """A graph, and the descriptors of which it consists, which are given back with it.

    target: the attributes that say for what device.
    """

    def __init__(self, library: Any, what: Convolution, target: dict[Attribute, list[int]]) -> None:
        self._library, self._what = library, what
        self._parts: list[int] = []
        operations = self._operations()
        values = {**target, Attribute.OPERATIONGRAPH_OPS: operations}
        self.descriptor = self._make(Kind.OPERATIONGRAPH, values)

    def give_back(self) -> None:
        """Destroy the descriptors."""
        for part in reversed(self._parts):
            self._library.destroy_descriptor(part)
        self._parts = []

    def _make(self, kind: Kind, values: cudnn.Values) -> int:
        try:
            self._parts.append(cudnn.make(self._library, kind, values))
        except errors.LibraryError:
            self.give_back()
            raise
        return self._parts[-1]

    def _operations(self) -> list[int]:
        """result = 1 * convolution + 0 * result, and the bias."""
        what, dtype = self._what, self._what.dtype
        numbers = cudnn.TENSORS.tolist()
        operands = zip(numbers, (what.x, what.w, what.y), strict=False)
        tensors = [self._tensor(dtype, *each) for each in operands]
        if what.bias is None:
            return [self._convolution(tensors)]
        place = RESULT[what.direction]
        result = tensors[place]
        bias = self._tensor(dtype, numbers[-1], what.bias)
        tensors[place] = self._tensor(dtype.opmath, BETWEEN, what.result, is_virtual=True)
        return [self._convolution(tensors), self._addition(tensors[place], bias, result)]

    def _convolution(self, tensors: list[int]) -> int:
        kind, prefix, names = OPERATIONS[self._what.direction]
        values = {"CONV_DESC": self._make(Kind.CONVOLUTION, _slide(self._what))}
        values |= dict(zip(names, tensors, strict=True))
        named: dict[Any, Any] = {
            Attribute[f"OPERATION_CONVOLUTION_{prefix}_{name}"]: [value]
            for name, value in values.items()
        }
        scale = Type.DOUBLE if self._what.dtype is dtypes.float64 else Type.FLOAT
        for name, value in (("ALPHA", 1), ("BETA", 0)):
            attribute = Attribute[f"OPERATION_CONVOLUTION_{prefix}_{name}"]
            named[attribute] = cudnn.Stored([value], scale)
        return self._make(kind, named)

    def _addition(self, x: int, bias: int, y: int) -> int:
        precision = [DATA_TYPES[self._what.dtype.opmath.name]]
        mode = {Attribute.POINTWISE_MODE: [ADD], Attribute.POINTWISE_MATH_PREC: precision}
        return self._make(
            Kind.OPERATION_POINTWISE,
            {
                Attribute.OPERATION_POINTWISE_PW_DESCRIPTOR: [self._make(Kind.POINTWISE, mode)],
                Attribute.OPERATION_POINTWISE_XDESC: [x],
                Attribute.OPERATION_POINTWISE_BDESC: [bias],
                Attribute.OPERATION_POINTWISE_YDESC: [y],
            },
        )

    def _tensor(
        self, dtype: dtypes.dtype, number: int, operand: Operand, is_virtual: bool = False
    ) -> int:
        return self._make(
            Kind.TENSOR,
            {
                Attribute.TENSOR_DATA_TYPE: [DATA_TYPES[dtype.name]],
                Attribute.TENSOR_DIMENSIONS: operand.sizes,
                Attribute.TENSOR_STRIDES: operand.strides,
                Attribute.TENSOR_UNIQUE_ID: [number],
                Attribute.TENSOR_BYTE_ALIGNMENT: [operand.alignment],
                Attribute.TENSOR_IS_VIRTUAL: [is_virtual],
            },
        )


def _slide(what: Convolution) -> dict[Attribute, Any]:
    """How the kernel moves, and the type in which is added up."""
    return {
        Attribute.CONVOLUTION_COMP_TYPE: [DATA_TYPES[what.dtype.opmath.name]],
        Attribute.CONVOLUTION_CONV_MODE: [CROSS_CORRELATION],
        Attribute.CONVOLUTION_SPATIAL_DIMS: [len(what.stride)],
        Attribute.CONVOLUTION_DILATIONS: what.dilation,
        Attribute.CONVOLUTION_FILTER_STRIDES: what.stride,
        Attribute.CONVOLUTION_PRE_PADDINGS: what.padding,
        Attribute.CONVOLUTION_POST_PADDINGS: what.padding,
    }
