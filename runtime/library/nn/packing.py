"""Sequences of different lengths in one tensor: padded, and packed by time step."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.core import public

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence(
    namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])
):
    """The elements of all sequences, by time step; `batch_sizes` says how many live at each.

    The sequences are ordered by falling length; the indices lead there and back.
    """

    __module__ = "torchgen_out.nn.utils.rnn"

    def __new__(
        cls,
        data: Any,
        batch_sizes: Any = None,
        sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data: Any) -> PackedSequence:
        """These sequences with other data, to whose device the indices follow."""
        if data is self.data:
            return self
        indices = [
            None if each is None else each.to(data.device)
            for each in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Move or cast the data."""
        return self._with(self.data.to(*args, **kwargs))

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Move the data to the CPU."""
        return self._with(self.data.cpu(*args, **kwargs))

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Move the data to a CUDA device."""
        return self._with(self.data.cuda(*args, **kwargs))

    def double(self) -> PackedSequence:
        """Cast the data to float64."""
        return self._with(self.data.double())

    def float(self) -> PackedSequence:
        """Cast the data to float32."""
        return self._with(self.data.float())

    def half(self) -> PackedSequence:
        """Cast the data to float16."""
        return self._with(self.data.half())

    def long(self) -> PackedSequence:
        """Cast the data to int64."""
        return self._with(self.data.long())

    def int(self) -> PackedSequence:
        """Cast the data to int32."""
        return self._with(self.data.int())

    def short(self) -> PackedSequence:
        """Cast the data to int16."""
        return self._with(self.data.short())

    def char(self) -> PackedSequence:
        """Cast the data to int8."""
        return self._with(self.data.char())

    def byte(self) -> PackedSequence:
        """Cast the data to uint8."""
        return self._with(self.data.byte())

    def pin_memory(self) -> PackedSequence:
        """Copy the data into page-locked memory."""
        parts = [
            None if each is None else each.pin_memory()
            for each in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *parts)

    def is_pinned(self) -> bool:
        """Whether the data lies in page-locked memory."""
        return bool(self.data.is_pinned())

    @property
    def is_cuda(self) -> bool:
        """Whether the data lives on a CUDA device."""
        return bool(self.data.is_cuda)


def invert_permutation(permutation: Any) -> Any:
    """Return the permutation that undoes another; None stays None."""
    if permutation is None:
        return None
    inverse = torch.empty_like(permutation)
    inverse[permutation] = torch.arange(permutation.numel(), device=permutation.device)
    return inverse


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack a padded batch (L, N, *) or, with batch_first, (N, L, *).

    **Raises** RuntimeError if a length is not positive or above L, or if they do not fall and
    `enforce_sorted` is set.
    """
    counts = _counts("lengths", torch.as_tensor(lengths).to(torch.int64))
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    rows: Sequence[int] = range(len(counts))
    if not enforce_sorted:
        rows = sorted(rows, key=lambda row: -counts[row])
        counts = [counts[row] for row in rows]
    batch, longest = input.size(0 if batch_first else 1), input.size(1 if batch_first else 0)
    if batch != len(counts) if enforce_sorted else batch < len(counts):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} "
            f"(batch_size={batch})"
        )
    if counts != sorted(counts, reverse=True):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    if counts[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if counts[0] > longest:
        raise RuntimeError(
            f"pack_padded_sequence: expected lengths of at most {longest}, got {counts[0]}"
        )
    sizes = _living(counts)
    times, at = _places(sizes)
    at = np.array(rows)[at]
    places = torch.from_numpy(at * longest + times if batch_first else times * batch + at)
    data = input.flatten(0, 1).index_select(0, places.to(input.device))
    order = None if enforce_sorted else torch.tensor(rows, device=input.device)
    return PackedSequence(data, torch.tensor(sizes, dtype=torch.int64), order)


def _living(counts: list[int]) -> list[int]:
    """Of falling numbers, how many are above 0, above 1, and so on: of lengths the batch sizes, and
    of these the lengths."""
    sizes, count = [], len(counts)
    for time in range(counts[0]):
        while counts[count - 1] <= time:
            count -= 1
        sizes.append(count)
    return sizes


def _places(sizes: list[int]) -> tuple[Any, Any]:
    """The time and the row of each packed element."""
    times, rows = (np.arange(sizes[0]) < np.array(sizes)[:, None]).nonzero()
    return times, rows


def _counts(name: str, given: Any) -> list[int]:
    """Lengths or batch sizes as numbers. **Raises** RuntimeError unless they are int64 and 1-D."""
    if given.dim() != 1 or given.dtype is not torch.int64:
        raise RuntimeError(
            f"`{name}` argument should be a 1D CPU int64 tensor, but got {given.dim()}D "
            f"{given.device} {given.dtype} tensor"
        )
    return list(given.tolist())


def checked_batch_sizes(sequence: Any) -> list[int]:
    """The batch sizes of a packed sequence.

    **Raises** RuntimeError unless they are positive, do not rise, and sum up to its rows.
    """
    sizes = _counts("batch_sizes", sequence.batch_sizes)
    rows = sequence.data.size(0)
    falls = all(size >= after for size, after in pairwise(sizes))
    if not sizes or sizes[-1] < 1 or not falls or sum(sizes) != rows:
        raise RuntimeError(
            "Expected batch_sizes of a packed sequence to be positive, not to rise, and to sum up "
            f"to the {rows} rows of its data, but got {sizes}"
        )
    return sizes


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """Undo `pack_padded_sequence`; returns the padded batch and the lengths."""
    sizes = checked_batch_sizes(sequence)
    if total_length is not None and total_length < len(sizes):
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {len(sizes)}"
        )
    data, batch, time = sequence.data, sizes[0], total_length or len(sizes)
    times, rows = _places(sizes)
    places = torch.from_numpy(times * batch + rows).to(data.device)
    padded = data.new_full((time * batch, *data.shape[1:]), padding_value)
    padded = padded.index_copy_(0, places, data).view(time, batch, *data.shape[1:])
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = torch.tensor(_living(sizes))
    if sequence.unsorted_indices is not None:
        order = sequence.unsorted_indices
        padded = padded.index_select(0 if batch_first else 1, order)
        lengths = lengths[order]
    return padded, lengths


def pad_sequence(
    sequences: Sequence[Any],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Stack sequences (L_i, *) into (max L, N, *) or, with batch_first, (N, max L, *)."""
    if not len(sequences):
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("right", "left"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}"
        )
    first, lengths = sequences[0], [sequence.size(0) for sequence in sequences]
    longest = max(lengths)
    filler = first.new_full((longest - min(lengths), *first.shape[1:]), padding_value)
    is_right = padding_side == "right"
    parts = []
    for sequence, length in zip(sequences, lengths, strict=True):
        missing = filler[: longest - length]
        parts += [sequence, missing] if is_right else [missing, sequence]
    padded = torch.cat(parts).view(len(lengths), longest, *first.shape[1:])
    return padded if batch_first else padded.transpose(0, 1).contiguous()


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """Undo `pad_sequence`."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1).contiguous()
    return [row[:count] for row, count in zip(rows, lengths.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of different lengths."""
    lengths = [sequence.size(0) for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """Undo `pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


public.place("nn.utils.rnn", PackedSequence)
