"""What layers call in PyTorch, as functions of the package: weights in a list, modes as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn.functional.embedding import BAG_MODES
from torchgen_out._runtime.library.nn.rnn_loops import Weights, run_layers
from torchgen_out.nn import functional as F

__all__ = [
    "ctc_loss",
    "embedding_bag",
    "embedding_renorm_",
    "frobenius_norm",
    "gru",
    "lstm",
    "max_pool1d_with_indices",
    "native_channel_shuffle",
    "rnn_relu",
    "rnn_tanh",
]

_REDUCTIONS = ("none", "mean", "sum")


# -- recurrent networks -------------------------------------------------------------------------
#
# Each is called for sequences of one length,
#     (input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first),
# or for packed ones,
#     (data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional).


def lstm(input: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any, Any]:
    """Long short-term memory: output, last hidden and last cell state.

    `hx` is the pair of the first states, `params` the weights in the order of `nn.LSTM`.
    """
    output, (hidden, cell) = _run("LSTM", input, args, kwargs)
    return output, hidden, cell


def gru(input: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Gated recurrent units: output and last hidden state."""
    output, (hidden,) = _run("GRU", input, args, kwargs)
    return output, hidden


def rnn_tanh(input: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Elman's network with tanh: output and last hidden state."""
    output, (hidden,) = _run("RNN_TANH", input, args, kwargs)
    return output, hidden


def rnn_relu(input: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """Elman's network with relu: output and last hidden state."""
    output, (hidden,) = _run("RNN_RELU", input, args, kwargs)
    return output, hidden


_WHOLE = tuple(
    "hx params has_biases num_layers dropout train bidirectional batch_first".split()  # noqa: SIM905
)
_PACKED = ("batch_sizes", *_WHOLE[:-1])


def _run(
    mode: str, input: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, list[Any]]:
    given = (*args, *kwargs)
    is_packed = "batch_sizes" in kwargs or (len(args) > 2 and isinstance(args[2], (list, tuple)))
    names = _PACKED if is_packed else _WHOLE
    if len(given) != len(names) or set(kwargs) - set(names[len(args) :]):
        raise TypeError(f"{mode.lower()}: expected the arguments {', '.join(names)}")
    call = dict(zip(names, args, strict=False), **kwargs)
    swapped = call.get("batch_first", False)
    counts = call["batch_sizes"].tolist() if is_packed else None
    values = input.transpose(0, 1) if swapped else input
    states = tuple(call["hx"]) if mode == "LSTM" else (call["hx"],)
    directions = 2 if call["bidirectional"] else 1
    weights = _weights(mode, call["params"], call["has_biases"], directions * call["num_layers"])
    dropout = call["dropout"] if call["train"] else 0.0
    output, finals = run_layers(mode, weights, values, counts, states, directions, dropout)
    return (output.transpose(0, 1) if swapped else output), finals


def _weights(mode: str, params: Sequence[Any], has_biases: bool, count: int) -> list[Weights]:
    """The weights of each layer and direction, out of one list of all."""
    each, rest = divmod(len(params), count)
    known = 4 if has_biases else 2
    if rest or each not in (known, known + (mode == "LSTM")):
        raise RuntimeError(
            f"{mode.lower()}: expected {known} parameters for each of {count} layers and "
            f"directions, got {len(params)}"
        )
    made = []
    for start in range(0, len(params), each):
        given = list(params[start : start + each])
        projection = given[known] if each > known else None
        bias_ih, bias_hh = given[2:4] if has_biases else (None, None)
        made.append(Weights(given[0], given[1], bias_ih, bias_hh, projection))
    return made


# -- others -------------------------------------------------------------------------------------


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:
    """`nn.functional.ctc_loss`; `reduction` is 0 for none, 1 for mean, 2 for sum."""
    lengths = input_lengths, target_lengths
    return F.ctc_loss(
        log_probs, targets, *lengths, blank, _REDUCTIONS[int(reduction)], zero_infinity
    )


def embedding_bag(
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, Any, Any, Any]:
    """`nn.functional.embedding_bag` of a vector of indices; `mode` 0 sums, 1 is mean, 2 is max.

    Returns also the bag of each index, the size of each bag, and for max the index of each
    element that was taken.
    """
    name = next(name for name, number in BAG_MODES.items() if number == mode)
    options = (scale_grad_by_freq, name, sparse, per_sample_weights, include_last_offset)
    result = F.embedding_bag(indices, weight, offsets, None, 2.0, *options, padding_idx)
    starts = offsets[:-1] if include_last_offset else offsets
    places = torch.arange(indices.numel(), device=indices.device)
    bags = torch.searchsorted(starts.to(places.dtype), places, right=True) - 1
    kept = torch.ones_like(bags)
    if padding_idx is not None:
        kept = (indices != padding_idx % weight.size(0)).to(bags.dtype)
    sizes = torch.zeros(starts.numel(), dtype=bags.dtype, device=bags.device)
    sizes = sizes.index_add(0, bags, kept).to(offsets.dtype)
    taken = sizes
    if name == "max":
        rows = weight.detach()[indices]
        is_taken = (rows == result.detach()[bags]) & (kept != 0)[:, None]
        found = torch.where(is_taken, indices[:, None], -1)
        taken = torch.zeros_like(result, dtype=indices.dtype)
        taken = taken.scatter_reduce(0, bags[:, None].expand_as(found), found, "amax")
    return result, bags.to(offsets.dtype), sizes, taken


def embedding_renorm_(self: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """Scale the rows that `indices` name down to `max_norm`, in place."""
    rows = indices.unique()
    with torch.no_grad():
        self[rows] = torch.renorm(self[rows], norm_type, 0, max_norm)
    return self


def frobenius_norm(self: Any, dim: Any, keepdim: bool = False) -> Any:
    """`linalg.vector_norm` over one or two dims."""
    return torch.linalg.vector_norm(self, 2, dim, keepdim)


def max_pool1d_with_indices(
    self: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
) -> tuple[Any, Any]:
    """`nn.functional.max_pool1d`, and where each element stood."""
    window = kernel_size, stride or None, padding, dilation, ceil_mode
    return F.max_pool1d_with_indices(self, *window)


def native_channel_shuffle(self: Any, groups: int) -> Any:
    """`nn.functional.channel_shuffle`."""
    return F.channel_shuffle(self, groups)
