"""Layers that take the number of their input's features from the first input."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from torchgen_out._runtime.library.nn.lazy import (
    LazyModuleMixin,
    UninitializedBuffer,
    UninitializedParameter,
)
from torchgen_out._runtime.library.nn.linear import Linear
from torchgen_out._runtime.library.nn.normalization import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
    _InstanceNorm,
)


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear whose `in_features` is the last size of the first input."""

    cls_to_become = Linear

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        # Without features there is nothing to draw; the bias has its shape only later.
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the weights anew, once they are there."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Take the last size of the input."""
        if self.has_uninitialized_params():
            self.in_features = input.shape[-1]
            weight: Any = self.weight
            bias: Any = self.bias
            with torch.no_grad():
                weight.materialize((self.out_features, self.in_features))
                if bias is not None:
                    bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # the weights were loaded
            self.in_features = self.weight.shape[-1]


class _LazyConvXdMixin(LazyModuleMixin):
    """A convolution whose `in_channels` are those of the first input."""

    transposed: bool
    ndim: int
    groups: int
    kernel_size: Any
    out_channels: int
    in_channels: int
    weight: Any
    bias: Any

    def _wait(self, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        """Put weights without a shape in the place of those without channels."""
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the weights anew, once they are there."""
        if self.in_channels != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Take the channels of the input."""
        if self.has_uninitialized_params():
            self.in_channels = self._get_in_channels(input)
            if self.in_channels % self.groups:
                raise ValueError("in_channels must be divisible by groups")
            first, second = self.out_channels, self.in_channels // self.groups
            if self.transposed:
                first, second = self.in_channels, self.out_channels // self.groups
            self.weight.materialize((first, second, *self.kernel_size))
            if self.bias is not None:
                self.bias.materialize((self.out_channels,))
            self.reset_parameters()
        if self.in_channels == 0:  # the weights were loaded
            self.in_channels = self._get_in_channels(input)

    def _get_in_channels(self, input: Any) -> int:
        unbatched = self.ndim + 1
        if input.dim() not in (unbatched, unbatched + 1):
            raise RuntimeError(
                f"Expected {unbatched}D (unbatched) or {unbatched + 1}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return int(input.shape[input.dim() - unbatched])


class _LazyConv(_LazyConvXdMixin):
    """One that takes the arguments of `Conv2d` from `out_channels` on."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        geometry = (kernel_size, stride, padding, dilation, groups)
        super().__init__(0, 0, *geometry, False, padding_mode)
        self._wait(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    """One that takes the arguments of `ConvTranspose2d` from `out_channels` on."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        geometry = (kernel_size, stride, padding, output_padding, groups)
        super().__init__(0, 0, *geometry, False, dilation, padding_mode)
        self._wait(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d whose `in_channels` are those of the first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d whose `in_channels` are those of the first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d whose `in_channels` are those of the first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d whose `in_channels` are those of the first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d whose `in_channels` are those of the first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d whose `in_channels` are those of the first input."""

    cls_to_become = ConvTranspose3d


class _LazyNormBase(LazyModuleMixin):
    """A normalisation whose `num_features` are the channels of the first input."""

    affine: bool
    track_running_stats: bool
    num_features: int
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine, self.track_running_stats = affine, track_running_stats
        made = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**made)
            if bias:
                self.bias = UninitializedParameter(**made)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = torch.tensor(0, dtype=torch.long, device=device)

    def reset_parameters(self) -> None:
        """Forget the statistics; weights become 1 and biases 0, once they are there."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Take the channels of the input."""
        if self.has_uninitialized_params():
            self.num_features = self._channels_of(input)
            for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
                if tensor is not None:
                    tensor.materialize((self.num_features,))
            self.reset_parameters()
        if self.num_features == 0:  # weights and statistics were loaded
            self.num_features = self._channels_of(input)

    def _channels_of(self, input: Any) -> int:
        return int(input.shape[1])


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A BatchNorm1d whose `num_features` are the channels of the first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A BatchNorm2d whose `num_features` are the channels of the first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A BatchNorm3d whose `num_features` are the channels of the first input."""

    cls_to_become = BatchNorm3d


class _LazyInstanceNorm(_LazyNormBase, _InstanceNorm):
    """An instance normalisation, whose input may come without a batch."""

    def _channels_of(self, input: Any) -> int:
        return int(input.shape[input.dim() - self.input_dims[0]])


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """An InstanceNorm1d whose `num_features` are the channels of the first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """An InstanceNorm2d whose `num_features` are the channels of the first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """An InstanceNorm3d whose `num_features` are the channels of the first input."""

    cls_to_become = InstanceNorm3d
