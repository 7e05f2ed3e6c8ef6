"""What a call must look like: signatures of hand-written functions, and of schemas seen as such."""

from __future__ import annotations

from ..record import record
from .schema import Schema


@record
class Signature:
    """The parameters of a callable, by name."""

    positional: tuple[str, ...]
    """Parameters that may be given by position."""
    required: frozenset[str]
    keywords: frozenset[str]
    """Parameters that may be given by keyword."""
    is_open: bool = False
    """Whether it takes any number of positional arguments."""
    takes_any_keyword: bool = False

    def accepts(self, positional: int, keywords: tuple[str, ...]) -> bool:
        """Whether a call with so many positional arguments and these keywords is right."""
        if positional > len(self.positional) and not self.is_open:
            return False
        if keywords and not self.takes_any_keyword and not self.keywords.issuperset(keywords):
            return False
        by_position = self.positional[:positional]
        if not keywords:
            return self.required.issubset(by_position)
        return self.required.issubset((*by_position, *keywords)) and not (
            set(by_position) & set(keywords)
        )

    def __str__(self) -> str:
        optional = [n if n in self.required else f"{n}=..." for n in self.positional]
        rest = sorted(self.keywords - set(self.positional))
        names = [*optional, *(["*", *rest] if rest else [])]
        return f"({', '.join(names)})"


def schema_signature(schema: Schema, as_method: bool = False, has_out: bool = False) -> Signature:
    """Return how an operator is called: as a function, or as a method of its `self`.

    A list of ints that comes first (or first after self) may be spread over several arguments.
    """
    arguments = [a for a in schema.arguments if not (as_method and a.name == "self")]
    positional = [a for a in arguments if not a.is_keyword_only]
    names = tuple(a.name for a in positional)
    keywords = {a.name for a in arguments} | ({"out"} if has_out else set())
    is_open = any(a.type.is_list and a.type.base in ("int", "SymInt") for a in positional[:1])
    return Signature(
        names,
        frozenset(a.name for a in arguments if a.is_required and not a.is_out),
        frozenset(keywords),
        is_open=is_open,
    )
