"""What each entry of both files became when it was read: the next run reads what changed alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from ..model.derivative import Derivative
from ..model.operator import Operator
from ..model.program import Program
from ..model.signature import Signature
from ..record import record
from .adjoints import Adjoints

_ENTRY = re.compile(r"^(?=- )", re.MULTILINE)

T = TypeVar("T")


@record
class Entry(Generic[T]):
    """One entry, and the records that were made of it."""

    text: str
    """The digest of its text."""
    made: tuple[T, ...]


@record
class Reading:
    """Both files, before any operator is split or gets adjoints."""

    heads: tuple[str, ...]
    """What stands above the first entry of each."""
    operators: tuple[Entry[Operator], ...]
    derivatives: tuple[Entry[Derivative], ...]
    adjoints: Mapping[str, Adjoints]
    """What was derived of index operators, by their names."""
    functions: Mapping[str, Signature]
    """What derivative formulas may call besides operators."""
    program: Program
    """The rest of the program."""


def entry_texts(text: str) -> tuple[str, list[str]]:
    """What stands above the first entry of a file, and the texts of its entries."""
    head, *entries = _ENTRY.split(text)
    return head, entries


def entries(texts: Sequence[str], made: Sequence[tuple[T, ...]]) -> tuple[Entry[T], ...]:
    """Texts of entries with what was made of them."""
    return tuple([Entry(digest(text), each) for text, each in zip(texts, made, strict=True)])


def digest(text: str) -> str:
    """What tells one text from another."""
    return hashlib.sha256(text.encode()).hexdigest()
