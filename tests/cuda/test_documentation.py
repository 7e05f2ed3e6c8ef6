"""The page on CUDA: its snippets run on the emulated device, one after the other."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels.cuda.special import functions

PAGE = Path(__file__).parents[2] / "docs" / "cuda.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
RAISES = re.compile(r"^# (\w+Error): (.*)$", re.MULTILINE)
"""What a snippet ends in: the error that its last line raises."""


def test_snippets_run(emulated):
    names = {"torch": torch}
    for text in (each for each in SNIPPETS if "@device_kernel" not in each):
        told = RAISES.search(text)
        if told is None:
            exec(text, names)
        else:
            with pytest.raises(getattr(torch, told[1]), match=re.escape(told[2])):
                exec(text, names)
    before = names["result"].tolist()
    names["inputs"].fill_(1)
    names["graph"].replay()
    assert names["result"].tolist() != before


def test_the_kernel_that_is_shown_is_the_one_that_runs():
    (shown,) = [each for each in SNIPPETS if "@device_kernel" in each]
    source = ast.parse(inspect.getsource(functions))
    own = {each.name: each for each in source.body if isinstance(each, ast.FunctionDef)}
    for function in ast.parse(shown).body:
        assert isinstance(function, ast.FunctionDef)
        for part in ("body", "decorator_list"):
            ours, theirs = getattr(function, part), getattr(own[function.name], part)
            assert [ast.dump(each) for each in ours] == [ast.dump(each) for each in theirs]
