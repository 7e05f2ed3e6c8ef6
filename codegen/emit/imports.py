"""The imports of a generated module: a template lists all it may need, what is unused goes."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"^#imports\n(.*?)^#end\n", re.MULTILINE | re.DOTALL)
_STRING = re.compile(r'"""[\s\S]*?"""|"(?:[^"\\\n]|\\.)*"')
_EXPORTED = re.compile(r"^__all__ = \[.*?\]", re.MULTILINE | re.DOTALL)
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_STANDARD = frozenset({"builtins", "collections.abc", "math", "typing"})
_INSTALLED = frozenset({"numpy as np"})


def tidy(text: str, body: str = "") -> str:
    """Replace the block between `#imports` and `#end` by sorted imports of what is used.

    body: what will follow the text, and uses names, too.
    """
    match = _BLOCK.search(text)
    if match is None:
        return text
    rest = text[: match.start()] + text[match.end() :]
    used = _used(rest + body)
    modules: dict[str, set[str]] = {}
    for line in match.group(1).splitlines():
        if line.strip():
            _add(line.strip(), modules, used)
    block = _block(modules)
    head, tail = text[: match.start()], text[match.end() :].lstrip("\n")
    if not block:
        return head.rstrip("\n") + "\n\n" + tail if tail else head.rstrip("\n") + "\n"
    gap = "\n\n" if re.match(r"(def|class|@)", tail) else "\n"
    return head + block + gap + tail


def _used(text: str) -> set[str]:
    """The names in the code and in `__all__`; attributes and other strings use none."""
    exported = "".join(_EXPORTED.findall(text))
    return set(_WORD.findall(_STRING.sub("", text) + exported))


def _add(line: str, modules: dict[str, set[str]], used: set[str]) -> None:
    """`from m import a, b as c`, `import m` or `import m as n`, as far as it is used."""
    if line.startswith("import "):
        name = line.removeprefix("import ")
        if name.rpartition(" as ")[2] in used:
            modules.setdefault(name, set()).add("")
        return
    module, _, names = line.removeprefix("from ").partition(" import ")
    for name in names.split(","):
        name = name.strip()
        if name.rpartition(" as ")[2] in used:
            modules.setdefault(module, set()).add(name)


def _block(modules: dict[str, set[str]]) -> str:
    standard = [m for m in modules if m in _STANDARD]
    others = [m for m in modules if m in _INSTALLED]
    own = [m for m in modules if m not in _STANDARD | _INSTALLED]
    sections = [
        "".join(
            _statement(m, modules[m]) for m in sorted(section, key=lambda m: _order(m, modules))
        )
        for section in (standard, others, own)
        if section
    ]
    return "\n".join(sections)


def _order(module: str, modules: dict[str, set[str]]) -> tuple[bool, str]:
    """Plain imports first, then by name."""
    return "" not in modules[module], module


def _statement(module: str, names: set[str]) -> str:
    if "" in names:
        return f"import {module}\n"
    plain = sorted((n for n in names if " as " not in n), key=member_order)
    text = "".join(
        f"from {module} import {name}\n" for name in sorted(n for n in names if " as " in n)
    )
    if not plain:
        return text
    line = f"from {module} import {', '.join(plain)}\n"
    if len(line) > 101:
        line = f"from {module} import (\n" + "".join(f"    {n},\n" for n in plain) + ")\n"
    return text + line


def member_order(name: str) -> tuple[int, list[tuple[int, str]], str]:
    """Constants, classes, then the rest; each in natural order, upper case as lower."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    natural = [
        (int(part), "") if part.isdigit() else (-1, part)
        for part in re.split(r"(\d+)", name.lower())
    ]
    return kind, natural, name
