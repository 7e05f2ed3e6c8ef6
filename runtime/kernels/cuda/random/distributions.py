"""What turns the four random words of a block into numbers, for `filling.py`.

In float32 a word makes a number, in float64 two words do. The formulas are the CPU's, step by step:
results are equal but for log, cos and sin, which are libdevice's here.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function


@device_function
def uniform_number(word, low, width):
    """24 random bits, as many as a float32 in [1/2, 1) holds."""
    return T(low + T(np.int32(word >> np.uint64(8))) * width)


@device_function
def uniform_single(w0, w1, w2, w3, low, width):
    """Four numbers of 24 random bits. width: times 2**-24."""
    return (
        uniform_number(w0, low, width),
        uniform_number(w1, low, width),
        uniform_number(w2, low, width),
        uniform_number(w3, low, width),
    )


@device_function
def bits_of_pair(high, low):
    """53 random bits from two words, as a number below 2**53."""
    return T(T(np.int32(high >> np.uint64(5))) * T(67108864) + T(np.int32(low >> np.uint64(6))))


@device_function
def uniform_double(w0, w1, w2, w3, low, width):
    """Two numbers of 53 random bits. width: times 2**-53."""
    first = T(low + bits_of_pair(w0, w1) * width)
    return first, T(low + bits_of_pair(w2, w3) * width), first, first


@device_function
def open_unit(word):
    """A number of 31 random bits in the open interval (0, 1)."""
    return T((T(np.int32(word >> np.uint64(1))) + T(0.5)) * T(2.0**-31))


@device_function
def normal_single(w0, w1, w2, w3, mean, std):
    """Box and Muller: a pair of words gives a radius and an angle, and so two numbers.

    The angle is told in half turns: nothing has to be reduced, which takes a table in memory.
    """
    turn = T(2.0**-23)
    first = T(std * sqrt(T(T(-2) * log(open_unit(w0)))))
    second = T(std * sqrt(T(T(-2) * log(open_unit(w2)))))
    a = T(T(np.int32(w1 >> np.uint64(8))) * turn)
    b = T(T(np.int32(w3 >> np.uint64(8))) * turn)
    return (
        T(mean + first * libdevice.cospif(a)),
        T(mean + first * libdevice.sinpif(a)),
        T(mean + second * libdevice.cospif(b)),
        T(mean + second * libdevice.sinpif(b)),
    )


@device_function
def normal_double(w0, w1, w2, w3, mean, std):
    """The same with two words for the radius and two for the angle."""
    u = T((bits_of_pair(w0, w1) + T(0.5)) * T(2.0**-53))
    angle = T(bits_of_pair(w2, w3) * T(2.0**-52))
    radius = T(std * sqrt(T(T(-2) * log(u))))
    first = T(mean + radius * libdevice.cospi(angle))
    return first, T(mean + radius * libdevice.sinpi(angle)), first, first


@device_function
def wait_single(word, scale):
    """-log(u) * scale; where u rounds to 1, half of the machine epsilon stands for -log(u)."""
    wait = T(-log(open_unit(word)))
    return T((wait if wait > T(0) else T(2.0**-24)) * scale)


@device_function
def exponential_single(w0, w1, w2, w3, scale, unused):
    """Four waits."""
    return (
        wait_single(w0, scale),
        wait_single(w1, scale),
        wait_single(w2, scale),
        wait_single(w3, scale),
    )


@device_function
def wait_double(high, low, scale):
    """The same with 53 random bits."""
    wait = T(-log(T((bits_of_pair(high, low) + T(0.5)) * T(2.0**-53))))
    return T((wait if wait > T(0) else T(2.0**-53)) * scale)


@device_function
def exponential_double(w0, w1, w2, w3, scale, unused):
    """Two waits."""
    first = wait_double(w0, w1, scale)
    return first, wait_double(w2, w3, scale), first, first


@device_function
def whole_narrow(w0, w1, w2, w3, offset, span):
    """offset + floor(word / 2**32 * span), for a span up to 2**32."""
    half = np.uint64(32)
    return (
        np.int64(offset + ((w0 * span) >> half)),
        np.int64(offset + ((w1 * span) >> half)),
        np.int64(offset + ((w2 * span) >> half)),
        np.int64(offset + ((w3 * span) >> half)),
    )


@device_function
def whole_wide(w0, w1, w2, w3, offset, span):
    """offset + two words modulo span; a span of 0 stands for 2**64."""
    half = np.uint64(32)
    a, b = np.uint64((w0 << half) | w1), np.uint64((w2 << half) | w3)
    if span != 0:
        a, b = np.uint64(a % span), np.uint64(b % span)
    first = np.int64(offset + a)
    return first, np.int64(offset + b), first, first


@device_function
def below(w0, w1, w2, w3, threshold, unused):
    """Whether a word is below the threshold, as 0 or 1."""
    return (
        np.int64(1 if w0 < threshold else 0),
        np.int64(1 if w1 < threshold else 0),
        np.int64(1 if w2 < threshold else 0),
        np.int64(1 if w3 < threshold else 0),
    )


UNIFORM = {1: (uniform_single, 2.0**-24), 2: (uniform_double, 2.0**-53)}
"""By words of a number: the formula, and what its width is multiplied by."""
NORMAL = {1: (normal_single, 1.0), 2: (normal_double, 1.0)}
EXPONENTIAL = {1: (exponential_single, 1.0), 2: (exponential_double, 1.0)}
