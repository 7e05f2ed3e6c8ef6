"""What random words become: the number that a formula reads, for the texts of `draw_text.py`.

In float32 a word makes a number, in float64 two words do. The formulas are the CPU's, step by step:
results are equal but for log, cos and sin, which are libdevice's here.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function


@device_function
def uniform_single(word):
    """24 random bits, as many as a float32 in [1/2, 1) holds."""
    return T(T(np.int32(word >> np.uint64(8))) * T(2.0**-24))


@device_function
def bits_of_pair(high, low):
    """53 random bits from two words, as a number below 2**53."""
    return T(T(np.int32(high >> np.uint64(5))) * T(67108864) + T(np.int32(low >> np.uint64(6))))


@device_function
def uniform_double(high, low):
    """53 random bits from two words."""
    return T(bits_of_pair(high, low) * T(2.0**-53))


@device_function
def positive_single(word):
    """31 random bits, and half of the last one's worth."""
    return T((T(np.int32(word >> np.uint64(1))) + T(0.5)) * T(2.0**-31))


@device_function
def positive_double(high, low):
    """The same with 53 random bits."""
    return T((bits_of_pair(high, low) + T(0.5)) * T(2.0**-53))


@device_function
def normal_pair_single(word, other, std):
    """Box and Muller: a pair of words gives a radius and an angle, and so two numbers.

    The angle is told in half turns: nothing has to be reduced, which takes a table in memory.
    """
    radius = T(std * sqrt(T(T(-2) * log(positive_single(word)))))
    angle = T(T(np.int32(other >> np.uint64(8))) * T(2.0**-23))
    return T(radius * libdevice.cospif(angle)), T(radius * libdevice.sinpif(angle))


@device_function
def normal_pair_double(w0, w1, w2, w3, std):
    """The same with two words for the radius and two for the angle."""
    radius = T(std * sqrt(T(T(-2) * log(positive_double(w0, w1)))))
    angle = T(bits_of_pair(w2, w3) * T(2.0**-52))
    return T(radius * libdevice.cospi(angle)), T(radius * libdevice.sinpi(angle))


@device_function
def below_single(word, span):
    """floor(word / 2**32 * span), for a span up to 2**32."""
    return np.int64((word * span) >> np.uint64(32))


@device_function
def below_double(high, low, span):
    """Two words modulo span; a span of 0 stands for 2**64."""
    drawn = np.uint64((high << np.uint64(32)) | low)
    return np.int64(np.uint64(drawn % span) if span != 0 else drawn)


@device_function
def chance_single(word, threshold):
    """Whether a word is below the threshold."""
    return word < threshold


@device_function
def chance_of_element(word, p):
    """Whether a word is below p * 2**32."""
    return np.float64(word) < np.float64(p) * 4294967296.0
