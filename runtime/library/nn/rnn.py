"""Recurrent layers: RNN, LSTM and GRU over sequences, stacked, in one or both directions."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.nn import init
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.packing import PackedSequence, checked_batch_sizes
from torchgen_out._runtime.library.nn.parameter import Parameter
from torchgen_out._runtime.library.nn.rnn_loops import Weights, run_layers

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


class RNNBase(Module):
    """Weights, shapes and the loop over layers and directions."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = float(dropout), bidirectional
        self.proj_size = proj_size
        _check_kinds(input_size, hidden_size, bias, batch_first)
        _check_options(hidden_size, num_layers, dropout, proj_size)
        options = {"device": device, "dtype": dtype}
        for layer in range(num_layers):
            for suffix in self._suffixes(layer):
                self._add_weights(layer, suffix, options)
        self.reset_parameters()

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: 2 if self.bidirectional else 1]

    def _add_weights(self, layer: int, suffix: str, options: dict[str, Any]) -> None:
        rows = _GATES[self.mode] * self.hidden_size
        state = self.proj_size or self.hidden_size
        directions = 2 if self.bidirectional else 1
        columns = self.input_size if layer == 0 else state * directions
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, columns)}
        shapes["weight_hh"] = (rows, state)
        if self.bias:
            shapes["bias_ih"] = shapes["bias_hh"] = (rows,)
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        for name, shape in shapes.items():
            setattr(self, name + suffix, Parameter(torch.empty(shape, **options)))

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of every layer and direction."""
        names = ["weight_ih", "weight_hh"] + ["bias_ih", "bias_hh"] * self.bias
        names += ["weight_hr"] * bool(self.proj_size)
        return [
            [getattr(self, name + suffix) for name in names]
            for layer in range(self.num_layers)
            for suffix in self._suffixes(layer)
        ]

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: the weights need not lie side by side here."""

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    # -- running ----------------------------------------------------------------------------

    def _run(
        self, values: Any, counts: list[int] | None, states: tuple[Any, ...]
    ) -> tuple[Any, list[Any]]:
        """Run all layers.

        `values` are (time, batch, features); with `counts` they are packed, so many rows per time
        step. Each of `states` (h, or h and c) is (layers * directions, batch, size). Returns the
        outputs in the form of `values`, and the last states.
        """
        directions = 2 if self.bidirectional else 1
        suffixes = [each for layer in range(self.num_layers) for each in self._suffixes(layer)]
        weights = [self._weights(suffix) for suffix in suffixes]
        dropout = self.dropout if self.training else 0.0
        return run_layers(self.mode, weights, values, counts, states, directions, dropout)

    def _weights(self, suffix: str) -> Weights:
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return Weights(*[getattr(self, name + suffix, None) for name in names])

    def _forward(self, input: Any, hx: Any, sizes: tuple[int, ...]) -> tuple[Any, list[Any]]:
        """Bring input and states into the loops' form and the results back."""
        rows = self.num_layers * (2 if self.bidirectional else 1)
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx, sizes, rows)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{self._get_name()}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )
        self._check_input(input)
        batched = input.dim() == 3
        swapped = batched and self.batch_first
        values = input if batched else input.unsqueeze(1)
        values = values.transpose(0, 1) if swapped else values
        states = self._initial_states(hx, batched, rows, values.size(1), sizes, input)
        output, finals = self._run(values, None, states)
        if not batched:
            return output.squeeze(1), [final.squeeze(1) for final in finals]
        return (output.transpose(0, 1) if swapped else output), finals

    def _forward_packed(
        self, input: Any, hx: Any, sizes: tuple[int, ...], rows: int
    ) -> tuple[Any, list[Any]]:
        counts = checked_batch_sizes(input)
        self._check_input(input.data)
        states = self._initial_states(hx, True, rows, counts[0], sizes, input.data)
        if hx is not None and input.sorted_indices is not None:
            states = tuple(state.index_select(1, input.sorted_indices) for state in states)
        output, finals = self._run(input.data, counts, states)
        if input.unsorted_indices is not None:
            finals = [final.index_select(1, input.unsorted_indices) for final in finals]
        packed = PackedSequence(
            output, input.batch_sizes, input.sorted_indices, input.unsorted_indices
        )
        return packed, finals

    def _check_input(self, input: Any) -> None:
        weight = self.weight_ih_l0
        if input.dtype != weight.dtype and not torch.is_autocast_enabled(input.device.type):
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                f"Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, "
                f"got {input.size(-1)}"
            )

    def _initial_states(
        self, hx: Any, batched: bool, rows: int, batch: int, sizes: tuple[int, ...], input: Any
    ) -> tuple[Any, ...]:
        if hx is None:
            return tuple(input.new_zeros((rows, batch, size)) for size in sizes)
        given = (hx,) if len(sizes) == 1 else (hx[0], hx[1])
        if any(state.dim() != (3 if batched else 2) for state in given):
            raise _wrong_dims([state.dim() for state in given], batched)
        if len(sizes) == 2 and len(hx) != 2:
            raise RuntimeError(f"{self._get_name()} expects two hidden states, got {len(hx)}")
        for state in given:
            if state.dtype is not input.dtype and not torch.is_autocast_enabled(input.device.type):
                raise RuntimeError(
                    "Input and hidden tensors are not the same dtype, found input tensor with "
                    f"{input.dtype} and hidden tensor with {state.dtype}"
                )
        states = tuple(given) if batched else tuple(state.unsqueeze(1) for state in given)
        for name, state, size in zip(("hidden[0]", "hidden[1]"), states, sizes, strict=False):
            expected = (rows, batch, size)
            if tuple(state.shape) != expected:
                label = name if len(sizes) == 2 else "hidden"
                raise RuntimeError(f"Expected {label} size {expected}, got {list(state.shape)}")
        return states


def _wrong_dims(dims: list[int], batched: bool) -> RuntimeError:
    kind, wanted = ("batched 3-D", "3-D") if batched else ("unbatched 2-D", "2-D")
    if len(dims) == 1:
        return RuntimeError(
            f"For {kind} input, hx should also be {wanted} but got {dims[0]}-D tensor"
        )
    return RuntimeError(
        f"For {kind} input, hx and cx should also be {wanted} "
        f"but got ({dims[0]}-D, {dims[1]}-D) tensors"
    )


def _check_kinds(input_size: Any, hidden_size: Any, bias: Any, batch_first: Any) -> None:
    for name, value, kind in (
        ("input_size", input_size, int),
        ("hidden_size", hidden_size, int),
        ("bias", bias, bool),
        ("batch_first", batch_first, bool),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"{name} should be of type {kind.__name__}, got: {type(value).__name__}"
            )
    if input_size <= 0:
        raise ValueError("input_size must be greater than zero")


def _check_options(hidden_size: int, num_layers: int, dropout: float, proj_size: int) -> None:
    if isinstance(dropout, bool) or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an "
            "element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
        )
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


class RNN(RNNBase):
    """h_t = tanh(W x_t + U h_{t-1}), or relu.

    Shape: input (L, N, input_size) -> output (L, N, D * hidden_size) and h_n
    (D * num_layers, N, hidden_size); with batch_first input and output are (N, L, *).
    """

    def __init__(self, *args: Any, nonlinearity: str = "tanh", **kwargs: Any) -> None:
        if len(args) > 3:  # PyTorch's fourth positional argument is the nonlinearity
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        output, (hidden,) = self._forward(input, hx, (self.hidden_size,))
        return output, hidden


class GRU(RNNBase):
    """Gated recurrent units.

    Shape: input (L, N, input_size) -> output (L, N, D * hidden_size) and h_n
    (D * num_layers, N, hidden_size); with batch_first input and output are (N, L, *).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        output, (hidden,) = self._forward(input, hx, (self.hidden_size,))
        return output, hidden


class LSTM(RNNBase):
    """Long short-term memory; with `proj_size` the hidden state is projected.

    Shape: input (L, N, input_size) -> output (L, N, D * H_out) and (h_n, c_n), which are
    (D * num_layers, N, H_out) and (D * num_layers, N, hidden_size).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> Any:
        sizes = (self.proj_size or self.hidden_size, self.hidden_size)
        output, (hidden, cell) = self._forward(input, hx, sizes)
        return output, (hidden, cell)
