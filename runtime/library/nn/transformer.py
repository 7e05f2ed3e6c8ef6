"""Transformer layers: encoder, decoder, and both together."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.nn import init
from torchgen_out._runtime.library.nn.activation import GELU, ReLU
from torchgen_out._runtime.library.nn.attention import MultiheadAttention
from torchgen_out._runtime.library.nn.containers import ModuleList
from torchgen_out._runtime.library.nn.dropout import Dropout
from torchgen_out._runtime.library.nn.linear import Linear
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.normalization import LayerNorm
from torchgen_out.nn import functional as F


def _get_activation_fn(given: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    if callable(given):
        return given
    if given not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return F.relu if given == "relu" else F.gelu


def _get_clones(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


class _Layer(Module):
    """What encoder and decoder layers share: attention, two linear layers, norms, dropout."""

    attentions: int

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"bias": bias, "device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn")[: self.attentions]:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, batch_first=batch_first, **made
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        for number in range(1, self.attentions + 2):
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, **made))
        for number in range(1, self.attentions + 2):
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over a pickle's attributes; those of PyTorch's first files had no activation."""
        super().__setstate__({"activation": F.relu, **state})

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def _attend(self, attention: Any, x: Any, other: Any, mask: Any, padding: Any) -> Any:
        return attention(
            x, other, other, attn_mask=mask, key_padding_mask=padding, need_weights=False
        )[0]

    def _block(self, number: int, x: Any, compute: Callable[[Any], Any]) -> Any:
        """A residual block: x + f(norm(x)) with norm_first, else norm(x + f(x))."""
        norm = getattr(self, f"norm{number}")
        dropout = getattr(self, f"dropout{number}")
        if self.norm_first:
            return x + dropout(compute(norm(x)))
        return norm(x + dropout(compute(x)))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a residual and a norm.

    Shape: (S, N, E), unchanged; with batch_first (N, S, E).
    """

    attentions = 1

    def forward(
        self,
        src: Any,
        src_mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:
        x = self._block(
            1, src, lambda x: self._attend(self.self_attn, x, x, src_mask, src_key_padding_mask)
        )
        return self._block(2, x, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output, and a feed-forward network.

    Shape: target (T, N, E), memory (S, N, E) -> (T, N, E); with batch_first N comes first.
    """

    attentions = 2

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        x = self._block(
            1, tgt, lambda x: self._attend(self.self_attn, x, x, tgt_mask, tgt_key_padding_mask)
        )
        x = self._block(
            2,
            x,
            lambda x: self._attend(
                self.multihead_attn, x, memory, memory_mask, memory_key_padding_mask
            ),
        )
        return self._block(3, x, self._feed_forward)


def _not_nested(layer: Module) -> str:
    """Why PyTorch would not pack padded batches for this layer; empty if it would.

    Nothing is packed here; PyTorch says so when the encoder is made, and programs expect it.
    """
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True"
        "(use batch_first for better inference performance)": not attention.batch_first,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not (
            layer.activation in (F.relu, F.gelu) or isinstance(layer.activation, ReLU | GELU)
        ),
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class TransformerEncoder(Module):
    """A stack of copies of one encoder layer."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers, self.num_layers, self.norm = (
            _get_clones(encoder_layer, num_layers),
            num_layers,
            norm,
        )
        reason = _not_nested(encoder_layer) if enable_nested_tensor else ""
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        self.use_nested_tensor = enable_nested_tensor and not reason
        if reason:
            warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"encoder_layer{reason}"
            )

    def forward(
        self,
        src: Any,
        mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool | None = None,
    ) -> Any:
        padding = self._cleared_padding(src, mask, src_key_padding_mask)
        for layer in self.layers:
            src = layer(src, src_mask=mask, src_key_padding_mask=src_key_padding_mask)
        if padding is not None:
            src = src.masked_fill(padding.unsqueeze(-1), 0)
        return src if self.norm is None else self.norm(src)

    def _cleared_padding(self, src: Any, mask: Any, src_key_padding_mask: Any) -> Any:
        """The padding at the ends of rows, if its results are zeros.

        They are where PyTorch computes rows of several lengths, nested tensors: in evaluation,
        when nobody asks for gradients, and padding is all that is masked.
        """
        layer = self.layers[0]
        if src_key_padding_mask is None or mask is not None or not self.use_nested_tensor:
            return None
        if layer.training or src.dim() != 3 or torch.is_autocast_enabled():
            return None
        if torch.is_grad_enabled() and any(
            each.requires_grad for each in (src, *layer.parameters())
        ):
            return None
        padding = src_key_padding_mask != 0
        return None if (padding[:, :-1] & ~padding[:, 1:]).any() else padding


class TransformerDecoder(Module):
    """A stack of copies of one decoder layer."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers, self.num_layers, self.norm = (
            _get_clones(decoder_layer, num_layers),
            num_layers,
            norm,
        )

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder and a decoder. Shape: source (S, N, E), target (T, N, E) -> (T, N, E)."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        made = {"bias": bias, "device": device, "dtype": dtype}
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*layer, batch_first, norm_first, **made)
            norm = LayerNorm(d_model, layer_norm_eps, **made)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm)
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*layer, batch_first, norm_first, **made)
            norm = LayerNorm(d_model, layer_norm_eps, **made)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """Return a mask that lets each position see itself and the past: 0 there, else -inf."""
        mask = torch.full((sz, sz), float("-inf"), dtype=dtype, device=device)
        return torch.triu(mask, diagonal=1)

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        **hints: Any,
    ) -> Any:
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
        )
