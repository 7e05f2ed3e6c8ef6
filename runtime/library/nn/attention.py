"""MultiheadAttention."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn import init
from torchgen_out._runtime.library.nn.linear import Linear
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out._runtime.library.nn.parameter import Parameter
from torchgen_out.nn import functional as F


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection; PyTorch's files and printed modules call it so."""


class MultiheadAttention(Module):
    """Attention with several heads over jointly projected queries, keys and values.

    Shape: query (L, N, E), key and value (S, N, E) -> output (L, N, E) and weights (N, L, S);
    with batch_first N comes first.
    """

    _qkv_same_embed_dim = True  # in files of 1.1, which knew no others

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, "
                f"got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self.batch_first, self.head_dim = batch_first, embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        options = {"device": device, "dtype": dtype}
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self._add_projections(options)
        rows = torch.empty(3 * embed_dim, **options) if bias else None
        self.register_parameter("in_proj_bias", None if rows is None else Parameter(rows))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, **options)
        self.bias_k = self.bias_v = None
        if add_bias_kv:
            self.bias_k = Parameter(torch.empty((1, 1, embed_dim), **options))
            self.bias_v = Parameter(torch.empty((1, 1, embed_dim), **options))
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _add_projections(self, options: dict[str, Any]) -> None:
        embed = self.embed_dim
        separate = {"q_proj_weight": embed, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        if self._qkv_same_embed_dim:
            for name in separate:
                self.register_parameter(name, None)
            self.in_proj_weight = Parameter(torch.empty((3 * embed, embed), **options))
        else:
            for name, columns in separate.items():
                setattr(self, name, Parameter(torch.empty((embed, columns), **options)))
            self.register_parameter("in_proj_weight", None)

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        return F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            batch_first=self.batch_first,
        )
