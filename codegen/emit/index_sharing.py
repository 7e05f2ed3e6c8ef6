"""What the programs of one operator have in common, told once: functions, statements, launches.

Programs for each answer to a question, with and without an optional tensor, on several threads and
on long rows differ in a few of their launches. A function whose text another one has, but for the
name, is that function; so kernels of both are compiled once, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from ..index.writer import LaunchText
from ..record import record
from .flow import KEPT, definition

DOCSTRING = re.compile(r' *"""(?:[^"]|"(?!""))*"""')
_FUNCTION = re.compile(r"function=(\w+)")

Lines = tuple[str, ...]


@record
class Functions:
    """Functions of one module, in order, none of which has the text of another."""

    _names: dict[str, str] = field(default_factory=dict)
    """What each is called, by its text without the name."""
    _told: dict[str, str] = field(default_factory=dict)
    """Which function tells statements."""

    def launch(self, launch: LaunchText) -> tuple[LaunchText, list[str]]:
        """A launch of functions that there are, and the texts of those that there were not."""
        name, texts = self.named(launch.name, launch.text)
        launch = replace(launch, name=name)
        if launch.window is not None:
            inner, further = self.launch(launch.window.launch)
            launch = replace(launch, window=replace(launch.window, launch=inner))
            texts += further
        if launch.product is not None:
            name, further = self.named(launch.product.name, launch.product.text)
            launch = replace(launch, product=replace(launch.product, name=name))
            texts += further
        if launch.scan is not None:
            inner, further = self.launch(launch.scan.launch)
            name, last = self.named(launch.scan.joined, launch.scan.joined_text)
            launch = replace(launch, scan=replace(launch.scan, launch=inner, joined=name))
            texts += [*further, *last]
        return launch, texts

    def named(self, name: str, text: str) -> tuple[str, list[str]]:
        """What a function is called, and its text if nobody told it before."""
        first = self._names.setdefault(text.removeprefix(f"def {name}"), name)
        return first, [self._laid_out(name, text)] if first == name else []

    def _laid_out(self, name: str, text: str) -> str:
        """A text with parameters side by side; statements that another function tells are not
        told again."""
        head, _, body = text.partition("\n")
        found = DOCSTRING.match(body)
        if found and "\n" in found[0]:
            first = self._told.setdefault(found[0], name)
            if first != name:
                body = f'    """The statements of `{first}`."""{body[found.end() :]}'
        return "\n".join([*definition(head), body])


@record
class Launches:
    """The records of launches in one module; those that stand more than once have a name."""

    _names: dict[Lines, str]
    _told: set[str] = field(default_factory=set)

    @staticmethod
    def of(records: Iterable[Lines]) -> Launches:
        """Of all records, as the lines between their brackets."""
        names: dict[Lines, str] = {}
        for lines, count in Counter(records).items():
            if count > 1:
                found = _FUNCTION.match(lines[0])
                assert found is not None
                names[lines] = _unused(f"{found[1]}_launch", names.values())
        return Launches(names)

    def listed(self, records: Sequence[Lines]) -> tuple[Lines, ...]:
        """What stands in a program for each of its launches."""
        return tuple(self._entry(lines) for lines in records)

    def defined(self, records: Iterable[Lines]) -> tuple[Lines, ...]:
        """The definitions of those that have a name, before the program that has them first."""
        found = []
        for lines in records:
            name = self._names.get(lines)
            if name is not None and name not in self._told:
                self._told.add(name)
                found.append((f"{name} = Launch(", *map("    {}".format, lines), f"){KEPT}"))
        return tuple(found)

    def _entry(self, lines: Lines) -> Lines:
        name = self._names.get(lines)
        if name is not None:
            return (f"{name},",)
        return ("Launch(", *map("    {}".format, lines), "),")


def _unused(name: str, taken: Iterable[str]) -> str:
    """The name, or with the first number with which nothing else has it."""
    known = set(taken)
    names = (name + (str(number) if number else "") for number in range(len(known) + 2))
    return next(each for each in names if each not in known)
