"""What the library's tensors have beside operators: no package outside the tree replaces it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from .. import library
from ..model.operator import Operator
from .report import Report

_FILES = ("core/tensor.py", "tensor_api/methods.py", "autograd/tensor_attributes.py")
_MEMBER = re.compile(r"^(?:    def |Tensor\.)(\w+)(?:\(| = )", re.MULTILINE)


def check_members(operators: Sequence[Operator], report: Report) -> None:
    """Report every method that would take the place of a hand-written member of tensors."""
    taken = _members()
    for operator in operators:
        for name in _methods(operator):
            if name in taken:
                message = f"{operator.name}: Tensor.{name} is the library's own"
                hint = "choose another name, or write 'variants: function'"
                width = len(operator.name)
                report.add("E506", operator.where, message, hint=hint, width=width)


@cache
def _members() -> frozenset[str]:
    texts = [(library.RUNTIME_FOLDER / file).read_text(encoding="utf-8") for file in _FILES]
    return frozenset(name for text in texts for name in _MEMBER.findall(text))


def _methods(operator: Operator) -> Iterator[str]:
    """The names under which an operator is put on the class of tensors."""
    for name in (operator.base_name, *operator.aliases):
        if operator.has_method:
            yield name
        if operator.has_inplace:
            yield f"{name}_"
