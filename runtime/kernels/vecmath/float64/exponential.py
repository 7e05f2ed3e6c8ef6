"""Exponential, logarithmic, power and hyperbolic functions of float64."""

import math

import numpy as np

from runtime.kernels.vecmath.constants import inf, nan

T = np.float64


def exp(x):
    """x = n ln 2 + r, |r| <= ln(2)/2; e^r by degree 11; 2^n in two factors, so that overflow and
    subnormal results are right. Where the result is 0, another x is computed with: a subnormal
    number on the way costs some processors 150 cycles. Error 1.1 ulp."""
    vanishes = x < -746.0
    x = 0.0 if vanishes else x
    x = 710.0 if x > 710.0 else x
    k = x * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    r2 = r * r
    p = 2.4801493099718343e-05 + r2 * 2.763024950545198e-07
    p = 0.04166666666653022 + r2 * (0.0013888888943623717 + r2 * p)
    p = 0.5000000000000011 + r2 * p
    odd = 2.7557585622572056e-06 + r2 * 2.5000382504185785e-08
    odd = 0.008333333333494538 + r2 * (0.00019841269507006476 + r2 * odd)
    odd = 0.16666666666666413 + r2 * odd
    p = p + r * odd
    p = 1.0 + (r + r2 * p)
    i = np.int64(np.float64(k).view(np.int64) - 0x4337FFFFFFFFF802)
    half = np.int64(np.uint64(i) >> np.uint64(1))
    low = np.int64(half << 52).view(np.float64)
    high = np.int64((i - half) << 52).view(np.float64)
    return 0.0 if vanishes else p * low * high


def exp2(x):
    """x = n + r, |r| <= 1/2, exact; 2^r by degree 11; 2^n as in exp. Error 1.2 ulp."""
    vanishes = x < -1076.0
    x = 0.0 if vanishes else x
    x = 1025.0 if x > 1025.0 else x
    k = x + 6755399441055744.0
    r = x - (k - 6755399441055744.0)
    r2 = r * r
    p = 1.0178199502061719e-07 + r2 * 4.4347806442252285e-10
    p = 0.0013333558146774343 + r2 * (1.525273349332915e-05 + r2 * p)
    p = 0.6931471805599453 + r2 * (0.055504108664820084 + r2 * p)
    odd = 1.321543527528677e-06 + r2 * 7.07378444031417e-09
    odd = 0.009618129107594109 + r2 * (0.00015403530457126595 + r2 * odd)
    odd = 0.2402265069591013 + r2 * odd
    p = p + r * odd
    p = 1.0 + r * p
    i = np.int64(np.float64(k).view(np.int64) - 0x4337FFFFFFFFF802)
    half = np.int64(np.uint64(i) >> np.uint64(1))
    low = np.int64(half << 52).view(np.float64)
    high = np.int64((i - half) << 52).view(np.float64)
    return 0.0 if vanishes else p * low * high


def expm1(x):
    """x = n ln 2 + r; with h = 2^(n-1): 2 (h (e^r - 1) + (h - 1/2)), where e^r - 1 is accurate near
    0 and h - 1/2 is exact or negligible. Tiny x is its own result. Error 1.9 ulp."""
    y = -40.0 if x < -40.0 else x
    y = 710.0 if y > 710.0 else y
    k = y * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = y - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    r2 = r * r
    p = 2.755740260759446e-07 + r2 * 2.087533769525182e-09
    p = 0.0013888888888962318 + r2 * (2.4801587172600867e-05 + r2 * p)
    p = 0.5 + r2 * (0.04166666666666651 + r2 * p)
    odd = 2.755724437145122e-06 + r2 * 2.5108979789104983e-08
    odd = 0.00833333333332169 + r2 * (0.00019841269885968835 + r2 * odd)
    odd = 0.16666666666666677 + r2 * odd
    p = p + r * odd
    p = r + r2 * p
    h = np.int64((np.float64(k).view(np.int64) + 1022) << 52).view(np.float64)
    result = (h * p + (h - 0.5)) * 2.0
    return x if math.fabs(x) < 1e-17 else result


def half_exp(x):
    """e^x / 2 for x >= 0, which overflows later than e^x. Serves sinh and cosh."""
    x = 711.0 if x > 711.0 else x
    k = x * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    r2 = r * r
    p = 2.4801493099718343e-05 + r2 * 2.763024950545198e-07
    p = 0.04166666666653022 + r2 * (0.0013888888943623717 + r2 * p)
    p = 0.5000000000000011 + r2 * p
    odd = 2.7557585622572056e-06 + r2 * 2.5000382504185785e-08
    odd = 0.008333333333494538 + r2 * (0.00019841269507006476 + r2 * odd)
    odd = 0.16666666666666413 + r2 * odd
    p = p + r * odd
    p = 1.0 + (r + r2 * p)
    i = np.int64(np.float64(k).view(np.int64) - 0x4337FFFFFFFFF803)
    half = np.int64(np.uint64(i) >> np.uint64(1))
    low = np.int64(half << 52).view(np.float64)
    high = np.int64((i - half) << 52).view(np.float64)
    return p * low * high


def log(x):
    """x = 2^e m, sqrt(1/2) <= m < sqrt(2); with f = m - 1 and s = f / (2 + f), log m = f - f^2/2 +
    s (f^2/2 + P(s^2)), P of degree 7 without a constant. Error 0.9 ulp."""
    tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if tiny else x
    shifted = np.float64(y).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    e = e - 54.0 if tiny else e
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    p = 0.18183566752925454 + z2 * 0.14796647112611963
    p = 0.6666666666666735 + z2 * (0.2857142874277875 + z2 * p)
    odd = 0.22222198529620277 + z2 * 0.15313984559514754
    odd = 0.39999999999413094 + z2 * odd
    p = p + z * odd
    p = z * p
    square = 0.5 * f * f
    low = s * (square + p) + e * 1.9082149292705877e-10
    result = e * 0.6931471803691238 - ((square - low) - f)
    result = -inf if x == 0.0 else (nan if x < 0.0 else result)
    return result if x < inf else x


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
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    p = 0.18183566752925454 + z2 * 0.14796647112611963
    p = 0.6666666666666735 + z2 * (0.2857142874277875 + z2 * p)
    odd = 0.22222198529620277 + z2 * 0.15313984559514754
    odd = 0.39999999999413094 + z2 * odd
    p = p + z * odd
    p = z * p
    square = 0.5 * f * f
    low = s * (square + p) + e * 1.9082149292705877e-10
    result = e * 0.6931471803691238 - ((square - low) - f)
    result = -inf if x == -1.0 else (nan if x < -1.0 else result)
    result = result if x < inf else x
    return x if math.fabs(x) < 1e-17 else result


def log2(x):
    """As log; the product with 1 / ln 2 in two parts. Error 0.8 ulp."""
    tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if tiny else x
    shifted = np.float64(y).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    e = e - 54.0 if tiny else e
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    p = 0.18183566752925454 + z2 * 0.14796647112611963
    p = 0.6666666666666735 + z2 * (0.2857142874277875 + z2 * p)
    odd = 0.22222198529620277 + z2 * 0.15313984559514754
    odd = 0.39999999999413094 + z2 * odd
    p = p + z * odd
    p = z * p
    square = 0.5 * f * f
    high = np.int64(np.float64(f - square).view(np.int64) & -134217728).view(np.float64)
    low = (f - high) - square + s * (square + p)
    product = high * 1.4426950216293335
    rest = (low + high) * 1.9259629911266175e-08 + low * 1.4426950216293335
    total = e + product
    result = total + (((e - total) + product) + rest)
    result = -inf if x == 0.0 else (nan if x < 0.0 else result)
    return result if x < inf else x


def log10(x):
    """As log; the products with 1 / ln 10 and log10(2) in two parts. Error 0.7 ulp."""
    tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if tiny else x
    shifted = np.float64(y).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    e = e - 54.0 if tiny else e
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    p = 0.18183566752925454 + z2 * 0.14796647112611963
    p = 0.6666666666666735 + z2 * (0.2857142874277875 + z2 * p)
    odd = 0.22222198529620277 + z2 * 0.15313984559514754
    odd = 0.39999999999413094 + z2 * odd
    p = p + z * odd
    p = z * p
    square = 0.5 * f * f
    high = np.int64(np.float64(f - square).view(np.int64) & -134217728).view(np.float64)
    low = (f - high) - square + s * (square + p)
    product = high * 0.4342944771051407
    whole = e * 0.30102999566361177
    rest = (low + high) * 4.798111141615973e-09 + low * 0.4342944771051407
    rest = rest + e * 3.694239077158931e-13
    total = whole + product
    result = total + (((whole - total) + product) + rest)
    result = -inf if x == 0.0 else (nan if x < 0.0 else result)
    return result if x < inf else x


def cbrt(x):
    """e^(log|x| / 3), and one Newton step. Error 0.8 ulp."""
    a = math.fabs(x)
    y = exp(log(a) * 0.3333333333333333)
    y = y - (y - a / (y * y)) * 0.3333333333333333
    return math.copysign(y if (a > 0.0) & (a < inf) else a, x)


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


def sigmoid(x):
    """1 / (1 + e^-x), the power as in exp but in one factor: below -709, where the result would be
    subnormal, e^-x is inf and the result 0, as PyTorch's. What e^-x, the sum and the quotient lost
    is put back. Error 0.9 ulp."""
    y = -708.0 if -x < -708.0 else -x
    y = 710.0 if y > 710.0 else y
    k = y * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = y - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    r2 = r * r
    p = 2.4801493099718343e-05 + r2 * 2.763024950545198e-07
    p = 0.04166666666653022 + r2 * (0.0013888888943623717 + r2 * p)
    p = 0.5000000000000011 + r2 * p
    odd = 2.7557585622572056e-06 + r2 * 2.5000382504185785e-08
    odd = 0.008333333333494538 + r2 * (0.00019841269507006476 + r2 * odd)
    odd = 0.16666666666666413 + r2 * odd
    low = r2 * (p + r * odd)
    p = 1.0 + r
    low = (r - (p - 1.0)) + low
    near = p + low
    low = low - (near - p)
    power = np.int64((np.float64(k).view(np.int64) + 1023) << 52).view(np.float64)
    e = near * power
    total = 1.0 + e
    part = total - 1.0
    lost = (1.0 - (total - part)) + (e - part) + low * power
    quotient = 1.0 / total
    quotient = quotient + quotient * ((1.0 - quotient * total) - quotient * lost)
    return 0.0 if n > 1023.0 else quotient


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
