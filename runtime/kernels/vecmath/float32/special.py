"""Error and gamma functions of float32."""

import math

import numpy as np

from runtime.kernels.vecmath.constants import inf, nan
from runtime.kernels.vecmath.float32.exponential import exp_double
from runtime.kernels.vecmath.float32.logarithmic import log, log_double

T = np.float32


def erf(x):
    """Below 1 an odd polynomial of degree 13; above, 1 - e^q with q = log erfc by degree 6, where
    e^q, at most 0.16, needs a polynomial of degree 5 and one factor only. Error 1.3 ulp."""
    a = T(math.fabs(x))
    z = a * a
    p = T(-0.0008024809067137539) + z * T(7.898660987848416e-05)
    p = T(-0.02685491554439068) + z * (T(0.005190161522477865) + z * p)
    p = T(-0.3761262893676758) + z * (T(0.11283617466688156) + z * p)
    near = a + a * (T(0.12837916709551256) + z * p)
    b = T(4) if a > T(4) else a
    q = T(-0.0029724023770540953) + b * T(0.00018881959840655327)
    q = T(-0.10332701355218887) + b * (T(0.02194027230143547) + b * q)
    q = T(-1.1272512674331665) + b * (T(-0.6378834843635559) + b * q)
    q = T(-0.00030048508779145777) + b * q
    k = q * T(1.4426950408889634) + T(12583039)
    n = k - T(12583039)
    r = q - n * T(0.693145751953125) - n * T(1.4286068203094172e-06)
    p = T(0.04189056158065796) + r * T(0.008312566205859184)
    p = T(0.4999922811985016) + r * (T(0.16667115688323975) + r * p)
    p = T(1) + (r + r * r * p)
    power = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    far = T(1) - p * power
    return T(math.copysign(near if a < T(1) else far, x))


def erfc(x):
    """In double: e^-a^2 times a polynomial of degree 13 in (a - 4) / (a + 4), the scaled erfc; for
    negative x, 2 less that. Error 0.5 ulp."""
    a = np.float64(math.fabs(x))
    a = 10.06 if a > 10.06 else a
    q = (a - 4.0) / (a + 4.0)
    p = -2.866964144842597e-05 + q * -9.867189794010293e-06
    p = -1.7930508187048557e-05 + q * (8.03480139967521e-05 + q * p)
    p = 0.004059448181017682 + q * (-0.0007982997998407222 + q * p)
    p = 0.03129913823393291 + q * (-0.012844235619809836 + q * p)
    p = 0.1089631731791628 + q * (-0.06310778241567223 + q * p)
    p = 0.21871967902045528 + q * (-0.1642578181496815 + q * p)
    p = 0.13699945762456145 + q * (-0.2590680487434254 + q * p)
    p = p * exp_double(-a * a)
    p = 0.0 if a > 10.059 else p
    return T(2.0 - p if x < T(0) else p)


def erfinv(x):
    """x times a polynomial in w = -log(1 - x^2), of degree 10 for w < 6, beyond of degree 8 in sqrt
    w. Error 2.2 ulp."""
    w = -log((T(1) - x) * (T(1) + x))
    p = T(-2.4238776319407406e-08) + w * T(6.255058693227511e-10)
    p = T(-2.9116113182681147e-06) + w * (T(3.8278159308902104e-07) + w * p)
    p = T(3.7564161175396293e-05) + w * (T(7.240736067615217e-06) + w * p)
    p = T(-0.002341123064979911) + w * (T(-0.00011834897304652259) + w * p)
    p = T(0.23201343417167664) + w * (T(0.01155124418437481) + w * p)
    p = T(0.8862269520759583) + w * p
    s = T(np.sqrt(w)) - T(3.2)
    q = T(-0.00022099314082879573) + s * T(-8.755041926633567e-05)
    q = T(-0.0020565781742334366) + s * (T(0.0011214675614610314) + s * q)
    q = T(-0.00428335415199399) + s * (T(0.00293975742533803) + s * q)
    q = T(1.0046919584274292) + s * (T(0.005974255036562681) + s * q)
    q = T(3.0336365699768066) + s * q
    result = x * (p if w < T(6) else q)
    result = T(math.copysign(inf, x)) if math.fabs(x) == T(1) else result
    return T(nan) if math.fabs(x) > T(1) else result


def lgamma(x):
    """In double. From 1 to 3 a polynomial of degree 17 with its zeros at 1 and 2; above, Stirling's
    series, shifted by 4 below 8; below 1 by recurrence, below 0 by reflection. Logarithms are
    merged into two."""
    d = np.float64(x)
    negative = d < 0.0
    y = 1.0 - d if negative else (d + 1.0 if d < 1.0 else d)
    t = (3.0 if y > 3.0 else y) - 2.0
    p = 4.87044178867912e-06 + t * -2.4627854950383045e-06
    p = 2.2622163082114304e-06 + t * (-4.394874308144148e-07 + t * p)
    p = 4.3688336011962665e-05 + t * (-2.114383842949244e-05 + t * p)
    p = 0.00017981839256018544 + t * (-8.114159408370485e-05 + t * p)
    p = 0.0009160996724369854 + t * (-0.00040631782083706624 + t * p)
    p = 0.004998548289551133 + t * (-0.002108030741295591 + t * p)
    p = 0.03296500513905052 + t * (-0.012384199514288305 + t * p)
    p = 0.42278433506255464 + t * (-0.10031730151881087 + t * p)
    near = p * t * (t + 1.0) + 0.0
    shifts = y < 8.0
    z = y + 4.0 if shifts else y
    inverse = 1.0 / z
    w = inverse * inverse
    series = 0.0007936507936507937 - w * 0.0005952380952380953
    series = inverse * (0.08333333333333333 - w * (0.002777777777777778 - w * series))
    far = (z - 0.5) * log_double(z) - z + 0.9189385332046728 + series
    product = y * (y + 1.0) * (y + 2.0) * (y + 3.0) if shifts else 1.0
    product = product if y > 3.0 else 1.0
    turns = d - np.rint(d)
    u = turns * turns
    sine = -0.007363785063079486 + u * 0.00044720034173007146
    sine = -0.5992644257372303 + u * (0.08214473212571541 + u * sine)
    sine = -5.167712779977315 + u * (2.550164035419428 + u * sine)
    sine = math.fabs(turns * (3.1415926535895973 + u * sine))
    quotient = product * 3.141592653589793 / sine if negative else product
    quotient = d if (d >= 0.0) & (d < 1.0) else quotient
    main = far if y > 3.0 else near
    extra = log_double(quotient)
    result = extra - main if negative else main - extra
    result = inf if (sine == 0.0) & (d <= 0.0) else result
    return T(result if math.fabs(d) < inf else math.fabs(d))


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
    u = f * f
    sine = -0.007363785063079486 + u * 0.00044720034173007146
    sine = -0.5992644257372303 + u * (0.08214473212571541 + u * sine)
    sine = -5.167712779977315 + u * (2.550164035419428 + u * sine)
    sine = f * (3.1415926535895973 + u * sine)
    g = 0.5 - math.fabs(f)
    u = g * g
    cosine = -0.007363785063079486 + u * 0.00044720034173007146
    cosine = -0.5992644257372303 + u * (0.08214473212571541 + u * cosine)
    cosine = -5.167712779977315 + u * (2.550164035419428 + u * cosine)
    cosine = g * (3.1415926535895973 + u * cosine)
    return sine / cosine


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
    u = turns * turns
    sine = -0.007363785063079486 + u * 0.00044720034173007146
    sine = -0.5992644257372303 + u * (0.08214473212571541 + u * sine)
    sine = -5.167712779977315 + u * (2.550164035419428 + u * sine)
    sine = 3.141592653589793 / (turns * (3.1415926535895973 + u * sine))
    return T(sine * sine - result if reflects else result)
