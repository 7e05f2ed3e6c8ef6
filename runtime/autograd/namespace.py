"""The public names of autograd, which the generated facade `torchgen_out.autograd` re-exports."""

from runtime.autograd import functional
from runtime.autograd.anomaly import detect_anomaly, set_detect_anomaly
from runtime.autograd.api import backward, grad
from runtime.autograd.function import Function
from runtime.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from runtime.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from runtime.autograd.variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
