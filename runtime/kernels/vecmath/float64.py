"""The primitives for float64: branch-free, so that LLVM vectorises the loops they stand in.

As float32, without a wider type to compute in: where an operation must not lose its rounding error,
operands are cut to 26 bits, so that products are exact with and without fused multiply-add.
Polynomials are split into even and odd parts, which halves the chain of dependent operations.
Errors are the worst measured by tests/runtime/test_vecmath.py (sampled), in ulp.
"""

import math

import numpy as np

T = np.float64
pi = math.pi
inf = math.inf
nan = math.nan
eps = T(2.220446049250313e-16)


def exp(x):
    """x = n ln 2 + r, |r| <= ln(2)/2; e^r by degree 11; 2^n in two factors, so that overflow and
    subnormal results are right."""
    x = -746.0 if x < -746.0 else x
    x = 710.0 if x > 710.0 else x
    k = x * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    r2 = r * r
    p = (
        0.5000000000000011
        + r2
        * (
            0.04166666666653022
            + r2
            * (0.0013888888943623717 + r2 * (2.4801493099718343e-05 + r2 * 2.763024950545198e-07))
        )
    ) + r * (
        0.16666666666666413
        + r2
        * (
            0.008333333333494538
            + r2
            * (0.00019841269507006476 + r2 * (2.7557585622572056e-06 + r2 * 2.5000382504185785e-08))
        )
    )
    p = 1.0 + (r + r2 * p)
    i = np.int64(np.float64(k).view(np.int64) - 0x4337FFFFFFFFF802)
    half = np.int64(np.uint64(i) >> np.uint64(1))
    low = np.int64(half << 52).view(np.float64)
    high = np.int64((i - half) << 52).view(np.float64)
    return p * low * high


def exp2(x):
    """x = n + r, |r| <= 1/2, exact; 2^r by degree 11; 2^n as in exp."""
    x = -1076.0 if x < -1076.0 else x
    x = 1025.0 if x > 1025.0 else x
    k = x + 6755399441055744.0
    r = x - (k - 6755399441055744.0)
    r2 = r * r
    p = (
        0.6931471805599453
        + r2
        * (
            0.055504108664820084
            + r2
            * (
                0.0013333558146774343
                + r2
                * (
                    1.525273349332915e-05
                    + r2 * (1.0178199502061719e-07 + r2 * 4.4347806442252285e-10)
                )
            )
        )
    ) + r * (
        0.2402265069591013
        + r2
        * (
            0.009618129107594109
            + r2
            * (0.00015403530457126595 + r2 * (1.321543527528677e-06 + r2 * 7.07378444031417e-09))
        )
    )
    p = 1.0 + r * p
    i = np.int64(np.float64(k).view(np.int64) - 0x4337FFFFFFFFF802)
    half = np.int64(np.uint64(i) >> np.uint64(1))
    low = np.int64(half << 52).view(np.float64)
    high = np.int64((i - half) << 52).view(np.float64)
    return p * low * high


def expm1(x):
    """x = n ln 2 + r; with h = 2^(n-1): 2 (h (e^r - 1) + (h - 1/2)), where e^r - 1 is accurate
    near 0 and h - 1/2 is exact or negligible. Tiny x is its own result."""
    y = -40.0 if x < -40.0 else x
    y = 710.0 if y > 710.0 else y
    k = y * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = y - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    r2 = r * r
    p = (
        0.5
        + r2
        * (
            0.04166666666666651
            + r2
            * (
                0.0013888888888962318
                + r2
                * (
                    2.4801587172600867e-05
                    + r2 * (2.755740260759446e-07 + r2 * 2.087533769525182e-09)
                )
            )
        )
    ) + r * (
        0.16666666666666677
        + r2
        * (
            0.00833333333332169
            + r2
            * (0.00019841269885968835 + r2 * (2.755724437145122e-06 + r2 * 2.5108979789104983e-08))
        )
    )
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
    p = (
        0.5000000000000011
        + r2
        * (
            0.04166666666653022
            + r2
            * (0.0013888888943623717 + r2 * (2.4801493099718343e-05 + r2 * 2.763024950545198e-07))
        )
    ) + r * (
        0.16666666666666413
        + r2
        * (
            0.008333333333494538
            + r2
            * (0.00019841269507006476 + r2 * (2.7557585622572056e-06 + r2 * 2.5000382504185785e-08))
        )
    )
    p = 1.0 + (r + r2 * p)
    i = np.int64(np.float64(k).view(np.int64) - 0x4337FFFFFFFFF803)
    half = np.int64(np.uint64(i) >> np.uint64(1))
    low = np.int64(half << 52).view(np.float64)
    high = np.int64((i - half) << 52).view(np.float64)
    return p * low * high


def log(x):
    """x = 2^e m, sqrt(1/2) <= m < sqrt(2); with f = m - 1 and s = f / (2 + f), log m =
    f - f^2/2 + s (f^2/2 + P(s^2)), P of degree 7 without a constant."""
    tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if tiny else x
    shifted = np.float64(y).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    e = e - 54.0 if tiny else e
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    p = z * (
        (
            0.6666666666666735
            + z2 * (0.2857142874277875 + z2 * (0.18183566752925454 + z2 * 0.14796647112611963))
        )
        + z * (0.39999999999413094 + z2 * (0.22222198529620277 + z2 * 0.15313984559514754))
    )
    square = 0.5 * f * f
    low = s * (square + p) + e * 1.9082149292705877e-10
    result = e * 0.6931471803691238 - ((square - low) - f)
    result = -inf if x == 0.0 else (nan if x < 0.0 else result)
    return result if x < inf else x


def log1p(x):
    """As log of u = 1 + x, and what the sum lost, x - (u - 1), joins f. x near 0 is its own
    result."""
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
    p = z * (
        (
            0.6666666666666735
            + z2 * (0.2857142874277875 + z2 * (0.18183566752925454 + z2 * 0.14796647112611963))
        )
        + z * (0.39999999999413094 + z2 * (0.22222198529620277 + z2 * 0.15313984559514754))
    )
    square = 0.5 * f * f
    low = s * (square + p) + e * 1.9082149292705877e-10
    result = e * 0.6931471803691238 - ((square - low) - f)
    result = -inf if x == -1.0 else (nan if x < -1.0 else result)
    result = result if x < inf else x
    return x if math.fabs(x) < 1e-17 else result


def log2(x):
    """As log; the product with 1 / ln 2 in two parts."""
    tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if tiny else x
    shifted = np.float64(y).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    e = e - 54.0 if tiny else e
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    p = z * (
        (
            0.6666666666666735
            + z2 * (0.2857142874277875 + z2 * (0.18183566752925454 + z2 * 0.14796647112611963))
        )
        + z * (0.39999999999413094 + z2 * (0.22222198529620277 + z2 * 0.15313984559514754))
    )
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
    """As log; the products with 1 / ln 10 and log10(2) in two parts."""
    tiny = x < 2.2250738585072014e-308
    y = x * 18014398509481984.0 if tiny else x
    shifted = np.float64(y).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    e = e - 54.0 if tiny else e
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    z2 = z * z
    p = z * (
        (
            0.6666666666666735
            + z2 * (0.2857142874277875 + z2 * (0.18183566752925454 + z2 * 0.14796647112611963))
        )
        + z * (0.39999999999413094 + z2 * (0.22222198529620277 + z2 * 0.15313984559514754))
    )
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


def sqrt(x):
    """The processor's: correctly rounded."""
    return np.sqrt(x)


def rsqrt(x):
    return 1.0 / np.sqrt(x)


def cbrt(x):
    """e^(log|x| / 3), and one Newton step."""
    a = math.fabs(x)
    y = exp(log(a) * 0.3333333333333333)
    y = y - (y - a / (y * y)) * 0.3333333333333333
    return math.copysign(y if (a > 0.0) & (a < inf) else a, x)


def quarters(x):
    """x = n pi/2 + r: r in two parts, and a float that carries n in its low bits. n is split and
    pi/2 is in pieces of 26 bits, so that products and differences are exact for |x| < 2^46.
    DEVIATION: NaN beyond, where floats are 1/128 and more apart."""
    k = x * 0.6366197723675814 + 6755399441055744.0
    n = k - 6755399441055744.0
    high = np.int64(np.float64(n).view(np.int64) & -134217728).view(np.float64)
    low = n - high
    r = x - high * 1.5707963109016418 - low * 1.5707963109016418
    r = r - high * 1.5893254712295857e-08 - low * 1.5893254712295857e-08
    t = high * 6.123233601181349e-17
    first = r - t
    lost = (r - first) - t
    lost = lost - low * 6.123233601181349e-17 - n * 3.9455541665632055e-24
    r = first + lost
    lost = (first - r) + lost
    return (r if math.fabs(x) < 70368744177664.0 else nan), lost, k


def sin_cos(r, lost):
    """sin(r + lost) and cos(r + lost), |r| <= pi/4, by polynomials of degree 13 and 14."""
    z = r * r
    z2 = z * z
    p = (-0.1666666666666662 + z2 * (-0.00019841269827728883 + z2 * -2.505064362771673e-08)) + z * (
        0.00833333333331984 + z2 * (2.7557312965202245e-06 + z2 * 1.5890126800970469e-10)
    )
    q = (0.041666666666666574 + z2 * (2.4801587286802243e-05 + z2 * 2.087561931434215e-09)) + z * (
        -0.0013888888888869803 + z2 * (-2.755731358294163e-07 + z2 * -1.1354296491083638e-11)
    )
    s = r + (z * r * p + lost)
    half = 0.5 * z
    c = 1.0 - half
    c = c + (((1.0 - c) - half) + (z2 * q - r * lost))
    return s, c


def sin(x):
    """Quarter turns n and a rest r, then sin r or cos r."""
    r, lost, k = quarters(x)
    s, c = sin_cos(r, lost)
    n = np.float64(k).view(np.int64)
    result = c if n & 1 else s
    result = -result if n & 2 else result
    return x if math.fabs(x) < 1e-8 else result


def cos(x):
    """As sin."""
    r, lost, k = quarters(x)
    s, c = sin_cos(r, lost)
    n = np.float64(k).view(np.int64)
    result = s if n & 1 else c
    return -result if (n + 1) & 2 else result


def tan(x):
    """As sin: tan r by an odd polynomial of degree 31; -1 / tan r in odd quarters, where the
    quotient is corrected by its own remainder."""
    r, lost, k = quarters(x)
    z = r * r
    z2 = z * z
    p = (
        0.3333333333333342
        + z2
        * (
            0.05396825397603689
            + z2
            * (
                0.008863239275121558
                + z2
                * (
                    0.0014561433883344772
                    + z2
                    * (
                        0.000245449654484218
                        + z2
                        * (
                            7.4955841022848e-05
                            + z2 * (5.662345949167185e-05 + z2 * 1.066031543551109e-05)
                        )
                    )
                )
            )
        )
    ) + z * (
        0.13333333333319503
        + z2
        * (
            0.02186948831462915
            + z2
            * (
                0.003592086934710383
                + z2
                * (
                    0.0005883823534293467
                    + z2
                    * (
                        7.926363035349811e-05
                        + z2 * (-3.53079438108672e-05 + z2 * -2.8187020845691817e-05)
                    )
                )
            )
        )
    )
    t = z * r * p
    t = t + lost * (1.0 + z)
    w = r + t
    t = t - (w - r)
    high = np.int64(np.float64(w).view(np.int64) & -134217728).view(np.float64)
    q = -1.0 / w
    cut = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    q = cut + q * ((1.0 + cut * high) + cut * ((w - high) + t))
    result = q if np.float64(k).view(np.int64) & 1 else w
    return x if math.fabs(x) < 1e-8 else result


def arcsine(z):
    """(asin s - s) / s for z = s^2 <= 1/4, by degree 12 in z. Serves asin and acos."""
    z2 = z * z
    p = (
        0.16666666666665408
        + z2
        * (
            0.0446428568282482
            + z2
            * (
                0.02237175795832981
                + z2
                * (0.013885220283094083 + z2 * (0.00652751085409603 + z2 * -0.016226372028094082))
            )
        )
    ) + z * (
        0.07500000000337101
        + z2
        * (
            0.030381959140558697
            + z2
            * (
                0.017359706231167994
                + z2
                * (0.012169315342595192 + z2 * (0.01952957695610693 + z2 * 0.031913762399417435))
            )
        )
    )
    return z * p


def asin(x):
    """Below 1/2 s + s P(s^2); above, pi/2 - 2 asin(sqrt((1 - |x|) / 2)), the root in two parts."""
    a = math.fabs(x)
    big = a > 0.5
    z = 0.5 - 0.5 * a if big else a * a
    s = np.sqrt(z) if big else a
    p = arcsine(z)
    high = np.int64(np.float64(s).view(np.int64) & -134217728).view(np.float64)
    low = (z - high * high) / (s + high)
    rest = 6.123233995736766e-17 - 2.0 * low - 2.0 * s * p
    far = 0.7853981633974483 + ((0.7853981633974483 - 2.0 * high) + rest)
    far = 1.5707963267948966 if a == 1.0 else far
    return math.copysign(far if big else a + a * p, x)


def acos(x):
    """Around 0 pi/2 - asin x; beyond 1/2, 2 asin(sqrt((1 - |x|) / 2)) or pi less that."""
    a = math.fabs(x)
    big = a > 0.5
    z = 0.5 - 0.5 * a if big else a * a
    s = np.sqrt(z) if big else x
    p = arcsine(z)
    middle = 1.5707963267948966 - (x - (6.123233995736766e-17 - x * p))
    high = np.int64(np.float64(s).view(np.int64) & -134217728).view(np.float64)
    low = (z - high * high) / (s + high)
    low = 0.0 if a == 1.0 else low
    right = 2.0 * (high + (s * p + low))
    left = 3.141592653589793 - 2.0 * (s + (s * p - 6.123233995736766e-17))
    return (right if x > 0.0 else left) if big else middle


def arctangent(small, large):
    """atan(small / large), 0 <= small <= large. Above tan(pi/8), pi/4 is taken away first, by
    (small - large) / (small + large); then an odd polynomial of degree 23."""
    steep = small > 0.4142135623730951 * large
    t = (small - large if steep else small) / (small + large if steep else large)
    z = t * t
    z2 = z * z
    p = (
        -0.333333333333332
        + z2
        * (
            -0.1428571428015719
            + z2
            * (
                -0.09090897710892956
                + z2
                * (-0.0666309613772472 + z2 * (-0.050390852700280174 + z2 * -0.017902000406591866))
            )
        )
    ) + z * (
        0.19999999999953158
        + z2
        * (
            0.11111110781670962
            + z2 * (0.07692059454610144 + z2 * (0.058478364320235475 + z2 * 0.03805941493059067))
        )
    )
    p = t * z * p
    return 0.7853981633974483 + (t + (p + 3.061616997868383e-17)) if steep else t + p


def atan(x):
    """Beyond 1, pi/2 - atan(1 / |x|)."""
    a = math.fabs(x)
    big = a > 1.0
    b = 1e300 if a > 1e300 else a
    p = arctangent(1.0 if big else b, b if big else 1.0)
    p = 1.5707963267948966 - (p - 6.123233995736766e-17) if big else p
    return math.copysign(p, x) if x == x else x


def atan2(y, x):
    """The angle of the smaller by the larger coordinate, then by octants. Zeros and infinities as
    IEEE 754: atan2(+-0, -0) is +-pi, atan2(inf, inf) is pi/4."""
    a = math.fabs(y)
    b = math.fabs(x)
    steep = a > b
    small = b if steep else a
    large = a if steep else b
    scale = 2.0**-600 if large > 1e300 else (2.0**600 if large < 1e-290 else 1.0)
    small = small * scale
    large = large * scale
    same = small == large
    small = 1.0 if same else (0.0 if large == inf else small)
    large = 1.0 if same | (large == inf) else large
    small = 0.0 if (a == 0.0) & (b == 0.0) else small
    p = arctangent(small, large)
    p = 1.5707963267948966 - (p - 6.123233995736766e-17) if steep else p
    p = 3.141592653589793 - (p - 1.2246467991473532e-16) if np.signbit(x) else p
    return math.copysign(p, y) if (x == x) & (y == y) else x + y


def sinh(x):
    """Below 1 an odd polynomial of degree 17; above, h - 1 / (4 h), h = e^|x| / 2."""
    a = math.fabs(x)
    z = a * a
    z2 = z * z
    p = (
        0.16666666666666666
        + z2 * (0.000198412698412696 + z2 * (2.5052108346493643e-08 + z2 * 7.646482761038907e-13))
    ) + z * (
        0.008333333333333333
        + z2 * (2.7557319224116353e-06 + z2 * (1.6059050603265617e-10 + z2 * 2.848236657757635e-15))
    )
    h = half_exp(a)
    return math.copysign(a + a * z * p if a < 1.0 else h - 0.25 / h, x) if x == x else x


def cosh(x):
    """h + 1 / (4 h), h = e^|x| / 2."""
    h = half_exp(math.fabs(x))
    return h + 0.25 / h


def tanh(x):
    """Below 0.625 an odd polynomial of degree 23; above, 1 - 2 / (e^2a + 1)."""
    a = math.fabs(x)
    z = a * a
    z2 = z * z
    p = (
        -0.33333333333332854
        + z2
        * (
            -0.05396825393116969
            + z2
            * (
                -0.008863220973624629
                + z2
                * (
                    -0.0014549576881538245
                    + z2 * (-0.00022855636400925802 + z2 * -1.606820316132028e-05)
                )
            )
        )
    ) + z * (
        0.1333333333326188
        + z2
        * (
            0.02186948757386581
            + z2
            * (0.003591988941115114 + z2 * (0.0005863126540599364 + z2 * 7.713544511811308e-05))
        )
    )
    near = a + a * z * p
    far = 1.0 - 2.0 / (exp(a + a) + 1.0)
    return math.copysign(near if a < 0.625 else far, x)


def arsinh(a):
    """asinh a for 0 <= a <= 0.53 by an odd polynomial of degree 25. Serves asinh and acosh."""
    z = a * a
    z2 = z * z
    p = (
        -0.16666666666666471
        + z2
        * (
            -0.04464285710144468
            + z2
            * (
                -0.022372113661994937
                + z2
                * (-0.013956791703222223 + z2 * (-0.009443310945504902 + z2 * -0.00438578987155678))
            )
        )
    ) + z * (
        0.07499999999951812
        + z2
        * (
            0.030381942655611147
            + z2
            * (
                0.01735202640368156
                + z2
                * (0.011491191984587357 + z2 * (0.007226184822846854 + z2 * 0.0014793940451574901))
            )
        )
    )
    return a + a * z * p


def asinh(x):
    """Below 0.53 a polynomial; above, the log of w + a, w = sqrt(a^2 + 1), and of what this sum
    lost, times (w - a) = 1 / (w + a); far out log a + ln 2."""
    a = math.fabs(x)
    huge = a > 1e150
    root = np.sqrt(a * a + 1.0)
    total = root + a
    lost = a - (total - root)
    result = log(a if huge else total)
    result = result + (0.6931471805599453 if huge else lost * (root - a))
    return math.copysign(arsinh(a) if a < 0.53 else result, x) if x == x else x


def acosh(x):
    """Below 1.56, 2 asinh(sqrt((x - 1) / 2)); above, log(x + sqrt(x^2 - 1)), far out
    log x + ln 2. NaN below 1."""
    huge = x > 1e150
    result = log(x if huge else x + np.sqrt((x - 1.0) * (x + 1.0)))
    result = result + 0.6931471805599453 if huge else result
    result = 2.0 * arsinh(np.sqrt(0.5 * (x - 1.0))) if x < 1.56 else result
    return nan if x < 1.0 else result


def atanh(x):
    """Below 1/2 an odd polynomial of degree 27; above, log1p(2a / (1 - a)) / 2."""
    a = math.fabs(x)
    z = a * a
    z2 = z * z
    p = (
        0.3333333333333399
        + z2
        * (
            0.14285714308042044
            + z2
            * (
                0.09090948498205287
                + z2
                * (
                    0.06677947568124404
                    + z2
                    * (0.05982572478819377 + z2 * (0.14494489343203473 + z2 * 0.22479242209031536))
                )
            )
        )
    ) + z * (
        0.19999999999795048
        + z2
        * (
            0.1111110988821149
            + z2
            * (
                0.07691494504750697
                + z2 * (0.05774368002259985 + z2 * (0.0145580912824007 + z2 * -0.1529195654892488))
            )
        )
    )
    far = 0.5 * log1p((a + a) / (1.0 - a))
    return math.copysign(a + a * z * p if a < 0.5 else far, x) if x == x else x


def sigmoid(x):
    """1 / (1 + e^-x), the power as in exp but in one factor: below -709, where the result would be
    subnormal, e^-x is inf and the result 0, as PyTorch's."""
    y = -708.0 if -x < -708.0 else -x
    y = 710.0 if y > 710.0 else y
    k = y * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = y - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    r2 = r * r
    p = (
        0.5000000000000011
        + r2
        * (
            0.04166666666653022
            + r2
            * (0.0013888888943623717 + r2 * (2.4801493099718343e-05 + r2 * 2.763024950545198e-07))
        )
    ) + r * (
        0.16666666666666413
        + r2
        * (
            0.008333333333494538
            + r2
            * (0.00019841269507006476 + r2 * (2.7557585622572056e-06 + r2 * 2.5000382504185785e-08))
        )
    )
    p = 1.0 + (r + r2 * p)
    power = np.int64((np.float64(k).view(np.int64) + 1023) << 52).view(np.float64)
    return 1.0 / (1.0 + p * power)


def erf(x):
    """Below 1 an odd polynomial of degree 25; above, 1 - e^-a^2 P, P of degree 14 in
    (a - 2) / (a + 2)."""
    a = math.fabs(x)
    z = a * a
    z2 = z * z
    p = (
        -0.3761263890318375
        + z2
        * (
            -0.02686617064508011
            + z2
            * (
                -0.0008548326981574515
                + z2
                * (
                    -1.4925595470680753e-05
                    + z2 * (-1.63503055467838e-07 + z2 * -1.137200020573612e-09)
                )
            )
        )
    ) + z * (
        0.11283791670954908
        + z2
        * (
            0.005223977624838416
            + z2
            * (
                0.00012055331127884062
                + z2
                * (
                    1.6461001521380815e-06
                    + z2 * (1.4659631629866273e-08 + z2 * 5.955341378625892e-11)
                )
            )
        )
    )
    near = a + a * (0.12837916709551256 + z * p)
    b = 6.0 if a > 6.0 else a
    q = (b - 2.0) / (b + 2.0)
    q2 = q * q
    p = (
        0.25539567631050564
        + q2
        * (
            0.2416581942425193
            + q2
            * (
                0.003732892398730288
                + q2
                * (
                    -0.0008471430325848186
                    + q2
                    * (
                        4.355168501798691e-05
                        + q2
                        * (
                            2.7558978489397037e-05
                            + q2 * (-1.4082907497002502e-05 + q2 * 3.7761921102509703e-06)
                        )
                    )
                )
            )
        )
    ) + q * (
        -0.42718584741395804
        + q2
        * (
            -0.07897858101587645
            + q2
            * (
                0.00699746175418402
                + q2
                * (
                    -0.0009819776453892787
                    + q2
                    * (
                        0.00017437342055210062
                        + q2 * (-2.7703004788820232e-05 + q2 * 1.9950137460274236e-06)
                    )
                )
            )
        )
    )
    far = 1.0 - p * exp(-b * b)
    return math.copysign(near if a < 1.0 else far, x) if x == x else x


def erfc(x):
    """Around 0, 1 - erf x by its polynomial. Beyond 0.46, e^-a^2 P / (1 + 2a), P of degree 21 in
    (a - 4) / (a + 4), where a^2 is in two parts; for negative x, 2 less that."""
    a = math.fabs(x)
    z = a * a
    z2 = z * z
    p = (
        -0.3761263890318375
        + z2
        * (
            -0.02686617064508011
            + z2
            * (
                -0.0008548326981574515
                + z2
                * (
                    -1.4925595470680753e-05
                    + z2 * (-1.63503055467838e-07 + z2 * -1.137200020573612e-09)
                )
            )
        )
    ) + z * (
        0.11283791670954908
        + z2
        * (
            0.005223977624838416
            + z2
            * (
                0.00012055331127884062
                + z2
                * (
                    1.6461001521380815e-06
                    + z2 * (1.4659631629866273e-08 + z2 * 5.955341378625892e-11)
                )
            )
        )
    )
    near = 1.0 - (x + x * (0.12837916709551256 + z * p))
    a = 27.3 if a > 27.3 else a
    q = (a - 4.0) / (a + 4.0)
    q2 = q * q
    p = (
        1.2329951186255526
        + q2
        * (
            0.015379652102618914
            + q2
            * (
                -0.10103906603624697
                + q2
                * (
                    -0.06633036581376132
                    + q2
                    * (
                        -0.016197734036517083
                        + q2
                        * (
                            -0.0007577734598639175
                            + q2
                            * (
                                0.0001506225379336426
                                + q2
                                * (
                                    -1.122483182808443e-05
                                    + q2
                                    * (
                                        2.996951653789326e-07
                                        + q2
                                        * (6.692213031215278e-08 + q2 * -1.2192475868732295e-08)
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
    ) + q * (
        -0.1396211168405625
        + q2
        * (
            0.06809705425469212
            + q2
            * (
                0.0937328349983779
                + q2
                * (
                    0.0371675155367963
                    + q2
                    * (
                        0.005031969987341897
                        + q2
                        * (
                            -0.00019925677240679
                            + q2
                            * (
                                -2.4398799720435218e-05
                                + q2
                                * (
                                    5.70828416374895e-06
                                    + q2
                                    * (
                                        -8.221380809470761e-07
                                        + q2
                                        * (1.0540927460623382e-07 + q2 * -1.040451781946641e-08)
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
    )
    high = np.int64(np.float64(a).view(np.int64) & -134217728).view(np.float64)
    d = (high - a) * (high + a)
    far = p / (1.0 + 2.0 * a) * exp(-high * high)
    far = far + far * (d + d * d * (0.5 + d * 0.16666666666666666))
    far = 2.0 - far if x < 0.0 else far
    return near if math.fabs(x) < 0.46 else (far if x == x else x)


def erfinv(x):
    """x times a polynomial in w = -log(1 - x^2), of degree 23 for w < 6.25; then of degree 19 and,
    from w = 16, of degree 17 in sqrt w."""
    w = -log((1.0 - x) * (1.0 + x))
    t = w - 3.125
    t2 = t * t
    p = (
        -0.006033670871427754
        + t2
        * (
            0.0001867342080242563
            + t2
            * (
                -1.3654691844348063e-06
                + t2
                * (
                    -2.9070382774818367e-08
                    + t2
                    * (
                        1.051218398364637e-09
                        + t2
                        * (
                            -1.2976958266595066e-11
                            + t2
                            * (
                                -8.117008947809608e-14
                                + t2
                                * (
                                    6.594700151111866e-15
                                    + t2
                                    * (
                                        -1.3003906963128452e-16
                                        + t2
                                        * (1.1444109366896403e-18 + t2 * -1.009058443076674e-21)
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
    ) + t * (
        -0.0007407025341539552
        + t2
        * (
            -1.3882523395790565e-05
            + t2
            * (
                4.2347881907643623e-07
                + t2
                * (
                    -4.112661977032423e-09
                    + t2
                    * (
                        -5.414239027086038e-11
                        + t2
                        * (
                            2.6303546538435915e-12
                            + t2
                            * (
                                -3.9989792869354374e-14
                                + t2
                                * (
                                    -4.286395870856118e-17
                                    + t2
                                    * (
                                        1.5759661233710234e-17
                                        + t2
                                        * (-3.5754517523992206e-19 + t2 * 3.3756690863387392e-21)
                                    )
                                )
                            )
                        )
                    )
                )
            )
        )
    )
    p = 1.6536545626831027 + t * (0.24015818242558826 + t * p)
    root = np.sqrt(w)
    t = root - 3.25
    t2 = t * t
    q = (
        3.0838856104922208
        + t2
        * (
            0.005370914553570908
            + t2
            * (
                0.002491442097018355
                + t2
                * (
                    0.0009532893630753367
                    + t2
                    * (
                        2.403126312768904e-05
                        + t2
                        * (
                            -4.731901552849154e-05
                            + t2
                            * (
                                2.92582398663978e-06
                                + t2
                                * (
                                    1.4985463357679088e-06
                                    + t2 * (-2.711869566604592e-07 + t2 * 6.344236240012658e-10)
                                )
                            )
                        )
                    )
                )
            )
        )
    ) + t * (
        1.0052589676941657
        + t2
        * (
            -0.0037512085082628925
            + t2
            * (
                -0.001688275534253192
                + t2
                * (
                    -0.0003550378308104473
                    + t2
                    * (
                        6.828724868025126e-05
                        + t2
                        * (
                            1.2464433610248437e-05
                            + t2
                            * (
                                -3.984078462362314e-06
                                + t2
                                * (
                                    -3.026415110104133e-08
                                    + t2 * (1.3394082911760378e-07 + t2 * -1.6186933815125914e-08)
                                )
                            )
                        )
                    )
                )
            )
        )
    )
    t = root - 5.0
    t2 = t * t
    s = (
        4.849906401408584
        + t2
        * (
            -0.00013871931835354742
            + t2
            * (
                7.599527738971392e-05
                + t2
                * (
                    4.526059750477266e-06
                    + t2
                    * (
                        2.2901588786453061e-07
                        + t2
                        * (
                            2.912459214956869e-08
                            + t2
                            * (
                                7.643027947559208e-09
                                + t2 * (1.4910096213338769e-09 + t2 * -2.29890292794866e-11)
                            )
                        )
                    )
                )
            )
        )
    ) + t * (
        1.0103004648645462
        + t2
        * (
            -0.00021503011986126616
            + t2
            * (
                -1.9681770257043535e-05
                + t2
                * (
                    -9.930320296054978e-07
                    + t2
                    * (
                        -6.754780720616531e-08
                        + t2
                        * (
                            -1.527018141742256e-08
                            + t2
                            * (
                                -3.455824286945848e-09
                                + t2 * (-4.4599081445866937e-10 + t2 * 4.475113979989033e-11)
                            )
                        )
                    )
                )
            )
        )
    )
    result = x * (p if w < 6.25 else (q if w < 16.0 else s))
    result = math.copysign(inf, x) if math.fabs(x) == 1.0 else result
    return nan if math.fabs(x) > 1.0 else result


def pow(x, y):
    """2^(y log2|x|) with the logarithm and its product with y in two parts, then the cases of
    IEEE 754."""
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
    p = (
        0.5999999999999996
        + z2 * (0.3333333332629042 + z2 * (0.2307683518632938 + z2 * 0.1751213363670092))
    ) + z * (
        0.42857142857167724
        + z2 * (0.272727283072294 + z2 * (0.2000448075925527 + z2 * 0.17984304560962336))
    )
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
    p = (
        0.6931471805599453
        + r2
        * (
            0.055504108664820084
            + r2
            * (
                0.0013333558146774343
                + r2
                * (
                    1.525273349332915e-05
                    + r2 * (1.0178199502061719e-07 + r2 * 4.4347806442252285e-10)
                )
            )
        )
    ) + r * (
        0.2402265069591013
        + r2
        * (
            0.009618129107594109
            + r2
            * (0.00015403530457126595 + r2 * (1.321543527528677e-06 + r2 * 7.07378444031417e-09))
        )
    )
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
    odd = whole & (np.rint(half) != half)
    signed = math.copysign(result, x) if odd else result
    result = signed if whole | (x >= 0.0) | (a == inf) else nan
    result = result if (x == x) & (y == y) else x + y
    return 1.0 if (x == 1.0) | (y == 0.0) else result


def lgamma(x):
    """The C library's; |gamma| for negative x."""
    return T(math.lgamma(np.float64(x)))


def sine_of_turns(f):
    """sin(pi f) for |f| <= 1/2, by an odd polynomial of degree 17. Serves digamma, trigamma."""
    z = f * f
    z2 = z * z
    p = (
        -5.167712780049969
        + z2 * (-0.5992645293187382 + z2 * (-0.007370430478762461 + z2 * -2.1903185420805378e-05))
    ) + z * (
        2.550164039877294
        + z2 * (0.0821458865698926 + z2 * (0.0004662996887731736 + z2 * 7.69472732830679e-07))
    )
    return f * (3.141592653589793 + z * p)


def digamma(x):
    """Asymptotic series from 10 on, below that shifted by 10, the ten reciprocals as one quotient;
    reflection below 0. Near a zero the error is relative to 1."""
    negative = x < 0.0
    y = 1.0 - x if negative else x
    shifts = y < 10.0
    b = y if shifts else 10.0
    t = b * (b + 9.0)
    above = 40320.0 + t * (24352.0 + t * (3924.0 + t * (240.0 + t * 5.0)))
    below = t * (40320.0 + t * (12176.0 + t * (1308.0 + t * (60.0 + t * 1.0))))
    steps = (b + b + 9.0) * above / below
    z = y + 10.0 if shifts else y
    inverse = 1.0 / z
    w = inverse * inverse
    w2 = w * w
    series = (
        0.08333333333333333
        + w2 * (0.003968253968253968 + w2 * (0.007575757575757576 + w2 * 0.08333333333333333))
    ) + w * (-0.008333333333333333 + w2 * (-0.004166666666666667 + w2 * -0.021092796092796094))
    result = log(z) - (0.5 * inverse + w * series)
    result = result - steps if shifts else result
    f = x - np.rint(x)
    sine = sine_of_turns(f)
    cosine = sine_of_turns(0.5 - math.fabs(f))
    result = result - 3.141592653589793 * cosine / sine if negative else result
    result = nan if negative & (f == 0.0) else result
    result = math.copysign(inf, -x) if x == 0.0 else result
    result = x if x == inf else result
    return result if x > -inf else nan


def trigamma(x):
    """Asymptotic series at y + 8, after eight steps; reflection below 1/2."""
    reflects = x < 0.5
    y = 1.0 - x if reflects else x
    a = 1.0 / y
    b = 1.0 / (y + 1.0)
    c = 1.0 / (y + 2.0)
    d = 1.0 / (y + 3.0)
    steps = (a * a + b * b) + (c * c + d * d)
    a = 1.0 / (y + 4.0)
    b = 1.0 / (y + 5.0)
    c = 1.0 / (y + 6.0)
    d = 1.0 / (y + 7.0)
    steps = steps + ((a * a + b * b) + (c * c + d * d))
    inverse = 1.0 / (y + 8.0)
    w = inverse * inverse
    w2 = w * w
    series = (
        0.16666666666666666
        + w2 * (0.023809523809523808 + w2 * (0.07575757575757576 + w2 * 1.1666666666666667))
    ) + w * (-0.03333333333333333 + w2 * (-0.03333333333333333 + w2 * -0.2531135531135531))
    result = steps + (inverse + (0.5 * w + inverse * w * series))
    sine = 3.141592653589793 / sine_of_turns(x - np.rint(x))
    return sine * sine - result if reflects else result


def abs(x):
    return T(math.fabs(x))


def sign(x):
    """0 for NaN, as PyTorch."""
    return T(x > T(0)) - T(x < T(0))


def floor(x):
    return np.floor(x)


def ceil(x):
    return np.ceil(x)


def round(x):
    """To nearest, ties to even."""
    return np.rint(x)


def trunc(x):
    return np.trunc(x)


def fmod(x, y):
    """Exact for |x / y| below 2^130; 0 beyond, which is a DEVIATION. NaN for y = 0."""
    a = math.fabs(x)
    b = math.fabs(y)
    r = a if b == inf else exact_rest(a, b)
    return math.copysign(r, x) if (a < inf) & (b > 0.0) else nan


def exact_rest(a, b):
    """a - b floor(a / b) for a >= 0 and b > 0 by five quotients of 26 bits, whose products with
    the halves of b are exact. Serves fmod and remainder."""
    scale = 2.0**600 if b < 1e-290 else 1.0
    b = b * scale
    r = a * scale
    inverse = 1.0 / b
    high = np.int64(np.float64(b).view(np.int64) & -134217728).view(np.float64)
    low = b - high
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    q = np.trunc(r * inverse)
    q = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    r = (r - q * high) - q * low
    r = r + b if r < 0.0 else r
    r = r - b if r >= b else r
    return r * (1.0 / scale) if math.fabs(r) < b else 0.0


def remainder(x, y):
    """x - floor(x / y) y, exact but for one rounding; it has the sign of y."""
    a = math.fabs(x)
    b = math.fabs(y)
    r = a if b == inf else exact_rest(a, b)
    opposite = (x < 0.0) != (y < 0.0)
    r = b - r if opposite & (r != 0.0) else r
    r = math.copysign(r, y if r != 0.0 else x)
    return r if (a < inf) & (b > 0.0) else nan


def floor_divide(x, y):
    """floor(x / y) by way of the exact remainder, so that it agrees with `remainder`."""
    if y == T(0):
        return x / y
    r = fmod(x, y)
    quotient = (x - r) / y
    if (r != T(0)) & ((r < T(0)) != (y < T(0))):
        quotient -= T(1)
    if quotient == T(0):
        return T(math.copysign(T(0), x / y))
    down = np.floor(quotient)
    return down + T(1) if quotient - down > T(0.5) else down


def min(x, y):
    """NaN if either is."""
    return x if (x < y) | (x != x) else y


def max(x, y):
    """NaN if either is."""
    return x if (x > y) | (x != x) else y


def fmin(x, y):
    """The other one if one is NaN."""
    return x if (x <= y) | (y != y) else y


def fmax(x, y):
    """The other one if one is NaN."""
    return x if (x >= y) | (y != y) else y


def where(condition, x, y):
    return x if condition else y


def isnan(x):
    return x != x


def isinf(x):
    return math.fabs(x) == math.inf


def isfinite(x):
    return math.fabs(x) < math.inf


def signbit(x):
    return np.signbit(x)


def copysign(x, y):
    return T(math.copysign(x, y))


def nextafter(x, y):
    return T(np.nextafter(x, y))


def conj(x):
    return x


def real(x):
    return x


def imag(x):
    return T(0)


def square(x):
    return x * x


def reciprocal(x):
    return T(1) / x
