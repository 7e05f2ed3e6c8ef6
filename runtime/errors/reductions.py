"""Errors of reductions: of nothing, and of dtypes that have no mean."""

from __future__ import annotations

from torchgen_out._runtime.errors.dtype_names import scalar_type_name

_DIM_WANTED = (
    "Expected reduction dim to be specified for input.numel() == 0. "
    "Specify the reduction dim with the 'dim' argument."
)


def empty_reduction(operator: str) -> IndexError:
    """An index of an extremum is asked of no elements."""
    return IndexError(f"{operator}(): {_DIM_WANTED}")


def nanmean_of_integers(dtype: object) -> RuntimeError:
    """nanmean was given a tensor of integers, or bool."""
    return RuntimeError(
        "nanmean(): expected input to have floating point or complex dtype but got "
        f"{scalar_type_name(dtype)}; convert it first, as in x.float()"
    )


def empty_extremum(operator: str) -> RuntimeError:
    """A full reduction without identity over no elements."""
    return RuntimeError(f"{operator}(): {_DIM_WANTED}")


def empty_reduction_dim(operator: str, dim: int) -> IndexError:
    """A reduction without identity over a dim of size 0."""
    return IndexError(f"{operator}(): Expected reduction dim {dim} to have non-zero size.")


def histogram_weights(sizes: object, weight_sizes: object) -> RuntimeError:
    """The weights of a histogram are not one per point."""
    return RuntimeError(
        "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
        f"input tensor excluding its innermost dimension, but got input with shape {sizes} and "
        f"weight with shape {weight_sizes}"
    )
