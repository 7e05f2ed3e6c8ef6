"""The numbers of `embedding_bag`'s modes."""

from __future__ import annotations

SUM, MEAN, MAX = 0, 1, 2
