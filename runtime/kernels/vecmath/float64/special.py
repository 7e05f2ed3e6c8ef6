"""Error functions of float64."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf, nan
from torchgen_out._runtime.kernels.vecmath.float64.exponential import (
    exp,
    exp_near,
    exp_series,
    powers,
)
from torchgen_out._runtime.kernels.vecmath.float64.logarithmic import log, log_near

T = np.float64


def erf_series(z):
    """erf(t) / t - 1 of z = t^2 for |t| <= 1, by an even polynomial of degree 24."""
    z2 = z * z
    p = -1.63503055467838e-07 + z2 * -1.137200020573612e-09
    p = -0.0008548326981574515 + z2 * (-1.4925595470680753e-05 + z2 * p)
    p = -0.3761263890318375 + z2 * (-0.02686617064508011 + z2 * p)
    odd = 1.4659631629866273e-08 + z2 * 5.955341378625892e-11
    odd = 0.00012055331127884062 + z2 * (1.6461001521380815e-06 + z2 * odd)
    odd = 0.11283791670954908 + z2 * (0.005223977624838416 + z2 * odd)
    p = p + z * odd
    return 0.12837916709551256 + z * p


def erf(x):
    """Below 1 an odd polynomial of degree 25; above, 1 - e^-a^2 P, P of degree 14 in (a - 2) / (a +
    2). Error 1.2 ulp."""
    a = math.fabs(x)
    near = a + a * erf_series(a * a)
    b = 6.0 if a > 6.0 else a
    q = (b - 2.0) / (b + 2.0)
    q2 = q * q
    p = -1.4082907497002502e-05 + q2 * 3.7761921102509703e-06
    p = 4.355168501798691e-05 + q2 * (2.7558978489397037e-05 + q2 * p)
    p = 0.003732892398730288 + q2 * (-0.0008471430325848186 + q2 * p)
    p = 0.25539567631050564 + q2 * (0.2416581942425193 + q2 * p)
    odd = -2.7703004788820232e-05 + q2 * 1.9950137460274236e-06
    odd = -0.0009819776453892787 + q2 * (0.00017437342055210062 + q2 * odd)
    odd = -0.07897858101587645 + q2 * (0.00699746175418402 + q2 * odd)
    odd = -0.42718584741395804 + q2 * odd
    p = p + q * odd
    far = 1.0 - p * exp_near(-b * b)
    return math.copysign(near if a < 1.0 else far, x)


def erfc(x):
    """Around 0, 1 - erf x by its polynomial. Beyond 0.46, e^-a^2 P / (1 + 2a), P of degree 21 in (a
    - 4) / (a + 4), where a^2 is in two parts; for negative x, 2 less that. The power is 2^n times
    1 + w, where w takes up what P and the quotient lost: little is rounded before the end. Error
    1.6 ulp.
    """
    a = math.fabs(x)
    near = 1.0 - (x + x * erf_series(x * x))
    a = 27.3 if a > 27.3 else a
    q = (a - 4.0) / (a + 4.0)
    q2 = q * q
    p = 6.692213031215278e-08 + q2 * -1.2192475868732295e-08
    p = -1.122483182808443e-05 + q2 * (2.996951653789326e-07 + q2 * p)
    p = -0.0007577734598639175 + q2 * (0.0001506225379336426 + q2 * p)
    p = -0.06633036581376132 + q2 * (-0.016197734036517083 + q2 * p)
    p = 0.015379652102618914 + q2 * (-0.10103906603624697 + q2 * p)
    odd = 1.0540927460623382e-07 + q2 * -1.040451781946641e-08
    odd = 5.70828416374895e-06 + q2 * (-8.221380809470761e-07 + q2 * odd)
    odd = -0.00019925677240679 + q2 * (-2.4398799720435218e-05 + q2 * odd)
    odd = 0.0371675155367963 + q2 * (0.005031969987341897 + q2 * odd)
    odd = 0.06809705425469212 + q2 * (0.0937328349983779 + q2 * odd)
    odd = -0.1396211168405625 + q2 * odd
    rest = q2 * p + q * odd
    p = 1.2329951186255526 + rest
    rest = rest - (p - 1.2329951186255526)
    below = 1.0 + 2.0 * a
    lost = (1.0 - (below - (below - 1.0))) + (2.0 * a - (below - 1.0))
    far = p / below
    lost = ((p - far * below) + (rest - far * lost)) / p
    high = np.int64(np.float64(a).view(np.int64) & -134217728).view(np.float64)
    d = (high - a) * (high + a)
    d = d + d * d * (0.5 + d * 0.16666666666666666) + lost
    y = -high * high
    k = y * 1.4426950408889634 + 6755399441055744.0
    n = k - 6755399441055744.0
    r = y - n * 0.6931471803691238 - n * 1.9082149292705877e-10
    w = r + exp_series(r)
    far = far + far * (w + (d + w * d))
    low, high = powers(k, 0x4337FFFFFFFFF802)
    far = far * low * high
    far = 2.0 - far if x < 0.0 else far
    return near if math.fabs(x) < 0.46 else far


def erfinv(x):
    """Of x and w = -log(1 - x^2). Error 3.1 ulp."""
    result = erfinv_of(x, -log((1.0 - x) * (1.0 + x)))
    result = math.copysign(inf, x) if math.fabs(x) == 1.0 else result
    return nan if math.fabs(x) > 1.0 else result


def erfinv_of(x, w):
    """x times a polynomial in w = -log(1 - x^2), of degree 23 for w < 6.25; then of degree 19 and,
    from w = 16, of degree 17 in sqrt w."""
    p = erfinv_ratio(w)
    root = np.sqrt(w)
    t = root - 3.25
    t2 = t * t
    q = -2.711869566604592e-07 + t2 * 6.344236240012658e-10
    q = 2.92582398663978e-06 + t2 * (1.4985463357679088e-06 + t2 * q)
    q = 2.403126312768904e-05 + t2 * (-4.731901552849154e-05 + t2 * q)
    q = 0.002491442097018355 + t2 * (0.0009532893630753367 + t2 * q)
    q = 3.0838856104922208 + t2 * (0.005370914553570908 + t2 * q)
    odd = 1.3394082911760378e-07 + t2 * -1.6186933815125914e-08
    odd = -3.984078462362314e-06 + t2 * (-3.026415110104133e-08 + t2 * odd)
    odd = 6.828724868025126e-05 + t2 * (1.2464433610248437e-05 + t2 * odd)
    odd = -0.001688275534253192 + t2 * (-0.0003550378308104473 + t2 * odd)
    odd = 1.0052589676941657 + t2 * (-0.0037512085082628925 + t2 * odd)
    q = q + t * odd
    t = root - 5.0
    t2 = t * t
    s = 1.4910096213338769e-09 + t2 * -2.29890292794866e-11
    s = 2.912459214956869e-08 + t2 * (7.643027947559208e-09 + t2 * s)
    s = 4.526059750477266e-06 + t2 * (2.2901588786453061e-07 + t2 * s)
    s = -0.00013871931835354742 + t2 * (7.599527738971392e-05 + t2 * s)
    s = 4.849906401408584 + t2 * s
    odd = -4.4599081445866937e-10 + t2 * 4.475113979989033e-11
    odd = -1.527018141742256e-08 + t2 * (-3.455824286945848e-09 + t2 * odd)
    odd = -9.930320296054978e-07 + t2 * (-6.754780720616531e-08 + t2 * odd)
    odd = -0.00021503011986126616 + t2 * (-1.9681770257043535e-05 + t2 * odd)
    odd = 1.0103004648645462 + t2 * odd
    s = s + t * odd
    return x * (p if w < 6.25 else (q if w < 16.0 else s))


def erfinv_ratio(w):
    """erfinv(x) / x for w = -log(1 - x^2) below 6.25."""
    t = w - 3.125
    t2 = t * t
    p = 1.1444109366896403e-18 + t2 * -1.009058443076674e-21
    p = 6.594700151111866e-15 + t2 * (-1.3003906963128452e-16 + t2 * p)
    p = -1.2976958266595066e-11 + t2 * (-8.117008947809608e-14 + t2 * p)
    p = -2.9070382774818367e-08 + t2 * (1.051218398364637e-09 + t2 * p)
    p = 0.0001867342080242563 + t2 * (-1.3654691844348063e-06 + t2 * p)
    p = -0.006033670871427754 + t2 * p
    odd = -3.5754517523992206e-19 + t2 * 3.3756690863387392e-21
    odd = -4.286395870856118e-17 + t2 * (1.5759661233710234e-17 + t2 * odd)
    odd = 2.6303546538435915e-12 + t2 * (-3.9989792869354374e-14 + t2 * odd)
    odd = -4.112661977032423e-09 + t2 * (-5.414239027086038e-11 + t2 * odd)
    odd = -1.3882523395790565e-05 + t2 * (4.2347881907643623e-07 + t2 * odd)
    odd = -0.0007407025341539552 + t2 * odd
    p = p + t * odd
    return 1.6536545626831027 + t * (0.24015818242558826 + t * p)


def erfinv_near(x):
    """By the polynomial in w alone. Error 3.1 ulp."""
    return x * erfinv_ratio(-log_near((1.0 - x) * (1.0 + x)))


def erfinv_is_far(x):
    return not math.fabs(x) < 0.999


def ndtri(x):
    """sqrt(2) erfinv(2 x - 1), where 1 - (2 x - 1)^2 = 4 x (1 - x) has all its digits; from
    sqrt(w) = 6 on, where that has no polynomial, by another one."""
    y = 2.0 * x - 1.0
    w = -log(4.0 * x * (1.0 - x))
    root = np.sqrt(w)
    far = y * root * ndtri_tail((root - 12.75) / (root + 12.75))
    result = 1.4142135623730951 * (erfinv_of(y, w) if w < 36.0 else far)
    return math.copysign(inf, y) if w == inf else result


def ndtri_near(x):
    """As ndtri."""
    y = 2.0 * x - 1.0
    return 1.4142135623730951 * (y * erfinv_ratio(-log_near(4.0 * x * (1.0 - x))))


def ndtri_is_far(x):
    return not math.fabs(x - 0.5) < 0.4995


def ndtri_tail(t):
    """erfinv(y) / sqrt(w) for |y| near 1 of t = (sqrt(w) - 12.75) / (sqrt(w) + 12.75)."""
    t2 = t * t
    p = 0.039182207146696034 + t2 * 0.21781407589713414
    p = 0.0507355905288949 + t2 * (0.07929746232957756 + t2 * p)
    p = 0.00883671001651333 + t2 * (0.030841679894954694 + t2 * p)
    p = -0.02860388003040417 + t2 * (-0.0118119763334715 + t2 * p)
    p = -0.03532047180527608 + t2 * (-0.03823321755782363 + t2 * p)
    p = 0.9925277244602351 + t2 * p
    odd = -0.03242257369111807 + t2 * -0.23874645835918382
    odd = -0.05972291336397878 + t2 * (-0.09100500862681837 + t2 * odd)
    odd = -0.019779857609694362 + t2 * (-0.04166238544287005 + t2 * odd)
    odd = 0.020865231467221024 + t2 * (0.0017902986551388408 + t2 * odd)
    odd = 0.0387759043408538 + t2 * (0.03454525095364056 + t2 * odd)
    odd = 0.023768178756779106 + t2 * odd
    return p + t * odd


def erfcx(x):
    """e^x^2 erfc(x): from 0 on a polynomial in (a - 4) / (a + 4) over 1 + 2 a; below, 2 e^a^2 less
    that, where a^2 is in two parts."""
    a = math.fabs(x)
    b = 1e18 if a > 1e18 else a
    above = erfcx_ratio((b - 4.0) / (b + 4.0)) / (1.0 + 2.0 * a)
    b = 27.0 if a > 27.0 else a
    high = np.int64(np.float64(b).view(np.int64) & -134217728).view(np.float64)
    d = (b - high) * (b + high)
    rest = 1.0 + (d + d * d * (0.5 + d * 0.16666666666666666))
    below = 2.0 * exp(high * high) * rest - above
    return below if x < 0.0 else above


def erfcx_ratio(t):
    """(1 + 2 a) e^a^2 erfc(a) for t = (a - 4) / (a + 4)."""
    t2 = t * t
    p = 3.1122499733787283e-09 + t2 * -2.5624806409512984e-10
    p = 7.725131185554462e-08 + t2 * (-2.041278993319726e-08 + t2 * p)
    p = -1.1221413054457643e-05 + t2 * (2.921778583770022e-07 + t2 * p)
    p = -0.0007577732752557841 + t2 * (0.00015062154166707942 + t2 * p)
    p = -0.06633036581242127 + t2 * (-0.01619773405744477 + t2 * p)
    p = 0.015379652102619367 + t2 * (-0.1010390660362886 + t2 * p)
    p = 1.2329951186255526 + t2 * p
    odd = -1.2343895493900166e-08 + t2 * 9.306275024095851e-10
    odd = -8.210847519645958e-07 + t2 * (1.0633160792779044e-07 + t2 * odd)
    odd = -2.439774255601575e-05 + t2 * (5.706596965916369e-06 + t2 * odd)
    odd = 0.005031970067914152 + t2 * (-0.00019925714788510926 + t2 * odd)
    odd = 0.09373283499909593 + t2 * (0.037167515526526675 + t2 * odd)
    odd = -0.1396211168405623 + t2 * (0.06809705425466907 + t2 * odd)
    return p + t * odd
