"""Normal numbers, for the texts of `draw_text.py`: Box and Muller, by the CPU's formulas.

Two numbers give a radius and an angle, and so two normal ones. The angle is told in half turns:
nothing has to be reduced, which takes a table in memory. log, cos and sin are libdevice's.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.common import distributions
from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function

uniform_single, positive_single = map(
    device_function, (distributions.uniform_single, distributions.positive_single)
)
uniform_double, positive_double = map(
    device_function, (distributions.uniform_double, distributions.positive_double)
)


@device_function
def normal_single(word, other, std):
    """A word for the radius, and one for the angle."""
    radius = T(std * sqrt(T(T(-2) * log(positive_single(word)))))
    angle = T(T(2) * uniform_single(other))
    return T(radius * libdevice.cospif(angle)), T(radius * libdevice.sinpif(angle))


@device_function
def normal_double(w0, w1, w2, w3, std):
    """The same with two words for the radius and two for the angle."""
    radius = T(std * sqrt(T(T(-2) * log(positive_double(w0, w1)))))
    angle = T(T(2) * uniform_double(w2, w3))
    return T(radius * libdevice.cospi(angle)), T(radius * libdevice.sinpi(angle))
