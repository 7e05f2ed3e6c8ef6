"""Shapes and checks of attention: (batch, time, heads, size) of query, key and value."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.shape import broadcast_shapes


def attention(
    query: Any, key: Any, value: Any, mask: Any, scale: float, causal: bool
) -> tuple[Any, Any]:
    """Shape: (N, L, H, E), (N, S, H, E), (N, S, H, V) -> (N, L, H, V) and (N, H, L).

    dtype: the input's; the second, whose differences are exponents, float32 for a 16-bit input.
    """
    if query.ndim != 4 or key.ndim != 4 or value.ndim != 4:
        raise RuntimeError(
            "attention: expected query, key and value of 4 dims, "
            f"got {query.ndim}, {key.ndim} and {value.ndim}"
        )
    batch, length, heads, size = query.shape
    columns = key.shape[1]
    for name, given, wanted in (
        ("key", key.shape, (batch, columns, heads, size)),
        ("value", value.shape, (batch, columns, heads, value.shape[3])),
    ):
        if tuple(given) != wanted:
            raise RuntimeError(
                f"attention: expected {name} of shape {list(wanted)}, got {list(given)}"
            )
    weights = (batch, heads, length, columns)
    if mask is not None and broadcast_shapes(tuple(mask.shape), weights) != weights:
        raise RuntimeError(
            f"attention: a mask of shape {list(mask.shape)} does not broadcast to {list(weights)}"
        )
    output = _laid_out((batch, length, heads, value.shape[3]), query)
    return output, (weights[:3], query.dtype.opmath)


def attention_backward(
    grad_output: Any,
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    logsumexp: Any,
    scale: float,
    causal: bool,
) -> tuple[Any, ...]:
    """Shape: of query, key and value, and laid out as these."""
    return tuple(_laid_out(tuple(x.shape), x) for x in (query, key, value))


def _laid_out(sizes: tuple[int, ...], like: Any) -> tuple[Any, ...]:
    """A result whose batch, time and heads lie in memory as an operand's; (N, H, L) in doubt.

    Programs that have heads before time, as PyTorch's attention does, see a contiguous result then.
    """
    batch, length, heads, size = sizes
    of_batch, of_time, of_heads, _ = like.stride()
    outer = [max(each, 1) for each in (batch, heads, length)]
    steps = shapes.joint_strides(outer, (of_batch, of_heads, of_time))
    strides = [step * max(size, 1) for step in steps]
    return sizes, like.dtype, (strides[0], strides[2], strides[1], 1)
