"""Bessel functions of float64.

Below 8 each is a polynomial. Beyond, J and Y are sqrt(2 / (pi x)) times P and Q, smooth in 1 / x^2,
turned by x less a quarter or three quarters of pi; their sines are sums of sin x and cos x. `t` is
the square of the argument, or its inverse, moved to [-1, 1].
"""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf
from torchgen_out._runtime.kernels.vecmath.float64.logarithmic import log, log_is_far, log_near
from torchgen_out._runtime.kernels.vecmath.float64.trigonometric import (
    cos,
    cos_near,
    sin,
    sin_near,
)

T = np.float64


def bessel_j0(x):
    """J0."""
    a = math.fabs(x)
    return j0_of(a, sin(a), cos(a))


def bessel_j0_near(x):
    """As bessel_j0."""
    a = math.fabs(x)
    return j0_of(a, sin_near(a), cos_near(a))


def bessel_j0_is_far(x):
    return math.fabs(x) > 8388608.0


def bessel_j0_nearest(x):
    """Of |x| < 8."""
    return j0_below_8(x)


def bessel_j0_is_beyond(x):
    return not math.fabs(x) < 8.0


def bessel_j1(x):
    """J1."""
    a = math.fabs(x)
    return math.copysign(1.0, x) * j1_of(a, sin(a), cos(a))


def bessel_j1_near(x):
    """As bessel_j1."""
    a = math.fabs(x)
    return math.copysign(1.0, x) * j1_of(a, sin_near(a), cos_near(a))


def bessel_j1_is_far(x):
    return math.fabs(x) > 8388608.0


def bessel_j1_nearest(x):
    """Of |x| < 8."""
    return j1_below_8(x)


def bessel_j1_is_beyond(x):
    return not math.fabs(x) < 8.0


def bessel_y0(x):
    """Y0: minus infinity at 0, nan below."""
    return y0_of(x, sin(x), cos(x))


def bessel_y0_near(x):
    """As bessel_y0."""
    return y0_of(x, sin_near(x), cos_near(x))


def bessel_y0_is_far(x):
    return math.fabs(x) > 8388608.0


def bessel_y0_nearest(x):
    """Of positive normal x < 8."""
    return y0_below_8(x, log_near(x))


def bessel_y0_is_beyond(x):
    return log_is_far(x) | (x >= 8.0)


def bessel_y1(x):
    """Y1: minus infinity at 0, nan below."""
    return y1_of(x, sin(x), cos(x))


def bessel_y1_near(x):
    """As bessel_y1."""
    return y1_of(x, sin_near(x), cos_near(x))


def bessel_y1_is_far(x):
    return math.fabs(x) > 8388608.0


def bessel_y1_nearest(x):
    """Of positive normal x < 8."""
    return y1_below_8(x, log_near(x))


def bessel_y1_is_beyond(x):
    return log_is_far(x) | (x >= 8.0)


def j0_of(x, s, c):
    """J0 of x >= 0, given its sine and cosine."""
    p, q, size = waves_of_order_0(x)
    return j0_below_8(x) if x < 8.0 else size * (p * (c + s) - q * (s - c))


def j1_of(x, s, c):
    """J1 of x >= 0, given its sine and cosine."""
    p, q, size = waves_of_order_1(x)
    return j1_below_8(x) if x < 8.0 else size * (p * (s - c) + q * (s + c))


def y0_of(x, s, c):
    """Y0, given its argument's sine and cosine."""
    p, q, size = waves_of_order_0(x)
    return y0_below_8(x, log(x)) if x < 8.0 else size * (p * (s - c) + q * (s + c))


def y1_of(x, s, c):
    """Y1, given its argument's sine and cosine."""
    p, q, size = waves_of_order_1(x)
    near = -inf if x == 0.0 else y1_below_8(x, log(x))
    return near if x < 8.0 else size * (q * (s - c) - p * (s + c))


def y0_below_8(x, logarithm):
    """log x J0 and a power series."""
    near = 0.6366197723675814 * logarithm * j0_below_8(x)
    return near + y0_series(0.03125 * x * x - 1.0)


def y1_below_8(x, logarithm):
    """As y0_below_8; one over x besides."""
    near = x * y1_series(0.03125 * x * x - 1.0)
    return near + 0.6366197723675814 * (logarithm * j1_below_8(x) - 1.0 / x)


def waves_of_order_0(x):
    """P, Q and 1 / sqrt(pi x), by one quotient."""
    x = 8.0 if x < 8.0 else x
    root = 1.0 / np.sqrt(x)
    w = root * root
    t = 128.0 * w * w - 1.0
    return even_of_order_0(t), odd_of_order_0(t) * w, 0.5641895835477563 * root


def waves_of_order_1(x):
    """P, Q and 1 / sqrt(pi x), by one quotient."""
    x = 8.0 if x < 8.0 else x
    root = 1.0 / np.sqrt(x)
    w = root * root
    t = 128.0 * w * w - 1.0
    return even_of_order_1(t), odd_of_order_1(t) * w, 0.5641895835477563 * root


def j0_below_8(x):
    """By the factors of its two zeros, which are in two parts."""
    first = ((x - 2.404825557695773) + 1.176691651530894e-16) * (x + 2.404825557695773)
    second = ((x - 5.520078110286311) - 8.088597146146722e-17) * (x + 5.520078110286311)
    return first * second * j0_rest(0.03125 * x * x - 1.0)


def j1_below_8(x):
    """As j0_below_8; the zero at 0 besides."""
    first = ((x - 3.8317059702075125) + 1.5269184090088067e-16) * (x + 3.8317059702075125)
    second = ((x - 7.015586669815619) + 9.414165653410389e-17) * (x + 7.015586669815619)
    return x * (first * second * j1_rest(0.03125 * x * x - 1.0))


def j0_rest(t):
    """J0(x) over the factors of its zeros, for t = x^2 / 32 - 1."""
    t2 = t * t
    p = 1.6276347608063096e-10 + t2 * 3.4046295582846705e-13
    p = 4.366932324465303e-06 + t2 * (3.9988394207029365e-08 + t2 * p)
    p = 0.0015636431645931668 + t2 * (0.00016977200713999042 + t2 * p)
    p = 0.0011434937743762545 + t2 * p
    odd = -8.024708336919889e-12 + t2 * -1.2088946518760686e-14
    odd = -4.677128029694537e-07 + t2 * (-2.79486148941178e-09 + t2 * odd)
    odd = -0.0006415390646406381 + t2 * (-3.157342540200758e-05 + t2 * odd)
    odd = -0.002119794289479691 + t2 * odd
    return p + t * odd


def j1_rest(t):
    """J1(x) / x over the factors of its zeros, for t = x^2 / 32 - 1."""
    t2 = t * t
    p = 6.284684760795961e-12 + t2 * 1.1381850226852701e-14
    p = 2.4425222606606376e-07 + t2 * (1.8268547996370756e-09 + t2 * p)
    p = 0.00015860016799369866 + t2 * (1.2242173653016851e-05 + t2 * p)
    p = 0.00019498936985895625 + t2 * p
    odd = -2.8757914345970185e-13 + t2 * -3.828666595635446e-16
    odd = -2.3521922564309214e-08 + t2 * (-1.1696929341093256e-10 + t2 * odd)
    odd = -5.4080032390855674e-05 + t2 * (-1.9890935159090506e-06 + t2 * odd)
    odd = -0.0002697522746716368 + t2 * odd
    return p + t * odd


def y0_series(t):
    """Y0(x) - 2 / pi log(x) J0(x) for t = x^2 / 32 - 1."""
    t2 = t * t
    p = -3.2184503845670247e-07 + t2 * -7.165821742488482e-10
    p = -0.007025741054991968 + t2 * (-7.279542368649017e-05 + t2 * p)
    p = -1.077547733821527 + t2 * (-0.21895747096229637 + t2 * p)
    p = -0.38225065445942497 + t2 * (1.6470964788745432 + t2 * p)
    odd = 1.6390850899116698e-08 + t2 * 2.6933365168570722e-11
    odd = 0.0008061586059339552 + t2 * (5.321318846599571e-06 + t2 * odd)
    odd = 0.6721770783431655 + t2 * (0.04636704768138646 + t2 * odd)
    odd = -0.8284358903604588 + t2 * (0.14412632369302497 + t2 * odd)
    return p + t * odd


def y1_series(t):
    """(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x for t = x^2 / 32 - 1."""
    t2 = t * t
    p = -1.3153147369056149e-08 + t2 * -2.4995314995336463e-11
    p = -0.0004438173434420173 + t2 * (-3.6010000225872376e-06 + t2 * p)
    p = -0.19639839859930203 + t2 * (-0.01962875683311711 + t2 * p)
    p = 0.07075985882118005 + t2 * (0.02336757172099348 + t2 * p)
    odd = 6.169681098336502e-10 + t2 * 8.761848030973215e-13
    odd = 4.467433012566777e-05 + t2 * (2.3804930524573218e-07 + t2 * odd)
    odd = 0.07854786922242525 + t2 * (0.0034224907399191757 + t2 * odd)
    odd = -0.24337743079193114 + t2 * (0.23507209206669755 + t2 * odd)
    return p + t * odd


def even_of_order_0(t):
    """P for t = 128 / x^2 - 1."""
    t2 = t * t
    p = 2.4182892258190255e-13 + t2 * 3.455779530855501e-14
    p = 1.5500362170393336e-10 + t2 * (4.790919222763215e-12 + t2 * p)
    p = 6.137416080068741e-06 + t2 * (1.280376191695905e-08 + t2 * p)
    p = 0.9994572757882519 + t2 * p
    odd = -1.0157228673818866e-12 + t2 * -1.0252716209500893e-13
    odd = -1.2121098064338948e-09 + t2 * (-2.4911491220806212e-11 + t2 * odd)
    odd = -0.0005363673192129672 + t2 * (-2.0527448261379156e-07 + t2 * odd)
    return p + t * odd


def odd_of_order_0(t):
    """x Q for t = 128 / x^2 - 1."""
    t2 = t * t
    p = -2.7917081875546965e-11 + t2 * -2.498768243671396e-12
    p = -4.534962382739616e-08 + t2 * (-7.580653900302559e-10 + t2 * p)
    p = -0.12444091103610802 + t2 * (-1.181711067034903e-05 + t2 * p)
    odd = 6.466840487114959e-12 + t2 * 8.174119199870128e-13
    odd = 5.146128081553597e-09 + t2 * (1.3655438593458012e-10 + t2 * odd)
    odd = 0.0005466519279469261 + t2 * (5.684972027783239e-07 + t2 * odd)
    return p + t * odd


def even_of_order_1(t):
    """P for t = 128 / x^2 - 1."""
    t2 = t * t
    p = -2.5964737351980064e-13 + t2 * -3.669271574405619e-14
    p = -1.713085862018393e-10 + t2 * (-5.195330432107512e-12 + t2 * p)
    p = -7.959694698394956e-06 + t2 * (-1.4708513497660914e-08 + t2 * p)
    p = 1.0009070262780821 + t2 * p
    odd = 1.0954578210812333e-12 + t2 * 1.0924609927402954e-13
    odd = 1.3602969142589557e-09 + t2 * (2.7234537760553238e-11 + t2 * odd)
    odd = 0.0008988049416705182 + t2 * (2.453676633386982e-07 + t2 * odd)
    return p + t * odd


def odd_of_order_1(t):
    """x Q for t = 128 / x^2 - 1."""
    t2 = t * t
    p = 3.0165958965400816e-11 + t2 * 2.666014081636756e-12
    p = 5.1360949199723294e-08 + t2 * (8.320659286055408e-10 + t2 * p)
    p = 0.3742149922195917 + t2 * (1.4569614819542175e-05 + t2 * p)
    odd = -6.951874709997742e-12 + t2 * -8.689430633052352e-13
    odd = -5.720781116830293e-09 + t2 * (-1.485042527378978e-10 + t2 * odd)
    odd = -0.0007697167057637325 + t2 * (-6.633568716054271e-07 + t2 * odd)
    return p + t * odd
