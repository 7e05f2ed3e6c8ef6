"""The incomplete gamma functions of float64.

For float32, too: factors like x^a e^-x take the exponential of large numbers, of which few digits
would be left.
"""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.float64.exponential import exp
from torchgen_out._runtime.kernels.vecmath.float64.gamma import lgamma
from torchgen_out._runtime.kernels.vecmath.float64.logarithmic import log
from torchgen_out._runtime.kernels.vecmath.float64.special import erfc

T = np.float64

# How small a term is, beside the sum so far, when a series ends.
NEGLIGIBLE = 1e-17
# Far more steps than a fraction takes; of numbers that never settle.
MOST_STEPS = 2000.0


def igamma(a, x):
    """The lower one, regularised."""
    return incomplete_gamma(a, x, False)


def igammac(a, x):
    """The upper one, regularised."""
    return incomplete_gamma(a, x, True)


def incomplete_gamma(a, x, is_upper):
    """The regularised incomplete gamma function P(a, x), or Q = 1 - P if `is_upper`: whichever of
    them has no digits to lose is computed, the other is what it lacks to 1."""
    if (a < 0.0) | (x < 0.0) | (a != a) | (x != x):
        return nan
    if a == x and ((a == 0.0) | (a == inf)):
        return nan
    if (a == 0.0) | (x == inf):
        return 0.0 if is_upper else 1.0
    if (x == 0.0) | (a == inf):
        return 1.0 if is_upper else 0.0
    if a >= 200.0 and abs(x - a) < 0.3 * a:
        return uniform_expansion(a, x, is_upper)
    if x < a + 1.0:
        below = gamma_weight(a, x) * lower_series(a, x)
        return 1.0 - below if is_upper else below
    above = gamma_weight(a, x) * upper_fraction(a, x)
    return above if is_upper else 1.0 - above


def lower_series(a, x):
    """1/a + x / (a (a + 1)) + x^2 / (a (a + 1) (a + 2)) ...; all terms are positive."""
    term = 1.0 / a
    total = term
    below = a
    while term > total * NEGLIGIBLE:
        below = below + 1.0
        term = term * (x / below)
        total = total + term
    return total


def upper_fraction(a, x):
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))), by the numerators
    and denominators of its convergents: no step divides. They are scaled down where they grow."""
    b = x + 1.0 - a
    above_before = 1.0
    above = b
    below_before = 0.0
    below = 1.0
    k = 1.0
    while k < MOST_STEPS:
        b = b + 2.0
        step = k * (a - k)
        following = b * above + step * above_before
        above_before = above
        above = following
        following = b * below + step * below_before
        below_before = below
        below = following
        known = above * below_before
        if math.fabs(known - above_before * below) <= 2e-16 * math.fabs(known):
            break
        if math.fabs(above) > 1e140:
            above = above * 1e-140
            above_before = above_before * 1e-140
            below = below * 1e-140
            below_before = below_before * 1e-140
        k = k + 1.0
    return below / above


def gamma_weight(a, x):
    """x^a e^-x / Gamma(a); of large a by Stirling's series, where its large factors cancel."""
    if a < 10.0:
        return exp(a * log(x) - x - lgamma(a))
    exponent = a * log_less_number(x / a, (x - a) / a) - stirling_remainder(a)
    return np.sqrt(a * 0.15915494309189535) * exp(exponent)


def log_less_number(ratio, excess):
    """log(ratio) - excess of ratio = 1 + excess. Of a small one by s = excess / (2 + excess): the
    logarithm is 2 (s + s^3 / 3 + ...), and what its first term differs by is s * excess."""
    if abs(excess) > 0.3:
        return log(ratio) - excess
    s = excess / (2.0 + excess)
    q = s * s
    total = 1.0 / 19.0
    for i in range(8):
        total = total * q + 1.0 / (17.0 - 2.0 * i)
    return s * (2.0 * q * total - excess)


def stirling_remainder(a):
    """lgamma(a) less (a - 1/2) log(a) - a + log(2 pi) / 2, for a of 10 and more."""
    q = 1.0 / (a * a)
    p = 0.0008417508417508417 + q * -0.0019175269175269175
    p = 0.0007936507936507937 + q * (-0.0005952380952380953 + q * p)
    return (0.08333333333333333 + q * (-0.002777777777777778 + q * p)) / a


def uniform_expansion(a, x, is_upper):
    """P or Q for large a: erfc, and corrections in powers of 1/a, each a power series of eta, the
    signed root of 2 (x/a - 1 - log(x/a)).

    Source: DLMF 8.12.3, 8.12.7; the coefficients by the recursions of 8.12.11 to 8.12.13.
    """
    excess = (x - a) / a
    half_square = -log_less_number(x / a, excess)
    eta = math.copysign(np.sqrt(2.0 * half_square), excess)
    r = 1.0 / a
    total = expansion_1(eta, r) * r + expansion_0(eta)
    rest = exp(-a * half_square) * np.sqrt(r * 0.15915494309189535) * total
    argument = eta * np.sqrt(a * 0.5)
    if is_upper:
        return 0.5 * erfc(argument) + rest
    return 0.5 * erfc(-argument) - rest


def expansion_0(eta):
    """The coefficient of a^-0."""
    p = -5.830772132550426e-11 + eta * 2.4361948020667415e-11
    p = 9.14769958223679e-10 + eta * (-2.5514193994946248e-11 + eta * p)
    p = 1.0261809784240309e-08 + eta * (-4.382036018453353e-09 + eta * p)
    p = -1.7665952736826078e-07 + eta * (6.707853543401498e-09 + eta * p)
    p = -1.85406221071516e-06 + eta * (8.296711340953087e-07 + eta * p)
    p = 3.919263178522438e-05 + eta * (-2.185448510679992e-06 + eta * p)
    p = 0.0003527336860670194 + eta * (-0.0001787551440329218 + eta * p)
    p = -0.014814814814814815 + eta * (0.0011574074074074073 + eta * p)
    p = -0.3333333333333333 + eta * (0.08333333333333333 + eta * p)
    return p


def expansion_1(eta, r):
    """The coefficient of a^-1, and r = 1/a times all beyond."""
    p = -1.7543241719747647e-11 + eta * -1.0091543710600413e-09
    p = -5.752545603517705e-08 + eta * (1.1951628599778148e-08 + eta * p)
    p = 4.647127802807434e-09 + eta * (1.378633446915721e-07 + eta * p)
    p = 7.64916091608111e-06 + eta * (-1.6120900894563446e-06 + eta * p)
    p = -4.018775720164609e-07 + eta * (-1.8098550334489977e-05 + eta * p)
    p = -0.0009902263374485596 + eta * (0.00020576131687242798 + eta * p)
    p = -0.003472222222222222 + eta * (0.0026455026455026454 + eta * p)
    p = -0.001851851851851852 + eta * p
    return p + r * expansion_2(eta, r)


def expansion_2(eta, r):
    """The coefficient of a^-2, and r = 1/a times all beyond."""
    p = 1.4280614206064242e-07 + eta * -2.0477098421990866e-10
    p = 1.3721957309062934e-06 + eta * (-6.298992138380055e-07 + eta * p)
    p = -1.2760635188618728e-05 + eta * (3.423578734096138e-08 + eta * p)
    p = -0.0001073665322636516 + eta * (5.2923448829120125e-05 + eta * p)
    p = 0.0007716049382716049 + eta * (2.0093878600823047e-06 + eta * p)
    p = 0.004133597883597883 + eta * (-0.0026813271604938273 + eta * p)
    return p + r * expansion_3(eta, r)


def expansion_3(eta, r):
    """The coefficient of a^-3, and r = 1/a times all beyond."""
    p = -5.6749528269915965e-06 + eta * 1.4230900732435883e-06
    p = -2.396505113867297e-07 + eta * (1.1082654115347302e-05 + eta * p)
    p = 0.00026772063206283885 + eta * (-7.561801671883977e-05 + eta * p)
    p = 0.00022947209362139917 + eta * (-0.0004691894943952557 + eta * p)
    p = 0.0006494341563786008 + eta * p
    return p + r * expansion_4(eta, r)


def expansion_4(eta, r):
    """The coefficient of a^-4, and r = 1/a times all beyond."""
    p = -3.968365047179435e-05 + eta * 1.1375726970678419e-05
    p = -1.4638452578843418e-06 + eta * (6.641498215465122e-05 + eta * p)
    p = 0.0007840392217200666 + eta * (-0.0002990724803031902 + eta * p)
    p = -0.0008618882909167117 + eta * p
    return p + r * expansion_5(eta)


def expansion_5(eta):
    """The coefficient of a^-5."""
    p = 0.0002772753244959392 + eta * -0.00019932570516188847
    p = -0.00033679855336635813 + eta * (-6.972813758365857e-05 + eta * p)
    return p
