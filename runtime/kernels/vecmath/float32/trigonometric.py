"""Trigonometric functions and their inverses of float32."""

import math

import numpy as np

T = np.float32


def turn(x):
    """x / (2 pi) modulo 1, in double, as two parts. The five leading pieces of 1 / (2 pi) have 29
    bits: each product with x is exact, and so is taking away whole turns, for every float32."""
    d = np.float64(x)
    high = d * 0.15915494272485375
    high = high - np.rint(high)
    t2 = d * 3.6704158115630214e-10
    t3 = d * 5.690025167992954e-19
    t4 = d * 1.4703036846932608e-27
    t5 = d * 2.5867171752090537e-36
    low = (t2 - np.rint(t2)) + (t3 - np.rint(t3)) + (t4 - np.rint(t4)) + (t5 - np.rint(t5))
    return high, low + d * 9.458140970740169e-46


def quarters(x):
    """x = n pi/2 + r: r, |r| <= pi/4, exact but for its rounding, and n. For every float32."""
    high, low = turn(x)
    k = 4.0 * (high + low) + 6755399441055744.0
    r = T(((4.0 * high - (k - 6755399441055744.0)) + 4.0 * low) * 1.5707963267948966)
    return r, np.int32(np.float64(k).view(np.int64))


def quarters_near(x):
    """As quarters, for |x| <= 2^17. pi/2 is in three parts; what the product with the first leaves
    of x is exact, and the others round once each, with fused multiply-adds only."""
    k = x * T(0.6366197723675814) + T(12582912)
    n = k - T(12582912)
    r = x - n * T(1.5707963705062866)
    r = r - n * T(-4.371138828673793e-08)
    return r - n * T(-1.7151245100058819e-15), T(k).view(np.int32)


def sin_cos(r):
    """sin r and cos r for |r| <= pi/4, by odd and even polynomials of degree 7 and 8."""
    z = r * r
    s = T(0.008332155644893646) + z * T(-0.00019514633459039032)
    s = r + r * z * (T(-0.16666655242443085) + z * s)
    c = T(-0.001388736185617745) + z * T(2.443774246785324e-05)
    c = (T(1) - T(0.5) * z) + z * z * (T(0.04166664555668831) + z * c)
    return s, c


def sin(x):
    """Quarter turns n and a rest r, then sin r or cos r. Error 1.6 ulp."""
    r, n = quarters(x)
    s, c = sin_cos(r)
    result = c if n & np.int32(1) else s
    result = -result if n & np.int32(2) else result
    return x if math.fabs(x) < T(1e-4) else result


def sin_near(x):
    """As sin, by |x|, so that the result for a zero has its sign. Error 1.6 ulp."""
    r, n = quarters_near(T(math.fabs(x)))
    s, c = sin_cos(r)
    result = c if n & np.int32(1) else s
    sign = np.int32(np.int32(n << np.int32(30)) ^ T(x).view(np.int32)) & np.int32(-2147483648)
    return np.int32(T(result).view(np.int32) ^ sign).view(np.float32)


def sin_is_far(x):
    return math.fabs(x) > T(131072)


def cos(x):
    """As sin. Error 1.6 ulp."""
    r, n = quarters(x)
    s, c = sin_cos(r)
    result = s if n & np.int32(1) else c
    return -result if (n + np.int32(1)) & np.int32(2) else result


def cos_near(x):
    """As sin_near. Error 1.6 ulp."""
    r, n = quarters_near(x)
    s, c = sin_cos(r)
    result = s if n & np.int32(1) else c
    sign = np.int32(np.int32(n + np.int32(1)) << np.int32(30)) & np.int32(-2147483648)
    return np.int32(T(result).view(np.int32) ^ sign).view(np.float32)


def cos_is_far(x):
    return math.fabs(x) > T(131072)


def tan(x):
    """As sin, in double: tan r by an odd polynomial of degree 17; -1 / tan r in odd quarters.
    Error 0.5 ulp."""
    high, low = turn(x)
    k = 4.0 * (high + low) + 6755399441055744.0
    r = ((4.0 * high - (k - 6755399441055744.0)) + 4.0 * low) * 1.5707963267948966
    z = r * r
    p = -0.0005942564032912871 + z * 0.0020404339850105813
    p = 0.00833198593950979 + z * (0.0049913635000676405 + z * p)
    p = 0.05395464668925813 + z * (0.02198453469622893 + z * p)
    p = r + r * z * (0.33333331847420494 + z * (0.13333410495550588 + z * p))
    result = T(-1.0 / p if np.float64(k).view(np.int64) & 1 else p)
    return x if math.fabs(x) < T(1e-4) else result


def tan_near(x):
    """As tan: r in two parts, of |x|; in even quarters tan r by an odd polynomial of degree 13, in
    odd ones -cot r by -1 / r and one of degree 7. What r has lost by rounding is not known where
    it is small, and not needed. n is made twice, or its product, used twice, would not be fused.
    Error 1.93 ulp."""
    a = T(math.fabs(x))
    k = a * T(0.6366197723675814) + T(12582912)
    n = k - T(12582912)
    first = a - n * T(1.5707963705062866)
    second = first - n * T(-4.371138828673793e-08)
    lost = (first - second) + (T(12582912) - k) * T(-4.371138828673793e-08)
    lost = lost if math.fabs(first) > T(0.0078125) else T(0)
    lost = lost - n * T(-1.7151245100058819e-15)
    r = second + lost
    lost = lost - (r - second)
    z = r * r
    p = T(0.0029499623278799888) + z * T(0.009487311823752547)
    p = T(0.05338244875267722) + z * (T(0.02453461792732201) + z * p)
    p = T(0.3333314388351192) + z * (T(0.13339141816997085) + z * p)
    even = r + (r * z * p + (lost + lost * z))
    p = T(0.0020962101426361653) + z * T(0.00024826283899497063)
    p = T(0.33333304344875186) + z * (T(0.02222655788174735) + z * p)
    inverse = T(1) / r
    odd = (r * p + inverse * inverse * lost) - inverse
    result = odd if T(k).view(np.int32) & np.int32(1) else even
    sign = T(x).view(np.int32) & np.int32(-2147483648)
    return np.int32(T(result).view(np.int32) ^ sign).view(np.float32)


def tan_is_far(x):
    return math.fabs(x) > T(4096)


def arcsine(s, z):
    """asin s - s for |s| <= 1/2, z = s^2, by an odd polynomial of degree 11. Serves asin and
    acos."""
    p = T(0.024179844185709953) + z * T(0.04216574877500534)
    p = T(0.07495298236608505) + z * (T(0.045470308512449265) + z * p)
    return s * z * (T(0.16666752099990845) + z * p)


def asin(x):
    """Below 1/2 by arcsine; above, pi/2 - 2 asin(sqrt((1-|x|)/2)), pi/2 in three parts. Error 1.4
    ulp."""
    a = T(math.fabs(x))
    big = a > T(0.5)
    z = T(0.5) - T(0.5) * a if big else a * a
    s = T(np.sqrt(z)) if big else a
    p = arcsine(s, z)
    rest = (T(0.7853981852531433) - T(2) * s) - (T(2) * p + T(4.371138828673793e-08))
    far = T(1.5707963705062866) if a == T(1) else T(0.7853981852531433) + rest
    return T(math.copysign(far if big else s + p, x))


def acos(x):
    """pi/2 - asin x around 0; beyond 1/2, 2 asin(sqrt((1-|x|)/2)) or pi less that; pi and pi/2 in
    two parts. Error 1.2 ulp."""
    a = T(math.fabs(x))
    big = a > T(0.5)
    z = T(0.5) - T(0.5) * a if big else a * a
    s = T(np.sqrt(z)) if big else x
    p = arcsine(s, z)
    middle = (T(1.5707963705062866) - s) - (p + T(4.371138828673793e-08))
    left = (T(3.1415927410125732) - T(2) * s) - (T(2) * p + T(8.742277657347586e-08))
    right = T(2) * (s + p)
    return (right if x > T(0) else left) if big else middle


def arctangent(t):
    """atan t for 0 <= t <= 1 by an odd polynomial of degree 19. Serves atan and atan2."""
    z = t * t
    p = T(0.010914720594882965) + z * T(-0.0017936454387381673)
    p = T(0.05795785412192345) + z * (T(-0.031178081408143044) + z * p)
    p = T(0.10952192544937134) + z * (T(-0.08403467386960983) + z * p)
    p = T(0.19998548924922943) + z * (T(-0.14264243841171265) + z * p)
    return t + t * z * (T(-0.33333298563957214) + z * p)


def atan(x):
    """Beyond 1, pi/2 - atan(1 / |x|). Error 1.44 ulp."""
    a = T(math.fabs(x))
    big = a > T(1)
    p = arctangent(T(1) / a if big else a)
    result = T(1.5707963705062866) - (p + T(4.371138828673793e-08)) if big else p
    return T(math.copysign(result, x))


def atan2(y, x):
    """The angle of the smaller by the larger coordinate, then by octants. Zeros and infinities as
    IEEE 754: atan2(+-0, -0) is +-pi, atan2(inf, inf) is pi/4. Error 1.6 ulp."""
    a = T(math.fabs(y))
    b = T(math.fabs(x))
    steep = a > b
    small = b if steep else a
    large = a if steep else b
    t = small / large
    t = T(1) if (small == large) & (large > T(0)) else t
    t = T(0) if large == T(0) else t
    p = arctangent(t)
    p = T(1.5707963705062866) - (p + T(4.371138828673793e-08)) if steep else p
    p = T(3.1415927410125732) - (p + T(8.742277657347586e-08)) if np.signbit(x) else p
    return T(math.copysign(p, y)) if (x == x) & (y == y) else x + y
