"""Normalisation layers: over the batch, an instance, a layer or groups of channels."""

from __future__ import annotations

import importlib
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.nn import init
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.parameter import Parameter
from torchgen_out.nn import functional as F


def _add_affine(module: Any, shape: Any, weight: bool, bias: bool, device: Any, dtype: Any) -> None:
    """Register a weight and a bias of this shape, or None for one that is not wanted."""
    for name, wanted in (("weight", weight), ("bias", bias)):
        value = Parameter(torch.empty(shape, device=device, dtype=dtype)) if wanted else None
        module.register_parameter(name, value)


def _reset_affine(module: Any) -> None:
    """Set weights to 1 and biases to 0."""
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


class _NormBase(Module):
    """Channels normalised by statistics that may be tracked; what batch and instance norm share."""

    _version = 2
    input_dims: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        device: Any,
        dtype: Any,
        bias: bool,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _add_affine(self, num_features, affine, affine and bias, device, dtype)
        if track_running_stats:
            self.register_buffer(
                "running_mean", torch.zeros(num_features, device=device, dtype=dtype)
            )
            self.register_buffer(
                "running_var", torch.ones(num_features, device=device, dtype=dtype)
            )
            self.register_buffer(
                "num_batches_tracked", torch.tensor(0, dtype=torch.long, device=device)
            )
        else:
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                self.register_buffer(name, None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the tracked statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the statistics; weights become 1 and biases 0."""
        self.reset_running_stats()
        _reset_affine(self)

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in self.input_dims:
            expected = " or ".join(f"{ndim}D" for ndim in self.input_dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *further: Any
    ) -> None:
        """Files of version 1 have no `num_batches_tracked`; it keeps its value then."""
        key = prefix + "num_batches_tracked"
        version = local_metadata.get("version", None)
        old = version is None or version < 2
        if old and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *further)


class _BatchNorm(_NormBase):
    """y = (x - mean) / sqrt(var + eps) * weight + bias, per channel over the batch."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # a cumulative average
                factor = 1.0 / float(self.num_batches_tracked)
        uses_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        mean = self.running_mean if tracked else None
        var = self.running_var if tracked else None
        return self._normalized(input, mean, var, uses_batch, factor)

    def _normalized(
        self, input: Tensor, mean: Any, var: Any, uses_batch: bool, factor: float
    ) -> Tensor:
        """mean, var: running statistics, which follow those of the batch if it uses them."""
        return F.batch_norm(input, mean, var, self.weight, self.bias, uses_batch, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation. Shape: (N, C) or (N, C, L), unchanged."""

    input_dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation. Shape: (N, C, H, W), unchanged."""

    input_dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation. Shape: (N, C, D, H, W), unchanged."""

    input_dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes; of one process, over its own.

    Mean and variance are sums over all ranks, in two collectives: the variance is that of the
    distances from the mean, which loses no digits. Shape: (N, C, ...), unchanged; N may differ.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def _normalized(
        self, input: Tensor, mean: Any, var: Any, uses_batch: bool, factor: float
    ) -> Tensor:
        dist = torch.distributed
        if not uses_batch or not dist.is_initialized():
            return super()._normalized(input, mean, var, uses_batch, factor)
        group = self.process_group or dist.group.WORLD
        if group.size() == 1:
            return super()._normalized(input, mean, var, uses_batch, factor)
        return self._over_ranks(input, mean, var, factor, group)

    def _over_ranks(self, input: Tensor, mean: Any, var: Any, factor: float, group: Any) -> Tensor:
        total = importlib.import_module(f"{torch.__name__}.distributed.nn.functional").all_reduce
        wide = input.double() if input.dtype is torch.float64 else input.float()
        dims = [dim for dim in range(input.dim()) if dim != 1]
        shape = [1, -1] + [1] * (input.dim() - 2)
        own_count = wide.new_full((1,), input.numel() // max(input.shape[1], 1))
        sums = total(torch.cat([wide.sum(dims), own_count]), group=group)
        count = sums[-1].detach()
        batch_mean = sums[:-1] / count
        centered = wide - batch_mean.view(shape)
        batch_var = total((centered * centered).sum(dims), group=group) / count
        if mean is not None:
            with torch.no_grad():
                mean.lerp_(batch_mean.detach().to(mean.dtype), factor)
                unbiased = batch_var.detach() * (count / (count - 1))
                var.lerp_(unbiased.to(var.dtype), factor)
        normal = centered * torch.rsqrt(batch_var + self.eps).view(shape)
        if self.weight is not None:
            normal = normal * self.weight.view(shape)
        if self.bias is not None:
            normal = normal + self.bias.view(shape)
        result: Tensor = normal.to(input.dtype)
        return result

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """Replace every batch norm within a module by a SyncBatchNorm of the same state."""
        converted = module
        if isinstance(module, _BatchNorm):
            converted = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            converted._parameters.update(module._parameters)
            converted._buffers.update(module._buffers)
            converted.training = module.training
        for name, child in module.named_children():
            converted.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return converted


class _InstanceNorm(_NormBase):
    """y = (x - mean) / sqrt(var + eps) * weight + bias, per channel of each instance."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        unbatched = input.dim() == self.input_dims[0]
        channels = input.size(0 if unbatched else 1)
        if channels != self.num_features and self.affine:
            raise ValueError(
                f"expected input's size at dim={0 if unbatched else 1} to match num_features "
                f"({self.num_features}), but got: {channels}."
            )
        output = F.instance_norm(
            input.unsqueeze(0) if unbatched else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return output.squeeze(0) if unbatched else output


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation. Shape: (N, C, L) or (C, L), unchanged."""

    input_dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation. Shape: (N, C, H, W) or (C, H, W), unchanged."""

    input_dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation. Shape: (N, C, D, H, W) or (C, D, H, W), unchanged."""

    input_dims = (4, 5)


def _as_shape(normalized_shape: Any) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class LayerNorm(Module):
    """y = (x - mean) / sqrt(var + eps) * weight + bias over the last dims."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = shape = _as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _add_affine(self, shape, elementwise_affine, elementwise_affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights become 1 and biases 0."""
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """y = x / sqrt(mean(x^2) + eps) * weight over the last dims."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = shape = _as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        _add_affine(self, shape, elementwise_affine, False, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights become 1."""
        _reset_affine(self)

    def forward(self, x: Any) -> Any:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """y = (x - mean) / sqrt(var + eps) * weight + bias over groups of channels."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups, self.num_channels, self.eps = num_groups, num_channels, eps
        self.affine = affine
        _add_affine(self, num_channels, affine, affine and bias, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Weights become 1 and biases 0."""
        _reset_affine(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """y = x / (k + alpha * mean of x^2 over `size` neighbouring channels)^beta."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
