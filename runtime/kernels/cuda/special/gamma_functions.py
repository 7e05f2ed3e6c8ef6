"""Device functions around the gamma function: incomplete ones, Hurwitz's zeta.

They compute in float64, as SciPy does on the CPU: prefactors like `x^a e^-x` take the exponential
of large numbers, so in float32 few digits would be left.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function

TINY = 1e-300
"""What stands for 0 where a continued fraction divides."""
PRECISION = 1e-17
"""How small a term is, beside the sum so far, when a series ends."""
LARGE = 200.0
"""From here on the uniform expansion has float64's precision."""
MOST_STEPS = 2000
"""Far more than a series or a fraction takes; of numbers that never settle."""


@device_function
def incomplete_gamma(a, x):
    """The regularised incomplete gamma function P(a, x), or Q = 1 - P if UPPER: whichever of them
    has no digits to lose is computed, the other is what it lacks to 1."""
    if (a < 0.0) | (x < 0.0) | (a != a) | (x != x):
        return math.nan
    if a == x and ((a == 0.0) | (a == math.inf)):
        return math.nan
    if (a == 0.0) | (x == math.inf):
        return 0.0 if UPPER else 1.0
    if (x == 0.0) | (a == math.inf):
        return 1.0 if UPPER else 0.0
    if a >= LARGE and abs(x - a) < 0.3 * a:
        return uniform_expansion(a, x)
    if x < a + 1.0:
        lower = gamma_weight(a, x) * lower_series(a, x)
        return 1.0 - lower if UPPER else lower
    upper = gamma_weight(a, x) * upper_fraction(a, x)
    return upper if UPPER else 1.0 - upper


@device_function
def lower_series(a, x):
    """1/a + x / (a (a + 1)) + x^2 / (a (a + 1) (a + 2)) ...; all terms are positive."""
    term = 1.0 / a
    total = term
    below = a
    while term > total * PRECISION:
        below = below + 1.0
        term = term * (x / below)
        total = total + term
    return total


@device_function
def upper_fraction(a, x):
    """1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - ...))): Lentz's method."""
    b = x + 1.0 - a
    numerators = 1.0 / TINY
    denominators = 1.0 / b
    total = denominators
    for i in range(1, MOST_STEPS):
        step = i * (a - i)
        b = b + 2.0
        below = step * denominators + b
        above = b + step / numerators
        numerators = above if abs(above) > TINY else TINY
        denominators = 1.0 / (below if abs(below) > TINY else TINY)
        factor = numerators * denominators
        total = total * factor
        if abs(factor - 1.0) < 1e-16:
            break
    return total


@device_function
def gamma_weight(a, x):
    """x^a e^-x / Gamma(a); of large a by Stirling's series, where its large factors cancel."""
    if a < 10.0:
        return libdevice.exp(a * libdevice.log(x) - x - libdevice.lgamma(a))
    exponent = a * log_less_number(x / a, (x - a) / a) - stirling_remainder(a)
    return libdevice.sqrt(a * 0.15915494309189535) * libdevice.exp(exponent)


@device_function
def log_less_number(ratio, excess):
    """log(ratio) - excess of ratio = 1 + excess. Of a small one by s = excess / (2 + excess): the
    logarithm is 2 (s + s^3 / 3 + ...), and what its first term differs by is s * excess."""
    if abs(excess) > 0.3:
        return libdevice.log(ratio) - excess
    s = excess / (2.0 + excess)
    q = s * s
    total = 1.0 / 19.0
    for i in range(8):
        total = total * q + 1.0 / (17.0 - 2.0 * i)
    return s * (2.0 * q * total - excess)


@device_function
def stirling_remainder(a):
    """lgamma(a) less (a - 1/2) log(a) - a + log(2 pi) / 2, for a of 10 and more."""
    q = 1.0 / (a * a)
    total = -0.0019175269175269175
    total = total * q + 0.0008417508417508417
    total = total * q - 0.0005952380952380953
    total = total * q + 0.0007936507936507937
    total = total * q - 0.002777777777777778
    total = total * q + 0.08333333333333333
    return total / a


@device_function
def uniform_expansion(a, x):
    """P or Q for large a: erfc, and corrections in powers of 1/a, each a power series of eta, the
    signed root of 2 (x/a - 1 - log(x/a)).

    Source: DLMF 8.12.3, 8.12.7; the coefficients by the recursions of 8.12.11 to 8.12.13.
    """
    excess = (x - a) / a
    half_square = -log_less_number(x / a, excess)
    eta = libdevice.copysign(libdevice.sqrt(2.0 * half_square), excess)
    r = 1.0 / a
    total = expansion_1(eta, r) * r + expansion_0(eta)
    rest = libdevice.exp(-a * half_square) * libdevice.sqrt(r * 0.15915494309189535) * total
    argument = eta * libdevice.sqrt(a * 0.5)
    if UPPER:
        return 0.5 * libdevice.erfc(argument) + rest
    return 0.5 * libdevice.erfc(-argument) - rest


@device_function
def expansion_0(eta):
    """The coefficient of a^-0."""
    total = 2.4361948020667415e-11
    total = total * eta - 5.830772132550426e-11
    total = total * eta - 2.5514193994946248e-11
    total = total * eta + 9.14769958223679e-10
    total = total * eta - 4.382036018453353e-09
    total = total * eta + 1.0261809784240309e-08
    total = total * eta + 6.707853543401498e-09
    total = total * eta - 1.7665952736826078e-07
    total = total * eta + 8.296711340953087e-07
    total = total * eta - 1.85406221071516e-06
    total = total * eta - 2.185448510679992e-06
    total = total * eta + 3.919263178522438e-05
    total = total * eta - 0.0001787551440329218
    total = total * eta + 0.0003527336860670194
    total = total * eta + 0.0011574074074074073
    total = total * eta - 0.014814814814814815
    total = total * eta + 0.08333333333333333
    total = total * eta - 0.3333333333333333
    return total


@device_function
def expansion_1(eta, r):
    """The coefficient of a^-1, and r = 1/a times all beyond."""
    total = -1.0091543710600413e-09
    total = total * eta - 1.7543241719747647e-11
    total = total * eta + 1.1951628599778148e-08
    total = total * eta - 5.752545603517705e-08
    total = total * eta + 1.378633446915721e-07
    total = total * eta + 4.647127802807434e-09
    total = total * eta - 1.6120900894563446e-06
    total = total * eta + 7.64916091608111e-06
    total = total * eta - 1.8098550334489977e-05
    total = total * eta - 4.018775720164609e-07
    total = total * eta + 0.00020576131687242798
    total = total * eta - 0.0009902263374485596
    total = total * eta + 0.0026455026455026454
    total = total * eta - 0.003472222222222222
    total = total * eta - 0.001851851851851852
    return total + r * expansion_2(eta, r)


@device_function
def expansion_2(eta, r):
    """The coefficient of a^-2, and r = 1/a times all beyond."""
    total = -2.0477098421990866e-10
    total = total * eta + 1.4280614206064242e-07
    total = total * eta - 6.298992138380055e-07
    total = total * eta + 1.3721957309062934e-06
    total = total * eta + 3.423578734096138e-08
    total = total * eta - 1.2760635188618728e-05
    total = total * eta + 5.2923448829120125e-05
    total = total * eta - 0.0001073665322636516
    total = total * eta + 2.0093878600823047e-06
    total = total * eta + 0.0007716049382716049
    total = total * eta - 0.0026813271604938273
    total = total * eta + 0.004133597883597883
    return total + r * expansion_3(eta, r)


@device_function
def expansion_3(eta, r):
    """The coefficient of a^-3, and r = 1/a times all beyond."""
    total = 1.4230900732435883e-06
    total = total * eta - 5.6749528269915965e-06
    total = total * eta + 1.1082654115347302e-05
    total = total * eta - 2.396505113867297e-07
    total = total * eta - 7.561801671883977e-05
    total = total * eta + 0.00026772063206283885
    total = total * eta - 0.0004691894943952557
    total = total * eta + 0.00022947209362139917
    total = total * eta + 0.0006494341563786008
    return total + r * expansion_4(eta, r)


@device_function
def expansion_4(eta, r):
    """The coefficient of a^-4, and r = 1/a times all beyond."""
    total = 1.1375726970678419e-05
    total = total * eta - 3.968365047179435e-05
    total = total * eta + 6.641498215465122e-05
    total = total * eta - 1.4638452578843418e-06
    total = total * eta - 0.0002990724803031902
    total = total * eta + 0.0007840392217200666
    total = total * eta - 0.0008618882909167117
    return total + r * expansion_5(eta)


@device_function
def expansion_5(eta):
    """The coefficient of a^-5."""
    total = -0.00019932570516188847
    total = total * eta + 0.0002772753244959392
    total = total * eta - 6.972813758365857e-05
    total = total * eta - 0.00033679855336635813
    return total


@device_function
def hurwitz_zeta(s, q):
    """The sum of (q + k)^-s over k from 0: ten terms and those of q below 10, and what is left by
    the formula of Euler and Maclaurin. Infinite at poles, NaN where a power is not real."""
    if s == 1.0:
        return math.inf
    if s < 1.0:
        return math.nan
    if q <= 0.0:
        if q == libdevice.floor(q):
            return math.inf
        if s != libdevice.floor(s):
            return math.nan
    if q > 1e8:
        return (1.0 / (s - 1.0) + 0.5 / q) * libdevice.pow(q, 1.0 - s)
    term = libdevice.pow(q, -s)
    total = term
    a = q
    i = 0
    while i < 9 or a <= 9.0:
        i = i + 1
        a = a + 1.0
        term = libdevice.pow(a, -s)
        total = total + term
        if abs(term) < PRECISION * abs(total):
            return total
    return total + term * (a / (s - 1.0) - 0.5 + maclaurin_terms(s, a))


@device_function
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


@device_function
def polygamma_by_zeta(n, x):
    """The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x)."""
    size = libdevice.tgamma(n + 1.0) * hurwitz_zeta(n + 1.0, x)
    return -size if n % 2.0 == 0.0 else size
