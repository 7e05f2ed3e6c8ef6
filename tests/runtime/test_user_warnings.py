"""Warnings name the line of the user, through however many frames of the library."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out import nn
from torchgen_out.nn import functional as F


def scheduled() -> Any:
    """A scheduler of an optimizer that has made no step."""
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    return torch.optim.lr_scheduler.StepLR(optimizer, 1)


def read_only() -> Any:
    """An array that refuses writes."""
    array = np.ones(2)
    array.flags.writeable = False
    return array


CALLS: dict[str, Callable[[], Any]] = {
    "tensor of a tensor": lambda: torch.tensor(torch.ones(1)),
    "like a tensor": lambda: torch.ones(1).new_tensor(torch.ones(1)),
    "read-only": lambda: torch.from_numpy(read_only()),
    "out= of another shape": lambda: torch.exp(torch.ones(3), out=torch.ones(2)),
    "out= of a reduction": lambda: torch.sum(torch.ones(3, 2), 0, out=torch.ones(3)),
    "std of one": lambda: torch.std(torch.ones(1)),
    "var of one, as a method": lambda: torch.ones(1).var(),
    "complex to real": lambda: torch.ones(2, dtype=torch.complex64).to(torch.float32),
    "broadcast target": lambda: F.mse_loss(torch.ones(2, 1), torch.ones(2)),
    "broadcast target, in a module": lambda: nn.MSELoss()(torch.ones(2, 1), torch.ones(2)),
    "reduce": lambda: F.mse_loss(torch.ones(2), torch.ones(2), size_average=True),
    "mean of divergences": lambda: F.kl_div(torch.ones(2), torch.ones(2)),
    "softmax without dim": lambda: F.softmax(torch.ones(2)),
    "softmax without dim, in a module": lambda: nn.Softmax()(torch.ones(2)),
    "grad of a result": lambda: (torch.ones(1, requires_grad=True) * 2).grad,
    "early step": lambda: scheduled().step(),
    "rates by hand": lambda: scheduled().get_lr(),
    "one layer": lambda: nn.LSTM(1, 1, dropout=0.5),
    "nothing to fill": lambda: nn.init.kaiming_uniform_(torch.empty(0, 2)),
    "old name": lambda: nn.init.uniform(torch.empty(2)),
    "old order": lambda: torch.add(torch.ones(1), 2, torch.ones(1)),
    "old name of a function": lambda: F.upsample(torch.ones(1, 1, 2), 4),
    "old name of a module": lambda: nn.NLLLoss2d(),
    "norms by hooks": lambda: nn.utils.weight_norm(nn.Linear(1, 1)),
    "resized": lambda: torch.ones(2, 3).resize(3, 2),
    "alignment": lambda: F.affine_grid(torch.ones(1, 2, 3), [1, 1, 2, 2]),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_line_is_the_users(name: str, recwarn: pytest.WarningsRecorder) -> None:
    CALLS[name]()
    assert {warned.filename for warned in recwarn} == {__file__}


def test_there_is_one_way_to_warn() -> None:
    runtime = Path(__file__).resolve().parents[2] / "runtime"
    home = runtime / "core" / "user_warnings.py"
    told = [
        str(path.relative_to(runtime))
        for path in runtime.rglob("*.py")
        if path != home and re.search(r"\bwarnings\.warn\b", path.read_text(encoding="utf-8"))
    ]
    assert told == []
