"""Trigonometric functions and their inverses of float64."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan

T = np.float64

# 2/pi in words of 32 bits; a zero before the point.
TWO_OVER_PI = (
    0x00000000, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB,
    0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C, 0xFE1DEB1C, 0xB129A73E, 0xE88235F5,
    0x2EBB4484, 0xE99C7026, 0xB45F7E41, 0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF,
    0xDE05980F, 0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D, 0x7527BAC7,
    0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08, 0x56033046,
)  # fmt: skip


def quarters_near(x):
    """x = n pi/2 + r for |x| <= 2^23: r in two parts, and a float that carries n in its low bits.
    The first three pieces of pi/2 have 26 bits: products with n are exact, and so are the first two
    differences. Nearest to a multiple of pi/2 is 29 pi/2 with 2^-60, then others with 2^-54; what
    is lost is below 2^-107. Beyond 2^23 comes one with 2^-59."""
    k = x * 0.6366197723675814 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = x - n * 1.5707963109016418 - n * 1.5893254712295857e-08
    t = n * 6.123233601181349e-17
    first = r - t
    lost = ((r - first) - t) - n * 3.9455541665632055e-24
    r = first + lost
    return r, (first - r) + lost, k


def quarters(x):
    """As quarters_near, for every number: far out by the bits of 2/pi that matter. With x = 2^e m,
    those above 2^(2-e) give multiples of 4, whole turns; seven words of the others, times m, leave
    126 bits behind the point. No number is nearer to a multiple of pi/2 than 2^-61."""
    if not math.fabs(x) > 8388608.0:
        return quarters_near(x)
    word = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    bits = np.float64(math.fabs(x)).view(np.int64)
    place = (bits >> 52) - 1045
    m = np.uint64((bits & 0xFFFFFFFFFFFFF) | 0x10000000000000)
    first = place >> 5
    carry = top = middle = bottom = np.uint64(0)
    for i in range(6, -1, -1):
        part = np.uint64(TWO_OVER_PI[first + i])
        low = (m & word) * part
        total = carry + (low & word)
        carry = (total >> half) + (low >> half) + (m >> half) * part
        bottom = (bottom >> half) | (middle << half)
        middle = (middle >> half) | (top << half)
        top = (top >> half) | (total << half)
    shift = np.uint64(place & 31)
    rest = np.uint64(63) - shift
    top = (top << shift) | ((middle >> np.uint64(1)) >> rest)
    middle = (middle << shift) | ((bottom >> np.uint64(1)) >> rest)
    whole = np.int64(top >> np.uint64(62))
    part = np.int64((top << np.uint64(2)) | (middle >> np.uint64(62)))
    a = np.float64(part >> 32) * 2.0**-32
    b = np.float64(part & 0xFFFFFFFF) * 2.0**-64
    f = a + b
    lost = (b - (f - a)) + np.float64((middle << np.uint64(2)) >> np.uint64(11)) * 2.0**-117
    r, lost = times_half_pi(f, lost)
    k = np.float64(whole + (1 if part < 0 else 0))
    sign = math.copysign(1.0, x) if math.fabs(x) < inf else nan
    return r * sign, lost * sign, k * sign + 6755399441055744.0


def times_half_pi(f, lost):
    """(f + lost) pi/2 in two parts."""
    high = np.int64(np.float64(f).view(np.int64) & -134217728).view(np.float64)
    big = high * 1.5707963109016418
    small = (f - high) * 1.5707963109016418 + f * 1.5893254773528197e-08
    small = small + lost * 1.5707963267948966
    r = big + small
    return r, (big - r) + small


def sin_cos(r, lost):
    """sin(r + lost) and cos(r + lost), |r| <= pi/4, by polynomials of degree 13 and 14."""
    z = r * r
    z2 = z * z
    p = -0.00019841269827728883 + z2 * -2.505064362771673e-08
    p = -0.1666666666666662 + z2 * p
    odd = 2.7557312965202245e-06 + z2 * 1.5890126800970469e-10
    odd = 0.00833333333331984 + z2 * odd
    p = p + z * odd
    q = 2.480158728757455e-05 + z2 * 2.0875644966471747e-09
    q = 0.04166666666666658 + z2 * q
    odd = -2.7557313787752007e-07 + z2 * -1.1355524094798164e-11
    odd = -0.0013888888888871158 + z2 * odd
    q = q + z * odd
    s = r + (z * r * p + lost)
    half = 0.5 * z
    c = 1.0 - half
    c = c + (((1.0 - c) - half) + (z2 * q - r * lost))
    return s, c


def sin_of_quarters(r, lost, n, sign):
    """sin(n pi/2 + r + lost) with the sign of `sign`, of both of which the bits are given."""
    s, c = sin_cos(r, lost)
    result = c if n & 1 else s
    sign = np.int64(np.int64(n << 62) ^ sign) & -9223372036854775808
    return np.int64(np.float64(result).view(np.int64) ^ sign).view(np.float64)


def sin(x):
    """Quarter turns n and a rest r of |x|, then sin r or cos r. Error 0.9 ulp."""
    r, lost, k = quarters(math.fabs(x))
    bits = np.float64(x).view(np.int64)
    return sin_of_quarters(r, lost, np.float64(k).view(np.int64), bits)


def sin_near(x):
    """As sin."""
    r, lost, k = quarters_near(math.fabs(x))
    bits = np.float64(x).view(np.int64)
    return sin_of_quarters(r, lost, np.float64(k).view(np.int64), bits)


def sin_is_far(x):
    return math.fabs(x) > 8388608.0


def cos(x):
    """As sin, a quarter turn on. Error 0.9 ulp."""
    r, lost, k = quarters(x)
    return sin_of_quarters(r, lost, np.float64(k).view(np.int64) + 1, 0)


def cos_near(x):
    """As cos."""
    r, lost, k = quarters_near(x)
    return sin_of_quarters(r, lost, np.float64(k).view(np.int64) + 1, 0)


def cos_is_far(x):
    return math.fabs(x) > 8388608.0


def tan(x):
    """As sin, by tan r. Error 1.4 ulp."""
    r, lost, k = quarters(x)
    result = tan_of_quarters(r, lost, k)
    return x if math.fabs(x) < 1e-8 else result


def tan_near(x):
    """As tan."""
    r, lost, k = quarters_near(x)
    result = tan_of_quarters(r, lost, k)
    return x if math.fabs(x) < 1e-8 else result


def tan_of_quarters(r, lost, k):
    """tan(n pi/2 + r + lost): tan r by an odd polynomial of degree 31; -1 / tan r in odd quarters,
    where the quotient is corrected by its own remainder."""
    z = r * r
    z2 = z * z
    p = 5.662345949167185e-05 + z2 * 1.066031543551109e-05
    p = 0.000245449654484218 + z2 * (7.4955841022848e-05 + z2 * p)
    p = 0.008863239275121558 + z2 * (0.0014561433883344772 + z2 * p)
    p = 0.3333333333333342 + z2 * (0.05396825397603689 + z2 * p)
    odd = -3.53079438108672e-05 + z2 * -2.8187020845691817e-05
    odd = 0.0005883823534293467 + z2 * (7.926363035349811e-05 + z2 * odd)
    odd = 0.02186948831462915 + z2 * (0.003592086934710383 + z2 * odd)
    odd = 0.13333333333319503 + z2 * odd
    p = p + z * odd
    t = z * r * p
    t = t + lost * (1.0 + z)
    w = r + t
    t = t - (w - r)
    high = np.int64(np.float64(w).view(np.int64) & -134217728).view(np.float64)
    q = -1.0 / w
    cut = np.int64(np.float64(q).view(np.int64) & -134217728).view(np.float64)
    q = cut + q * ((1.0 + cut * high) + cut * ((w - high) + t))
    return q if np.float64(k).view(np.int64) & 1 else w


def tan_is_far(x):
    return math.fabs(x) > 8388608.0


def arcsine(z):
    """(asin s - s) / s for z = s^2 <= 1/4, by degree 12 in z. Serves asin and acos."""
    z2 = z * z
    p = 0.00652751085409603 + z2 * -0.016226372028094082
    p = 0.02237175795832981 + z2 * (0.013885220283094083 + z2 * p)
    p = 0.16666666666665408 + z2 * (0.0446428568282482 + z2 * p)
    odd = 0.01952957695610693 + z2 * 0.031913762399417435
    odd = 0.017359706231167994 + z2 * (0.012169315342595192 + z2 * odd)
    odd = 0.07500000000337101 + z2 * (0.030381959140558697 + z2 * odd)
    p = p + z * odd
    return z * p


def root_in_parts(z):
    """sqrt(z) as high + low with 26 bits in high, for 1e-30 < z <= 1/2. The root and the quotient
    are float32's, which cost a third; one step gives h = 1 / (2 high) 46 bits, and low needs 27 of
    them."""
    h = np.float64(np.float32(0.5) / np.sqrt(np.float32(z)))
    s = 2.0 * (z * h)
    high = np.int64(np.float64(s).view(np.int64) & -134217728).view(np.float64)
    h = h + 2.0 * h * (0.5 - high * h)
    low = (z - high * high) * h
    return high, low * (1.0 - low * h)


def asin(x):
    """Below 1/2 s + s P(s^2); above, pi/2 - 2 asin(sqrt((1 - |x|) / 2)), the root in two parts.
    Error 0.9 ulp."""
    a = math.fabs(x)
    big = a > 0.5
    square = 0.5 - 0.5 * a
    p = arcsine(square if big else a * a)
    high, low = root_in_parts(square)
    rest = 6.123233995736766e-17 - 2.0 * low - 2.0 * (high + low) * p
    far = 0.7853981633974483 + ((0.7853981633974483 - 2.0 * high) + rest)
    far = 1.5707963267948966 if a == 1.0 else far
    return math.copysign(far if big else a + a * p, x)


def acos(x):
    """Around 0 pi/2 - asin x; beyond 1/2, 2 asin(sqrt((1 - |x|) / 2)) or pi less that. Error 0.9
    ulp."""
    a = math.fabs(x)
    big = a > 0.5
    square = 0.5 - 0.5 * a
    p = arcsine(square if big else a * a)
    middle = 1.5707963267948966 - (x - (6.123233995736766e-17 - x * p))
    high, low = root_in_parts(square)
    high = 0.0 if a == 1.0 else high
    low = 0.0 if a == 1.0 else low
    s = high + low
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
    p = -0.050390852700280174 + z2 * -0.017902000406591866
    p = -0.09090897710892956 + z2 * (-0.0666309613772472 + z2 * p)
    p = -0.333333333333332 + z2 * (-0.1428571428015719 + z2 * p)
    odd = 0.058478364320235475 + z2 * 0.03805941493059067
    odd = 0.11111110781670962 + z2 * (0.07692059454610144 + z2 * odd)
    odd = 0.19999999999953158 + z2 * odd
    p = p + z * odd
    p = t * z * p
    return 0.7853981633974483 + (t + (p + 3.061616997868383e-17)) if steep else t + p


def atan(x):
    """Beyond 1, pi/2 - atan(1 / |x|). Error 1.9 ulp."""
    a = math.fabs(x)
    big = a > 1.0
    b = 1e300 if a > 1e300 else a
    p = arctangent(1.0 if big else b, b if big else 1.0)
    p = 1.5707963267948966 - (p - 6.123233995736766e-17) if big else p
    return math.copysign(p, x)


def atan2(y, x):
    """The angle of the smaller by the larger coordinate, then by octants. Zeros and infinities as
    IEEE 754: atan2(+-0, -0) is +-pi, atan2(inf, inf) is pi/4. Error 1.8 ulp."""
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
