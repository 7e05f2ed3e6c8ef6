"""A small GPT over bytes, trained with gradient accumulation and warm-up, then asked to go on."""

import math

import torch
import torch.nn as nn
from comparing import run
from torch.nn import functional as F

TEXT = b"a rose is a rose is a rose, and a daisy is a daisy is a daisy; " * 6


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        batch, length, width = x.size()
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(self.ln_1(x)).split(width, dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).contiguous().view(batch, length, width))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, width=32, context=16):
        super().__init__()
        self.context = context
        self.wte = nn.Embedding(128, width)
        self.wpe = nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, 4) for _ in range(2)])
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, 128, bias=False)
        self.wte.weight = self.head.weight
        for name, parameter in self.named_parameters():
            if name.endswith("proj.weight"):
                nn.init.normal_(parameter, std=0.02 / math.sqrt(4))

    def forward(self, index, targets=None):
        places = torch.arange(index.size(1), device=index.device)
        x = self.wte(index) + self.wpe(places)
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.ln_f(x))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, 128), targets.view(-1), ignore_index=-1)


def train(model):
    data = torch.tensor(list(TEXT), dtype=torch.long)
    decayed = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 3))
    for step in range(6):
        for part in range(2):
            starts = [(step * 37 + part * 11 + i * 23) % (len(data) - 17) for i in range(4)]
            x = torch.stack([data[i : i + 16] for i in starts])
            y = torch.stack([data[i + 1 : i + 17] for i in starts])
            _, loss = model(x, y)
            (loss / 2).backward()
            yield loss.item()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad(set_to_none=True)
    model.eval()
    index = data[None, :4]
    with torch.no_grad():
        for _ in range(4):
            logits = model(index[:, -model.context :])[0][:, -1]
            index = torch.cat([index, logits.argmax(-1, keepdim=True)], dim=1)
            yield logits.max().item()


run(GPT, train)
