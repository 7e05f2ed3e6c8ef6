"""The hand-written names of the package's top level, which the generated `__init__` re-exports."""

from math import e, inf, nan, pi

from runtime.backends.flags.cuda import (
    get_float32_matmul_precision,
    set_float32_matmul_precision,
)
from runtime.backends.flags.determinism import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    use_deterministic_algorithms,
)
from runtime.core.device import default_device as get_default_device
from runtime.core.device import device, set_default_device
from runtime.core.dtype import (
    ABSENT,
    bfloat16,
    bool,
    cdouble,
    cfloat,
    chalf,
    complex32,
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
from runtime.errors import AcceleratorError, OutOfMemoryError
from runtime.ops.coded_layers import (
    batch_norm,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    hinge_embedding_loss,
    instance_norm,
    kl_div,
    margin_ranking_loss,
    poisson_nll_loss,
    triplet_margin_loss,
)
from runtime.ops.dlpack import from_dlpack, to_dlpack
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
from runtime.ops.queries import broadcast_shapes, is_storage, is_tensor, result_type, typename
from runtime.ops.typed_storage import (
    BFloat16Storage,
    BoolStorage,
    ByteStorage,
    CharStorage,
    ComplexDoubleStorage,
    ComplexFloatStorage,
    DoubleStorage,
    FloatStorage,
    HalfStorage,
    IntStorage,
    LongStorage,
    ShortStorage,
    TypedStorage,
    UntypedStorage,
)

float8_e4m3fn = ABSENT["float8_e4m3fn"]
float8_e4m3fnuz = ABSENT["float8_e4m3fnuz"]
float8_e5m2 = ABSENT["float8_e5m2"]
float8_e5m2fnuz = ABSENT["float8_e5m2fnuz"]
float8_e8m0fnu = ABSENT["float8_e8m0fnu"]
float4_e2m1fn_x2 = ABSENT["float4_e2m1fn_x2"]
uint16 = ABSENT["uint16"]
uint32 = ABSENT["uint32"]
uint64 = ABSENT["uint64"]
qint8 = ABSENT["qint8"]
qint32 = ABSENT["qint32"]
quint8 = ABSENT["quint8"]
quint4x2 = ABSENT["quint4x2"]
quint2x4 = ABSENT["quint2x4"]

newaxis = None
Storage = FloatStorage

__all__ = [
    "AcceleratorError",
    "BFloat16Storage",
    "BFloat16Tensor",
    "BoolStorage",
    "BoolTensor",
    "ByteStorage",
    "ByteTensor",
    "CharStorage",
    "CharTensor",
    "ComplexDoubleStorage",
    "ComplexFloatStorage",
    "DoubleStorage",
    "DoubleTensor",
    "FloatStorage",
    "FloatTensor",
    "Generator",
    "HalfStorage",
    "HalfTensor",
    "IntStorage",
    "IntTensor",
    "LongStorage",
    "LongTensor",
    "OutOfMemoryError",
    "ShortStorage",
    "ShortTensor",
    "Size",
    "Storage",
    "Tensor",
    "TypedStorage",
    "UntypedStorage",
    "are_deterministic_algorithms_enabled",
    "as_tensor",
    "asarray",
    "batch_norm",
    "bfloat16",
    "binary_cross_entropy_with_logits",
    "bool",
    "broadcast_shapes",
    "can_cast",
    "cdouble",
    "cfloat",
    "chalf",
    "channels_last",
    "channels_last_3d",
    "complex32",
    "complex64",
    "complex128",
    "contiguous_format",
    "cosine_embedding_loss",
    "default_generator",
    "device",
    "double",
    "dtype",
    "e",
    "finfo",
    "float",
    "float4_e2m1fn_x2",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "get_default_device",
    "get_default_dtype",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_printoptions",
    "get_rng_state",
    "half",
    "hinge_embedding_loss",
    "iinfo",
    "inf",
    "initial_seed",
    "instance_norm",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_storage",
    "is_tensor",
    "kl_div",
    "layout",
    "long",
    "manual_seed",
    "margin_ranking_loss",
    "memory_format",
    "nan",
    "newaxis",
    "pi",
    "poisson_nll_loss",
    "preserve_format",
    "promote_types",
    "qint8",
    "qint32",
    "quint2x4",
    "quint4x2",
    "quint8",
    "result_type",
    "seed",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
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
    "to_dlpack",
    "triplet_margin_loss",
    "typename",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "use_deterministic_algorithms",
]
