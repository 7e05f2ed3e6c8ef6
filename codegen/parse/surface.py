"""Reads `facades.yaml` and `absent.yaml` beside the runtime's code: the library's public modules.

Hand-written modules are read as text, for what they export; they are never imported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..errors import did_you_mean
from ..model.surface import AbsentModule, PublicModule, Surface
from .definitions import definitions, imported
from .keys import Key, Shape
from .report import Report
from .values import check_keys, described, sentences_of, text_of, words_of
from .yaml_nodes import AnyNode, Mapping

FACADES, ABSENT = "facades.yaml", "absent.yaml"
"""The files, in the folder of the hand-written code."""

MODULE_KEYS = (
    Key("module", Shape.WORD, "Its name within the package.", is_required=True),
    Key("doc", Shape.TEXT, "What it holds: a sentence.", is_required=True),
    Key("source", Shape.WORD, "The hand-written module that it is in whole."),
    Key("gathers", Shape.WORDS, "Packages whose modules' classes are here, too."),
    Key("names", Shape.TEXT, "Otherwise: a mapping of hand-written modules to names of each."),
    Key("submodules", Shape.WORDS, "Modules below that are loaded with it."),
    Key("shadowed", Shape.WORDS, "Submodules whose names stand for something else here."),
    Key("switches", Shape.WORD, "True: users set its names."),
    Key("at_top", Shape.WORDS, "Names that the package itself (or utils) has, too; or all."),
    Key("command", Shape.WORD, "Its function that `python -m` calls."),
)
FOLDER_KEYS = (
    Key("folder", Shape.WORD, "A package: a module for each that exports something.",
        is_required=True),
    Key("source", Shape.WORD, "The folder of the hand-written modules.", is_required=True),
)  # fmt: skip
CLASS_KEYS = (
    Key("class", Shape.WORD, "A class whose hand-written members operators must not replace.",
        is_required=True),
    Key("sources", Shape.WORDS, "The hand-written modules that define them.", is_required=True),
)  # fmt: skip
GROUP_KEYS = (
    Key("remedy", Shape.TEXT, "What to do instead: the end of a sentence.", is_required=True),
    Key("modules", Shape.TEXT, "A mapping of modules to the keys below.", is_required=True),
)
ABSENT_KEYS = (
    Key("doc", Shape.TEXT, "What PyTorch has there.", is_required=True),
    Key("classes", Shape.WORDS, "Classes that have no instances."),
    Key("functions", Shape.WORDS, "Functions that refuse to be called."),
    Key("marks", Shape.WORDS, "Decorators that give back what they decorate."),
    Key("answers", Shape.SENTENCES, "Questions, and what they always answer."),
    Key("values", Shape.SENTENCES, "Plain names and their values."),
    Key("at_top", Shape.WORDS, "all: the package itself has the names, too."),
    Key("place", Shape.WORD, "Where users find the names, if not here."),
)


class SurfaceReader:
    """Reads the entries of both files."""

    def __init__(self, folder: Path, report: Report) -> None:
        """folder: that of the hand-written code."""
        self.folder = folder
        self.report = report
        self.files: list[Path] = []
        self.classes: dict[str, tuple[Path, ...]] = {}

    def read(self, facades: list[AnyNode], absent: list[AnyNode]) -> Surface:
        """The public modules that the entries of the two files describe."""
        modules: list[PublicModule] = []
        for node in facades:
            modules += self._public(node)
        modules = list(_with_folders(modules))
        groups = [module for node in absent for module in self._group(node)]
        return Surface(tuple(modules), tuple(groups), tuple(self.files), self.classes)

    # -- facades.yaml

    def _public(self, node: AnyNode) -> list[PublicModule]:
        entry = self._mapping(node, "an entry")
        if entry is None:
            return []
        if "folder" in entry.keys:
            return self._folder(entry)
        if "class" in entry.keys:
            self._class(entry)
            return []
        check_keys(entry, MODULE_KEYS, "the entry", self.report)
        source, names = self._text(entry, "source"), entry.get("names")
        if source and names:
            message = "a module is a hand-written one in whole, or made of parts: not both"
            self.report.add("E701", entry.keys["names"].where, message, width=len("names"))
        if source:
            self._check_exports(entry, source)
        return [
            PublicModule(
                self._text(entry, "module"),
                self._text(entry, "doc"),
                source,
                tuple(self._names(names)),
                self._words(entry, "gathers"),
                self._words(entry, "submodules"),
                self._words(entry, "shadowed"),
                self._is_set(entry, "switches"),
                self._at_top(entry, lambda: self._exports(source)),
                command=self._text(entry, "command"),
            )
        ]

    def _folder(self, entry: Mapping) -> list[PublicModule]:
        """A module for each of a folder; its documentation begins as that of the hand-written."""
        check_keys(entry, FOLDER_KEYS, "the entry", self.report)
        package, source = self._text(entry, "folder"), self._text(entry, "source")
        package_file = self._file(source)
        if package_file is None:
            self._no_module(entry, "source", source)
            return []
        found = _modules_of(package_file.parent)
        self.files += [package_file.parent, *found.values()]
        return [
            PublicModule(f"{package}.{name}", _summary(path), f"{source}.{name}", of_folder=True)
            for name, path in found.items()
            if exports(path)
        ]

    def _class(self, entry: Mapping) -> None:
        check_keys(entry, CLASS_KEYS, "the entry", self.report)
        sources = self._words(entry, "sources")
        files = [self._file(source) for source in sources]
        for source, file in zip(sources, files, strict=True):
            if file is None:
                self._no_module(entry, "sources", source)
        self.classes[self._text(entry, "class")] = tuple(file for file in files if file)

    def _names(self, node: AnyNode | None) -> list[tuple[str, tuple[str, ...]]]:
        """The names taken from each module, all of which it defines."""
        mapping = self._mapping(node, "'names'") if node else None
        found = []
        for source, listed in mapping.values.items() if mapping else ():
            names = words_of(listed, f"'{source}'", self.report) or ()
            path = self._file(source)
            if mapping and path is None:
                where = mapping.keys[source].where
                message = f"there is no module {source}"
                self.report.add("E702", where, message, width=len(source))
            for name in names if path else ():
                self._check_name(name, source, path, listed)
            found.append((source, names))
        return found

    def _check_name(self, name: str, source: str, path: Path | None, listed: AnyNode) -> None:
        assert path is not None
        known = definitions(path)
        if name not in known and name not in imported(path):
            hint = did_you_mean(name, known)
            where = listed.where
            self.report.add("E703", where, f"{source} has no name '{name}'", hint=hint)

    def _check_exports(self, entry: Mapping, source: str) -> None:
        path = self._file(source)
        if path is None:
            self._no_module(entry, "source", source)
        elif "__all__" not in definitions(path):
            where = entry.values["source"].where
            message = f"{source} does not say what it exports: it has no __all__"
            self.report.add("E703", where, message, width=len(source))

    # -- absent.yaml

    def _group(self, node: AnyNode) -> list[AbsentModule]:
        group = self._mapping(node, "an entry")
        if group is None:
            return []
        check_keys(group, GROUP_KEYS, "the entry", self.report)
        modules = self._mapping(group.get("modules"), "'modules'")
        remedy = self._text(group, "remedy")
        found = []
        for path, value in modules.values.items() if modules else ():
            entry = self._mapping(value, f"'{path}'")
            if entry is not None:
                found.append(self._absent(path, entry, remedy))
        return found

    def _absent(self, path: str, entry: Mapping, remedy: str) -> AbsentModule:
        check_keys(entry, ABSENT_KEYS, f"'{path}'", self.report)
        module = AbsentModule(
            path,
            self._text(entry, "doc"),
            remedy,
            self._words(entry, "classes"),
            self._words(entry, "functions"),
            self._words(entry, "marks"),
            sentences_of(entry.get("answers"), "'answers'", self.report) or (),
            sentences_of(entry.get("values"), "'values'", self.report) or (),
            self._text(entry, "place"),
        )
        at_top = self._at_top(entry, lambda: module.exported)
        return replace(module, at_top=at_top) if at_top else module

    # -- values

    def _mapping(self, node: AnyNode | None, what: str) -> Mapping | None:
        if isinstance(node, Mapping):
            return node
        if node is not None:
            message = f"{what} must be a mapping, got {described(node)}"
            self.report.add("E105", node.where, message)
        return None

    def _text(self, entry: Mapping, key: str) -> str:
        scalar = text_of(entry.get(key), f"'{key}'", self.report)
        return scalar.text.strip() if scalar else ""

    def _is_set(self, entry: Mapping, key: str) -> bool:
        text = self._text(entry, key)
        if text not in ("", "True"):
            self.report.add("E106", entry.values[key].where, f"'{key}' can only be True")
        return text == "True"

    def _words(self, entry: Mapping, key: str) -> tuple[str, ...]:
        return words_of(entry.get(key), f"'{key}'", self.report) or ()

    def _at_top(self, entry: Mapping, known: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
        words = self._words(entry, "at_top")
        return known() if words == ("all",) else words

    def _exports(self, source: str) -> tuple[str, ...]:
        path = self._file(source)
        self.files += [path] if path else []
        return exports(path) if path else ()

    def _file(self, source: str) -> Path | None:
        """The file of a hand-written module; of a package, its `__init__.py`."""
        folder = self.folder.joinpath(*source.split("."))
        files = (folder.with_suffix(".py"), folder / "__init__.py")
        return next((file for file in files if file.is_file()), None)

    def _no_module(self, entry: Mapping, key: str, source: str) -> None:
        where = entry.values[key].where
        self.report.add("E702", where, f"there is no module {source}", width=len(source))


def _with_folders(modules: list[PublicModule]) -> Iterator[PublicModule]:
    """The modules; a package loads those of its folder, but for what has a place of its own."""
    elsewhere = {module.source for module in modules if not module.of_folder}
    listed = [each for each in modules if not (each.of_folder and each.source in elsewhere)]
    for module in listed:
        below = [
            each.path.rpartition(".")[2]
            for each in listed
            if each.of_folder and each.path.rpartition(".")[0] == module.path
        ]
        submodules = tuple(sorted((*module.submodules, *below)))
        yield replace(module, submodules=submodules) if below else module


@cache
def exports(path: Path) -> tuple[str, ...]:
    """What a hand-written module lists in `__all__`; nothing if it has none."""
    for node in _tree(path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tuple(ast.literal_eval(node.value))
    return ()


def _modules_of(folder: Path) -> dict[str, Path]:
    """The modules and packages in a folder by name, each with its file."""
    found = {path.stem: path for path in folder.glob("*.py") if path.stem != "__init__"}
    found |= {path.parent.name: path for path in folder.glob("*/__init__.py")}
    return dict(sorted(found.items()))


def _summary(path: Path) -> str:
    """The first line of a module's documentation."""
    return (ast.get_docstring(_tree(path)) or "").partition("\n")[0]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
