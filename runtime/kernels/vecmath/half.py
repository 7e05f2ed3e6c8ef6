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
