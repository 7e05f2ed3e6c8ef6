"""Logarithms, and powers and roots made of them, of float64."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.double import log_of_parts, log_scaled, log_series
from torchgen_out._runtime.kernels.vecmath.float64.exponential import exp

T = np.float64


def log(x):
    """As log_scaled, for every number. Error 0.9 ulp."""
    tiny = x < 2.2250738585072014e-308
    return special_log(x, log_scaled(x * 18014398509481984.0 if tiny else x, 54.0 if tiny else 0.0))


def special_log(x, result):
    """The logarithm of x, given that of positive finite ones."""
    result = -inf if x == 0.0 else (nan if x < 0.0 else result)
    return result if x < inf else x


def log_near(x):
    """Of positive normal numbers. Error 0.9 ulp."""
    return log_scaled(x, 0.0)


def log_is_far(x):
    """Whether x is not positive and normal: of such numbers the bits are between two, of which one
    comparison is enough."""
    bits = np.uint64(np.float64(x).view(np.uint64) - np.uint64(0x10000000000000))
    return bits >= np.uint64(0x7FE0000000000000)


def log1p(x):
    """As log of u = 1 + x, and what the sum lost, x - (u - 1), joins f. x near 0 is its own result.
    Error 1.3 ulp."""
    u = 1.0 + x
    shifted = np.float64(u).view(np.int64) - 0x3FE6A09E667F3BCD
    i = shifted >> 52
    e = np.int64(i + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    m = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64)
    i = 1022 if i > 1022 else i
    scale = np.int64((1023 - i) << 52).view(np.float64)
    lost = x - (u - 1.0) if x < 1.0 else 1.0 - (u - x)
    f = (m - 1.0) + lost * scale
    result = log_of_parts(e, f)
    result = -inf if x == -1.0 else (nan if x < -1.0 else result)
    result = result if x < inf else x
    return x if math.fabs(x) < 1e-17 else result


def log_parts(x):
    """As log_parts_near, for numbers subnormal or not."""
    tiny = x < 2.2250738585072014e-308
    e, high, low = log_parts_near(x * 18014398509481984.0 if tiny else x)
    return e - 54.0 if tiny else e, high, low


def log_parts_near(x):
    """e, and log(1 + f) as high + low with 26 bits in high, for normal x = 2^e (1 + f). Serves log2
    and log10."""
    shifted = np.float64(x).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    square, rest = log_series(f)
    high = np.int64(np.float64(f - square).view(np.int64) & -134217728).view(np.float64)
    return e, high, (f - high) - square + rest


def log2(x):
    """As log; the product with 1 / ln 2 in two parts. Error 0.8 ulp."""
    e, high, low = log_parts(x)
    return special_log(x, log2_sum(e, high, low))


def log2_sum(e, high, low):
    """log2 of the parts."""
    product = high * 1.4426950216293335
    rest = (low + high) * 1.9259629911266175e-08 + low * 1.4426950216293335
    total = e + product
    return total + (((e - total) + product) + rest)


def log2_near(x):
    """Of positive normal numbers. Error 0.8 ulp."""
    e, high, low = log_parts_near(x)
    return log2_sum(e, high, low)


def log2_is_far(x):
    return log_is_far(x)


def log10(x):
    """As log; the products with 1 / ln 10 and log10(2) in two parts. Error 0.7 ulp."""
    e, high, low = log_parts(x)
    return special_log(x, log10_sum(e, high, low))


def log10_sum(e, high, low):
    """log10 of the parts."""
    product = high * 0.4342944771051407
    whole = e * 0.30102999566361177
    rest = (low + high) * 4.798111141615973e-09 + low * 0.4342944771051407
    rest = rest + e * 3.694239077158931e-13
    total = whole + product
    return total + (((whole - total) + product) + rest)


def log10_near(x):
    """Of positive normal numbers. Error 0.7 ulp."""
    e, high, low = log_parts_near(x)
    return log10_sum(e, high, low)


def log10_is_far(x):
    return log_is_far(x)


def cbrt(x):
    """e^(log|x| / 3), and one Newton step. Error 0.8 ulp."""
    a = math.fabs(x)
    y = exp(log(a) * 0.3333333333333333)
    y = y - (y - a / (y * y)) * 0.3333333333333333
    return math.copysign(y if (a > 0.0) & (a < inf) else a, x)


def pow(x, y):
    """2^(y log2|x|) with the logarithm and its product with y in two parts, then the cases of IEEE
    754. Error 1.5 ulp.

    Of a power that is the same for a whole loop LLVM makes two loops, one of them of products.
    """
    if (y == 1.0) | (y == 2.0) | (y == 3.0):
        square = x * x
        return square if y == 2.0 else (x if y == 1.0 else square * x)
    a = math.fabs(x)
    tiny = a < 2.2250738585072014e-308
    b = a * 18014398509481984.0 if tiny else a
    shifted = np.float64(b).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    e = e - 54.0 if tiny else e
    m = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64)
    # s = (m - 1) / (m + 1), in two parts; 1.5 log m / s = 3 + s^2 + s^4 L(s^2), in two parts.
    inverse = 1.0 / (m + 1.0)
    s = (m - 1.0) * inverse
    sh = np.int64(np.float64(s).view(np.int64) & -134217728).view(np.float64)
    mh = np.int64(np.float64(m + 1.0).view(np.int64) & -134217728).view(np.float64)
    sl = inverse * (((m - 1.0) - sh * mh) - sh * (m - (mh - 1.0)))
    z = s * s
    z2 = z * z
    p = 0.2307683518632938 + z2 * 0.1751213363670092
    p = 0.5999999999999996 + z2 * (0.3333333332629042 + z2 * p)
    odd = 0.2000448075925527 + z2 * 0.17984304560962336
    odd = 0.42857142857167724 + z2 * (0.272727283072294 + z2 * odd)
    p = p + z * odd
    square = sh * sh
    rest = z2 * p + sl * (sh + s)
    th = np.int64(np.float64(3.0 + square + rest).view(np.int64) & -134217728).view(np.float64)
    tl = rest - ((th - 3.0) - square)
    ph = sh * th
    pl = sl * th + tl * s
    sum_ = np.int64(np.float64(ph + pl).view(np.int64) & -134217728).view(np.float64)
    pl = pl - (sum_ - ph)
    high = 0.9617966860532761 * sum_
    low = 7.872699542894897e-09 * sum_ + pl * 0.9617966939259756
    # log2|x| = lh + ll
    lh = np.int64(np.float64((high + low) + e).view(np.int64) & -134217728).view(np.float64)
    ll = low - ((lh - e) - high)
    yh = np.int64(np.float64(y).view(np.int64) & -134217728).view(np.float64)
    low = (y - yh) * lh + y * ll
    high = yh * lh
    total = high + low
    clamped = -1100.0 if total < -1100.0 else (1100.0 if total > 1100.0 else total)
    k = clamped + 6755399441055744.0
    n = k - 6755399441055744.0
    r = (high - n) + low
    lost = ((high - n) - r) + low
    r2 = r * r
    p = 1.0178199502061719e-07 + r2 * 4.4347806442252285e-10
    p = 0.0013333558146774343 + r2 * (1.525273349332915e-05 + r2 * p)
    p = 0.6931471805599453 + r2 * (0.055504108664820084 + r2 * p)
    odd = 1.321543527528677e-06 + r2 * 7.07378444031417e-09
    odd = 0.009618129107594109 + r2 * (0.00015403530457126595 + r2 * odd)
    odd = 0.2402265069591013 + r2 * odd
    p = p + r * odd
    p = 1.0 + (r * p + lost * 0.6931471805599453)
    i = np.int64(np.float64(k).view(np.int64) - 0x4337FFFFFFFFF802)
    half = np.int64(np.uint64(i) >> np.uint64(1))
    result = p * np.int64(half << 52).view(np.float64) * np.int64((i - half) << 52).view(np.float64)
    result = inf if total > 1025.0 else (0.0 if total < -1080.0 else result)
    extreme = inf if (y > 0.0) == (a > 1.0) else 0.0
    extreme = 1.0 if a == 1.0 else extreme
    is_extreme = (a == 0.0) | (a == inf) | (math.fabs(y) == inf)
    result = extreme if is_extreme else result
    half = 0.5 * y
    whole = np.rint(y) == y
    is_odd = whole & (np.rint(half) != half)
    signed = math.copysign(result, x) if is_odd else result
    result = signed if whole | (x >= 0.0) | (a == inf) else nan
    result = result if (x == x) & (y == y) else x + y
    return 1.0 if (x == 1.0) | (y == 0.0) else result
