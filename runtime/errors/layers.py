"""Errors of layers and losses."""

from __future__ import annotations

from collections.abc import Sequence

_DROPOUT_EXPECTED = "dropout probability has to be between 0 and 1"


def transpose_ndim(ndim: int) -> RuntimeError:
    """t(), by which linear transposes its weight: neither a matrix nor a vector."""
    return RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")


def one_value_per_channel(size: object) -> ValueError:
    """A batch statistic would be taken over one value, whose variance is 0."""
    return ValueError(
        f"Expected more than 1 value per channel when training, got input size {size}"
    )


def dropout_probability(p: float) -> RuntimeError:
    """An operator got a probability of dropping out that is none."""
    return RuntimeError(f"{_DROPOUT_EXPECTED}, but got {p:g}")


def dropout_argument(p: float) -> ValueError:
    """A layer got a probability of dropping out that is none."""
    return ValueError(f"{_DROPOUT_EXPECTED}, but got {p}")


def class_weights_do_not_fit(operator: str, classes: int, shape: Sequence[int]) -> RuntimeError:
    """A loss over classes got weights for another number of classes."""
    return RuntimeError(
        f"{operator}weight tensor should be defined either for all {classes} classes or no "
        f"classes but got weight tensor of shape: {list(shape)}"
    )


def invalid_reduction(reduction: object) -> ValueError:
    """A loss's reduction is none of 'none', 'mean' and 'sum'."""
    return ValueError(f"{reduction} is not a valid value for reduction")


def dilation_not_positive(dilation: Sequence[int]) -> RuntimeError:
    """A window's elements would lie on top of each other."""
    return RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")


def target_out_of_bounds(target: object) -> IndexError:
    """A loss's target is no class."""
    return IndexError(f"Target {target} is out of bounds.")


def ctc_length(name: str, bound: str, length: int) -> RuntimeError:
    """A sequence of ctc_loss is too short or too long."""
    return RuntimeError(
        f"Expected {name} to have value at {bound}, but got value {length} in ctc_loss"
    )


def ctc_targets(wanted: str, given: str) -> RuntimeError:
    """The targets of ctc_loss do not fit its lengths."""
    return RuntimeError(f"Expected tensor to have {wanted}, but got {given} for 'targets'")
