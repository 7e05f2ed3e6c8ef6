"""Modified Bessel functions of float64.

Each is one polynomial near 0 and another far out, of which the right one is chosen: no branch. `t`
is the argument, its square or its inverse, moved to [-1, 1].
"""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.constants import inf
from torchgen_out._runtime.kernels.vecmath.float64.exponential import exp, exp_near
from torchgen_out._runtime.kernels.vecmath.float64.logarithmic import log

T = np.float64

# -- of the first kind --------------------------------------------------------------------------


def i0(x):
    """Beyond 8, where e^x overflows before the result does, by its root."""
    a = math.fabs(x)
    half = exp(0.5 * a)
    near = i0_below_8(0.015625 * a * a)
    return near if a < 8.0 else half * i0e_beyond_8(a) * half


def i0e(x):
    """e^-|x| I0(x)."""
    a = math.fabs(x)
    near = i0_below_8(0.015625 * a * a) * exp(-a)
    return near if a < 8.0 else i0e_beyond_8(a)


def i1(x):
    """As i0."""
    a = math.fabs(x)
    half = exp(0.5 * a)
    near = i1_below_8(0.015625 * a * a) * a
    far = half * i1e_beyond_8(a) * half
    return math.copysign(near if a < 8.0 else far, x)


def i1e(x):
    """e^-|x| I1(x)."""
    a = math.fabs(x)
    near = i1_below_8(0.015625 * a * a) * exp(-a) * a
    far = i1e_beyond_8(a)
    return math.copysign(near if a < 8.0 else far, x)


def i0_near(x):
    """Of |x| < 8."""
    return i0_below_8(0.015625 * x * x)


def i0_is_far(x):
    return not math.fabs(x) < 8.0


def i0e_near(x):
    """Of |x| < 8."""
    return i0_below_8(0.015625 * x * x) * exp_near(-math.fabs(x))


def i0e_is_far(x):
    return not math.fabs(x) < 8.0


def i1_near(x):
    """Of |x| < 8."""
    return i1_below_8(0.015625 * x * x) * x


def i1_is_far(x):
    return not math.fabs(x) < 8.0


def i1e_near(x):
    """Of |x| < 8."""
    return i1_below_8(0.015625 * x * x) * exp_near(-math.fabs(x)) * x


def i1e_is_far(x):
    return not math.fabs(x) < 8.0


def i0e_beyond_8(a):
    """e^-a I0(a)."""
    a = 8.0 if a < 8.0 else a
    root = 1.0 / np.sqrt(a)
    return i0_of_inverse(16.0 * root * root - 1.0) * root


def i1e_beyond_8(a):
    """e^-a I1(a)."""
    a = 8.0 if a < 8.0 else a
    root = 1.0 / np.sqrt(a)
    return i1_of_inverse(16.0 * root * root - 1.0) * root


def i0_below_8(t):
    """I0(x) for t = x^2 / 64."""
    t2 = t * t
    p = 0.0012231746738697886 + t2 * 8.122464940228549e-06
    p = 2.6419145049093613 + t2 * (0.08349542887015754 + t2 * p)
    p = 113.77777777766907 + t2 * (32.36345677663901 + t2 * p)
    p = 1.0 + t2 * (63.99999999999991 + t2 * p)
    odd = 0.00011888423407838586 + t2 * 1.0605397942072467e-06
    odd = 0.5218607158016076 + t2 * (0.01104427837613375 + t2 * odd)
    odd = 72.8177777792963 + t2 * (10.567659440548246 + t2 * odd)
    odd = 16.0 + t2 * (113.7777777777823 + t2 * odd)
    return p + t * odd


def i0_of_inverse(t):
    """sqrt(x) e^-x I0(x) for t = 16 / x - 1."""
    t2 = t * t
    p = 4.41129225103545e-10 + t2 * -5.7782871473103027e-11
    p = 3.5790207407833693e-09 + t2 * (-1.577619620570678e-09 + t2 * p)
    p = 7.399380808502532e-09 + t2 * (-5.900683888214508e-09 + t2 * p)
    p = -6.7506987088317986e-09 + t2 * (-5.392709984724808e-09 + t2 * p)
    p = 8.872215409767495e-08 + t2 * (2.1548855716553583e-08 + t2 * p)
    p = 0.00013621607439189736 + t2 * (1.4838475677891293e-06 + t2 * p)
    p = 0.4021765094450081 + t2 * p
    odd = 1.6566991774594952e-10 + t2 * -2.2545548315083223e-11
    odd = 1.5639416431196388e-09 + t2 * (-6.030910692403633e-10 + t2 * odd)
    odd = 7.574293399047546e-09 + t2 * (-3.5442267972311176e-09 + t2 * odd)
    odd = 7.55660487764387e-09 + t2 * (-1.34169715195777e-08 + t2 * odd)
    odd = 2.973598809907565e-07 + t2 * (3.93255667160966e-08 + t2 * odd)
    odd = 0.0033605519836678705 + t2 * (1.1143033790118527e-05 + t2 * odd)
    return p + t * odd


def i1_below_8(t):
    """I1(x) / x for t = x^2 / 64."""
    t2 = t * t
    p = 4.835384399133233e-05 + t2 * 5.008403851490196e-07
    p = 0.14677334686779234 + t2 * (0.0037965514317167496 + t2 * p)
    p = 11.377777778001372 + t2 * (2.311675503338798 + t2 * p)
    p = 0.5 + t2 * (10.66666666666697 + t2 * p)
    odd = 0.0004586052039568686 + t2 * 3.531578785856972e-06
    odd = 0.6604786209555745 + t2 * (0.026092271267102965 + t2 * odd)
    odd = 14.222222222210664 + t2 * (6.068148145612906 + t2 * odd)
    odd = 3.999999999999997 + t2 * odd
    return p + t * odd


def i1_of_inverse(t):
    """sqrt(x) e^-x I1(x) for t = 16 / x - 1."""
    t2 = t * t
    p = -4.58134586055162e-10 + t2 * 5.996175337788134e-11
    p = -3.731598625093422e-09 + t2 * (1.6406306539097731e-09 + t2 * p)
    p = -7.855073060820865e-09 + t2 * (6.186137398982742e-09 + t2 * p)
    p = 6.737725315738773e-09 + t2 * (5.961517196468207e-09 + t2 * p)
    p = -1.0001283633274978e-07 + t2 * (-2.337444133031562e-08 + t2 * p)
    p = -0.0002192357638338531 + t2 * (-1.8349101348203903e-06 + t2 * p)
    p = 0.38939845902587233 + t2 * p
    odd = -1.5330727153820638e-10 + t2 * 2.0859063316671168e-11
    odd = -1.4835043345759116e-09 + t2 * (5.617844141808946e-10 + t2 * odd)
    odd = -7.664474486122282e-09 + t2 * (3.465224499566836e-09 + t2 * odd)
    odd = -8.42970276194438e-09 + t2 * (1.4042412109208055e-08 + t2 * odd)
    odd = -3.483855983852458e-07 + t2 * (-4.312889798850735e-08 + t2 * odd)
    odd = -0.009749577193235746 + t2 * (-1.5038547199751106e-05 + t2 * odd)
    return p + t * odd


# -- of the second kind -------------------------------------------------------------------------


def k0(x):
    """Infinite at 0, nan below."""
    return k0_to_2(x) if x <= 2.0 else exp(-x) * k0e_beyond_2(x)


def k0e(x):
    """e^x K0(x)."""
    return exp(x) * k0_to_2(x) if x <= 2.0 else k0e_beyond_2(x)


def k1(x):
    """Infinite at 0, nan below."""
    return k1_to_2(x) if x <= 2.0 else exp(-x) * k1e_beyond_2(x)


def k1e(x):
    """e^x K1(x)."""
    return exp(x) * k1_to_2(x) if x <= 2.0 else k1e_beyond_2(x)


def k0_to_2(x):
    """K0 is -log(x / 2) I0 and a power series of x^2."""
    t = 0.5 * x * x - 1.0
    return k0_series(t) - log(0.5 * x) * i0_to_2(t)


def k1_to_2(x):
    """K1 is 1 / x and log(x / 2) I1 and a power series of x^2."""
    t = 0.5 * x * x - 1.0
    result = k1_series(t) / x + log(0.5 * x) * (x * i1_to_2(t))
    return inf if x == 0.0 else result


def k0e_beyond_2(x):
    """e^x K0(x)."""
    root = 1.0 / np.sqrt(x)
    return k0_of_inverse(4.0 * root * root - 1.0) * root


def k1e_beyond_2(x):
    """e^x K1(x)."""
    root = 1.0 / np.sqrt(x)
    return k1_of_inverse(4.0 * root * root - 1.0) * root


def i0_to_2(t):
    """I0(x) for t = x^2 / 2 - 1."""
    t2 = t * t
    p = 3.236227986931128e-08 + t2 * 2.5367010890442752e-12
    p = 0.07358986836105413 + t2 * (0.00011982068581238761 + t2 * p)
    p = 1.5660829297563506 + t2 * p
    odd = 2.357578962024468e-06 + t2 * 3.273596133074781e-10
    odd = 0.635861728156068 + t2 * (0.003928565105643897 + t2 * odd)
    return p + t * odd


def i1_to_2(t):
    """I1(x) / x for t = x^2 / 2 - 1."""
    t2 = t * t
    p = 2.2912736669388367e-09 + t2 * 1.4023730997188142e-13
    p = 0.011785695316910448 + t2 * (1.1787894939358803e-05 + t2 * p)
    p = 0.6358617281560686 + t2 * p
    odd = 1.9417364085910065e-07 + t2 * 2.0319223285734238e-11
    odd = 0.14717973672210669 + t2 * (0.0004792827432654939 + t2 * odd)
    return p + t * odd


def k0_series(t):
    """K0(x) + log(x / 2) I0(x) for t = x^2 / 2 - 1."""
    t2 = t * t
    p = 6.093361894172079e-08 + t2 * 5.452564662948713e-12
    p = 0.07177701034240509 + t2 * (0.0001828055582791554 + t2 * p)
    p = -0.30362077291575545 + t2 * p
    odd = 6.623013268398681e-10 + t2 * 3.5186510525919104e-14
    odd = 0.005053392643196092 + t2 * (4.0545066199502205e-06 + t2 * odd)
    odd = 0.3404973210133806 + t2 * odd
    return p + t * odd


def k0_of_inverse(t):
    """sqrt(x) e^x K0(x) for t = 4 / x - 1."""
    t2 = t * t
    p = -3.1268155655054365e-10 + t2 * 1.0939468093905064e-10
    p = 4.5372086119030375e-11 + t2 * (8.150287880194794e-10 + t2 * p)
    p = 1.7046546329004956e-08 + t2 * (3.810241657589519e-09 + t2 * p)
    p = 7.427800495829777e-07 + t2 * (1.0295465929146711e-07 + t2 * p)
    p = 9.956054741969345e-05 + t2 * (7.002245655028785e-06 + t2 * p)
    p = 1.2185953385133905 + t2 * (0.0030328918102753358 + t2 * p)
    odd = 2.646878743472901e-10 + t2 * -7.663788095388038e-11
    odd = 3.3313430646525e-10 + t2 * (-6.623730204903462e-10 + t2 * odd)
    odd = -7.205886326785491e-09 + t2 * (-2.0689525286082925e-09 + t2 * odd)
    odd = -2.688990695455624e-07 + t2 * (-4.1370004091163205e-08 + t2 * odd)
    odd = -2.4735204467035743e-05 + t2 * (-2.1911789212049345e-06 + t2 * odd)
    odd = -0.031071461824889478 + t2 * (-0.0004797690567698637 + t2 * odd)
    return p + t * odd


def k1_series(t):
    """x (K1(x) - log(x / 2) I1(x)) for t = x^2 / 2 - 1."""
    t2 = t * t
    p = -7.081133691517325e-07 + t2 * -8.533634168989023e-11
    p = -0.2438385288677433 + t2 * (-0.001383168846618116 + t2 * p)
    p = 0.8850882877295894 + t2 * p
    odd = -9.032127492211754e-09 + t2 * -6.214313968123857e-13
    odd = -0.02785423521977184 + t2 * (-3.891869064372348e-05 + t2 * odd)
    odd = -0.3322409552403131 + t2 * odd
    return p + t * odd


def k1_of_inverse(t):
    """sqrt(x) e^x K1(x) for t = 4 / x - 1."""
    t2 = t * t
    p = 3.370025666998258e-10 + t2 * -1.1901185960548776e-10
    p = -8.869608405850112e-11 + t2 * (-8.8688296240834e-10 + t2 * p)
    p = -1.9819953932453864e-08 + t2 * (-4.327497724390125e-09 + t2 * p)
    p = -9.06708938392693e-07 + t2 * (-1.2203104670934964e-07 + t2 * p)
    p = -0.00013959021956412953 + t2 * (-8.961207365848692e-06 + t2 * p)
    p = 1.363151890371342 + t2 * (-0.005566729880074553 + t2 * p)
    odd = -3.0306753394110883e-10 + t2 * 8.622769533161778e-11
    odd = -4.0468615350388785e-10 + t2 * (7.620618014361079e-10 + t2 * odd)
    odd = 8.292052882616614e-09 + t2 * (2.3769511037407056e-09 + t2 * odd)
    odd = 3.2297018073986137e-07 + t2 * (4.85068075103893e-08 + t2 * odd)
    odd = 3.284386542071523e-05 + t2 * (2.730043084717934e-06 + t2 * odd)
    odd = 0.10334973775386516 + t2 * (0.0007357241549134373 + t2 * odd)
    return p + t * odd
