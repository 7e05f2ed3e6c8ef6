"""Recurrent cells: one step of an RNN, LSTM or GRU, as functions and as modules."""

from __future__ import annotations

import math
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn import init
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.parameter import Parameter
from torchgen_out._runtime.ops.composite.rnn import gru_step, lstm_step, relu_step, tanh_step
from torchgen_out.nn import functional as F


class RNNCellBase(Module):
    """Weights of a cell with `num_chunks` gates."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(torch.empty((rows, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(torch.empty((rows, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            value = torch.empty(rows, device=device, dtype=dtype) if bias else None
            self.register_parameter(name, None if value is None else Parameter(value))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _checked(self, input: Any, name: str) -> None:
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"{name}: input has inconsistent input_size: got {input.size(-1)} "
                f"expected {self.input_size}"
            )

    def _checked_state(self, state: Any, input: Any, name: str, word: str) -> Any:
        """A given state, if it goes with the input; zeros if none is given."""
        if state is None:
            return self._zeros(input)
        if state.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected {word} to be 1D or 2D, got {state.dim()}D instead")
        if input.dim() == state.dim() == 2 and input.size(0) != state.size(0):
            raise RuntimeError(
                f"Input batch size {input.size(0)} doesn't match hidden0 batch size {state.size(0)}"
            )
        if state.size(-1) != self.hidden_size:
            raise RuntimeError(
                f"hidden0 has inconsistent hidden_size: got {state.size(-1)}, expected "
                f"{self.hidden_size}"
            )
        return state

    def _products(self, input: Any, hidden: Any) -> tuple[Any, Any]:
        return (
            F.linear(input, self.weight_ih, self.bias_ih),
            F.linear(hidden, self.weight_hh, self.bias_hh),
        )

    def _zeros(self, input: Any) -> Any:
        return input.new_zeros((*input.shape[:-1], self.hidden_size))

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text


class RNNCell(RNNCellBase):
    """h' = tanh(W x + U h), or relu. Shape: (N, input), (N, hidden) -> (N, hidden)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        self._checked(input, "RNNCell")
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        hidden = self._checked_state(hx, input, "RNNCell", "hidden")
        step = tanh_step if self.nonlinearity == "tanh" else relu_step
        return step(*self._products(input, hidden), hidden)


class GRUCell(RNNCellBase):
    """One step of a GRU. Shape: (N, input_size), (N, hidden_size) -> (N, hidden_size)."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        self._checked(input, "GRUCell")
        hidden = self._checked_state(hx, input, "GRUCell", "hidden")
        return gru_step(*self._products(input, hidden), hidden)


class LSTMCell(RNNCellBase):
    """One step of an LSTM. Shape: (N, input_size), ((N, hidden_size),) * 2 -> the same pair."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        self._checked(input, "LSTMCell")
        given = (None, None) if hx is None else hx
        if torch.is_tensor(given):
            raise TypeError("lstm_cell(): argument 'hx' must be tuple of Tensors, not Tensor")
        hidden, cell = (
            self._checked_state(state, input, "LSTMCell", f"hx[{number}]")
            for number, state in enumerate(given)
        )
        return lstm_step(*self._products(input, hidden), cell)
