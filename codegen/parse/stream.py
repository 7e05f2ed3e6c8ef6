"""Reads formulas over a generator's stream: `draw`, and what its words stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from ..errors import CodegenError, Diagnostic, SourceLocation
from ..formula.functions import Function, Functions
from ..formula.parse import parse_formula
from ..model.formula import Argument, Constant, Expression, Formula, Kind, walk
from ..model.stream import CALLED, LARGEST, NAMED, REAL_PART, Draw, is_of_call
from ..record import record

_HINT = f"one of {', '.join(NAMED)}, {', '.join(f'{name}(...)' for name in CALLED)}"
_KINDS: dict[str, Kind] = {"below": "tensor", "chance": "bool"}
_IN_FORMULA = (LARGEST, REAL_PART)
_ONE = "an element takes one number of the stream, however often the formula reads it"


@record
class _Word(Function):
    """A word of the stream that is called; each call stands for the same number."""

    argument: Argument = field(default=Argument(""), kw_only=True)
    given: list[Expression] = field(default_factory=list, kw_only=True)

    def __call__(self, operands: Sequence[Expression]) -> Expression:
        self.given.append(operands[0])
        return self.argument


def parse_draw(
    text: str,
    where: SourceLocation,
    arguments: Sequence[Argument],
    functions: Functions,
    results: int,
) -> Draw:
    """Parse a formula that reads a number of the stream for each element.

    Raises: CodegenError with every mistake, each at its own place.
    """
    named = [Argument(name) for name in NAMED]
    called = {name: _called(name) for name in CALLED}
    known = [*named, *_IN_FORMULA, *arguments]
    formula = parse_formula(text, where, known, {**functions, **called}, results)
    read = set(formula.used)
    words = [word for word in (*NAMED, *CALLED) if word in read or _is_called(called, word)]

    def wrong(code: str, message: str, hint: str) -> CodegenError:
        width = len(text.strip().split("\n")[0])
        return CodegenError([Diagnostic(code, where, message, hint, width=width)])

    shadowed = next((a.name for a in arguments if a.name in (*NAMED, *CALLED)), None)
    if shadowed is not None:
        hint = "give the argument another name"
        raise wrong("E780", f"'{shadowed}' is an argument, and a number of the stream", hint)
    if not words:
        raise wrong("E780", "the formula draws nothing", _HINT)
    if len(words) > 1:
        raise wrong("E781", f"the formula draws '{words[0]}' and '{words[1]}'", _ONE)
    given = list(dict.fromkeys(called[words[0]].given)) if words[0] in called else []
    if len(given) > 1:
        raise wrong("E781", f"the formula draws '{words[0]}' in two ways", _ONE)
    parameter = given[0] if given else None
    if problem := _problem(words[0], parameter):
        raise wrong("E782", *problem)
    argument = Argument(words[0], _KINDS.get(words[0], "tensor"))
    kept = tuple(a for a in (argument, *_IN_FORMULA, *arguments) if a in known or a is argument)
    return Draw(replace(formula, arguments=kept), words[0], parameter)


def _called(name: str) -> _Word:
    argument = Argument(name, _KINDS[name])
    return _Word(Formula((argument,), (argument,)), 1, (), argument=argument)


def _is_called(called: dict[str, _Word], word: str) -> bool:
    return word in called and bool(called[word].given)


def _problem(word: str, parameter: Expression | None) -> tuple[str, str] | None:
    """What is wrong with what a word is called with, and what to write."""
    if parameter is None:
        return None
    is_element = isinstance(parameter, Argument) and parameter.kind == "tensor"
    if not is_of_call(parameter) and not (word == "chance" and is_element):
        if word == "below":
            return "below(n) takes a number of the call", "write floor(uniform * n) for elements"
        hint = "write `uniform < ...` for a probability that is computed for each element"
        return "chance(p) takes a number of the call, or a tensor's element", hint
    if len(walk((parameter,))) == 1 and isinstance(parameter, Constant):
        value = parameter.value
        if isinstance(value, complex) or (word == "chance" and not 0 <= value <= 1):
            return f"{value} is no probability", "0 <= p <= 1"
        if word == "below" and not (isinstance(value, int) and 1 <= value <= 2**64):
            return f"there is no whole number from 0 to below {value}", "1 <= n <= 2**64"
    return None
