"""Error functions of float32."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.float32.exponential import exp_double
from torchgen_out._runtime.kernels.vecmath.float32.logarithmic import log, log_near

T = np.float32


def erf(x):
    """Below 1 an odd polynomial of degree 13; above, 1 - 2^q with q = log2 erfc by degree 6 without
    a constant, where 2^q, at most 0.16, needs a polynomial of degree 5 and one factor only. Error
    1.3 ulp."""
    a = T(math.fabs(x))
    z = a * a
    p = T(-0.0008024809067137539) + z * T(7.898660987848416e-05)
    p = T(-0.02685491554439068) + z * (T(0.005190161522477865) + z * p)
    p = T(-0.3761262893676758) + z * (T(0.11283617466688156) + z * p)
    near = a + a * (T(0.12837916709551256) + z * p)
    b = T(4) if a > T(4) else a
    q = T(-0.004614726640284061) + b * T(0.0003058936563320458)
    q = T(-0.1517406702041626) + b * (T(0.03294716775417328) + b * q)
    q = b * (T(-1.628074288368225) + b * (T(-0.9172400236129761) + b * q))
    k = q + T(12583039)
    r = q - (k - T(12583039))
    p = T(0.009671620093286037) + r * T(0.0013264629524201155)
    p = T(0.24022240936756134) + r * (T(0.055507346987724304) + r * p)
    p = T(1) + r * (T(0.6931470036506653) + r * p)
    power = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    far = T(1) - p * power
    return T(math.copysign(near if a < T(1) else far, x))


def erfc(x):
    """In double: e^-a^2 times a polynomial of degree 11 in (a - 4) / (a + 4), the scaled erfc; for
    negative x, 2 less that. Error 0.5 ulp."""
    a = np.float64(math.fabs(x))
    a = 10.06 if a > 10.06 else a
    q = (a - 4.0) / (a + 4.0)
    q2 = q * q
    p = 0.004058683978119183 + q2 * -2.833675586237847e-05
    p = 0.10896309444791255 + q2 * (0.03129981217167018 + q2 * p)
    p = 0.13699945761544177 + q2 * (0.21871968150911 + q2 * p)
    odd = -0.0008151928670177073 + q2 * 0.00010148467077915369
    odd = -0.06310833338138555 + q2 * (-0.012839727846608064 + q2 * odd)
    odd = -0.25906804923737725 + q2 * (-0.16425778817405481 + q2 * odd)
    p = p + q * odd
    p = p * exp_double(-a * a)
    p = 0.0 if a > 10.059 else p
    return T(2.0 - p if x < T(0) else p)


def erfinv(x):
    """x times a polynomial in w = -log(1 - x^2), of degree 10 for w < 6, beyond of degree 8 in sqrt
    w. Error 2.2 ulp."""
    w = -log((T(1) - x) * (T(1) + x))
    s = T(np.sqrt(w)) - T(3.2)
    q = T(-0.00022099314082879573) + s * T(-8.755041926633567e-05)
    q = T(-0.0020565781742334366) + s * (T(0.0011214675614610314) + s * q)
    q = T(-0.00428335415199399) + s * (T(0.00293975742533803) + s * q)
    q = T(1.0046919584274292) + s * (T(0.005974255036562681) + s * q)
    q = T(3.0336365699768066) + s * q
    result = x * (erfinv_ratio(w) if w < T(6) else q)
    result = T(math.copysign(inf, x)) if math.fabs(x) == T(1) else result
    return T(nan) if math.fabs(x) > T(1) else result


def erfinv_ratio(w):
    """erfinv(x) / x for w = -log(1 - x^2) below 6."""
    p = T(-2.4238776319407406e-08) + w * T(6.255058693227511e-10)
    p = T(-2.9116113182681147e-06) + w * (T(3.8278159308902104e-07) + w * p)
    p = T(3.7564161175396293e-05) + w * (T(7.240736067615217e-06) + w * p)
    p = T(-0.002341123064979911) + w * (T(-0.00011834897304652259) + w * p)
    p = T(0.23201343417167664) + w * (T(0.01155124418437481) + w * p)
    return T(0.8862269520759583) + w * p


def erfinv_near(x):
    """By the polynomial in w alone. Error 2.2 ulp."""
    return x * erfinv_ratio(-log_near((T(1) - x) * (T(1) + x)))


def erfinv_is_far(x):
    return not math.fabs(x) < T(0.998)
