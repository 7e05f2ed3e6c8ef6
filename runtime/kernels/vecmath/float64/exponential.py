"""Exponential functions and the sigmoid of float64."""

import math

import numpy as np

T = np.float64


def exp_rest(r):
    """(e^r - 1 - r) / r^2 for |r| <= ln(2)/2, by degree 9."""
    r2 = r * r
    p = 2.4801493099718343e-05 + r2 * 2.763024950545198e-07
    p = 0.04166666666653022 + r2 * (0.0013888888943623717 + r2 * p)
    p = 0.5000000000000011 + r2 * p
    odd = 2.7557585622572056e-06 + r2 * 2.5000382504185785e-08
    odd = 0.008333333333494538 + r2 * (0.00019841269507006476 + r2 * odd)
    odd = 0.16666666666666413 + r2 * odd
    return p + r * odd


def exp_series(r):
    """e^r - 1 - r for |r| <= ln(2)/2."""
    return r * r * exp_rest(r)


def powers(k, offset):
    """Two powers of 2 whose product is 2^n, n from the low bits of k: with both, overflow and
    subnormal results are right. offset: the bits of k for n = -2046, one more for half of 2^n."""
    i = np.int64(np.float64(k).view(np.int64) - offset)
    half = np.int64(np.uint64(i) >> np.uint64(1))
    low = np.int64(half << 52).view(np.float64)
    return low, np.int64((i - half) << 52).view(np.float64)


def exp(x):
    """x = n ln 2 + r, |r| <= ln(2)/2; e^r by degree 11; 2^n in two factors. Where the result is 0,
    another x is computed with: a subnormal number on the way costs some processors 150 cycles.
    Error 1.0 ulp, 1.2 without fused multiply-add."""
    vanishes = x < -746.0
    x = 0.0 if vanishes else x
    x = 710.0 if x > 710.0 else x
    k = x * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    p = 1.0 + r * (1.0 + r * exp_rest(r))
    low, high = powers(k, 0x4337FFFFFFFFF802)
    return 0.0 if vanishes else p * low * high


def exp_near(x):
    """As exp, 2^n in one factor: to round n, 1023 more is added, so that the low bits are those of
    an exponent. Errors as those of exp."""
    k = x * 1.4426950408889634 + 6755399441056767.0
    n = k - 6755399441056767.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    p = 1.0 + r * (1.0 + r * exp_rest(r))
    return p * np.int64(np.float64(k).view(np.int64) << 52).view(np.float64)


def exp_is_far(x):
    return math.fabs(x) > 708.0


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
    low, high = powers(k, 0x4337FFFFFFFFF802)
    return 0.0 if vanishes else p * low * high


def expm1(x):
    """x = n ln 2 + r; with h = 2^(n-1): 2 (h (e^r - 1) + (h - 1/2)), where h - 1/2 is exact or
    negligible, and the sum of it and h r is exact where much of it is lost. Tiny x is its own
    result. Error 1.5 ulp."""
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
    h = np.int64((np.float64(k).view(np.int64) + 1022) << 52).view(np.float64)
    result = ((h * r + (h - 0.5)) + h * r2 * p) * 2.0
    return x if math.fabs(x) < 1e-17 else result


def half_exp(x):
    """e^x / 2 for x >= 0, which overflows later than e^x. Serves sinh and cosh."""
    x = 711.0 if x > 711.0 else x
    k = x * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = x - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    p = 1.0 + (r + exp_series(r))
    low, high = powers(k, 0x4337FFFFFFFFF803)
    return p * low * high


def sigmoid(x):
    """1 / (1 + e^-x), the power as in exp but in one factor: below -709, where the result would be
    subnormal, e^-x is inf and the result 0, as PyTorch's. What e^-x, the sum and the quotient lost
    is put back. Error 0.9 ulp."""
    y = -708.0 if -x < -708.0 else -x
    y = 710.0 if y > 710.0 else y
    k = y * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = y - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    low = exp_series(r)
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
