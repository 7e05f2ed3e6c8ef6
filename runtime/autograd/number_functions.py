"""What gradients compute of numbers, not of tensors, as kernels would: nothing raises.

The logarithm of -1 is nan here, where `math` raises, and complex numbers are taken as well. Numbers
may come as zero-dimensional tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def _of_elements(function: np.ufunc) -> Callable[[Any], Any]:
    def of_number(x: Any) -> Any:
        number = x.item() if hasattr(x, "item") else x
        with np.errstate(all="ignore"):
            return function(number).item()

    return of_number


pi, inf, nan = math.pi, math.inf, math.nan
exp, exp2, expm1 = _of_elements(np.exp), _of_elements(np.exp2), _of_elements(np.expm1)
log, log1p = _of_elements(np.log), _of_elements(np.log1p)
log2, log10 = _of_elements(np.log2), _of_elements(np.log10)
sqrt, cbrt = _of_elements(np.sqrt), _of_elements(np.cbrt)
sin, cos, tan = _of_elements(np.sin), _of_elements(np.cos), _of_elements(np.tan)
asin, acos, atan = _of_elements(np.arcsin), _of_elements(np.arccos), _of_elements(np.arctan)
sinh, cosh, tanh = _of_elements(np.sinh), _of_elements(np.cosh), _of_elements(np.tanh)
asinh, acosh = _of_elements(np.arcsinh), _of_elements(np.arccosh)
atanh, atan2, fmod = _of_elements(np.arctanh), math.atan2, math.fmod
floor, ceil, trunc = _of_elements(np.floor), _of_elements(np.ceil), _of_elements(np.trunc)
isnan, isinf, isfinite = math.isnan, math.isinf, math.isfinite
erf, erfc, lgamma = math.erf, math.erfc, math.lgamma
copysign, nextafter = math.copysign, math.nextafter
