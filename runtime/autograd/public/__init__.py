"""What users see as `autograd`."""

from runtime.autograd import anomaly as anomaly_mode
from runtime.autograd import function, functional, grad_mode, variable
from runtime.autograd.anomaly import detect_anomaly, set_detect_anomaly
from runtime.autograd.api import backward, grad
from runtime.autograd.function import Function
from runtime.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from runtime.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from runtime.autograd.public import graph
from runtime.autograd.variable import Variable

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
