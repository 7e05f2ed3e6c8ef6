"""The operators of research_ops.yaml as one writes them without it: compositions of PyTorch's.

Each function takes what the operator takes and is the best composition that we know: vectorised, no
Python loop where a library call will do. They are what the tests compare with and what the
benchmark times, eager and under `torch.compile`. `torch` may be PyTorch or torchgen_out.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

Tensor = Any


def rms_norm_gated(x: Tensor, gate: Tensor, weight: Tensor, eps: float = 1e-6) -> Tensor:
    """RMS norm of rows, gated. x, gate: (*, D); weight: (D)."""
    return F.rms_norm(x, x.shape[-1:], weight, eps) * torch.sigmoid(gate)


def rotary_embedding(x: Tensor, base: float = 10000.0) -> Tensor:
    """Pairs (d, d + D/2) of a row at position t turned by t / base^(2d/D). x: (*, T, D)."""
    length, width = x.shape[-2:]
    half = width // 2
    rate = base ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = torch.arange(length, dtype=x.dtype)[:, None] * rate
    cos, sin = torch.cos(angle).repeat(1, 2), torch.sin(angle).repeat(1, 2)
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * cos + turned * sin


def alibi_scores(q: Tensor, k: Tensor, slopes: Tensor) -> Tensor:
    """Causal attention scores with a linear bias. q, k: (B, H, T, D); slopes: (H)."""
    length = q.shape[2]
    at = torch.arange(length)
    distance = at[:, None] - at
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    biased = scores - slopes[:, None, None] * distance
    return biased.masked_fill(distance < 0, -math.inf)


def window_scores(q: Tensor, k: Tensor, window: int) -> Tensor:
    """Scores of each query with the `window` keys up to it. q, k: (B, H, T, D) -> (B, H, T, W)."""
    padded = F.pad(k, (0, 0, window - 1, 0))
    near = padded.unfold(2, window, 1).flip(-1)  # (B, H, T, D, W)
    return torch.einsum("bhtd,bhtdw->bhtw", q, near)


def sparsemax(x: Tensor) -> Tensor:
    """The Euclidean projection of rows onto the simplex (Martins and Astudillo, 2016)."""
    ordered = torch.sort(x, -1, descending=True).values
    rank = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    total = ordered.cumsum(-1)
    size = (rank * ordered + 1 > total).sum(-1, keepdim=True)
    threshold = (total.gather(-1, size - 1) - 1) / size
    return torch.clamp(x - threshold, min=0)


def entmax15(x: Tensor) -> Tensor:
    """Entmax with alpha = 1.5 (Peters, Niculae and Martins, 2019), by sorting."""
    half = (x - x.amax(-1, keepdim=True)) / 2
    ordered = torch.sort(half, -1, descending=True).values
    rank = torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    mean = ordered.cumsum(-1) / rank
    spread = (ordered * ordered).cumsum(-1) / rank - mean * mean
    threshold = mean - torch.sqrt(torch.clamp((1 - rank * spread) / rank, min=0))
    size = (threshold <= ordered).sum(-1, keepdim=True)
    return torch.clamp(half - threshold.gather(-1, size - 1), min=0) ** 2


def local_correlation(a: Tensor, b: Tensor, radius: int) -> Tensor:
    """A cost volume: a with b shifted along x. a, b: (N, C, H, W) -> (N, 2 radius + 1, H, W)."""
    padded = F.pad(b, (radius, radius))
    width = a.shape[-1]
    shifted = [(a * padded[..., d : d + width]).sum(1) for d in range(2 * radius + 1)]
    return torch.stack(shifted, 1)


def bilateral_filter(image: Tensor, radius: int, space: float, colour: float) -> Tensor:
    """An edge-preserving mean over windows (Tomasi and Manduchi, 1998). image: (N, C, H, W)."""
    size = 2 * radius + 1
    padded = F.pad(image, (radius,) * 4, mode="replicate")
    near = padded.unfold(2, size, 1).unfold(3, size, 1)  # (N, C, H, W, size, size)
    at = torch.arange(-radius, radius + 1, dtype=image.dtype)
    far = (at[:, None] ** 2 + at**2) / (2 * space * space)
    other = (near - image[..., None, None]) ** 2 / (2 * colour * colour)
    weight = torch.exp(-far - other)
    return (weight * near).sum((-1, -2)) / weight.sum((-1, -2))


def deformable_sample(x: Tensor, offset: Tensor) -> Tensor:
    """Each pixel from where its offset (rows, columns) points, bilinearly; zeros outside.

    x: (N, C, H, W); offset: (N, 2, H, W).
    """
    height, width = x.shape[-2:]
    rows = torch.arange(height, dtype=x.dtype)[:, None] + offset[:, 0]
    columns = torch.arange(width, dtype=x.dtype) + offset[:, 1]
    grid = torch.stack([columns * 2 / (width - 1) - 1, rows * 2 / (height - 1) - 1], -1)
    return F.grid_sample(x, grid, align_corners=True)


def causal_conv1d(x: Tensor, weight: Tensor, bias: Tensor, dilation: int = 1) -> Tensor:
    """A convolution that sees no future. x: (N, C, T); weight: (O, C, K), tap 0 at t; bias: (O)."""
    reach = (weight.shape[-1] - 1) * dilation
    return F.conv1d(F.pad(x, (reach, 0)), weight.flip(-1), bias, dilation=dilation)


def selective_scan(u: Tensor, delta: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """The recurrence of Mamba (Gu and Dao, 2023).

    u, delta: (B, T, D); a: (D, S); b, c: (B, T, S) -> (B, T, D).
    """
    decay = torch.exp(delta[..., None] * a)
    push = (delta * u)[..., None] * b[:, :, None]
    state = torch.zeros_like(push[:, 0])
    results = []
    for t in range(u.shape[1]):
        state = decay[:, t] * state + push[:, t]
        results.append((state * c[:, t, None]).sum(-1))
    return torch.stack(results, 1)


def decayed_logcumsumexp(x: Tensor, log_decay: Tensor) -> Tensor:
    """y[t] = log(exp(x[t]) + exp(log_decay[t] + y[t - 1])). x, log_decay: (*, T)."""
    passed = torch.cumsum(log_decay, -1)
    return torch.logcumsumexp(x - passed, -1) + passed


def segment_softmax(score: Tensor, segment: Tensor, segments: int) -> Tensor:
    """Softmax within each segment, in any order. score: (N); segment: (N), integers."""
    lowest = score.new_full((segments,), -math.inf)
    top = lowest.scatter_reduce(0, segment, score, "amax")
    raised = torch.exp(score - top[segment])
    total = torch.zeros_like(lowest).index_add(0, segment, raised)
    return raised / total[segment]


def triplet_hinge(x: Tensor, label: Tensor, margin: float = 0.2) -> Tensor:
    """The mean hinge over all (anchor, positive, negative). x: (N, D); label: (N)."""
    near = ((x[:, None] - x) ** 2).sum(-1)
    same = label[:, None] == label
    other = ~torch.eye(len(x), dtype=torch.bool)
    valid = (same & other)[:, :, None] & ~same[:, None, :]
    hinge = torch.clamp(margin + near[:, :, None] - near[:, None, :], min=0)
    return (hinge * valid).sum() / valid.sum()


def soft_dtw(cost: Tensor, gamma: float = 1.0) -> Tensor:
    """Soft dynamic time warping (Cuturi and Blondel, 2017) along antidiagonals. cost: (B, N, M)."""
    batch, rows, columns = cost.shape
    far = cost.new_full((batch, rows + 1), 1e10)  # infinity has no gradient
    before, last = torch.cat([cost.new_zeros(batch, 1), far[:, 1:]], 1), far
    at = torch.arange(1, rows + 1)
    for diagonal in range(2, rows + columns + 1):
        column = diagonal - at
        inside = (column >= 1) & (column <= columns)
        here = cost[:, at - 1, torch.clamp(column, 1, columns) - 1]
        three = torch.stack([last[:, :-1], last[:, 1:], before[:, :-1]])
        soft = -gamma * torch.logsumexp(-three / gamma, 0)
        now = torch.where(inside, here + soft, 1e10)
        before, last = last, torch.cat([far[:, :1], now], 1)
    return last[:, rows]


def gumbel_sigmoid(x: Tensor, temperature: float = 1.0) -> Tensor:
    """A relaxed Bernoulli sample (Maddison et al., 2017): logistic noise, then a sigmoid."""
    uniform = torch.rand_like(x)
    return torch.sigmoid((x + torch.log(uniform) - torch.log1p(-uniform)) / temperature)


def focal_loss(x: Tensor, target: Tensor, alpha: float = 0.25, gamma: float = 2.0) -> Tensor:
    """The focal loss of logits (Lin et al., 2017), each element. x, target: (*)."""
    p = torch.sigmoid(x)
    loss = F.binary_cross_entropy_with_logits(x, target, reduction="none")
    right = p * target + (1 - p) * (1 - target)
    weight = alpha * target + (1 - alpha) * (1 - target)
    return weight * (1 - right) ** gamma * loss


def lovasz_hinge(x: Tensor, target: Tensor) -> Tensor:
    """The Lovasz hinge of logits (Berman et al., 2018), a mean over rows. x, target: (B, N)."""
    errors = 1 - x * (2 * target - 1)
    ordered, order = torch.sort(errors, -1, descending=True)
    truth = target.gather(-1, order)
    union = truth.sum(-1, keepdim=True) + (1 - truth).cumsum(-1)
    jaccard = 1 - (truth.sum(-1, keepdim=True) - truth.cumsum(-1)) / union
    steps = torch.cat([jaccard[:, :1], jaccard[:, 1:] - jaccard[:, :-1]], 1)
    return (torch.relu(ordered) * steps).sum(-1).mean()


def soft_histogram(x: Tensor, bins: int, low: float, high: float) -> Tensor:
    """Counts with Gaussian bins of the bins' own width. x: (N) -> (bins)."""
    width = (high - low) / bins
    centre = low + width * (torch.arange(bins, dtype=x.dtype) + 0.5)
    return torch.exp(-0.5 * ((x - centre[:, None]) / width) ** 2).sum(-1)


def bias_gelu_dropout_residual(x: Tensor, bias: Tensor, residual: Tensor, p: float) -> Tensor:
    """dropout(gelu(x + bias)) + residual. x, residual: (*, D); bias: (D)."""
    return F.dropout(F.gelu(x + bias), p, True) + residual


def total_variation(image: Tensor) -> Tensor:
    """The sum of absolute differences of neighbours (Rudin et al., 1992). (N, C, H, W) -> (N)."""
    down = (image[..., 1:, :] - image[..., :-1, :]).abs().sum((1, 2, 3))
    across = (image[..., 1:] - image[..., :-1]).abs().sum((1, 2, 3))
    return down + across


def quantise(x: Tensor, scale: float, low: int, high: int) -> Tensor:
    """Rounded to steps of `scale`; the gradient passes where nothing was clamped."""
    steps = x / scale
    inside = torch.clamp(steps, low, high)
    return (inside + (torch.round(inside) - inside).detach()) * scale
