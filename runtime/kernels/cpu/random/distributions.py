"""What random words become: the number that a formula reads, for the loops of `draw_text.py`.

Number `i` of run `w` of a chunk of blocks is made of word `w`, in float64 of words `2 * w` and
`2 * w + 1`. words: uint32, (4, CHUNK).
"""

from __future__ import annotations

TWO_PI = 6.283185307179586


def uniform_single(words, w, i):
    """24 random bits, as many as a float32 in [1/2, 1) holds."""
    return T(np.int32(words[w, i] >> np.uint32(8))) * T(2.0**-24)


def uniform_double(words, w, i):
    """53 random bits from two words."""
    high = T(np.int32(words[2 * w, i] >> np.uint32(5)))
    low = T(np.int32(words[2 * w + 1, i] >> np.uint32(6)))
    return (high * T(67108864) + low) * T(2.0**-53)


def positive_single(words, w, i):
    """31 random bits, and half of the last one's worth."""
    return (T(np.int32(words[w, i] >> np.uint32(1))) + T(0.5)) * T(2.0**-31)


def positive_double(words, w, i):
    """The same with 53 random bits."""
    high = T(np.int32(words[2 * w, i] >> np.uint32(5)))
    low = T(np.int32(words[2 * w + 1, i] >> np.uint32(6)))
    return (high * T(67108864) + low + T(0.5)) * T(2.0**-53)


def normal_pairs_single(words, w, count, std, radius, turn):
    """Box and Muller: a pair of words gives a radius and an angle, and so two numbers.

    radius * turn[0] are the numbers of run w, radius * turn[1] those of the next.
    """
    for i in range(count):
        u = (T(np.int32(words[w, i] >> np.uint32(1))) + T(0.5)) * T(2.0**-31)
        angle = T(np.int32(words[w + 1, i] >> np.uint32(8))) * T(TWO_PI * 2.0**-24)
        radius[i] = T(std) * sqrt(T(-2) * log(u))
        turn[0, i] = cos(angle)
        turn[1, i] = sin(angle)


def normal_pairs_double(words, w, count, std, radius, turn):
    """The same with two words for the radius and two for the angle."""
    for i in range(count):
        high = T(np.int32(words[0, i] >> np.uint32(5))) * T(67108864)
        u = (high + T(np.int32(words[1, i] >> np.uint32(6))) + T(0.5)) * T(2.0**-53)
        high = T(np.int32(words[2, i] >> np.uint32(5))) * T(67108864)
        angle = (high + T(np.int32(words[3, i] >> np.uint32(6)))) * T(2.0**-53) * T(TWO_PI)
        radius[i] = std * sqrt(T(-2) * log(u))
        turn[0, i] = cos_near(angle)
        turn[1, i] = sin_near(angle)


def below_single(words, w, i, span):
    """floor(word / 2**32 * span), for a span up to 2**32."""
    return np.int64((np.uint64(words[w, i]) * span) >> np.uint64(32))


def below_double(words, w, i, span):
    """Two words modulo span; a span of 0 stands for 2**64."""
    drawn = (np.uint64(words[2 * w, i]) << np.uint64(32)) | np.uint64(words[2 * w + 1, i])
    return np.int64(drawn % span if span else drawn)


def chance_single(words, w, i, threshold):
    """Whether a word is below the threshold."""
    return np.uint64(words[w, i]) < threshold


def chance_of_element(words, w, i, p):
    """Whether a word is below p * 2**32."""
    return words[w, i] < np.float64(p) * 2.0**32
