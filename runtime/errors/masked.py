"""Errors of operators with masks, and of windows."""

from __future__ import annotations


def masked_mask_dims() -> IndexError:
    """A mask has more dims than what it masks."""
    return IndexError(
        "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
    )


def masked_mean_dtype(got: object) -> ValueError:
    """The mean of integers needs a dtype."""
    return ValueError(
        "mean(): Could not infer output dtype. Input dtype must be either a floating point or "
        f"complex dtype. Got: {got}"
    )


def masked_median_of_nothing() -> ValueError:
    """There is no integer that stands for the median of nothing."""
    return ValueError(
        "masked median expects no fully masked out rows if dtype is not floating point"
    )


def window_length(name: str, got: int) -> ValueError:
    """A window of fewer than no points."""
    return ValueError(f"{name} requires non-negative window length, got M={got}")


def window_dtype(name: str, got: object) -> ValueError:
    """A window of numbers that are no real floats of 32 or 64 bits."""
    return ValueError(f"{name} expects float32 or float64 dtypes, got: {got}")


def window_layout(name: str, got: object) -> ValueError:
    """A window that is not to be strided."""
    return ValueError(f"{name} is implemented for strided tensors only, got: {got}")
