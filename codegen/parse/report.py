"""Collects the diagnostics of one run, so that all mistakes are told together."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import CodegenError, Diagnostic, Related, SourceLocation


class Report:
    """What went wrong so far, and the texts that the carets point into."""

    __slots__ = ("diagnostics", "sources", "unreadable")

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.sources: dict[str, str] = {}
        self.unreadable: list[str] = []
        """Texts of entries that are no YAML: what they would have defined does exist."""

    def add(
        self,
        code: str,
        where: SourceLocation,
        message: str,
        *,
        hint: str | None = None,
        related: tuple[Related, ...] = (),
        width: int = 1,
    ) -> None:
        """Note one mistake."""
        self.diagnostics.append(Diagnostic(code, where, message, hint, related, width))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Note mistakes that another part found."""
        self.diagnostics.extend(diagnostics)

    def raise_if_any(self) -> None:
        """Raise everything noted."""
        if self.diagnostics:
            raise self.error()

    def error(self) -> CodegenError:
        """Return everything noted, in file order; files in the order in which they were read."""
        order = {name: i for i, name in enumerate(self.sources)}
        diagnostics = sorted(self.diagnostics, key=lambda d: order.get(d.where.file, len(order)))
        return CodegenError(diagnostics, self.sources)
