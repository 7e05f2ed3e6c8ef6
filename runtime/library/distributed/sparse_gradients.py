"""Sparse gradients averaged over the ranks: everybody gets the entries of all.

How many entries a rank has depends on its data, so that they travel with numbers of entries ahead,
and padded to the most that one has.
"""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.distributed import collectives


def _sparse_parameters(module: Any) -> set[int]:
    """Parameters whose gradients are sparse, by `id`: tables of embeddings that were told so."""
    tables = (torch.nn.Embedding, torch.nn.EmbeddingBag)
    return {
        id(each.weight) for each in module.modules() if isinstance(each, tables) and each.sparse
    }


def averaged(parameter: Any, divisor: int, group: Any) -> Any:
    """The mean of a parameter's sparse gradients over the ranks; a missing one counts as zero.

    **Raises** RuntimeError for a dense gradient.
    """
    grad = parameter.grad
    if grad is not None and not grad.is_sparse:
        raise RuntimeError(
            "DistributedDataParallel: a table with sparse=True got a dense gradient, of shape "
            f"{list(grad.shape)}: it is used elsewhere than in its embedding"
        )
    with torch.no_grad():
        held = _none_of(parameter) if grad is None else grad.detach().coalesce()
        indices = _gathered(held.indices().t().contiguous(), group).t()
        values = _gathered(held.values(), group) / divisor
        made = torch.sparse_coo_tensor(indices, values, parameter.shape)
        return made.coalesce()


def _none_of(parameter: Any) -> Any:
    size = tuple(parameter.shape)
    indices = torch.zeros((1, 0), dtype=torch.int64, device=parameter.device)
    values = torch.zeros((0, *size[1:]), dtype=parameter.dtype, device=parameter.device)
    return torch.sparse_coo_tensor(indices, values, size, is_coalesced=True)


def _gathered(own: Any, group: Any) -> Any:
    """The rows of all ranks, one rank's after the other's."""
    count = torch.tensor([own.shape[0]], device=own.device)
    counts = [torch.zeros_like(count) for _ in range(group.size())]
    collectives.all_gather(counts, count, group)
    numbers = [int(each) for each in counts]
    padded = own.new_zeros((max(numbers), *own.shape[1:]))
    padded[: own.shape[0]] = own
    found = [torch.empty_like(padded) for _ in numbers]
    if max(numbers):
        collectives.all_gather(found, padded, group)
    return torch.cat([each[:number] for each, number in zip(found, numbers, strict=True)])
