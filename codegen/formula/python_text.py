"""Parses Python of the YAML: what nests too deeply for a reader, or for recursion, is a mistake."""

from __future__ import annotations

import ast

LONGEST = 20_000
"""Characters of one formula."""

DEEPEST = 100
"""Levels of one formula: each operator, call and bracket is one; so is each term of a sum."""

TOO_DEEP = f"it nests more than {DEEPEST} levels deep; give parts of it names, or to a function"


def parse(text: str, mode: str = "exec") -> ast.AST:
    """Parse as `ast.parse` does.

    Raises: SyntaxError with the place, also for texts that would exhaust the stack.
    """
    if len(text) > LONGEST:
        raise _error(f"it is longer than {LONGEST} characters", 1, 0)
    try:
        tree = ast.parse(text, mode=mode)
    except (RecursionError, MemoryError):
        raise _error(TOO_DEEP, 1, 0) from None
    except ValueError as error:  # a null byte
        raise _error(str(error), 1, 0) from None
    line, column = 1, 0
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST + 3):  # the outermost nodes are no part of the formula
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
        line, column = getattr(level[0], "lineno", line), getattr(level[0], "col_offset", column)
    raise _error(TOO_DEEP, line, column)


def _error(message: str, line: int, column: int) -> SyntaxError:
    return SyntaxError(message, (None, line, column + 1, None))
