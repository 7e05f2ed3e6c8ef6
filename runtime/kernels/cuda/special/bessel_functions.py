"""Device functions: modified Bessel functions.

The first kind of order 0 and 1 in the type of the elements, the second kind in float64.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function

NEAR = 20.0
"""Up to here by the power series: the other one, of 1/x, then has float64's precision."""


@device_function
def modified_bessel(x):
    """I of x for ORDER 0 or 1, times exp(-abs(x)) if SCALED. PRECISION is that of the type."""
    size = abs(x)
    if size < T(NEAR):
        found = bessel_series(size)
        found = T(found * exp(-size)) if SCALED else found
    elif SCALED:
        found = bessel_tail(size)
    else:
        half = exp(T(size * T(0.5)))  # the whole would overflow before the product does
        found = T(T(half * bessel_tail(size)) * half)
    return T(-found) if ORDER == 1 and x < T(0) else found


@device_function
def bessel_series(x):
    """The sum of (x / 2)^(2k + ORDER) / (k! (k + ORDER)!): all terms are positive."""
    half = T(x * T(0.5))
    square = T(half * half)
    term = half if ORDER == 1 else T(1)
    total = term
    k = T(1)
    while term > T(total * T(PRECISION)):
        term = T(term * T(square / T(k * T(k + T(ORDER)))))
        total = T(total + term)
        k = T(k + T(1))
    return total


@device_function
def bessel_tail(x):
    """exp(-x) I of x by its asymptotic series: the k-th term is the one before times
    ((2k - 1)^2 - 4 ORDER) / (8 k x), for k far below where terms grow again."""
    eighth = T(T(0.125) / x)
    term = T(1)
    total = T(1)
    k = T(1)
    while abs(term) > T(PRECISION):
        odd = T(T(2) * k - T(1))
        term = T(term * T(T(T(odd * odd) - T(4 * ORDER)) * T(eighth / k)))
        total = T(total + term)
        k = T(k + T(1))
    return T(total * T(T(0.3989422804014327) * rsqrt(x)))


# -- of the second kind -------------------------------------------------------------------------


@device_function
def modified_second_kind(x):
    """K of x for ORDER, times exp(x) if SCALED: infinite at 0, NaN below. In float64."""
    if not x >= 0.0:
        return math.nan
    if x == 0.0:
        return math.inf
    if x == math.inf:
        return 0.0
    found = second_kind_integral(x, ORDER)
    return found if SCALED else found * math.exp(-x)


@device_function
def second_kind_integral(x, order):
    """exp(x) K of x: the integral of exp(-x (cosh(t) - 1)) cosh(order t) over t > 0.

    The trapezoidal rule converges like exp(-pi^2 / step), and for large x, where the integrand is
    a bell of the width 1 / sqrt(x), like exp(-2 pi^2 / (step^2 x)): both far below a rounding.
    """
    step = min(0.2, 0.7 / math.sqrt(x))
    total = 0.5
    t = step
    while True:
        half = math.sinh(0.5 * t)
        exponent = 2.0 * x * half * half - order * t
        if exponent > 45.0:
            break
        # cosh(order t) as exponentials, of which the larger would overflow alone.
        total = total + 0.5 * (math.exp(-exponent) + math.exp(-exponent - 2.0 * order * t))
        t = t + step
    return total * step
