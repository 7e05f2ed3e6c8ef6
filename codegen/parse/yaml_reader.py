"""Reads YAML text into nodes with places: no duplicate keys, no tags, no anchors, no tabs."""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml._yaml import CParser

from ..errors import Related, SourceLocation
from .report import Report
from .yaml_nodes import AnyNode, Mapping, Scalar, Sequence, Source

_TEXT = "text"
_TAB = re.compile(r"^ *\t", re.MULTILINE)
_ENTRY = re.compile(r"^- ", re.MULTILINE)
_MARGIN = re.compile(r"^[ ?-]*", re.MULTILINE)
_BRACKET = re.compile(r"[\[\]{}]")

DEEPEST = 60
"""Levels of lists and mappings; reading goes as deep in the C stack."""


class _Composer(CParser):
    """PyYAML's C parser and composer; every untagged scalar is text."""

    def resolve(self, kind: type, value: str | None, implicit: object) -> str:
        """Name the tag of a node without one."""
        return _TEXT

    def descend_resolver(self, parent: object, index: object) -> None:
        """There are no path resolvers."""

    def ascend_resolver(self) -> None:
        """There are no path resolvers."""


def read_yaml(source: Source, report: Report) -> list[AnyNode] | None:
    """Return the items of the top-level list; None if there is no such list.

    After a syntax error the file is read entry by entry, so that every broken entry is reported
    and the others are still checked.
    """
    report.sources[source.file] = source.text
    if _has_tabs(source, report) or _nests_too_deeply(source, report):
        return None
    try:
        root = _Composer(source.text).get_single_node()
    except yaml.YAMLError:
        return _read_entries(source, report)
    return _items(root, source, report)


def _items(root: Any, source: Source, report: Report) -> list[AnyNode] | None:
    if root is None:
        return []
    node = _Converter(source, report).convert(root)
    if isinstance(node, Sequence):
        return node.items
    report.add("E105", node.where, "the file must be a list of entries", hint="begin with '- '")
    return None


def _read_entries(source: Source, report: Report) -> list[AnyNode]:
    """Read each entry on its own, at its place in the file."""
    starts = [match.start() for match in _ENTRY.finditer(source.text)] or [0]
    starts[0] = 0
    items: list[AnyNode] = []
    for start, stop in zip(starts, [*starts[1:], len(source.text)], strict=True):
        # What stands above becomes blank, so that every place is right.
        text = re.sub("[^\n]", " ", source.text[:start]) + source.text[start:stop]
        try:
            root = _Composer(text).get_single_node()
        except yaml.YAMLError as error:
            _report_syntax(error, source, report)
            report.unreadable.append(source.text[start:stop])
        else:
            items.extend(_items(root, source, report) or ())
    return items


def _has_tabs(source: Source, report: Report) -> bool:
    found = False
    for match in _TAB.finditer(source.text):
        where = SourceLocation(source.file, *source.position(match.end() - 1))
        report.add("E102", where, "a tab in the indentation", hint="indent with spaces")
        found = True
    return found


def _nests_too_deeply(source: Source, report: Report) -> bool:
    """Report a collection inside too many others.

    Brackets and indentation bound the levels from above, so that usual files are not parsed twice.
    """
    most = level = 0
    for match in _BRACKET.finditer(source.text):
        level += 1 if match[0] in "[{" else -1
        most = max(most, level)
    margin = max(
        (match.end() - match.start() for match in _MARGIN.finditer(source.text)), default=0
    )
    if most + margin < DEEPEST:
        return False
    where = _too_deep(source)
    if where is None:
        return False
    message = f"lists and mappings nest more than {DEEPEST} levels deep"
    report.add("E110", where, message, hint="quote a text that begins with '[' or '{'")
    return True


def _too_deep(source: Source) -> SourceLocation | None:
    """Where the first collection begins that lies inside `DEEPEST` others.

    The scanner reads ahead; from libyaml 0.2.6 (PyYAML 6.0.4) on, it stops at a depth of its own.
    """
    level = 0
    parser = CParser(source.text)
    try:
        while (event := parser.get_event()) is not None:
            if isinstance(event, yaml.CollectionStartEvent):
                level += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                level -= 1
            if level > DEEPEST:
                return _place(event.start_mark, source)
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in str(error.problem):
            return _place(error.problem_mark, source)
    except yaml.YAMLError:
        pass
    return None  # another fault is told with its place by whoever reads the file


_SYNTAX_HINTS = (
    (
        "mapping values are not allowed",
        "quote a text that contains ': ', or write it in lines below `|`",
    ),
    ("could not find expected ':'", "a key needs ': ' after it; quote a text of several lines"),
    ("found character '%'", "quote a text that begins with '%'"),
    ("found character '`'", "quote a text that begins with '`'"),
    ("found character '@'", "quote a text that begins with '@'"),
    ("while scanning an alias", "quote a text that begins with '*'"),
    ("while scanning an anchor", "quote a text that begins with '&'"),
    ("while scanning a quoted scalar", "close the quote"),
    ("flow", "quote a text that begins with '[' or '{', or close the bracket"),
    ("did not find expected '-' indicator", "entries begin with '- ' in the first column"),
    ("did not find expected key", "keys of an entry stand in one column; close every quote"),
    ("undefined alias", "quote a text that begins with '*'; anchors and aliases are not used"),
)


def _report_syntax(error: yaml.YAMLError, source: Source, report: Report) -> None:
    """Report a syntax error where the parser stopped; an unclosed quote or bracket where it opens.

    The other of the two places is told as related.
    """
    context = str(getattr(error, "context", None) or "")
    problem = str(getattr(error, "problem", None) or error)
    hint = next((hint for key, hint in _SYNTAX_HINTS if key in f"{context} {problem}"), None)
    stopped = _place(getattr(error, "problem_mark", None), source)
    opened = _place(getattr(error, "context_mark", None), source)
    where = stopped or opened or SourceLocation(source.file, 1, 1)
    related: tuple[Related, ...] = ()
    if opened and stopped and opened != stopped:
        if "quoted scalar" in context or "flow" in context:
            where, related = opened, (Related(stopped, "read as far as this"),)
        else:
            related = (Related(opened, context),)
    report.add("E101", where, f"not YAML: {problem}", hint=hint, related=related)


def _place(mark: Any, source: Source) -> SourceLocation | None:
    return SourceLocation(source.file, mark.line + 1, mark.column + 1) if mark else None


class _Converter:
    """Turns composed nodes into ours, reporting what this project's YAML does not use."""

    def __init__(self, source: Source, report: Report) -> None:
        self.source = source
        self.report = report
        self.met: set[int] = set()

    def convert(self, node: Any) -> AnyNode:
        """Convert one node and all below it."""
        kind = type(node)
        if kind is yaml.ScalarNode:
            return self._scalar(node)
        mark = node.start_mark
        if id(node) in self.met:  # an alias; what it stands for is refused where it stands
            place = mark.line + 1, mark.column + 1
            return Scalar(self.source, *place, "", "", mark.index, mark.index, True)
        self.met.add(id(node))
        if self.source.text[mark.index] in "&!":
            self._refuse_decoration(node)
        if kind is yaml.SequenceNode:
            items = [self.convert(item) for item in node.value]
            return Sequence(self.source, mark.line + 1, mark.column + 1, items)
        return self._mapping(node)

    def _scalar(self, node: Any) -> Scalar:
        start, end = node.start_mark, node.end_mark
        if node.tag != _TEXT or (
            start.index != end.index and self.source.text[start.index] in "&!"
        ):
            self._refuse_decoration(node)
        return Scalar(
            self.source,
            start.line + 1,
            start.column + 1,
            node.value,
            node.style or "",
            start.index,
            end.index,
            start.line == end.line,
        )

    def _mapping(self, node: Any) -> Mapping:
        mark = node.start_mark
        mapping = Mapping(self.source, mark.line + 1, mark.column + 1)
        keys, values = mapping.keys, mapping.values
        for key_node, value_node in node.value:
            if type(key_node) is not yaml.ScalarNode:
                where = self.convert(key_node).where
                self.report.add("E106", where, "a key must be a name")
                continue
            key = self._scalar(key_node)
            if key.text in keys:
                self._refuse_duplicate(key, keys[key.text])
                continue
            keys[key.text] = key
            values[key.text] = self.convert(value_node)
        return mapping

    def _refuse_duplicate(self, key: Scalar, first: Scalar) -> None:
        self.report.add(
            "E103",
            key.where,
            f"key '{key.text}' is given twice",
            related=(Related(first.where, "first given here"),),
            width=len(key.text),
        )

    def _refuse_decoration(self, node: Any) -> None:
        mark = node.start_mark
        where = SourceLocation(self.source.file, mark.line + 1, mark.column + 1)
        self.report.add(
            "E104",
            where,
            "tags, anchors and aliases are not used here",
            hint="quote a text that begins with '!', '&' or '*'",
        )
