"""The Airy function Ai of float64."""

import math

import numpy as np

from torchgen_out._runtime.kernels.vecmath.float64.exponential import exp
from torchgen_out._runtime.kernels.vecmath.float64.trigonometric import (
    cos,
    cos_near,
    sin,
    sin_near,
)

T = np.float64


def airy_ai(x):
    """A polynomial of degree 33 between -4 and 2; below, waves; above, an exponential: of zeta =
    2/3 |x|^(3/2), with factors that are smooth in 1 / zeta."""
    phase = airy_zeta(x) + 0.7853981633974483
    return airy_of(x, sin(phase), cos(phase))


def airy_ai_near(x):
    """As airy_ai."""
    phase = airy_zeta(x) + 0.7853981633974483
    return airy_of(x, sin_near(phase), cos_near(phase))


def airy_ai_is_far(x):
    return x < -50000.0


def airy_ai_nearest(x):
    """Between -4 and 2."""
    return airy_over_zero(x)


def airy_ai_is_beyond(x):
    return not math.fabs(x + 1.0) < 3.0


def airy_zeta(x):
    """2/3 |x|^(3/2)."""
    a = math.fabs(x)
    return 0.6666666666666666 * a * np.sqrt(a)


def airy_of(x, s, c):
    """Ai(x), given the sine and cosine of zeta + pi/4."""
    a = 2.0 if math.fabs(x) < 2.0 else math.fabs(x)
    zeta = airy_zeta(a)
    root = np.sqrt(np.sqrt(a))
    w = 1.0 / zeta
    t = 56.888888888888886 * w * w - 1.0
    waves = (airy_even(t) * s - airy_odd(t) * w * c) / root
    falling = airy_falling(3.7712361663282534 * w - 1.0) * exp(-zeta) / root
    return waves if x < -4.0 else (falling if x > 2.0 else airy_over_zero(x))


def airy_over_zero(x):
    """Ai(x) around its first zero, which is in two parts."""
    factor = (x + 2.338107410459767) + 3.912260409818305e-17
    return factor * airy_middle((x + 1.0) * 0.3333333333333333)


def airy_middle(t):
    """Ai(x) over its first zero, for t = (x + 1) / 3."""
    t2 = t * t
    p = 2.477726151782414e-09 + t2 * -1.5957644680424197e-10
    p = -1.724582416739118e-07 + t2 * (-8.101609532966969e-09 + t2 * p)
    p = -8.401949641636627e-06 + t2 * (2.3348506880503025e-06 + t2 * p)
    p = 0.0007887702782847433 + t2 * (-6.257433576736204e-05 + t2 * p)
    p = -0.005904019973987678 + t2 * (-0.0026484622561867136 + t2 * p)
    p = -0.19260578188537852 + t2 * (0.07348646586640867 + t2 * p)
    p = 1.0288805817975974 + t2 * (-0.03955198255974135 + t2 * p)
    p = 0.2617728182099415 + t2 * (-1.4992216708644506 + t2 * p)
    p = 0.4002375886314956 + t2 * p
    odd = -5.148905500869097e-11 + t2 * 2.95444954973739e-11
    odd = 8.725191579820732e-08 + t2 * (-6.439537277937378e-09 + t2 * odd)
    odd = -3.7689479272132184e-06 + t2 * (-3.0484581829918374e-07 + t2 * odd)
    odd = -0.0001745808402250035 + t2 * (4.9237910621472064e-05 + t2 * odd)
    odd = 0.009192231609115416 + t2 * (-0.0007466078054841264 + t2 * odd)
    odd = -0.026476396583685727 + t2 * (-0.02800352570080296 + t2 * odd)
    odd = -0.7733055356154604 + t2 * (0.3701913760364687 + t2 * odd)
    odd = 1.2483512602599762 + t2 * (0.10391296575087185 + t2 * odd)
    odd = -0.9201013742397482 + t2 * odd
    return p + t * odd


def airy_falling(t):
    """x^(1/4) e^zeta Ai(x) for t = 2 zeta(2) / zeta - 1."""
    t2 = t * t
    p = -7.06048690452702e-11 + t2 * 2.3772601575519107e-11
    p = -2.1770882031799225e-11 + t2 * (1.7517098331228703e-10 + t2 * p)
    p = 2.81648232269012e-09 + t2 * (6.821351009016888e-10 + t2 * p)
    p = 1.1275575974180089e-07 + t2 * (1.636728745430222e-08 + t2 * p)
    p = 1.3671255956470549e-05 + t2 * (1.0121089956488841e-06 + t2 * p)
    p = 0.2774908024616546 + t2 * (0.00039865677489458605 + t2 * p)
    odd = 6.124574570923042e-11 + t2 * -1.716229966954711e-11
    odd = 9.394168093278528e-11 + t2 * (-1.4879572712191377e-10 + t2 * odd)
    odd = -1.203379857269018e-09 + t2 * (-3.9399101496287947e-10 + t2 * odd)
    odd = -4.1782245773188666e-08 + t2 * (-6.727140289506694e-09 + t2 * odd)
    odd = -3.48510924560778e-06 + t2 * (-3.246987445249535e-07 + t2 * odd)
    odd = -0.004122380595849483 + t2 * (-6.427592277726706e-05 + t2 * odd)
    return p + t * odd


def airy_even(t):
    """The factor of the sine for t = 2 (zeta(4) / zeta)^2 - 1."""
    t2 = t * t
    p = -4.216415926298338e-13 + t2 * 3.900406157553039e-13
    p = 1.312106538925083e-11 + t2 * (3.0601414753470826e-12 + t2 * p)
    p = 1.8288226148793144e-09 + t2 * (1.2657438091641322e-10 + t2 * p)
    p = 8.044614361421856e-06 + t2 * (5.665672125037005e-08 + t2 * p)
    p = 0.5638306015530917 + t2 * p
    odd = 1.256828042499528e-13 + t2 * -6.204267876506863e-13
    odd = -3.92911026500259e-11 + t2 * (-6.208924919414905e-12 + t2 * odd)
    odd = -8.984794713100747e-09 + t2 * (-4.478617626533905e-10 + t2 * odd)
    odd = -0.00035035842624883353 + t2 * (-5.108471352145406e-07 + t2 * odd)
    return p + t * odd


def airy_odd(t):
    """zeta times the factor of the cosine for t = 2 (zeta(4) / zeta)^2 - 1."""
    t2 = t * t
    p = 9.003882734053743e-13 + t2 * 8.802014826765375e-12
    p = 6.460946980678084e-10 + t2 * (9.337560442685552e-11 + t2 * p)
    p = 1.8221830125657695e-07 + t2 * (7.854082284373266e-09 + t2 * p)
    p = 0.03882108080924146 + t2 * (1.4675206965405838e-05 + t2 * p)
    odd = 4.3256669077726155e-12 + t2 * -5.4886081865207395e-12
    odd = -2.1388453757404625e-10 + t2 * (-4.3776563665395927e-11 + t2 * odd)
    odd = -3.4021138110270873e-08 + t2 * (-2.128663801212427e-09 + t2 * odd)
    odd = -0.0003425373724541242 + t2 * (-1.3115719731212646e-06 + t2 * odd)
    return p + t * odd
