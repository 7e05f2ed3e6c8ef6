"""The older spellings of variance and standard deviation, with `unbiased` for `correction`."""

from __future__ import annotations

from typing import Any

from runtime.dispatch import ops


def var_of_all(self: Any, unbiased: bool) -> Any:
    """The variance of all elements."""
    return ops.var(self, None, correction=int(unbiased))


def var_over(self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """The variance over `dim`."""
    return ops.var(self, dim, correction=int(unbiased), keepdim=keepdim)


def std_of_all(self: Any, unbiased: bool) -> Any:
    """The standard deviation of all elements."""
    return ops.std(self, None, correction=int(unbiased))


def std_over(self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """The standard deviation over `dim`."""
    return ops.std(self, dim, correction=int(unbiased), keepdim=keepdim)


def var_mean_of_all(self: Any, unbiased: bool) -> Any:
    """The variance and the mean of all elements."""
    return ops.var_mean(self, None, correction=int(unbiased))


def var_mean_over(self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """The variance and the mean over `dim`."""
    return ops.var_mean(self, dim, correction=int(unbiased), keepdim=keepdim)


def std_mean_of_all(self: Any, unbiased: bool) -> Any:
    """The standard deviation and the mean of all elements."""
    return ops.std_mean(self, None, correction=int(unbiased))


def std_mean_over(self: Any, dim: Any, unbiased: bool, keepdim: bool = False) -> Any:
    """The standard deviation and the mean over `dim`."""
    return ops.std_mean(self, dim, correction=int(unbiased), keepdim=keepdim)
