"""Gamma functions of float32."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.double import log_scaled, sine_of_turns
from torchgen_out._runtime.kernels.vecmath.float32.logarithmic import log_double

T = np.float32


def lgamma(x):
    """In double. y is x or, below 0, 1 - x by reflection. Up to 8.5 products bring it to 2 + t with
    |t| <= 1/2, where a polynomial of degree 18 has the zero at 2; above, Stirling's series.
    Products and reflection are one logarithm. All of it keeps to the last digits of double: near
    the zeros below 0 they are what is left. Error 0.51 ulp."""
    d = np.float64(x)
    negative = d < 0.0
    y = 1.0 - d if negative else d
    steps = np.rint(y) - 2.0
    steps = 6.0 if steps > 6.0 else steps
    below = steps < 0.0
    product = y - 1.0 if steps > 0.0 else (y if below else 1.0)
    product = product * (y - 2.0 if steps > 1.0 else (y + 1.0 if steps < -1.0 else 1.0))
    product = product * (y - 3.0 if steps > 2.0 else 1.0) * (y - 4.0 if steps > 3.0 else 1.0)
    product = product * (y - 5.0 if steps > 4.0 else 1.0) * (y - 6.0 if steps > 5.0 else 1.0)
    large = y > 8.5
    product = 1.0 if large else product
    sine = math.fabs(sine_of_turns(d - np.rint(d)))
    above = (3.141592653589793 if negative else 1.0) * (product if below == negative else 1.0)
    under = (sine if negative else 1.0) * (1.0 if below == negative else product)
    extra = log_scaled(above / under, 0.0)
    t = (y - 2.0) - steps
    t2 = t * t
    p = -9.456080700981412e-06 + t2 * (-1.9748224281270894e-06 + t2 * -5.806159066190854e-07)
    p = -0.00022315497231894008 + t2 * (-4.4923771499318224e-05 + t2 * p)
    p = -0.007385551028925357 + t2 * (-0.001192753901325173 + t2 * p)
    p = 0.42278433509846713 + t2 * (-0.06735230105319576 + t2 * p)
    odd = 4.393519158522933e-06 + t2 * (8.999053936550008e-07 + t2 * 2.977025318494611e-07)
    odd = 9.945794411809351e-05 + t2 * (2.0503544406947877e-05 + t2 * odd)
    odd = 0.002890510331841357 + t2 * (0.0005096694951189908 + t2 * odd)
    odd = 0.3224670334241133 + t2 * (0.02058080842776597 + t2 * odd)
    p = p + t * odd
    far = stirling(y, log_scaled(y, 0.0))
    main = far if large else t * p
    result = extra - main if negative else extra + main
    result = inf if (sine == 0.0) & (d <= 0.0) else result
    return T(result if math.fabs(d) < inf else math.fabs(d))


def stirling(y, log_y):
    """lgamma y for y > 8 by Stirling's series."""
    inverse = 1.0 / y
    w = inverse * inverse
    series = 0.0008417508417508417 - w * (0.0019175269175269176 - w * 0.006410256410256411)
    series = 0.0007936507936507937 - w * (0.0005952380952380953 - w * series)
    series = 0.08333333333333333 - w * (0.002777777777777778 - w * series)
    return ((y - 0.5) * log_y - y) + (0.9189385332046728 + inverse * series)


def lgamma_near(x):
    """As lgamma, for x >= 0 and with one logarithm: of the products up to 5.5, above of x. The
    polynomial is of degree 11, Stirling's series of four terms. Error 0.51 ulp."""
    d = np.float64(x)
    steps = np.rint(d) - 2.0
    steps = 3.0 if steps > 3.0 else steps
    product = d - 1.0 if steps > 0.0 else (d if steps < 0.0 else 1.0)
    product = product * (d - 2.0 if steps > 1.0 else (d + 1.0 if steps < -1.0 else 1.0))
    product = product * (d - 3.0 if steps > 2.0 else 1.0)
    large = d > 5.5
    log_d = log_double(d if large else product)
    t = (d - 2.0) - steps
    t2 = t * t
    p = -0.00021872598357473204 + t2 * -5.6217094611017e-05
    p = -0.0073854913779119475 + t2 * (-0.0011935237210142337 + t2 * p)
    p = 0.42278433510634567 + t2 * (-0.06735230274469646 + t2 * p)
    odd = 0.002890944345178735 + t2 * (0.000505720653243293 + t2 * 0.00011489109732956535)
    odd = 0.32246703366162577 + t2 * (0.020580789152784648 + t2 * odd)
    p = p + t * odd
    small = t * p + (-log_d if steps < 0.0 else log_d)
    inverse = 1.0 / d
    w = inverse * inverse
    series = 0.0007936507936507937 - w * 0.0005952380952380953
    series = inverse * (0.08333333333333333 - w * (0.002777777777777778 - w * series))
    far = (d - 0.5) * log_d - d + 0.9189385332046728 + series
    result = inf if d == 0.0 else (far if large else small)
    return T(d if d == inf else result)


def lgamma_is_far(x):
    return x < T(0)


def sine_of_turns_short(f):
    """sin(pi f) in double for |f| <= 1/2: relative error 2^-38."""
    u = f * f
    sine = -0.007363785063079486 + u * 0.00044720034173007146
    sine = -0.5992644257372303 + u * (0.08214473212571541 + u * sine)
    sine = -5.167712779977315 + u * (2.550164035419428 + u * sine)
    return f * (3.1415926535895973 + u * sine)


def digamma(x):
    """In double: asymptotic series, shifted by 6 below 8, the six reciprocals as one quotient;
    reflection below 0."""
    d = np.float64(x)
    negative = d < 0.0
    y = 1.0 - d if negative else d
    shifts = y < 8.0
    t = y * (y + 5.0)
    steps = (y + y + 5.0) * (24.0 + t * (20.0 + 3.0 * t)) / (t * (t + 4.0) * (t + 6.0))
    z = y + 6.0 if shifts else y
    inverse = 1.0 / z
    w = inverse * inverse
    series = 0.003968253968253968 - w * (0.004166666666666667 - w * 0.007575757575757576)
    series = w * (0.08333333333333333 - w * (0.008333333333333333 - w * series))
    result = log_double(z) - 0.5 * inverse - series - (steps if shifts else 0.0)
    turns = d - np.rint(d)
    tangent = tangent_of_turns(turns)
    result = result - 3.141592653589793 / tangent if negative else result
    result = nan if negative & (turns == 0.0) else result
    result = math.copysign(inf, -d) if d == 0.0 else result
    result = d if d == inf else result
    return T(result if d > -inf else nan)


def tangent_of_turns(f):
    """tan(pi f) in double for |f| <= 1/2, by the sine and the cosine of pi f."""
    return sine_of_turns_short(f) / sine_of_turns_short(0.5 - math.fabs(f))


def trigamma(x):
    """In double: asymptotic series, shifted by 6; reflection below 1/2. Error 0.5 ulp."""
    d = np.float64(x)
    reflects = d < 0.5
    y = 1.0 - d if reflects else d
    a = 1.0 / y
    b = 1.0 / (y + 1.0)
    c = 1.0 / (y + 2.0)
    steps = a * a + b * b + c * c
    a = 1.0 / (y + 3.0)
    b = 1.0 / (y + 4.0)
    c = 1.0 / (y + 5.0)
    steps = steps + (a * a + b * b + c * c)
    inverse = 1.0 / (y + 6.0)
    w = inverse * inverse
    series = 0.023809523809523808 - w * (0.03333333333333333 - w * 0.07575757575757576)
    series = inverse * w * (0.16666666666666666 - w * (0.03333333333333333 - w * series))
    result = steps + inverse + 0.5 * w + series
    turns = d - np.rint(d)
    sine = 3.141592653589793 / sine_of_turns_short(turns)
    return T(sine * sine - result if reflects else result)
