"""Warnings of what PyTorch has given up, once in a process each, at the user's line."""

from __future__ import annotations

from torchgen_out._runtime.core.user_warnings import warn

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


def no_window(name: str) -> None:
    """Warn of frames that are cut out of a signal as they are."""
    warn_once(
        f"{name}: a window was not provided. A rectangular window will be applied, which is known "
        "to cause spectral leakage. torch.hann_window makes a smooth one."
    )


def bytes_as_mask() -> None:
    """Warn of an index of uint8, which is a mask as it was before there was bool."""
    warn_once(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
    )


def bytes_as_condition(name: str, argument: str) -> None:
    """Warn of a condition of uint8, as it was before there was bool."""
    warn_once(
        f"{name} received a uint8 {argument} tensor. This behavior is deprecated and will be "
        "removed in a future version of PyTorch. Use a boolean condition instead."
    )


def reduced_by_scatter() -> None:
    """Warn of `scatter` that combines what `scatter_reduce` combines better."""
    warn_once(
        "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed "
        "in a future PyTorch release. Use torch.scatter_reduce instead."
    )


def in_beta(name: str) -> None:
    """Warn of an operator that PyTorch has not settled."""
    warn_once(f"{name}() is in beta and the API may change at any time.")


def typed_storage() -> None:
    """Warn of `Tensor.storage`."""
    warn_once(
        "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be "
        "the only storage class. Use tensor.untyped_storage() instead of tensor.storage()."
    )


def default_tensor_type() -> None:
    """Warn of the setting of both a dtype and a device."""
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives."
    )


def number_with_gradient() -> None:
    """Warn of `float(loss)`, whose gradient ends there."""
    warn_once(
        "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior. "
        "Consider using tensor.detach() first."
    )


def renamed(name: str, successor: str) -> None:
    """Warn, at every use, of a name that has become another."""
    warn(f"`{name}` is deprecated in favor of `{successor}`.", FutureWarning)


def range_with_end() -> None:
    """Warn of `range`, whose last number is its end."""
    warn_once(
        "torch.range is deprecated and will be removed in a future release because its behavior "
        "is inconsistent with Python's range builtin. Instead, use torch.arange, which leaves out "
        "its end."
    )
