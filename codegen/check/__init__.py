"""The rules that a program must keep; see `rules` for how one is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from codegen.errors import Diagnostic
from codegen.model.program import Program
from codegen.parse.functions import Signature


def check(
    program: Program, functions: Mapping[str, Signature], broken: Collection[str]
) -> list[Diagnostic]:
    return []
