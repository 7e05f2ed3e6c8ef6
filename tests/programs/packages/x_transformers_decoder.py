"""x_transformers: a decoder with rotary positions and gated layers."""

import numpy as np
import torch
from comparing import run
from torch import nn
from x_transformers import Decoder, TransformerWrapper


def build():
    layers = Decoder(dim=16, depth=2, heads=2, rotary_pos_emb=True, ff_glu=True)
    return TransformerWrapper(num_tokens=50, max_seq_len=16, attn_layers=layers)


def train(model):
    tokens = torch.from_numpy(np.random.RandomState(0).randint(0, 50, (4, 12)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(6):
        loss = nn.functional.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss


run(build, train)
