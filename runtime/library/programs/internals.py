"""The few names of `torch._C` that programs have come to ask: questions with one answer here."""

from __future__ import annotations

import enum

from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.device import device, private_type_name
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.core.layout import layout
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import overrides
from torchgen_out._runtime.library.programs import absent

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DispatchKey",
    "DispatchKeySet",
    "Future",
    "Generator",
    "Graph",
    "Node",
    "ScriptFunction",
    "ScriptModule",
    "ScriptObject",
    "Size",
    "TensorBase",
    "Value",
    "_ExcludeDispatchKeyGuard",
    "_TensorBase",
    "_TensorMeta",
    "_cuda_getDeviceCount",
    "_cuda_isInBadFork",
    "_disabled_torch_function_impl",
    "_get_privateuse1_backend_name",
    "_get_tracing_state",
    "_is_tracing",
    "_jit_set_profiling_executor",
    "_jit_set_profiling_mode",
    "_jit_set_texpr_fuser_enabled",
    "_log_api_usage_once",
    "device",
    "dtype",
    "has_lapack",
    "has_mkl",
    "has_mkldnn",
    "has_mps",
    "has_openmp",
    "has_spectral",
    "layout",
    "memory_format",
]  # fmt: skip

DispatchKey = enum.Enum(
    "DispatchKey",
    "Undefined CPU CUDA Meta Autograd AutogradCPU AutogradCUDA AutocastCPU AutocastCUDA "
    "AutocastXPU BackendSelect CompositeExplicitAutograd CompositeImplicitAutograd Functionalize "
    "Python SparseCPU SparseCUDA",
    module=__name__,
)


class DispatchKeySet:
    """A set of dispatch keys, which programs name; calls are resolved by other means here."""

    def __init__(self, *keys: DispatchKey) -> None:
        self._keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self._keys, *other._keys)

    def has(self, key: DispatchKey) -> bool:
        """Return whether a key is in the set."""
        return key in self._keys


_REMEDY = "it is a part of PyTorch's C++ library"

TensorBase = _TensorBase = Tensor
DisableTorchFunction = overrides.DisableTorchFunction
DisableTorchFunctionSubclass = overrides.DisableTorchFunctionSubclass
_disabled_torch_function_impl = overrides.disabled
_TensorMeta = type(Tensor)
Future = absent.kind("torch._C.Future", _REMEDY)
Graph = absent.kind("torch._C.Graph", _REMEDY)
Node = absent.kind("torch._C.Node", _REMEDY)
ScriptFunction = absent.kind("torch._C.ScriptFunction", _REMEDY)
ScriptModule = absent.kind("torch._C.ScriptModule", _REMEDY)
ScriptObject = absent.kind("torch._C.ScriptObject", _REMEDY)
Value = absent.kind("torch._C.Value", _REMEDY)

_ExcludeDispatchKeyGuard = absent.kind("torch._C._ExcludeDispatchKeyGuard", _REMEDY)

_cuda_isInBadFork = absent.answer("torch._C._cuda_isInBadFork", False)
_get_privateuse1_backend_name = private_type_name
_cuda_getDeviceCount = absent.answer("torch._C._cuda_getDeviceCount", 0)
_get_tracing_state = absent.answer("torch._C._get_tracing_state", None)
_is_tracing = absent.answer("torch._C._is_tracing", False)
_jit_set_profiling_executor = absent.answer("torch._C._jit_set_profiling_executor", False)
_jit_set_profiling_mode = absent.answer("torch._C._jit_set_profiling_mode", False)
_jit_set_texpr_fuser_enabled = absent.answer("torch._C._jit_set_texpr_fuser_enabled", None)
_log_api_usage_once = absent.answer("torch._C._log_api_usage_once", None)

has_lapack = True
has_mkl = has_mkldnn = has_mps = has_openmp = False
has_spectral = True


public.place_all("_C", globals())
