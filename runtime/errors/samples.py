"""Errors of functions inside `vmap`, and of derivatives of functions."""

from __future__ import annotations

from collections.abc import Sequence


def one_sample_of_many() -> RuntimeError:
    """Something would follow the elements of one sample."""
    return RuntimeError(
        "vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to "
        "use a Tensor in some data-dependent control flow or (3) encountering this error in code "
        "that needs the memory of a single sample: inside vmap a tensor stands for all samples at "
        "once. Use torch.where for what differs between them"
    )


def out_inside_map(operator: str) -> RuntimeError:
    """A call inside `vmap` was given out=."""
    return RuntimeError(f"vmap: {operator}(..., out=...) is not possible inside vmap; leave out=")


def write_of_samples(operator: str) -> RuntimeError:
    """Samples would be written into a tensor that is the same for all."""
    return RuntimeError(
        f"vmap: {operator} is not possible: the tensor that it writes to is the same for all "
        "samples, and what it writes is not. Use the function that returns a new tensor, or make "
        "the tensor inside vmap from one of the mapped arguments (x.new_zeros(...))"
    )


def sizes_of_samples(operator: str) -> RuntimeError:
    """What an operator gives has another shape for each sample."""
    return RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape: what "
        f"{operator} gives has other sizes for other samples. Use torch.where or masked_fill"
    )


def random_inside_map(operator: str) -> RuntimeError:
    """Random numbers were asked for where nobody said how samples share them."""
    return RuntimeError(
        f"vmap: called random operation {operator} while in randomness error mode. Please either "
        "use the 'same' or 'different' randomness flags on vmap or perform the randomness "
        "operation out of vmap"
    )


def drawn_for_all() -> RuntimeError:
    """Every sample should have numbers of its own, in a tensor that all share."""
    return RuntimeError(
        "vmap: randomness is 'different', but the numbers would be drawn into, or by, a tensor "
        "that is the same for all samples. Draw like one of the mapped arguments "
        "(torch.rand_like), or use the 'same' randomness"
    )


def mapped_sizes(sizes: Sequence[int]) -> ValueError:
    """Mapped arguments do not agree on how many samples there are."""
    return ValueError(
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
        f"{list(sizes)} for the mapped dimension"
    )
