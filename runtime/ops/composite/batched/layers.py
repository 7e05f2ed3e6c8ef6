"""Layers and losses of samples, whose parameters may differ from sample to sample."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.ops.composite.batched.given import Given, Sides
from torchgen_out._runtime.ops.composite.batched.loop import one_by_one


def convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """Samples that share a weight are more images; those with weights of their own are groups."""
    sides = Sides(input, weight, bias)
    how = (stride, padding, dilation, transposed, output_padding)
    if not any(sides.held[1:]):
        images = ops.flatten(sides.values[0], 0, 1)
        made = ops.convolution(images, weight, bias, *how, groups)
        return sides.batch(ops.reshape(made, [sides.size, -1, *made.shape[1:]]))
    channels = ops.flatten(sides.whole(0).movedim(0, 1), 1, 2)
    kernels = ops.flatten(sides.whole(1), 0, 1)
    shift = None if bias is None else ops.flatten(sides.whole(2), 0, 1)
    made = ops.convolution(channels, kernels, shift, *how, groups * sides.size)
    split = ops.reshape(made, [made.shape[0], sides.size, -1, *made.shape[2:]])
    return sides.batch(split.movedim(1, 0))


def native_layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Normalized rows; a weight and a bias of each sample come behind."""
    sides = Sides(input, weight, bias)
    if not any(sides.held[1:]):
        made = ops.native_layer_norm(sides.values[0], normalized_shape, weight, bias, eps)
        return tuple([sides.batch(each) for each in made])
    rows, mean, scale = ops.native_layer_norm(input, normalized_shape, None, None, eps)
    if weight is not None:
        rows = rows * weight
    return (rows if bias is None else rows + bias), mean, scale


def native_batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    """The channels of all samples are channels of one batch.

    Raises: RuntimeError in training, if samples would write to statistics that they share.
    """
    sides = Sides(input, weight, bias, running_mean, running_var)
    statistics = [i for i in (3, 4) if training and sides.values[i] is not None]
    if sides.held[0] and not all(sides.held[i] for i in statistics):
        raise errors.write_of_samples("batch_norm")
    flat: list[Any] = [ops.flatten(sides.whole(0).movedim(0, 1), 1, 2), None, None, None, None]
    for i, value in enumerate(sides.values[1:], 1):
        if value is not None:
            flat[i] = ops.flatten(sides.whole(i), 0, 1)
    for i in statistics:
        flat[i] = flat[i].clone()
    arguments = [*flat, training, momentum, eps]
    made, mean, scale = ops.native_batch_norm(*arguments)
    for i in statistics:
        rows = ops.reshape(flat[i], [sides.size, -1])
        sides.values[i].copy_(rows if sides.held[i] else rows.select(0, 0))
    whole = ops.unflatten(made, 1, [sides.size, made.shape[1] // max(sides.size, 1)]).movedim(1, 0)
    saved = [ops.reshape(v, [sides.size, v.numel() // max(sides.size, 1)]) for v in (mean, scale)]
    return tuple([sides.batch(value) for value in (whole, *saved)])


def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> Any:
    """More images; a weight and a bias of each sample come behind."""
    sides = Sides(input, weight, bias)
    if not any(sides.held[1:]):
        images = ops.flatten(sides.values[0], 0, 1)
        made = ops.native_group_norm(images, weight, bias, N * sides.size, C, HxW, group, eps)
        return tuple(
            [sides.batch(ops.reshape(each, [sides.size, N, *each.shape[1:]])) for each in made]
        )
    images, mean, scale = ops.native_group_norm(input, None, None, N, C, HxW, group, eps)
    sizes: list[Any] = [C, *[1] * (input.ndim - 2)]
    if weight is not None:
        images = images * weight.reshape(sizes)
    return (images if bias is None else images + bias.reshape(sizes)), mean, scale


def embedding(
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Rows of a table; tables of several samples are one, whose rows are counted through."""
    sides = Sides(weight, indices)
    how = (scale_grad_by_freq, sparse)
    if not sides.held[0]:
        return sides.batch(ops.embedding(weight, sides.values[1], padding_idx, *how))
    if padding_idx >= 0 or scale_grad_by_freq:
        given = Given(calls.embedding, (weight, indices, padding_idx, *how))
        return given.result(one_by_one(given))
    count = weight.shape[0]
    first = ops.arange(sides.size, device=weight.device) * count
    places = sides.whole(1) + first.reshape([-1, *[1] * indices.ndim])
    return sides.batch(ops.embedding(ops.flatten(sides.values[0], 0, 1), places, -1, *how))


def resample(
    self: Any, rows: Any, row_weights: Any, columns: Any, column_weights: Any, adjoint: Any
) -> Any:
    """Planes of samples are more planes; samples with tables of their own are taken one by one."""
    tables = rows, row_weights, columns, column_weights
    sides = Sides(self, *tables, *adjoint)
    if any(sides.held[1:]):
        given = Given(calls._resample, (self, *tables, adjoint))
        return given.result(one_by_one(given))
    return sides.batch(ops._resample(sides.values[0], *tables, adjoint))


def resample_bytes(
    self: Any, rows: Any, row_weights: Any, columns: Any, column_weights: Any
) -> Any:
    """The same of images of bytes."""
    tables = rows, row_weights, columns, column_weights
    sides = Sides(self, *tables)
    if any(sides.held[1:]):
        given = Given(calls._resample_bytes, (self, *tables))
        return given.result(one_by_one(given))
    return sides.batch(ops._resample_bytes(sides.values[0], *tables))


def attention(query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool) -> Any:
    """Attention of samples: more of what the first dim counts."""
    sides = Sides(query, key, value, mask)
    folded = [ops.flatten(sides.whole(i), 0, 1) for i in range(3)]
    if mask is not None and (sides.held[3] or (mask.ndim == 4 and mask.shape[0] > 1)):
        given = ops.reshape(sides.whole(3), [sides.size, *[1] * (4 - mask.ndim), *mask.shape])
        sizes = [sides.size, query.shape[0], *given.shape[2:]]
        mask = ops.flatten(ops.expand(given, sizes), 0, 1)
    made = ops._attention(*folded, mask, scale, causal)
    return tuple([sides.batch(ops.unflatten(each, 0, [sides.size, -1])) for each in made])


_MEAN, _SUM = 1, 2


def nll_loss_forward(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """What log-probabilities say of each row's class: by a gather."""
    kept = target != ignore_index
    losses, weights = _of_targets(self, target, weight, kept)
    return _reduced(losses, weights, reduction)


def cross_entropy_rows(
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    label_smoothing: float = 0.0,
) -> Any:
    """The same of rows of scores, with a part of the weight on all classes alike."""
    rows = ops.log_softmax(self, -1)
    kept = target != ignore_index
    losses, weights = _of_targets(rows, target, weight, kept)
    if label_smoothing:
        every = -(rows if weight is None else rows * weight).sum(-1) * kept.to(rows.dtype)
        losses = losses * (1 - label_smoothing) + every * (label_smoothing / self.shape[-1])
    output, total = _reduced(losses, weights, reduction)
    return output, rows.detach(), total


def _of_targets(rows: Any, target: Any, weight: Any, kept: Any) -> tuple[Any, Any]:
    """The weighted loss, and the weight, of each row."""
    at = ops.where(kept, target, 0)
    weights = kept.to(rows.dtype)
    if weight is not None:
        weights = weights * ops.embedding(weight.unsqueeze(1), at).squeeze(-1)
    dim = min(rows.ndim - 1, 1)
    if at.ndim == rows.ndim:  # one row, with its class in a list
        return -ops.gather(rows, dim, at) * weights, weights
    return -ops.gather(rows, dim, at.unsqueeze(dim)).squeeze(dim) * weights, weights


def _reduced(losses: Any, weights: Any, reduction: int) -> tuple[Any, Any]:
    total = weights.sum()
    if reduction == _MEAN:
        return losses.sum() / total, total
    return (losses.sum() if reduction == _SUM else losses), total
