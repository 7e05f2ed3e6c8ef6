"""The Hurwitz zeta function of float64, and what it tells of the gamma function."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan

T = np.float64


def zeta(s, q):
    """The sum of (q + k)^-s over k from 0: ten terms and those of q below 10, and what is left by
    the formula of Euler and Maclaurin. Infinite at poles, NaN where a power is not real."""
    if s == 1.0:
        return inf
    if s < 1.0:
        return nan
    if q <= 0.0:
        if q == np.floor(q):
            return inf
        if s != np.floor(s):
            return nan
    if q > 1e8:
        return (1.0 / (s - 1.0) + 0.5 / q) * math.pow(q, 1.0 - s)
    term = math.pow(q, -s)
    total = term
    a = q
    i = 0
    while i < 9 or a <= 9.0:
        i = i + 1
        a = a + 1.0
        term = math.pow(a, -s)
        total = total + term
        if abs(term) < 1e-17 * abs(total):
            return total
    return total + term * (a / (s - 1.0) - 0.5 + maclaurin_terms(s, a))


def maclaurin_terms(s, a):
    """The sum of B_2j / (2j)! s (s + 1) ... (s + 2j - 2) a^(1 - 2j) over j from 1 to 12."""
    q = 1.0 / (a * a)
    total = -1.3954464685812523e-19
    total = total * q * (s + 21.0) * (s + 22.0) + 5.5090028283602295e-18
    total = total * q * (s + 19.0) * (s + 20.0) - 2.1748686985580619e-16
    total = total * q * (s + 17.0) * (s + 18.0) + 8.5860620562778446e-15
    total = total * q * (s + 15.0) * (s + 16.0) - 3.3896802963225829e-13
    total = total * q * (s + 13.0) * (s + 14.0) + 1.3382536530684679e-11
    total = total * q * (s + 11.0) * (s + 12.0) - 5.2841901386874932e-10
    total = total * q * (s + 9.0) * (s + 10.0) + 2.0876756987868099e-08
    total = total * q * (s + 7.0) * (s + 8.0) - 8.2671957671957672e-07
    total = total * q * (s + 5.0) * (s + 6.0) + 3.3068783068783069e-05
    total = total * q * (s + 3.0) * (s + 4.0) - 0.0013888888888888889
    total = total * q * (s + 1.0) * (s + 2.0) + 0.083333333333333333
    return total * s / a


def polygamma(n, x):
    """The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x)."""
    size = zeta(n + 1.0, x)
    sign = 1.0
    k = 1.0
    while k <= n and k < 200.0:
        size = size * k
        sign = -sign
        k = k + 1.0
    return -sign * size
