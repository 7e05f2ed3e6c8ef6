"""Normal numbers, for the loops of `draw_text.py`: Box and Muller.

Two numbers give a radius and an angle, and so two normal ones: radius * turn[0] those of run w,
radius * turn[1] those of the next. words: uint32, (4, CHUNK).
"""

from __future__ import annotations

TWO_PI = 6.283185307179586


def normal_single(words, w, count, std, radius, turn):
    """A word for each radius, and one for the angle."""
    for i in range(count):
        angle = uniform_single(words[w + 1, i]) * T(TWO_PI)
        radius[i] = T(std) * sqrt(T(-2) * log(positive_single(words[w, i])))
        turn[0, i] = cos(angle)
        turn[1, i] = sin(angle)


def normal_double(words, w, count, std, radius, turn):
    """The same with two words for the radius and two for the angle."""
    for i in range(count):
        angle = uniform_double(words[2, i], words[3, i]) * T(TWO_PI)
        radius[i] = std * sqrt(T(-2) * log(positive_double(words[0, i], words[1, i])))
        turn[0, i] = cos_near(angle)
        turn[1, i] = sin_near(angle)
