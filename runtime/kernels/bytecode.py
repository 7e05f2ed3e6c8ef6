"""Bytecode of texts that are made while the library runs, kept for other processes."""

from __future__ import annotations

import linecache
import marshal
import sys
from types import CodeType

from torchgen_out._runtime.kernels import store


def code_of(stem: str, text: str) -> CodeType:
    """A text's bytecode, with its lines at hand for tracebacks. stem: names the text's content."""
    place = f"<{stem}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    name, key = f"{stem}.{sys.implementation.cache_tag}.code", f"{stem} {sys.version}"
    parts = store.read(name, key)
    if parts is not None:
        kept: CodeType = marshal.loads(parts[0])
        return kept
    code = compile(text, place, "exec")
    store.write(name, key, [marshal.dumps(code)])
    return code
