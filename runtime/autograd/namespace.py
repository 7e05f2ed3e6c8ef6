"""The public names of autograd, which the generated facade `torchgen_out.autograd` re-exports."""

from torchgen_out._runtime.autograd import anomaly as anomaly_mode
from torchgen_out._runtime.autograd import function, grad_mode, variable
from torchgen_out._runtime.autograd import graph_access as graph
from torchgen_out._runtime.autograd.anomaly import (
    detect_anomaly,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    set_detect_anomaly,
)
from torchgen_out._runtime.autograd.api import backward, grad
from torchgen_out._runtime.autograd.function import Function
from torchgen_out._runtime.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from torchgen_out._runtime.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from torchgen_out._runtime.autograd.variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
