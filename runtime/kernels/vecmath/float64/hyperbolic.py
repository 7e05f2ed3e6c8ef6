"""Hyperbolic functions and their inverses of float64."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import nan
from torchgen_out._runtime.kernels.vecmath.float64.exponential import exp, half_exp
from torchgen_out._runtime.kernels.vecmath.float64.logarithmic import log, log1p

T = np.float64


def sinh(x):
    """Below 1 an odd polynomial of degree 17; above, h - 1 / (4 h), h = e^|x| / 2.
    Error 1.6 ulp."""
    a = math.fabs(x)
    z = a * a
    z2 = z * z
    p = 2.5052108346493643e-08 + z2 * 7.646482761038907e-13
    p = 0.16666666666666666 + z2 * (0.000198412698412696 + z2 * p)
    odd = 1.6059050603265617e-10 + z2 * 2.848236657757635e-15
    odd = 0.008333333333333333 + z2 * (2.7557319224116353e-06 + z2 * odd)
    p = p + z * odd
    h = half_exp(a)
    return math.copysign(a + a * z * p if a < 1.0 else h - 0.25 / h, x)


def cosh(x):
    """h + 1 / (4 h), h = e^|x| / 2. Error 1.4 ulp."""
    h = half_exp(math.fabs(x))
    return h + 0.25 / h


def tanh(x):
    """Below 0.625 an odd polynomial of degree 23; above, 1 - 2 / (e^2a + 1). Error 1.3 ulp."""
    a = math.fabs(x)
    z = a * a
    z2 = z * z
    p = -0.00022855636400925802 + z2 * -1.606820316132028e-05
    p = -0.008863220973624629 + z2 * (-0.0014549576881538245 + z2 * p)
    p = -0.33333333333332854 + z2 * (-0.05396825393116969 + z2 * p)
    odd = 0.0005863126540599364 + z2 * 7.713544511811308e-05
    odd = 0.02186948757386581 + z2 * (0.003591988941115114 + z2 * odd)
    odd = 0.1333333333326188 + z2 * odd
    p = p + z * odd
    near = a + a * z * p
    far = 1.0 - 2.0 / (exp(a + a) + 1.0)
    return math.copysign(near if a < 0.625 else far, x)


def arsinh(a):
    """asinh a for 0 <= a <= 0.53 by an odd polynomial of degree 25. Serves asinh and acosh."""
    z = a * a
    z2 = z * z
    p = -0.009443310945504902 + z2 * -0.00438578987155678
    p = -0.022372113661994937 + z2 * (-0.013956791703222223 + z2 * p)
    p = -0.16666666666666471 + z2 * (-0.04464285710144468 + z2 * p)
    odd = 0.007226184822846854 + z2 * 0.0014793940451574901
    odd = 0.01735202640368156 + z2 * (0.011491191984587357 + z2 * odd)
    odd = 0.07499999999951812 + z2 * (0.030381942655611147 + z2 * odd)
    p = p + z * odd
    return a + a * z * p


def asinh(x):
    """Below 0.53 a polynomial; above, the log of w + a, w = sqrt(a^2 + 1), and of what this sum
    lost, times (w - a) = 1 / (w + a); far out log a + ln 2. Error 1.8 ulp."""
    a = math.fabs(x)
    huge = a > 1e150
    root = np.sqrt(a * a + 1.0)
    total = root + a
    lost = a - (total - root)
    result = log(a if huge else total)
    result = result + (0.6931471805599453 if huge else lost * (root - a))
    return math.copysign(arsinh(a) if a < 0.53 else result, x)


def acosh(x):
    """Below 1.56, 2 asinh(sqrt((x - 1) / 2)); above, log(x + sqrt(x^2 - 1)), far out log x + ln 2.
    NaN below 1. Error 1.5 ulp."""
    huge = x > 1e150
    result = log(x if huge else x + np.sqrt((x - 1.0) * (x + 1.0)))
    result = result + 0.6931471805599453 if huge else result
    result = 2.0 * arsinh(np.sqrt(0.5 * (x - 1.0))) if x < 1.56 else result
    return nan if x < 1.0 else result


def atanh(x):
    """Below 1/2 an odd polynomial of degree 27; above, log1p(2a / (1 - a)) / 2. Error 1.1 ulp."""
    a = math.fabs(x)
    z = a * a
    z2 = z * z
    p = 0.14494489343203473 + z2 * 0.22479242209031536
    p = 0.06677947568124404 + z2 * (0.05982572478819377 + z2 * p)
    p = 0.14285714308042044 + z2 * (0.09090948498205287 + z2 * p)
    p = 0.3333333333333399 + z2 * p
    odd = 0.0145580912824007 + z2 * -0.1529195654892488
    odd = 0.07691494504750697 + z2 * (0.05774368002259985 + z2 * odd)
    odd = 0.19999999999795048 + z2 * (0.1111110988821149 + z2 * odd)
    p = p + z * odd
    far = 0.5 * log1p((a + a) / (1.0 - a))
    return math.copysign(a + a * z * p if a < 0.5 else far, x)
