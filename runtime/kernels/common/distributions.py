"""What random words become: the number that a formula reads, for the texts of every backend.

In float32 a word makes a number, in float64 two words do, the high one first. T is the type of the
number; a word has 32 bits, in whatever unsigned type it comes.
"""

from __future__ import annotations


def uniform_single(word):
    """24 random bits, as many as a float32 in [1/2, 1) holds."""
    return T(np.int32(word >> np.uint32(8))) * T(2.0**-24)


def uniform_double(high, low):
    """53 random bits from two words."""
    bits = T(np.int32(high >> np.uint32(5))) * T(67108864) + T(np.int32(low >> np.uint32(6)))
    return bits * T(2.0**-53)


def positive_single(word):
    """31 random bits, and half of the last one's worth."""
    return (T(np.int32(word >> np.uint32(1))) + T(0.5)) * T(2.0**-31)


def positive_double(high, low):
    """The same with 53 random bits."""
    bits = T(np.int32(high >> np.uint32(5))) * T(67108864) + T(np.int32(low >> np.uint32(6)))
    return (bits + T(0.5)) * T(2.0**-53)


def below_single(word, span):
    """floor(word / 2**32 * span), for a span up to 2**32."""
    return np.int64((np.uint64(word) * span) >> np.uint64(32))


def below_double(high, low, span):
    """Two words modulo span; a span of 0 stands for 2**64."""
    drawn = (np.uint64(high) << np.uint64(32)) | np.uint64(low)
    return np.int64(drawn % span if span != 0 else drawn)


def chance_single(word, threshold):
    """Whether a word is below the threshold."""
    return np.uint64(word) < threshold


def chance_of_element(word, p):
    """Whether a word is below p * 2**32."""
    return np.float64(word) < np.float64(p) * 2.0**32
