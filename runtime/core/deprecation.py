"""Warnings of what PyTorch has given up, once in a process each, at the user's line."""

from __future__ import annotations

from runtime.core.user_warnings import warn

_told: set[str] = set()


def warn_once(text: str) -> None:
    """Warn, unless these words were said before."""
    if text not in _told:
        _told.add(text)
        warn(text)


def superseded(name: str, successor: str) -> None:
    """Warn of an operator that another one replaces."""
    warn_once(
        f"torch.{name} is deprecated in favor of torch.{successor} and will be removed in a future "
        "PyTorch release; the two may take their arguments otherwise."
    )


def transposed_scalar(name: str, advice: str) -> None:
    """Warn of `name` of a tensor without dims."""
    warn_once(f"{name} is deprecated on 0-D tensors. {advice}")


def reversed_dims(ndim: int) -> None:
    """Warn of `Tensor.T` where it is no transposed matrix."""
    if ndim == 0:
        transposed_scalar("Tensor.T", "It is the tensor itself.")
    elif ndim > 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices, or `x.permute(*range(x.ndim)[::-1])`."
        )


def grid_without_indexing() -> None:
    """Warn of `meshgrid` that is not told which dim is the first."""
    warn_once(
        "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
        "argument. indexing='ij' is what it does without."
    )


def cross_without_dim() -> None:
    """Warn of `cross` that looks for a dim itself."""
    warn_once(
        "Using torch.cross without specifying the dim arg is deprecated. Pass the dim, or use "
        "torch.linalg.cross, whose default is the last one."
    )


def range_with_end() -> None:
    """Warn of `range`, whose last number is its end."""
    warn_once(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which leaves out "
        "its end."
    )
