"""The hand-written names of the package's top level, which the generated `__init__` re-exports."""

from math import e, inf, nan, pi

from runtime.backends.flags.cuda import (
    get_float32_matmul_precision,
    set_float32_matmul_precision,
)
from runtime.core.device import default_device as get_default_device
from runtime.core.device import device, set_default_device
from runtime.core.dtype import (
    bfloat16,
    bool,
    cdouble,
    cfloat,
    complex64,
    complex128,
    double,
    dtype,
    float,
    float16,
    float32,
    float64,
    half,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    set_default_dtype,
    short,
    uint8,
)
from runtime.core.dtype import default_dtype as get_default_dtype
from runtime.core.finfo import finfo, iinfo
from runtime.core.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from runtime.core.layout import (
    layout,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from runtime.core.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from runtime.core.promotion import can_cast, promote_types
from runtime.core.size import Size
from runtime.core.tensor import Tensor
from runtime.errors import OutOfMemoryError
from runtime.ops.dlpack import from_dlpack
from runtime.ops.from_data import as_tensor, asarray, from_numpy, frombuffer, tensor
from runtime.ops.legacy_types import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    set_default_tensor_type,
)
from runtime.ops.printing import get_printoptions, set_printoptions
from runtime.ops.queries import is_storage, is_tensor, result_type, typename

newaxis = None

__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "Generator",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "OutOfMemoryError",
    "ShortTensor",
    "Size",
    "Tensor",
    "as_tensor",
    "asarray",
    "bfloat16",
    "bool",
    "can_cast",
    "cdouble",
    "cfloat",
    "channels_last",
    "channels_last_3d",
    "complex64",
    "complex128",
    "contiguous_format",
    "default_generator",
    "device",
    "double",
    "dtype",
    "e",
    "finfo",
    "float",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "get_default_device",
    "get_default_dtype",
    "get_float32_matmul_precision",
    "get_printoptions",
    "get_rng_state",
    "half",
    "iinfo",
    "inf",
    "initial_seed",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_storage",
    "is_tensor",
    "layout",
    "long",
    "manual_seed",
    "memory_format",
    "nan",
    "newaxis",
    "pi",
    "preserve_format",
    "promote_types",
    "result_type",
    "seed",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_float32_matmul_precision",
    "set_printoptions",
    "set_rng_state",
    "short",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
    "tensor",
    "typename",
    "uint8",
]
