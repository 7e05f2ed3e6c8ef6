"""Reads native_functions.yaml: one Operator per entry, and those that its variants derive."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import CodegenError, did_you_mean
from ..formula.functions import UNREADABLE, Functions, functions_of
from ..model.operator import FUNCTION, METHOD, Index, Kind, Operator, Promotion
from ..model.schema import Schema
from .copies import copy_of, has_copy
from .keys import KINDS, OPERATOR_KEYS
from .kinds import read_kind, read_layouts, read_vmap
from .places import NodePlaces
from .report import Report
from .samples import read_samples
from .schema import base_name_of, parse_schema
from .values import check_keys, described, sentences_of, text_of, words_of
from .yaml_nodes import AnyNode, Mapping, Scalar, Sequence

_PROMOTION = re.compile(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*")
_FUNC = re.compile(r"""\bfunc: *["']?(?:\w+::)?(\w+)""")
_KIND_OF = {
    "meta": ("dispatch", "index", "draw", "case_of"),
    "memory_format": ("dispatch", "index", "draw"),
    "aliasing": ("dispatch", "index"),
    "half_precision": ("dispatch",),
    "check": ("pointwise",),
    "geometry": ("index",),
    "faster": ("index",),
}


class OperatorReader:
    """Reads entries one after the other: formulas may call pointwise operators above them.

    base: operators of the library, for a package outside the tree.
    """

    def __init__(self, report: Report, base: Iterable[Operator] = ()) -> None:
        self._report = report
        self._functions = functions_of(base)
        self._broken: list[str] = []

    def entry(self, node: AnyNode) -> tuple[Operator, ...]:
        """The operators of an entry; none if it is too broken."""
        if not isinstance(node, Mapping):
            message = f"an entry must be a mapping, got {described(node)}"
            self._report.add("E105", node.where, message)
            return ()
        operator = _read_operator(node, self._functions, self._report)
        if operator is None:
            func = text_of(node.get("func"), "'func'", Report())
            self._broken.append(base_name_of(func.text).split(".")[0] if func else "")
            self._functions[self._broken[-1]] = UNREADABLE
            return ()
        made = (operator, copy_of(operator)) if has_copy(operator) else (operator,)
        self.passed(made)
        return made

    def passed(self, operators: tuple[Operator, ...]) -> None:
        """What entries below may call of an entry."""
        self._functions |= functions_of(operators[:1])

    @property
    def broken(self) -> frozenset[str]:
        """Base names of entries too broken to become an operator: nobody should be told that
        these do not exist."""
        unreadable = [name for text in self._report.unreadable for name in _FUNC.findall(text)]
        return frozenset((*self._broken, *unreadable))


def _read_operator(node: Mapping, functions: Functions, report: Report) -> Operator | None:
    check_keys(node, OPERATOR_KEYS, "the entry", report)
    kind_name = _kind_name(node, report)
    schema = _schema(node, report)
    if schema is None or kind_name is None:
        return None
    kind = read_kind(kind_name, node, schema, functions, report)
    if kind is None:
        return None
    reference = text_of(node.get("reference"), "'reference'", report)
    dtype_error = text_of(node.get("dtype_error"), "'dtype_error'", report)
    doc = text_of(node.get("doc"), "'doc'", report)
    superseded = text_of(node.get("superseded"), "'superseded'", report)
    assert schema.where is not None
    return Operator(
        schema=schema,
        variants=words_of(node.get("variants"), "'variants'", report) or (FUNCTION, METHOD),
        python_module=_word(node, "python_module", "torch", report),
        deprecated=_deprecated(node, report),
        superseded=superseded.text.strip() if superseded else None,
        dunders=words_of(node.get("operators"), "'operators'", report) or (),
        aliases=words_of(node.get("aliases"), "'aliases'", report) or (),
        foreach=words_of(node.get("foreach"), "'foreach'", report) or (),
        dtypes=_word(node, "dtypes", "all", report),
        dtype_error=dtype_error.text.strip() if dtype_error else None,
        promotion=_promotion(node, kind_name, kind, report),
        range_checked=words_of(node.get("range_checked"), "'range_checked'", report) or (),
        nonnegative=sentences_of(node.get("nonnegative"), "'nonnegative'", report) or (),
        kind=kind,
        layouts=read_layouts(node.get("layouts"), report),
        vmap=read_vmap(node.get("vmap"), report),
        tags=words_of(node.get("tags"), "'tags'", report) or (),
        reference=reference.text.strip() if reference else None,
        samples=read_samples(node.get("samples"), schema, report),
        doc=_doc(doc.text.strip() if doc else None, superseded),
        where=schema.where,
        places=NodePlaces(node),
    )


def _doc(written: str | None, superseded: Scalar | None) -> str | None:
    """The documentation, with a word on what replaces the operator."""
    if superseded is None:
        return written
    word = f"New code uses `{superseded.text.strip()}`; the first call warns."
    return f"{written}\n\n{word}" if written else word


def _schema(node: Mapping, report: Report) -> Schema | None:
    return _schema_of(node.get("func"), "'func'", report)


def _deprecated(node: Mapping, report: Report) -> tuple[Schema, ...]:
    listed = node.get("deprecated")
    if listed is None:
        return ()
    if not isinstance(listed, Sequence):
        message = f"'deprecated' must be a list of schemas, got {described(listed)}"
        report.add("E106", listed.where, message)
        return ()
    schemas = [_schema_of(item, "'deprecated'", report) for item in listed.items]
    return tuple(schema for schema in schemas if schema)


def _schema_of(node: AnyNode | None, what: str, report: Report) -> Schema | None:
    text = text_of(node, what, report)
    if text is None:
        return None
    try:
        return parse_schema(text.text, text.where)
    except CodegenError as error:
        report.extend(error.diagnostics)
        return None


def _kind_name(node: Mapping, report: Report) -> str | None:
    """Return the one key that says how the operator runs."""
    kinds = [name for name in node.keys if name in KINDS]
    for name, owners in _KIND_OF.items():
        if name in node.keys and kinds and not set(owners) & set(kinds):
            where, spelled = node.keys[name].where, "' or '".join(owners)
            report.add("E111", where, f"'{name}' belongs to '{spelled}' entries", width=len(name))
    if len(kinds) == 1:
        return kinds[0]
    allowed = ", ".join(KINDS)
    if not kinds:
        message = f"the entry does not say how it runs: one of {allowed} is missing"
        hint = next((h for name in node.keys if (h := did_you_mean(name, KINDS))), None)
        report.add("E109", node.where, message, hint=hint)
        return None
    where = node.keys[kinds[1]].where
    message = f"the entry has two kinds, '{kinds[0]}' and '{kinds[1]}'"
    report.add("E109", where, message, hint=f"keep exactly one of {allowed}", width=len(kinds[1]))
    return kinds[0]


def _word(node: Mapping, key: str, default: str, report: Report) -> str:
    known = next(each.words for each in OPERATOR_KEYS if each.name == key)
    hint = f"one word of: {', '.join(known)}"
    scalar = text_of(node.get(key), f"'{key}'", report, hint)
    return scalar.text.strip() if scalar else default


def _promotion(node: Mapping, name: str, kind: Kind, report: Report) -> Promotion:
    scalar = text_of(node.get("promotion"), "'promotion'", report)
    if scalar is None and isinstance(kind, Index):
        numbers = (each.name for each in kind.program.inputs if each.type == "number")
        return Promotion("same", tuple(numbers))
    if scalar is None:
        return Promotion("default" if name in ("pointwise", "reduction") else "none")
    match = _PROMOTION.fullmatch(scalar.text)
    if match is None:
        message = f"'{scalar.text}' is no promotion rule"
        report.add("E305", scalar.where, message, hint="a rule, or rule(argument, argument)")
        return Promotion("none")
    names = match[2]
    if names is None:
        return Promotion(match[1])
    return Promotion(match[1], tuple(name.strip() for name in names.split(",") if name.strip()))
