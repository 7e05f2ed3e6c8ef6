"""Texts classified by EmbeddingBag over hashed words, with sparse gradients.

    python examples/sparse/texts.py

Words are hashed by scikit-learn where it is installed, else by Python's crc32. The texts are made
up: two kinds of sentences over words of which some are likelier in one.
"""

from __future__ import annotations

import importlib
import zlib
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out import nn
from torchgen_out.nn import functional as F

BUCKETS = 1 << 16


def texts(count: int, seed: int) -> tuple[list[str], Any]:
    """Sentences of made-up words, and which kind each is of."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    words = np.array([f"word{number}" for number in range(500)])
    likely = np.stack([np.linspace(1, 6, 500), np.linspace(6, 1, 500)])
    likely /= likely.sum(1, keepdims=True)
    made = [" ".join(rng.choice(words, rng.integers(20, 60), p=likely[kind])) for kind in labels]
    return made, torch.from_numpy(labels.astype(np.int64))


def hashed(sentences: list[str]) -> tuple[Any, Any]:
    """The buckets of all words, and where each sentence begins."""
    try:
        library: Any = importlib.import_module("sklearn.feature_extraction.text")
    except ImportError:
        rows = [
            [zlib.crc32(word.encode()) % BUCKETS for word in each.split()] for each in sentences
        ]
        starts = np.cumsum([0, *map(len, rows)])[:-1]
        return torch.tensor([each for row in rows for each in row]), torch.from_numpy(starts)
    hasher = library.HashingVectorizer(n_features=BUCKETS, norm=None, alternate_sign=False)
    matrix = torch.sparse.from_scipy(hasher.transform(sentences))
    return matrix.col_indices().long(), matrix.crow_indices()[:-1].long()


def _bucket(word: str) -> int:
    return zlib.crc32(word.encode()) % BUCKETS


class Classifier(nn.Module):
    """The mean of the words' vectors, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(BUCKETS, 16, mode="mean", sparse=True)
        self.decide = nn.Linear(16, 2)

    def forward(self, buckets: Any, starts: Any) -> Any:
        """Scores of both kinds."""
        return self.decide(self.words(buckets, starts))


def accuracy(epochs: int = 20) -> float:
    """Train, and test on other texts. Only the rows of words that occur are touched."""
    torch.manual_seed(0)
    (sentences, labels), (unseen, expected) = texts(400, 0), texts(200, 1)
    model = Classifier()
    table = torch.optim.SparseAdam(model.words.parameters(), lr=0.02)
    rest = torch.optim.Adam(model.decide.parameters(), lr=0.02)
    given = hashed(sentences)
    for _ in range(epochs):
        table.zero_grad()
        rest.zero_grad()
        F.cross_entropy(model(*given), labels).backward()
        table.step()
        rest.step()
    return float((model(*hashed(unseen)).argmax(1) == expected).float().mean())


if __name__ == "__main__":
    print(f"right: {accuracy():.1%}")
