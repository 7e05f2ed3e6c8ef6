"""The hand-written names of the package's top level, which the generated `__init__` re-exports."""

from math import e, inf, nan, pi

from torchgen_out._runtime.backends.flags.cuda import (
    get_float32_matmul_precision,
    set_float32_matmul_precision,
)
from torchgen_out._runtime.backends.flags.determinism import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    use_deterministic_algorithms,
)
from torchgen_out._runtime.core.device import default_device as get_default_device
from torchgen_out._runtime.core.device import device, set_default_device
from torchgen_out._runtime.core.dtype import (
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
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
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
    uint16,
    uint32,
    uint64,
)
from torchgen_out._runtime.core.dtype import default_dtype as get_default_dtype
from torchgen_out._runtime.core.finfo import finfo, iinfo
from torchgen_out._runtime.core.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from torchgen_out._runtime.core.layout import (
    layout,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from torchgen_out._runtime.core.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from torchgen_out._runtime.core.promotion import can_cast, promote_types
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.errors import AcceleratorError, OutOfMemoryError
from torchgen_out._runtime.factories.compressed_tensors import (
    sparse_bsc_tensor,
    sparse_bsr_tensor,
    sparse_compressed_tensor,
    sparse_csc_tensor,
    sparse_csr_tensor,
)
from torchgen_out._runtime.factories.from_data import (
    as_tensor,
    asarray,
    from_file,
    from_numpy,
    frombuffer,
    tensor,
)
from torchgen_out._runtime.factories.sparse_tensors import sparse_coo_tensor
from torchgen_out._runtime.namespaces.coded_layers import (
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
from torchgen_out._runtime.namespaces.queries import (
    broadcast_shapes,
    is_storage,
    is_tensor,
    result_type,
    typename,
)
from torchgen_out._runtime.ops.composite.linalg.lobpcg import lobpcg
from torchgen_out._runtime.ops.composite.sparse.functions import (
    hspmm,
    native_norm,
    smm,
    spmm,
    sspaddmm,
)
from torchgen_out._runtime.tensor_api.dlpack import from_dlpack, to_dlpack
from torchgen_out._runtime.tensor_api.legacy_types import (
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
from torchgen_out._runtime.tensor_api.memory import resize_as_
from torchgen_out._runtime.tensor_api.printing import get_printoptions, set_printoptions
from torchgen_out._runtime.tensor_api.sparse import resize_as_sparse_
from torchgen_out._runtime.tensor_api.typed_storage import (
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

float4_e2m1fn_x2 = ABSENT["float4_e2m1fn_x2"]
int1 = ABSENT["int1"]
int2 = ABSENT["int2"]
int3 = ABSENT["int3"]
int4 = ABSENT["int4"]
int5 = ABSENT["int5"]
int6 = ABSENT["int6"]
int7 = ABSENT["int7"]
qint8 = ABSENT["qint8"]
qint32 = ABSENT["qint32"]
quint8 = ABSENT["quint8"]
quint4x2 = ABSENT["quint4x2"]
quint2x4 = ABSENT["quint2x4"]
uint1 = ABSENT["uint1"]
uint2 = ABSENT["uint2"]
uint3 = ABSENT["uint3"]
uint4 = ABSENT["uint4"]
uint5 = ABSENT["uint5"]
uint6 = ABSENT["uint6"]
uint7 = ABSENT["uint7"]

newaxis = None
Storage = FloatStorage
dsmm = hsmm = spmm

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
    "dsmm",
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
    "from_file",
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
    "hsmm",
    "hspmm",
    "iinfo",
    "inf",
    "initial_seed",
    "instance_norm",
    "int",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_storage",
    "is_tensor",
    "kl_div",
    "layout",
    "lobpcg",
    "long",
    "manual_seed",
    "margin_ranking_loss",
    "memory_format",
    "nan",
    "native_norm",
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
    "resize_as_",
    "resize_as_sparse_",
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
    "smm",
    "sparse_bsc",
    "sparse_bsc_tensor",
    "sparse_bsr",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_coo",
    "sparse_coo_tensor",
    "sparse_csc",
    "sparse_csc_tensor",
    "sparse_csr",
    "sparse_csr_tensor",
    "spmm",
    "sspaddmm",
    "strided",
    "tensor",
    "to_dlpack",
    "triplet_margin_loss",
    "typename",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "use_deterministic_algorithms",
]
