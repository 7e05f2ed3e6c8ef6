"""Functions of float64 to all its digits that serve both real types."""

import numpy as np


def log_series(f):
    """log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2), as f - square + rest: with s = f / (2 + f), rest is
    s (square + P(s^2)), P of degree 7 without a constant."""
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
    return square, s * (square + p)


def log_scaled(x, shift):
    """log(x / 2^shift) for positive normal x = 2^e (1 + f). Error 0.9 ulp."""
    shifted = np.float64(x).view(np.int64) - 0x3FE6A09E667F3BCD
    e = np.int64((shifted >> 52) + 0x4338000000000000).view(np.float64) - 6755399441055744.0
    e = e - shift
    f = np.int64((shifted & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).view(np.float64) - 1.0
    return log_of_parts(e, f)


def log_of_parts(e, f):
    """log(2^e (1 + f))."""
    square, rest = log_series(f)
    low = rest + e * 1.9082149292705877e-10
    return e * 0.6931471803691238 - ((square - low) - f)


def sine_of_turns(f):
    """sin(pi f) for |f| <= 1/2, by an odd polynomial of degree 17."""
    z = f * f
    z2 = z * z
    p = -0.007370430478762461 + z2 * -2.1903185420805378e-05
    p = -5.167712780049969 + z2 * (-0.5992645293187382 + z2 * p)
    odd = 0.0004662996887731736 + z2 * 7.69472732830679e-07
    odd = 2.550164039877294 + z2 * (0.0821458865698926 + z2 * odd)
    p = p + z * odd
    return f * (3.141592653589793 + z * p)
