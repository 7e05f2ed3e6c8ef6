"""The grammar of the index language: text to a tree that knows where each of its parts stands.

    program    = { definition | statement }                one a line; indented lines go on
    definition = "def" NAME "(" NAME {"," NAME} ")" ":" expression
    statement  = target {"," target} "=" expression          several take the values of a loop
    target     = NAME [ "[" [place {"," place}] "]" ]
    place      = "..." | NAME [ ":" expression ]             on the left: an index and its extent
    fold       = NAME "(" binder {"," binder} ["from" expression] ["where" expression]
                 ":" expression ")"
    binder     = "..." | NAME [ ":" expression ] [ "in" expression ".." expression ]
    repeat     = "repeat" "(" (NUMBER | binder) "," NAME "=" expression {"," NAME "=" expression}
                 ":" expression {"," expression} ")"
    access     = NAME "[" ["..." ","] expression {"," expression} ["else" expression] "]"

Expressions are Python's: numbers, names, calls, arithmetic, comparisons, `a if c else b`.
"""

from __future__ import annotations

import re

from ..errors import CodegenError, Diagnostic, SourceLocation
from ..record import record
from .index_tree import (
    Binder,
    CallOf,
    Definition,
    Equation,
    FoldOf,
    IsMissing,
    Name,
    Node,
    Number,
    Operation,
    Part,
    Repeat,
    Span,
    Subscript,
    Syntax,
    Word,
)

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\#[^\n]*)|(?P<line>\n)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?!\w|\.(?!\.)))
    |(?P<name>[A-Za-z_]\w*)
    |(?P<word>"[^"\n]*"|'[^'\n]*')
    |(?P<symbol>\.\.\.?|\*\*|//|<=|>=|==|!=|<<|>>|[-+*/%<>=()\[\],:&|^~])""",
    re.VERBOSE,
)
_CONTINUED = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]+[^\s#]")
"""What follows the end of a line that goes on: an indented line, perhaps after empty ones."""
WORDS = ("if", "else", "and", "or", "not", "from", "where", "in", "def", "is", "None")
"""Names that no tensor, index or argument of a text may have."""
DEEPEST = 100
LONGEST = 20_000


@record
class _Token:
    kind: str
    text: str
    span: Span


_BINARY = {
    "or": 1, "and": 2,
    "<": 4, "<=": 4, ">": 4, ">=": 4, "==": 4, "!=": 4,
    "|": 5, "^": 6, "&": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "**": 12,
}  # fmt: skip
_NOT, _SIGN, _POWER = 3, 11, 12
_COMPARISON = 4


def parse_syntax(text: str, where: SourceLocation) -> Syntax:
    """Parse a text.

    Raises: CodegenError with the first thing that is not the language's.
    """
    return _Parser(text, where).program()


class _Parser:
    """Recursive descent over tokens; operators by their strength."""

    def __init__(self, text: str, where: SourceLocation) -> None:
        self.text = text
        self.where = where
        self.depth = 0
        self.tokens = self.tokenized()
        self.at = 0

    # Tokens

    def error(self, span: Span, message: str, hint: str | None = None) -> CodegenError:
        place = self.where.at(span.start)
        width = max(1, span.stop - span.start)
        return CodegenError([Diagnostic("E750", place, message, hint, width=width)])

    def tokenized(self) -> list[_Token]:
        """All tokens; line ends only before lines that begin something."""
        found: list[_Token] = []
        position, depth = 0, 0
        if len(self.text) > LONGEST:
            raise self.error(Span(0, 1), f"the text is longer than {LONGEST} characters")
        while position < len(self.text):
            match = _TOKEN.match(self.text, position)
            if match is None:
                span = Span(position, position + 1)
                raise self.error(span, f"'{self.text[position]}' has no meaning here")
            kind, span = match.lastgroup or "", Span(*match.span())
            position = match.end()
            if kind == "symbol":
                depth += match[0] in ("(", "[")
                depth -= match[0] in (")", "]")
            if kind == "line" and (depth > 0 or not found or found[-1].kind == "line"):
                continue
            if kind == "line" and _CONTINUED.match(self.text, position):
                continue
            if kind != "space":
                found.append(_Token(kind, match[0], span))
        end = Span(len(self.text.rstrip()), len(self.text.rstrip()) + 1)
        return [*found, _Token("line", "", end), _Token("end", "", end)]

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def is_at(self, *texts: str) -> bool:
        return self.token.kind in ("symbol", "name") and self.token.text in texts

    def take(self) -> _Token:
        token = self.token
        self.at += 1
        return token

    def expect(self, text: str, why: str) -> _Token:
        if not self.is_at(text):
            raise self.unexpected(f"'{text}' {why}")
        return self.take()

    def unexpected(self, wanted: str) -> CodegenError:
        token = self.token
        found = f"'{token.text}'" if token.text.strip() else "the end of the line"
        return self.error(token.span, f"expected {wanted}, got {found}")

    def name(self, what: str) -> Name:
        if self.token.kind != "name" or self.token.text in WORDS:
            raise self.unexpected(what)
        token = self.take()
        return Name(token.text, token.span)

    # Statements

    def program(self) -> Syntax:
        equations, definitions = [], []
        while self.token.kind != "end":
            if self.token.kind == "line":
                self.take()
            elif self.is_at("def"):
                definitions.append(self.definition())
            else:
                equations += self.equation()
        if not equations:
            raise self.error(Span(0, 1), "there is no statement", "write `out[i] = ...`")
        return Syntax(tuple(equations), tuple(definitions))

    def end_of_line(self) -> None:
        if self.token.kind != "line":
            raise self.unexpected("the end of the statement")

    def definition(self) -> Definition:
        self.take()
        name = self.name("the function's name")
        self.expect("(", "before the parameters")
        parameters = [self.name("a parameter")]
        while self.is_at(","):
            self.take()
            parameters.append(self.name("a parameter"))
        self.expect(")", "behind the parameters")
        self.expect(":", "before the function's value")
        while self.token.kind == "line":
            self.take()
        body = self.expression()
        self.end_of_line()
        return Definition(name, tuple(parameters), body)

    def equation(self) -> list[Equation]:
        """A statement, or as many as it has names before the `=`."""
        targets = [self.target()]
        while self.is_at(","):
            self.take()
            targets.append(self.target())
        self.expect("=", "behind what the statement defines")
        while self.token.kind == "line":
            self.take()
        value = self.expression()
        self.end_of_line()
        span = Span(targets[0][0].span.start, value.span.stop)
        if len(targets) == 1:
            return [Equation(*targets[0], value, span)]
        if not isinstance(value, Repeat):
            raise self.error(
                value.span, "only a loop has several values", "a[i], b[i] = repeat(...)"
            )
        if len({tuple(each.name for each in binders) for _, binders in targets}) > 1:
            message = "names that take the values of one loop have the same indices"
            raise self.error(span, message)
        return [
            Equation(name, binders, Part(value, number, name.span), span)
            for number, (name, binders) in enumerate(targets)
        ]

    def target(self) -> tuple[Name, tuple[Binder, ...]]:
        name = self.name("a statement, `name[indices] = expression`")
        binders: tuple[Binder, ...] = ()
        if self.is_at("["):
            self.take()
            binders = () if self.is_at("]") else self.binders("]")
            self.expect("]", "behind the indices")
        return name, binders

    def binders(self, *ends: str) -> tuple[Binder, ...]:
        found = [self.binder(ends)]
        while self.is_at(","):
            self.take()
            found.append(self.binder(ends))
        return tuple(found)

    def binder(self, ends: tuple[str, ...]) -> Binder:
        if self.is_at("..."):
            token = self.take()
            return Binder("...", None, token.span)
        name = self.name("an index, or `...`")
        extent: Node | None = None
        if self.is_at(":") and (ends == ("]",) or self.colons() > 1):
            self.take()
            extent = self.expression()
        last = name if extent is None else extent
        bounds = None
        if self.is_at("in") and ends != ("]",):
            bounds = self.bounds()
            last = bounds[1]
        return Binder(name.text, extent, Span(name.span.start, last.span.stop), bounds)

    def bounds(self) -> tuple[Node, Node]:
        """Where an index begins and ends: `in a .. b`."""
        self.take()
        first = self.expression()
        self.expect("..", "between where an index begins and where it ends")
        return first, self.expression()

    def colons(self) -> int:
        """How many colons there are before the bracket closes: the last begins a fold's body."""
        depth, count = 0, 0
        for token in self.tokens[self.at :]:
            depth += token.text in ("(", "[")
            depth -= token.text in (")", "]")
            if depth < 0:
                break
            count += token.text == ":" and depth == 0
        return count

    # Expressions

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error(self.token.span, f"this nests more than {DEEPEST} levels deep")
        value = self.binary(1)
        if self.is_at("if"):
            self.take()
            condition = self.binary(1)
            self.expect("else", "behind the condition")
            otherwise = self.expression()
            span = Span(value.span.start, otherwise.span.stop)
            value = Operation("if", (condition, value, otherwise), span)
        self.depth -= 1
        return value

    def binary(self, strength: int) -> Node:
        left = self.unary()
        compared = False
        while self.is_at(*_BINARY, "is") and _BINARY.get(self.token.text, _COMPARISON) >= strength:
            symbol = self.take()
            binding = _BINARY.get(symbol.text, _COMPARISON)
            if symbol.text == "is":
                left = self.missing(left)
                continue
            if binding == _COMPARISON and compared:
                message = "a comparison cannot be chained"
                raise self.error(symbol.span, message, "write `a < b and b < c`")
            compared = binding == _COMPARISON
            right = self.binary(binding if symbol.text == "**" else binding + 1)
            span = Span(left.span.start, right.span.stop)
            left = Operation(symbol.text, (left, right), span)
        return left

    def missing(self, left: Node) -> Node:
        negated = self.is_at("not")
        if negated:
            self.take()
        none = self.expect("None", "behind `is`")
        if not isinstance(left, Name):
            raise self.error(left.span, "only an optional argument may be compared with None")
        test = IsMissing(left, Span(left.span.start, none.span.stop))
        return Operation("not", (test,), test.span) if negated else test

    def unary(self) -> Node:
        if not self.is_at("-", "+", "not", "~"):
            return self.power()
        symbol = self.take()
        operand = self.binary(_NOT if symbol.text == "not" else _SIGN)
        if symbol.text == "+":
            return operand
        span = Span(symbol.span.start, operand.span.stop)
        text = "neg" if symbol.text == "-" else symbol.text
        return Operation(text, (operand,), span)

    def power(self) -> Node:
        base = self.primary()
        if not self.is_at("**"):
            return base
        self.take()
        exponent = self.unary()
        return Operation("**", (base, exponent), Span(base.span.start, exponent.span.stop))

    def primary(self) -> Node:
        token = self.token
        if token.kind == "number":
            self.take()
            is_whole = token.text.isdigit()
            return Number(int(token.text) if is_whole else float(token.text), token.span)
        if token.kind == "word":
            self.take()
            return Word(token.text[1:-1], token.span)
        if self.is_at("("):
            self.take()
            value = self.expression()
            self.expect(")", "to close the bracket")
            return value
        name = self.name("an expression")
        if self.is_at("["):
            return self.subscript(name)
        return self.application(name) if self.is_at("(") else name

    def subscript(self, tensor: Name) -> Subscript:
        self.take()
        has_batch = self.is_at("...")
        if has_batch:
            self.take()
            if self.is_at(","):
                self.take()
        places: list[Node] = []
        while not self.is_at("]", "else"):
            if self.is_at("..."):
                raise self.error(self.token.span, "`...` stands before all places")
            places.append(self.expression())
            if not self.is_at("]", "else"):
                self.expect(",", "between places, or `else` before the value outside")
        outside = None
        if self.is_at("else"):
            self.take()
            outside = self.expression()
        closing = self.expect("]", "behind the places")
        span = Span(tensor.span.start, closing.span.stop)
        return Subscript(tensor, has_batch, tuple(places), outside, span)

    def application(self, function: Name) -> Node:
        self.take()
        if function.text == "repeat":
            return self.repeat(function)
        if self.colons():
            return self.fold(function)
        operands = []
        while not self.is_at(")"):
            operands.append(self.expression())
            if not self.is_at(")"):
                self.expect(",", "between operands")
        closing = self.take()
        span = Span(function.span.start, closing.span.stop)
        return CallOf(function, tuple(operands), span)

    def repeat(self, function: Name) -> Repeat:
        index = None
        if self.colons() > 1:
            index = self.name("the number of the step")
            self.expect(":", "before how many steps there are")
        count = self.expression()
        states: list[tuple[Name, Node]] = []
        while self.is_at(",") or not states:
            self.expect(",", "before what a loop begins with, `name = value`")
            name = self.name("a value's name")
            self.expect("=", "before what the loop begins with")
            states.append((name, self.expression()))
        self.expect(":", "before the next values")
        bodies = [self.expression()]
        while len(bodies) < len(states):
            self.expect(",", "before the next value of each that the loop begins with")
            bodies.append(self.expression())
        closing = self.expect(")", "to close the loop")
        span = Span(function.span.start, closing.span.stop)
        return Repeat(index, count, tuple(states), tuple(bodies), span)

    def fold(self, function: Name) -> FoldOf:
        binders = self.binders(":", "from", "where")
        start = condition = None
        if self.is_at("from"):
            self.take()
            start = self.expression()
        if self.is_at("where"):
            self.take()
            condition = self.expression()
        self.expect(":", "before what is folded")
        body, told = self.expression(), None
        if self.is_at(","):
            self.take()
            told = self.expression()
        closing = self.expect(")", "to close the fold")
        span = Span(function.span.start, closing.span.stop)
        return FoldOf(function, binders, start, condition, body, told, span)
