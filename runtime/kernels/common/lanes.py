"""What a device's kernels of index programs have of their own, as plain Python has it: one lane."""

import numpy as np

I = np.int64  # noqa: E741 - as device kernels call it
"""The type of places."""

LANES = 1
"""Threads that share a fold: a device's kernels have a number of their own."""


def joined(value):
    """What all lanes have together; of one it is what this has."""
    return value


joined_sum = joined_product = joined_larger = joined_smaller = joined_any = joined_all = joined


def joined_first(value, best, at):
    """The first position of the best value of all lanes."""
    return at


def quotient(place, size):
    """A place over a number, rounded down."""
    return place // size


def modulus(place, size):
    """What that leaves."""
    return place % size


def note_outside(faults, check, place, size):
    """Note a place that is not in a dim, by the number of what looked at it."""
    raise IndexError(place, size)
