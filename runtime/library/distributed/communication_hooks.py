"""Communication hooks of DistributedDataParallel: sums of gradients in all their bits, or in 16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.distributed import collectives, world

__all__ = [
    "allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook",
    "fp16_compress_wrapper",
]  # fmt: skip

Hook = Callable[[Any, Any], Any]


def _average(group: Any, tensor: Any) -> Any:
    """The future of a tensor's average over all ranks, in place."""
    own = world.resolve(group)
    tensor.div_(own.size())
    work = collectives.all_reduce(tensor, group=own, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def allreduce_hook(process_group: Any, bucket: Any) -> Any:
    """Average a bucket: what is done without a hook. state: the group, or None."""
    return _average(process_group, bucket.buffer())


def _compressed(process_group: Any, bucket: Any, dtype: Any) -> Any:
    buffer = bucket.buffer()
    narrow = buffer.to(dtype)
    return _average(process_group, narrow).then(lambda future: buffer.copy_(future.value()))


def fp16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """Average a bucket in float16: half the bytes, 11 bits of each gradient."""
    return _compressed(process_group, bucket, torch.float16)


def bf16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """Average a bucket in bfloat16: half the bytes, 8 bits of each gradient, their whole range."""
    return _compressed(process_group, bucket, torch.bfloat16)


def _wrapper(hook: Hook, dtype: Any) -> Hook:
    def compressed(state: Any, bucket: Any) -> Any:
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype).to(buffer.dtype))
        return hook(state, bucket)

    return compressed


def fp16_compress_wrapper(hook: Hook) -> Hook:
    """Round gradients to float16 before another hook gets them."""
    return _wrapper(hook, torch.float16)


def bf16_compress_wrapper(hook: Hook) -> Hook:
    """Round gradients to bfloat16 before another hook gets them."""
    return _wrapper(hook, torch.bfloat16)
