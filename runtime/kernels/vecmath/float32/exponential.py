"""Exponential functions and the sigmoid of float32."""

import math

import numpy as np

T = np.float32


def exp(x):
    """Of x = n ln 2 + r, |r| <= ln(2)/2. Where the result is subnormal, 2^(n+63) and 2^-64. Where
    it is 0, another x is computed with: a subnormal number on the way costs some processors 150
    cycles. Error 1.0 ulp."""
    vanishes = x < T(-104)
    tiny = x < T(-86)
    y = T(0) if vanishes else (T(89) if x > T(89) else x)
    p, power = exp_parts(y, T(12583102) if tiny else T(12583038))
    result = T(0) if vanishes else p * power
    return result * (T(5.421010862427522e-20) if tiny else T(1))


def exp_parts(x, start):
    """2 e^r by degree 6, and the power of 2 whose exponent the sum that rounds n, from `start` on,
    carries in its low bits. Serves exp."""
    k = x * T(1.4426950408889634) + start
    n = k - start
    r = x - n * T(0.693145751953125) - n * T(1.4286068203094172e-06)
    p = T(0.0167375598102808) + r * T(0.0027628992684185505)
    p = T(0.3333303928375244) + r * (T(0.08333678543567657) + r * p)
    p = T(2) + r * (T(2) + r * (T(0.9999998807907104) + r * p))
    return p, np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)


def exp_near(x):
    """As exp, to the last bit. Error 1.0 ulp."""
    p, power = exp_parts(x, T(12583038))
    return p * power


def exp_is_far(x):
    return math.fabs(x) > T(86)


def exp2(x):
    """Of x = n + r, |r| <= 1/2, exact; the rest as in exp. Error 1.0 ulp."""
    vanishes = x < T(-151)
    tiny = x < T(-125)
    y = T(0) if vanishes else (T(129) if x > T(129) else x)
    p, power = exp2_parts(y, T(12583102) if tiny else T(12583038))
    result = T(0) if vanishes else p * power
    return result * (T(5.421010862427522e-20) if tiny else T(1))


def exp2_parts(x, start):
    """2^(r+1) by degree 6, and the power as in exp_parts. Serves exp2."""
    k = x + start
    r = x - (k - start)
    p = T(0.0026798006147146225) + r * T(0.00030706534744240344)
    p = T(0.11100663989782333) + r * (T(0.01923687756061554) + r * p)
    p = T(2) + r * (T(1.3862943649291992) + r * (T(0.4804529547691345) + r * p))
    return p, np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)


def exp2_near(x):
    """As exp2, to the last bit. Error 1.0 ulp."""
    p, power = exp2_parts(x, T(12583038))
    return p * power


def exp2_is_far(x):
    return math.fabs(x) > T(125)


def expm1(x):
    """x = n ln 2 + r; with h = 2^(n-1): 2 (h (e^r - 1) + (h - 1/2)), where e^r - 1 is accurate near
    0 and h - 1/2 is exact or negligible. Tiny x is its own result. Error 1.6 ulp."""
    y = T(-18) if x < T(-18) else (T(89) if x > T(89) else x)
    k = y * T(1.4426950408889634) + T(12583038)
    n = k - T(12583038)
    r = y - n * T(0.693145751953125) - n * T(1.4286068203094172e-06)
    p = T(0.008366645313799381) + r * T(0.001394652179442346)
    p = T(0.16666541993618011) + r * (T(0.04166628047823906) + r * p)
    p = r + r * r * (T(0.5) + r * p)
    h = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    result = (h * p + (h - T(0.5))) * T(2)
    return x if math.fabs(x) < T(1e-8) else result


def exp_double(x):
    """e^x in double for |x| <= 700: relative error 2^-39, for which ln 2 in one part is enough. To
    round n, 1023 more is added, so that the low bits are those of an exponent. Serves other
    functions."""
    k = x * 1.4426950408889634 + 6755399441056767.0
    r = x - (k - 6755399441056767.0) * 0.6931471805599453
    r2 = r * r
    low = (0.5000000000427173 + r * 0.1666666678450006) + r2 * (
        0.04166666440263077 + r * 0.008333281789883927
    )
    high = (0.0013889197478689649 + r * 0.00019908951400323248) + r2 * 2.470815762522699e-05
    p = 1.0 + (r + r2 * (low + r2 * r2 * high))
    return p * np.int64(np.float64(k).view(np.int64) << 52).view(np.float64)


def sigmoid(x):
    """1 / (1 + e^-x), the power as in exp but in one factor: below -88.4, where the result would be
    subnormal, e^-x is inf and the result 0, as PyTorch's below -88.7. What sum and quotient lost is
    put back. Error 1.6 ulp."""
    y = T(-89) if x < T(-89) else x
    y = T(87) if y > T(87) else y
    k = T(12583039) - y * T(1.4426950408889634)
    n = k - T(12583039)
    r = y + n * T(0.693145751953125) + n * T(1.4286068203094172e-06)
    p = T(0.0083687799051404) - r * T(0.0013814496342092752)
    p = T(0.1666651964187622) - r * (T(0.04166839271783829) - r * p)
    p = r * r * (T(0.4999999403953552) - r * p) - r
    power = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    u = power + T(1)
    q = T(1) / (power * p + u)
    q = q + q * ((T(1) - q * u) - q * power * p)
    return T(0) if n > T(127) else q
