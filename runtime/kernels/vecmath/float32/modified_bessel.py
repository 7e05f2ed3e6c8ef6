"""Modified Bessel functions of the first kind of float32, in double to 2^-32.

As those of float64, with fewer terms; the root begins with float32's.
"""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf
from torchgen_out._runtime.kernels.vecmath.float32.exponential import exp_double

T = np.float32


def i0(x):
    """Below 8 a polynomial of degree 11 in x^2; beyond, e^x times one of degree 7 in 1 / x. NaN at
    infinity, as PyTorch's. Error 0.51 ulp."""
    a = np.float64(math.fabs(x))
    b = 100.0 if (a > 100.0) & (a < inf) else a
    far = exp_double(b) * i0e_beyond_8(b)
    return T(i0_below_8(0.015625 * a * a) if a < 8.0 else far)


def i0_near(x):
    """Of |x| < 8."""
    a = np.float64(x)
    return T(i0_below_8(0.015625 * a * a))


def i0e(x):
    """e^-|x| I0(x). Error 0.51 ulp."""
    a = np.float64(math.fabs(x))
    near = i0_below_8(0.015625 * a * a) * exp_double(-8.0 if a > 8.0 else -a)
    return T(near if a < 8.0 else i0e_beyond_8(a))


def i0e_near(x):
    """Of |x| < 8."""
    a = np.float64(math.fabs(x))
    return T(i0_below_8(0.015625 * a * a) * exp_double(-a))


def i1(x):
    """As i0, with degree 10 below 8. Error 0.51 ulp."""
    a = np.float64(math.fabs(x))
    b = 100.0 if (a > 100.0) & (a < inf) else a
    far = exp_double(b) * i1e_beyond_8(b)
    return T(math.copysign(i1_below_8(0.015625 * a * a) * a if a < 8.0 else far, np.float64(x)))


def i1_near(x):
    """Of |x| < 8."""
    a = np.float64(x)
    return T(i1_below_8(0.015625 * a * a) * a)


def i1e(x):
    """e^-|x| I1(x). Error 0.51 ulp."""
    a = np.float64(math.fabs(x))
    near = i1_below_8(0.015625 * a * a) * a * exp_double(-8.0 if a > 8.0 else -a)
    return T(math.copysign(near if a < 8.0 else i1e_beyond_8(a), np.float64(x)))


def i1e_near(x):
    """Of |x| < 8."""
    a = np.float64(x)
    return T(i1_below_8(0.015625 * a * a) * a * exp_double(-math.fabs(a)))


def i0e_beyond_8(a):
    """e^-a I0(a)."""
    root = inverse_root(8.0 if a < 8.0 else a)
    return i0_of_inverse(16.0 * root * root - 1.0) * root


def i1e_beyond_8(a):
    """e^-a I1(a)."""
    root = inverse_root(8.0 if a < 8.0 else a)
    return i1_of_inverse(16.0 * root * root - 1.0) * root


def inverse_root(a):
    """1 / sqrt(a) in double to 2^-45 for a float a >= 1: float32's, and a step of Newton's."""
    h = np.float64(np.float32(1) / np.sqrt(np.float32(a)))
    h = h + h * (0.5 - (0.5 * a) * h * h)
    return 0.0 if a == inf else h


def i0_below_8(t):
    """I0(x) for t = x^2 / 64."""
    t2 = t * t
    p = 2.6177663911116094 + t2 * 0.06169989239570062
    p = 113.77765672983026 + t2 * (32.35914576073437 + t2 * p)
    p = 0.9999999999925143 + t2 * (63.99999968850407 + t2 * p)
    odd = 0.5512155911787501 + t2 * 0.019777716032917347
    odd = 72.81870539047524 + t2 * (10.580361944485462 + t2 * odd)
    odd = 16.00000000395791 + t2 * (113.77778660990539 + t2 * odd)
    return p + t * odd


def i0_of_inverse(t):
    """sqrt(x) e^-x I0(x) for t = 16 / x - 1."""
    t2 = t * t
    p = 1.4760978879422748e-06 + t2 * 1.0869359172155634e-07
    p = 0.40217650941896643 + t2 * (0.00013621716973279363 + t2 * p)
    odd = 3.0695955702952177e-07 + t2 * 3.182770008989233e-08
    odd = 0.0033605522170694654 + t2 * (1.1140006980267145e-05 + t2 * odd)
    return p + t * odd


def i1_below_8(t):
    """I1(x) / x for t = x^2 / 64."""
    t2 = t * t
    p = 0.1555244370309534 + t2 * 0.006879877814041412
    p = 11.377922680535077 + t2 * (2.314627108923737 + t2 * p)
    p = 0.5000000000299976 + t2 * (10.666667323071955 + t2 * p)
    odd = 6.0673054474814085 + t2 * (0.6540408806848266 + t2 * 0.018966085431452232)
    odd = 3.9999999886662514 + t2 * (14.222208265151504 + t2 * odd)
    return p + t * odd


def i1_of_inverse(t):
    """sqrt(x) e^-x I1(x) for t = 16 / x - 1."""
    t2 = t * t
    p = -1.8258358191512993e-06 + t2 * -1.226182003291923e-07
    p = 0.38939845905776227 + t2 * (-0.0002192370809118279 + t2 * p)
    odd = -3.5823687520651055e-07 + t2 * -3.5853218321015515e-08
    odd = -0.009749577438121357 + t2 * (-1.5035393168584296e-05 + t2 * odd)
    return p + t * odd
