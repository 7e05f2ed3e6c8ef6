"""Logarithms, and powers and roots made of them, of float32."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.float32.exponential import exp_double

T = np.float32


def exponent(x):
    """e and f of x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for positive x, subnormal or not.
    Serves the logarithms."""
    tiny = x < T(1.1754943508222875e-38)
    e, f = exponent_near(x * T(8388608) if tiny else x)
    return e - (T(23) if tiny else T(0)), f


def exponent_near(x):
    """As exponent, for normal numbers."""
    shifted = np.int32(T(x).view(np.int32) - np.int32(0x3F3504F3))
    m = np.int32(np.int32(shifted & np.int32(0x7FFFFF)) + np.int32(0x3F3504F3)).view(np.float32)
    return T(shifted >> np.int32(23)), m - T(1)


def special_log(x, result):
    """The logarithm of x, given that of positive finite ones."""
    result = T(-inf) if x == T(0) else (T(nan) if x < T(0) else result)
    return result if x < T(inf) else x


def log(x):
    """As log_near. Error 0.9 ulp."""
    e, f = exponent(x)
    return special_log(x, log_sum(e, f))


def log_sum(e, f):
    """log(1 + f) = f - f^2/2 + f^3 P(f), P of degree 8; and e ln 2 in two parts. Serves log."""
    z = f * f
    p = T(0.11888186633586884) + z * T(0.06746909767389297)
    p = T(0.2000211924314499) + z * (T(0.1421954184770584) + z * p)
    p = T(0.3333331346511841) + z * p
    odd = T(-0.12405534833669662) + z * T(-0.11675944179296494)
    odd = T(-0.25000008940696716) + z * (T(-0.1666799932718277) + z * odd)
    p = p + f * odd
    low = f * z * p + e * T(1.4286068203094172e-06) - T(0.5) * z
    return f + low + e * T(0.693145751953125)


def log_near(x):
    """Of positive normal numbers, by their parts. Error 0.9 ulp."""
    e, f = exponent_near(x)
    return log_sum(e, f)


def log_is_far(x):
    """Whether x is not positive and normal: of such numbers the bits are between two, of which one
    comparison is enough."""
    bits = np.uint32(T(x).view(np.uint32) - np.uint32(0x800000))
    return bits >= np.uint32(0x7F000000)


def log2(x):
    """As log2_near. Error 1.0 ulp; exact for powers of 2."""
    e, f = exponent(x)
    return special_log(x, log2_sum(e, f))


def log2_sum(e, f):
    """As log, its terms times 1 / ln 2, which for the first is in two parts. Serves log2."""
    z = f * f
    p = T(0.17151027917861938) + z * T(0.09733733534812927)
    p = T(0.2885695695877075) + z * (T(0.20514462888240814) + z * p)
    p = T(0.48089805245399475) + z * p
    odd = T(-0.17897403240203857) + z * T(-0.16844826936721802)
    odd = T(-0.3606739044189453) + z * (T(-0.24046839773654938) + z * odd)
    p = p + f * odd
    low = f * z * p + (z * T(-0.7213475108146667) + f * T(1.925963033500011e-08))
    return e + (f * T(1.4426950216293335) + low)


def log2_near(x):
    """As log_near. Error 1.0 ulp; exact for powers of 2."""
    e, f = exponent_near(x)
    return log2_sum(e, f)


def log2_is_far(x):
    return log_is_far(x)


def log10(x):
    """As log10_near. Error 1.0 ulp."""
    e, f = exponent(x)
    return special_log(x, log10_sum(e, f))


def log10_sum(e, f):
    """As log, its terms times 1 / ln 10, and log10(2), in two parts. Serves log10."""
    z = f * f
    p = T(0.05162974074482918) + z * T(0.029301458969712257)
    p = T(0.08686809986829758) + z * (T(0.06175468489527702) + z * p)
    p = T(0.1447647362947464) + z * p
    odd = T(-0.05387655273079872) + z * T(-0.05070798099040985)
    odd = T(-0.10857366025447845) + z * (T(-0.07238820195198059) + z * odd)
    p = p + f * odd
    low = f * T(-1.0103049952192578e-08) + e * T(-3.024355464731343e-06)
    low = f * z * p + (z * T(-0.21714724600315094) + low)
    return e * T(0.30103302001953125) + (f * T(0.4342944920063019) + low)


def log10_near(x):
    """As log_near. Error 1.0 ulp."""
    e, f = exponent_near(x)
    return log10_sum(e, f)


def log10_is_far(x):
    return log_is_far(x)


def log1p(x):
    """As log of u = 1 + y, and what the sum lost, y - (u - 1), joins f. x near 0 is its own result,
    and y is 0 there: squares of small numbers would be subnormal. Error 1.4 ulp."""
    is_small = math.fabs(x) < T(1e-8)
    y = T(0) if is_small else x
    u = T(1) + y
    shifted = np.int32(T(u).view(np.int32) - np.int32(0x3F3504F3))
    i = np.int32(shifted >> np.int32(23))
    e = T(i)
    m = np.int32(np.int32(shifted & np.int32(0x7FFFFF)) + np.int32(0x3F3504F3)).view(np.float32)
    i = np.int32(126) if i > np.int32(126) else i
    s = np.int32(np.int32(np.int32(127) - i) << np.int32(23)).view(np.float32)
    f = (m - T(1)) + (y - (u - T(1))) * s
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
    return x if is_small else result


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


def cbrt(x):
    """In double: e^(log|x| / 3). Error 0.5 ulp."""
    a = math.fabs(x)
    result = T(exp_double(log_double(np.float64(a)) * 0.3333333333333333))
    result = result if (a > T(0)) & (a < T(inf)) else a
    return T(math.copysign(result, x))


def pow(x, y):
    """In double: 2^(y log2 |x|), then the cases of IEEE 754. Error 0.7 ulp; of cubes
    1.3, and of what is the same power for a whole loop as in `pow_known` and `pow_nearest`.

    Of a power that is the same for a whole loop LLVM makes two loops, one of them of products.
    """
    if (y == T(1)) | (y == T(2)) | (y == T(3)):
        square = x * x
        return square if y == T(2) else (x if y == T(1) else square * x)
    a = T(math.fabs(x))
    result = pow_near(a, y)
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


def pow_near(x, y):
    """Of positive finite x, and of finite y but 1, 2 and 3. Beyond 2^151 and 2^-151 the result is
    infinite or 0. Error 0.7 ulp."""
    exponent = np.float64(y) * log2_double(np.float64(x))
    exponent = -151.0 if exponent < -151.0 else exponent
    exponent = 151.0 if exponent > 151.0 else exponent
    return T(exp2_double(exponent))


def pow_is_far(x, y):
    bits = np.uint32(T(x).view(np.uint32) - np.uint32(1))
    is_small = (y == T(1)) | (y == T(2)) | (y == T(3))
    return (bits >= np.uint32(0x7F7FFFFF)) | is_small | (y - y != T(0))


def pow_nearest(x, y):
    """Roots, and reciprocals: of x, of its root and of its square. The last is the square of 1 / x,
    which overflows or vanishes no sooner than it. Error 1.9 ulp, of roots of x 0.5."""
    root, inverse = np.sqrt(x), T(1) / x
    result = root if y == T(0.5) else T(1) / root
    return result if math.fabs(y) == T(0.5) else (inverse if y == T(-1) else inverse * inverse)


def pow_is_beyond(x, y):
    return (math.fabs(y) != T(0.5)) & (y != T(-1)) & (y != T(-2))


def log2_double(x):
    """log2 x in double for positive normal x: relative error 2^-33. Serves pow."""
    shifted = np.float64(x).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    p = -0.1569829124016918 + f * (0.15485631249668166 + f * -0.08634364061584272)
    p = -0.17904690313285465 + f * (0.159001884626773 + f * p)
    p = -0.24050417459034312 + f * (0.20609621572190318 + f * p)
    p = -0.36067280060156903 + f * (0.2885406452159322 + f * p)
    p = -0.7213475252120859 + f * (0.4808983207070482 + f * p)
    return e + f * (1.4426950409394013 + f * p)


def exp2_double(x):
    """2^x in double for |x| <= 1000: relative error 2^-29. Serves pow."""
    k = x + 6755399441056767.0
    r = x - (k - 6755399441056767.0)
    p = 0.0013400064234619282 + r * 0.00015345673355456578
    p = 0.055503284474354576 + r * (0.009618490507008179 + r * p)
    p = 0.6931472058899905 + r * (0.24022646866235584 + r * p)
    p = 1.000000000559311 + r * p
    return p * np.int64(np.float64(k).view(np.int64) << 52).view(np.float64)
