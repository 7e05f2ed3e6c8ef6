"""The softmax of many classes, of which most are rare."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import torchgen_out as torch
from torchgen_out._runtime.library.nn.containers import ModuleList, Sequential
from torchgen_out._runtime.library.nn.linear import Linear
from torchgen_out._runtime.library.nn.module import Module
from torchgen_out.nn import functional as F


class ASMoutput(NamedTuple):
    """The log-probabilities of the targets, and minus their mean."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax over classes in the order of their frequency, cut into clusters at `cutoffs`.

    The head scores the classes before the first cutoff and every cluster behind it as one; a
    cluster's scores have `div_value` times fewer features than those of the cluster before it.
    Shape: (N, in_features) and targets (N), or (in_features) and ().

    **Source** Grave et al., "Efficient softmax approximation for GPUs" (2017).
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        is_ordered = cutoffs == sorted(set(cutoffs)) and all(int(c) == c for c in cutoffs)
        if not is_ordered or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an "
                "increasing order, where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs, self.div_value, self.head_bias = [*cutoffs, n_classes], div_value, head_bias
        self.shortlist_size, self.n_clusters = cutoffs[0], len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            layers = (
                Linear(in_features, hidden, bias=False, **options),
                Linear(hidden, size, bias=False, **options),
            )
            self.tail.append(Sequential(*layers))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_: Any, target_: Any) -> ASMoutput:
        self._check(input_, target_)
        is_batch = target_.dim() > 0
        rows, labels = (
            (input_, target_) if is_batch else (input_.unsqueeze(0), target_.unsqueeze(0))
        )
        head = F.log_softmax(self.head(rows), dim=1)
        output = head.new_zeros(labels.size(0))
        bounds = [0, *self.cutoffs]
        for i, (low, high) in enumerate(pairwise(bounds)):
            places = ((labels >= low) & (labels < high)).nonzero().squeeze(1)
            if not places.numel():
                continue
            inside = labels.index_select(0, places) - low
            known = head.index_select(0, places)
            if i == 0:
                found = known.gather(1, inside.unsqueeze(1)).squeeze(1)
            else:
                scores = self.tail[i - 1](rows.index_select(0, places))
                found = F.log_softmax(scores, dim=1).gather(1, inside.unsqueeze(1)).squeeze(1)
                found = found + known[:, self.shortlist_size + i - 1]
            output = output.index_copy(0, places, found)
        loss = (-output).mean()
        return ASMoutput(output if is_batch else output.squeeze(0), loss)

    def _check(self, input: Any, target: Any) -> None:
        if target.dim() == 1:
            if input.size(0) != target.size(0):
                raise RuntimeError(
                    "Input and target should have the same size in the batch dimension."
                )
        elif target.dim() == 0:
            if input.dim() != 1:
                raise RuntimeError(
                    "0D target tensor expects 1D input tensors, "
                    f"but found inputs with size {input.size()}"
                )
        else:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if target.numel() and not 0 <= int(target.min()) <= int(target.max()) < self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes. Shape: (N, in_features) -> (N, n_classes)."""
        head = F.log_softmax(self.head(input), dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            of_cluster = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(F.log_softmax(cluster(input), dim=1) + of_cluster)
        return torch.cat(parts, 1)

    def predict(self, input: Any) -> Any:
        """The likeliest classes. Shape: (N, in_features) -> (N)."""
        return self.log_prob(input).argmax(dim=1)
