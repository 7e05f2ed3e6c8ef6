"""Exchange with Python and other libraries: item, tolist, NumPy, buffers; see also `dlpack.py`."""

from __future__ import annotations

import numpy as np

from runtime.core.tensor import Tensor
from runtime.kernels.cpu import half


def host_values(tensor: Tensor) -> np.ndarray:
    """Return the elements as an ndarray in which 16-bit floats have become float32.

    It shares memory where that is possible: not to be written to.
    """
    if not tensor.is_cpu:
        tensor = tensor.cpu()
    values = tensor._array()
    dtype = tensor.dtype
    return half.to_float32(values, dtype) if dtype.numpy == np.uint16 else values
