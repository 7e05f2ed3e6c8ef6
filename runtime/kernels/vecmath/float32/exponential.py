"""Exponential, logarithmic, power and hyperbolic functions of float32."""

import math

import numpy as np

from runtime.kernels.vecmath.constants import inf, nan

T = np.float32


def exp(x):
    """x = n ln 2 + r, |r| <= ln(2)/2; 2 e^r by degree 6, and 2^(n-1), whose exponent the sum that
    rounds n carries in its low bits. Where the result is subnormal, 2^(n+63) and 2^-64. Where it is
    0, another x is computed with: a subnormal number on the way costs some processors 150 cycles.
    Error 1.0 ulp."""
    vanishes = x < T(-104)
    tiny = x < T(-86)
    y = T(0) if vanishes else (T(89) if x > T(89) else x)
    start = T(12583102) if tiny else T(12583038)
    k = y * T(1.4426950408889634) + start
    n = k - start
    r = y - n * T(0.693145751953125) - n * T(1.4286068203094172e-06)
    p = T(0.0167375598102808) + r * T(0.0027628992684185505)
    p = T(0.3333303928375244) + r * (T(0.08333678543567657) + r * p)
    p = T(2) + r * (T(2) + r * (T(0.9999998807907104) + r * p))
    power = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    result = T(0) if vanishes else p * power
    return result * (T(5.421010862427522e-20) if tiny else T(1))


def exp2(x):
    """x = n + r, |r| <= 1/2, exact; 2^(r+1) by degree 6; the rest as in exp. Error 1.0 ulp."""
    vanishes = x < T(-151)
    tiny = x < T(-125)
    y = T(0) if vanishes else (T(129) if x > T(129) else x)
    start = T(12583102) if tiny else T(12583038)
    k = y + start
    r = y - (k - start)
    p = T(0.0026798006147146225) + r * T(0.00030706534744240344)
    p = T(0.11100663989782333) + r * (T(0.01923687756061554) + r * p)
    p = T(2) + r * (T(1.3862943649291992) + r * (T(0.4804529547691345) + r * p))
    power = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    result = T(0) if vanishes else p * power
    return result * (T(5.421010862427522e-20) if tiny else T(1))


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


def exponent(x):
    """e and f of x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for positive x, subnormal or not.
    Serves the logarithms."""
    tiny = x < T(1.1754943508222875e-38)
    y = x * T(8388608) if tiny else x
    shifted = np.int32(T(y).view(np.int32) - np.int32(0x3F3504F3))
    e = T(shifted >> np.int32(23)) - (T(23) if tiny else T(0))
    m = np.int32(np.int32(shifted & np.int32(0x7FFFFF)) + np.int32(0x3F3504F3)).view(np.float32)
    return e, m - T(1)


def special_log(x, result):
    """The logarithm of x, given that of positive finite ones."""
    result = T(-inf) if x == T(0) else (T(nan) if x < T(0) else result)
    return result if x < T(inf) else x


def log(x):
    """log(1 + f) = f - f^2/2 + f^3 P(f), P of degree 8; and e ln 2 in two parts. Error 0.9 ulp."""
    e, f = exponent(x)
    z = f * f
    p = T(0.11888186633586884) + z * T(0.06746909767389297)
    p = T(0.2000211924314499) + z * (T(0.1421954184770584) + z * p)
    p = T(0.3333331346511841) + z * p
    odd = T(-0.12405534833669662) + z * T(-0.11675944179296494)
    odd = T(-0.25000008940696716) + z * (T(-0.1666799932718277) + z * odd)
    p = p + f * odd
    low = f * z * p + e * T(1.4286068203094172e-06) - T(0.5) * z
    return special_log(x, f + low + e * T(0.693145751953125))


def log2(x):
    """As log, its terms times 1 / ln 2, which for the first is in two parts. Error 1.0 ulp; exact
    for powers of 2."""
    e, f = exponent(x)
    z = f * f
    p = T(0.17151027917861938) + z * T(0.09733733534812927)
    p = T(0.2885695695877075) + z * (T(0.20514462888240814) + z * p)
    p = T(0.48089805245399475) + z * p
    odd = T(-0.17897403240203857) + z * T(-0.16844826936721802)
    odd = T(-0.3606739044189453) + z * (T(-0.24046839773654938) + z * odd)
    p = p + f * odd
    low = f * z * p + (z * T(-0.7213475108146667) + f * T(1.925963033500011e-08))
    return special_log(x, e + (f * T(1.4426950216293335) + low))


def log10(x):
    """As log, its terms times 1 / ln 10, and log10(2), in two parts. Error 1.0 ulp."""
    e, f = exponent(x)
    z = f * f
    p = T(0.05162974074482918) + z * T(0.029301458969712257)
    p = T(0.08686809986829758) + z * (T(0.06175468489527702) + z * p)
    p = T(0.1447647362947464) + z * p
    odd = T(-0.05387655273079872) + z * T(-0.05070798099040985)
    odd = T(-0.10857366025447845) + z * (T(-0.07238820195198059) + z * odd)
    p = p + f * odd
    low = f * T(-1.0103049952192578e-08) + e * T(-3.024355464731343e-06)
    low = f * z * p + (z * T(-0.21714724600315094) + low)
    return special_log(x, e * T(0.30103302001953125) + (f * T(0.4342944920063019) + low))


def log1p(x):
    """As log of u = 1 + x, and what the sum lost, x - (u - 1), joins f. x near 0 is its own result.
    Error 1.4 ulp."""
    u = T(1) + x
    shifted = np.int32(T(u).view(np.int32) - np.int32(0x3F3504F3))
    i = np.int32(shifted >> np.int32(23))
    e = T(i)
    m = np.int32(np.int32(shifted & np.int32(0x7FFFFF)) + np.int32(0x3F3504F3)).view(np.float32)
    i = np.int32(126) if i > np.int32(126) else i
    s = np.int32(np.int32(np.int32(127) - i) << np.int32(23)).view(np.float32)
    f = (m - T(1)) + (x - (u - T(1))) * s
    z = f * f
    p = T(0.11888186633586884) + z * T(0.06746909767389297)
    p = T(0.2000211924314499) + z * (T(0.1421954184770584) + z * p)
    p = T(0.3333331346511841) + z * p
    odd = T(-0.12405534833669662) + z * T(-0.11675944179296494)
    odd = T(-0.25000008940696716) + z * (T(-0.1666799932718277) + z * odd)
    p = p + f * odd
    low = f * z * p + e * T(1.4286068203094172e-06) - T(0.5) * z
    result = f + low + e * T(0.693145751953125)
    result = T(-inf) if x == T(-1) else (T(nan) if x < T(-1) else result)
    result = result if x < T(inf) else x
    return x if math.fabs(x) < T(1e-8) else result


def log_double(x):
    """log x in double for positive normal x: relative error 2^-38. Serves other functions."""
    shifted = np.float64(x).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    f2 = f * f
    f4 = f2 * f2
    low = (-0.49999999993768385 + f * 0.33333333425214845) + f2 * (
        -0.25000002006269006 + f * 0.1999998738272368
    )
    middle = (-0.16666490511764206 + f * 0.14286208933443642) + f2 * (
        -0.1250661050135452 + f * 0.11105779690709273
    )
    high = (-0.09880583172970601 + f * 0.09030015005654492) + f2 * (
        -0.09317635038622236 + f * 0.09174446989509728
    )
    p = low + f4 * (middle + f4 * (high + f4 * -0.04841027655257631))
    return e * 0.6931471805599453 + (f + f2 * p)


def exp_double(x):
    """e^x in double for |x| <= 700: relative error 2^-39. Serves other functions."""
    k = x * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    r2 = r * r
    low = (0.5000000000427173 + r * 0.1666666678450006) + r2 * (
        0.04166666440263077 + r * 0.008333281789883927
    )
    high = (0.0013889197478689649 + r * 0.00019908951400323248) + r2 * 2.470815762522699e-05
    p = 1.0 + (r + r2 * (low + r2 * r2 * high))
    return p * np.int64((np.float64(k).view(np.int64) + 1023) << 52).view(np.float64)


def cbrt(x):
    """In double: e^(log|x| / 3). Error 0.5 ulp."""
    a = math.fabs(x)
    result = T(exp_double(log_double(np.float64(a)) * 0.3333333333333333))
    result = result if (a > T(0)) & (a < T(inf)) else a
    return T(math.copysign(result, x))


def sinh(x):
    """In double: (e^a - e^-a) / 2; near 0 by its series. Error 0.5 ulp."""
    a = np.float64(math.fabs(x))
    e = exp_double(91.0 if a > 91.0 else a)
    result = a + a * a * a * 0.16666666666666666 if a < 0.01 else 0.5 * (e - 1.0 / e)
    return T(math.copysign(result, x))


def cosh(x):
    """In double: (e^a + e^-a) / 2. Error 0.5 ulp."""
    a = np.float64(math.fabs(x))
    e = exp_double(91.0 if a > 91.0 else a)
    return T(0.5 * (e + 1.0 / e))


def tanh(x):
    """Below 0.625 an odd polynomial of degree 11; above, 1 - 2 / (e^2a + 1), the power as in exp,
    but without its ends: beyond 2a = 20 it does not matter. Error 1.4 ulp."""
    a = T(math.fabs(x))
    z = a * a
    p = T(0.020639071241021156) + z * T(-0.005704966373741627)
    p = T(0.13331441581249237) + z * (T(-0.05373971164226532) + z * p)
    near = a + a * z * (T(-0.3333328068256378) + z * p)
    y = a + a
    y = T(20) if y > T(20) else y
    k = y * T(1.4426950408889634) + T(12583039)
    n = k - T(12583039)
    r = y - n * T(0.693145751953125) - n * T(1.4286068203094172e-06)
    p = T(0.0083687799051404) + r * T(0.0013814496342092752)
    p = T(0.1666651964187622) + r * (T(0.04166839271783829) + r * p)
    p = T(1) + r * (T(1) + r * (T(0.4999999403953552) + r * p))
    power = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    far = T(1) - T(2) / (T(1) + p * power)
    return T(math.copysign(near if a < T(0.625) else far, x))


def asinh(x):
    """In double: log(a + sqrt(a^2 + 1)); near 0 by its series. Error 0.5 ulp."""
    a = np.float64(math.fabs(x))
    near = a - a * a * a * 0.16666666666666666
    result = near if a < 0.01 else log_double(a + np.sqrt(a * a + 1.0))
    return T(math.copysign(result, x)) if a < inf else x


def acosh(x):
    """In double: log(x + sqrt(x^2 - 1)); NaN below 1. Error 0.5 ulp."""
    d = np.float64(x)
    result = T(log_double(d + np.sqrt(d * d - 1.0)))
    result = T(nan) if x < T(1) else result
    return result if x < T(inf) else x


def atanh(x):
    """Below 1/2 an odd polynomial of degree 15; above, log1p(2a / (1 - a)) / 2. Error 1.1 ulp."""
    a = T(math.fabs(x))
    z = a * a
    p = T(0.02446243353188038) + z * T(0.17601685225963593)
    p = T(0.10966901481151581) + z * (T(0.10284539312124252) + z * p)
    p = T(0.19999726116657257) + z * (T(0.14294874668121338) + z * p)
    near = a + a * z * (T(0.3333333730697632) + z * p)
    far = T(0.5) * log1p((a + a) / (T(1) - a))
    return T(math.copysign(near if a < T(0.5) else far, x))


def sigmoid(x):
    """1 / (1 + e^-x), the power as in exp but in one factor: below -88.4, where the result would be
    subnormal, e^-x is inf and the result 0, as PyTorch's below -88.7. What e^-x, the sum and the
    quotient lost is put back. Error 0.7 ulp; 1.5 below -16.6, where that is not exact."""
    y = T(-89) if x < T(-89) else x
    y = T(87) if y > T(87) else y
    k = T(12583039) - y * T(1.4426950408889634)
    n = k - T(12583039)
    r = y + n * T(0.693145751953125) + n * T(1.4286068203094172e-06)
    p = T(0.0083687799051404) - r * T(0.0013814496342092752)
    p = T(0.1666651964187622) - r * (T(0.04166839271783829) - r * p)
    rest = r * r * (T(0.4999999403953552) - r * p) - r
    p = T(1) + rest
    power = np.int32(T(k).view(np.int32) << np.int32(23)).view(np.float32)
    e = p * power
    total = T(1) + e
    lost = ((T(1) - total) + e) + ((T(1) - p) + rest) * power
    quotient = T(1) / total
    quotient = quotient + quotient * ((T(1) - quotient * total) - quotient * lost)
    return T(0) if n > T(127) else quotient


def pow(x, y):
    """In double: e^(y log |x|), then the cases of IEEE 754. Error 0.5 ulp; of cubes 1 ulp.

    Of a power that is the same for a whole loop LLVM makes two loops, one of them of products.
    """
    if (y == T(1)) | (y == T(2)) | (y == T(3)):
        square = x * x
        return square if y == T(2) else (x if y == T(1) else square * x)
    a = T(math.fabs(x))
    exponent = np.float64(y) * log_double(np.float64(a))
    exponent = -120.0 if exponent < -120.0 else exponent
    exponent = 120.0 if exponent > 120.0 else exponent
    result = T(exp_double(exponent))
    extreme = T(inf) if (y > T(0)) == (a > T(1)) else T(0)
    extreme = T(1) if a == T(1) else extreme
    is_extreme = (a == T(0)) | (a == T(inf)) | (math.fabs(y) == T(inf))
    result = extreme if is_extreme else result
    half = T(0.5) * y
    whole = np.rint(y) == y
    odd = whole & (np.rint(half) != half)
    signed = T(math.copysign(result, x)) if odd else result
    result = signed if whole | (x >= T(0)) | (a == T(inf)) else T(nan)
    result = result if (x == x) & (y == y) else x + y
    return T(1) if (x == T(1)) | (y == T(0)) else result
