"""Conversions of narrow types, stored as bits, to those they are computed in and back.

Each converts one element. Bit-exact: rounding is to nearest, ties to even; NaN stays NaN. They
vectorise: loads and stores of a kernel go through them.
"""

import numpy as np


def float16_to_float32(bits):
    """Put exponent and significand in float32's place; 2**112 corrects the bias, also of
    subnormals. An exponent of all ones stays one."""
    half = np.uint32(bits)
    magnitude = np.uint32((half & np.uint32(0x7FFF)) << np.uint32(13))
    scaled = np.float32(magnitude.view(np.float32) * np.float32(2.0**112))
    special = np.uint32(magnitude | np.uint32(0x7F800000))
    finite = scaled.view(np.uint32)
    wide = special if (half & np.uint32(0x7C00)) == np.uint32(0x7C00) else finite
    return np.uint32(wide | ((half & np.uint32(0x8000)) << np.uint32(16))).view(np.float32)


def float32_to_float16(value):
    """Below 2**-14, adding 0.5 lets the float32 adder round to float16's subnormal grid; above,
    rounding is an integer addition, and the bias changes with it."""
    wide = np.float32(value).view(np.uint32)
    magnitude = np.uint32(wide & np.uint32(0x7FFFFFFF))
    lifted = np.float32(magnitude.view(np.float32) + np.float32(0.5))
    subnormal = np.uint32(lifted.view(np.uint32) - np.uint32(0x3F000000))
    tie = np.uint32((magnitude >> np.uint32(13)) & np.uint32(1))
    rebiased = np.uint32(np.uint32(magnitude + np.uint32(0xC8000FFF)) + tie)
    normal = np.uint32(rebiased >> np.uint32(13))
    nan = np.uint32(0x7E00) | np.uint32((magnitude >> np.uint32(13)) & np.uint32(0x3FF))
    half = subnormal if magnitude < np.uint32(0x38800000) else normal
    half = np.uint32(0x7C00) if magnitude >= np.uint32(0x477FF000) else half
    half = nan if magnitude > np.uint32(0x7F800000) else half
    return np.uint16(half | np.uint32((wide >> np.uint32(16)) & np.uint32(0x8000)))


def bfloat16_to_float32(bits):
    """A bfloat16 is the upper half of a float32."""
    return np.uint32(np.uint32(bits) << np.uint32(16)).view(np.float32)


def float32_to_bfloat16(value):
    """Add half a unit in the last place, less one if the last kept bit is even; then cut."""
    wide = np.float32(value).view(np.uint32)
    upper = np.uint32(wide >> np.uint32(16))
    rounded = np.uint32(wide + np.uint32(0x7FFF) + (upper & np.uint32(1))) >> np.uint32(16)
    nan = np.uint32(0x7FC0) | np.uint32(upper & np.uint32(0x8000))
    is_nan = np.uint32(wide & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.uint16(nan if is_nan else rounded)


def float_of_bits(bits):
    """The float32 of these 32 bits."""
    return np.uint32(bits).view(np.float32)


def bits_of_float(value):
    """The 32 bits of a float32."""
    return np.float32(value).view(np.uint32)


def float_of_byte(bits, exponent_at, scale, is_nan):
    """Exponent and significand of a byte in float32's place, and the bias corrected, also of
    subnormals. exponent_at: how far they move. scale: two to the difference of the biases."""
    byte = np.uint32(bits)
    magnitude = np.uint32((byte & np.uint32(0x7F)) << np.uint32(exponent_at))
    scaled = bits_of_float(np.float32(float_of_bits(magnitude) * np.float32(scale)))
    wide = np.uint32(0x7FC00000) if is_nan else scaled
    return float_of_bits(np.uint32(wide | np.uint32((byte & np.uint32(0x80)) << np.uint32(24))))


def byte_of_float(value, digits, bias, largest, beyond, nan):
    """The sign, and below it the nearest number of so many binary digits behind the point.

    Where a float32 of `bias` is subnormal, adding a power of two lets the adder round to the grid;
    above, rounding is an integer addition. largest: the greatest finite number's code, beyond: that
    of what is greater."""
    magnitude = np.uint32(bits_of_float(value) & np.uint32(0x7FFFFFFF))
    dropped = np.uint32(23 - digits)
    grid = np.uint32((127 + 24 - bias - digits) << 23)
    lifted = np.float32(float_of_bits(magnitude) + float_of_bits(grid))
    subnormal = np.uint32(bits_of_float(lifted) - grid)
    tie = np.uint32((magnitude >> dropped) & np.uint32(1))
    half = np.uint32((1 << (22 - digits)) - 1)
    rounded = np.uint32(np.uint32(magnitude + half) + tie)
    normal = np.uint32(np.uint32(rounded - np.uint32((127 - bias) << 23)) >> dropped)
    code = subnormal if magnitude < np.uint32((128 - bias) << 23) else normal
    code = np.uint32(beyond) if code > np.uint32(largest) else code
    return np.uint32(nan) if magnitude > np.uint32(0x7F800000) else code


def sign_of_byte(value):
    """The sign of a float32 in a byte."""
    return np.uint32(np.uint32(bits_of_float(value) >> np.uint32(24)) & np.uint32(0x80))


def float8_e5m2_to_float32(bits):
    """The upper half of a float16."""
    return float16_to_float32(np.uint32(np.uint32(bits) << np.uint32(8)))


def float32_to_float8_e5m2(value):
    """Infinite beyond 57344."""
    code = byte_of_float(value, 2, 15, 0x7B, 0x7C, 0x7F)
    return np.uint8(code | sign_of_byte(value))


def float8_e4m3fn_to_float32(bits):
    """All ones are nan; there is no infinity."""
    is_nan = (np.uint32(bits) & np.uint32(0x7F)) == np.uint32(0x7F)
    return float_of_byte(bits, 20, 2.0**120, is_nan)


def float32_to_float8_e4m3fn(value):
    """Nothing, infinity neither, is beyond 448."""
    code = byte_of_float(value, 3, 7, 0x7E, 0x7E, 0x7F)
    return np.uint8(code | sign_of_byte(value))


def float8_e5m2fnuz_to_float32(bits):
    """The negative zero is nan; there is no infinity."""
    return float_of_byte(bits, 21, 2.0**111, np.uint32(bits) == np.uint32(0x80))


def float32_to_float8_e5m2fnuz(value):
    """Beyond 57344 it is nan; zero has no sign."""
    code = byte_of_float(value, 2, 16, 0x7F, 0x80, 0x80)
    return np.uint8(code | sign_of_byte(value) if code != np.uint32(0) else code)


def float8_e4m3fnuz_to_float32(bits):
    """The negative zero is nan; there is no infinity."""
    return float_of_byte(bits, 20, 2.0**119, np.uint32(bits) == np.uint32(0x80))


def float32_to_float8_e4m3fnuz(value):
    """Beyond 240 it is nan; zero has no sign."""
    code = byte_of_float(value, 3, 8, 0x7F, 0x80, 0x80)
    return np.uint8(code | sign_of_byte(value) if code != np.uint32(0) else code)


def float8_e8m0fnu_to_float32(bits):
    """A power of two: float32's exponent, of which 0 is 2**-127 and 255 is nan."""
    byte = np.uint32(bits)
    wide = np.uint32(0x00400000) if byte == np.uint32(0) else np.uint32(byte << np.uint32(23))
    return float_of_bits(np.uint32(0x7FC00000) if byte == np.uint32(0xFF) else wide)


def float32_to_float8_e8m0fnu(value):
    """The nearest power of two of the size, from the middle on the larger one; 2**-127 is the
    least, and infinity is nan."""
    magnitude = np.uint32(bits_of_float(value) & np.uint32(0x7FFFFFFF))
    exponent = np.uint32(magnitude >> np.uint32(23))
    rest = np.uint32(magnitude & np.uint32(0x007FFFFF))
    middle = np.uint32(0x00400000) if exponent > np.uint32(0) else np.uint32(0x00400001)
    up = np.uint32(1) if rest >= middle else np.uint32(0)
    return np.uint8(np.uint32(0xFF) if exponent == np.uint32(0xFF) else np.uint32(exponent + up))


def complex32_to_complex64(bits):
    """The real part stands in the lower half."""
    pair = np.uint32(bits)
    real = float16_to_float32(np.uint32(pair & np.uint32(0xFFFF)))
    imag = float16_to_float32(np.uint32(pair >> np.uint32(16)))
    return np.complex64(complex(real, imag))


def complex64_to_complex32(value):
    """Each part rounded by itself."""
    real, imag = float32_to_float16(value.real), float32_to_float16(value.imag)
    return np.uint32(np.uint32(real) | np.uint32(np.uint32(imag) << np.uint32(16)))
