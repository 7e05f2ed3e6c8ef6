"""Schemas with quotes in them, as PyTorch's own file has, make Python that can be read."""

from __future__ import annotations

import ast
from pathlib import Path

from codegen.emit import emit
from codegen.lower import lower
from tests.codegen.small_program import DERIVATIVES, FUNCTIONS, read_pair, write_pair

QUOTED = """
- func: frame(Tensor self, str mode="constant") -> Tensor
  composite: self * len(mode)
  samples:
    - {self: "randn(3)"}
  doc: Frames a tensor.

- func: frame.times(Tensor self, int times, str mode="constant") -> Tensor
  composite: self * len(mode) * times
  samples:
    - {self: "randn(3)", times: 2}
  doc: Frames a tensor several times.

- func: quoted(Tensor self, str word="L") -> Tensor
  dispatch: {CPU: linalg.quoted}
  meta: linalg.quoted
  samples:
    - {self: "randn(3)"}
  doc: Takes a word.
"""

GRADIENT = """
- name: quoted
  self: non_differentiable
"""


def test_a_default_in_double_quotes(tmp_path: Path) -> None:
    write_pair(tmp_path, FUNCTIONS + QUOTED, DERIVATIVES + GRADIENT)
    files = {file.path: file.text for file in emit(lower(read_pair(tmp_path)))}
    for path, text in files.items():
        if path.endswith(".py"):
            ast.parse(text, path)
    assert 'word=\\"L\\"' in files["operators/dispatch.py"]
    assert 'mode="constant"' in files["functions/overloads.py"]
