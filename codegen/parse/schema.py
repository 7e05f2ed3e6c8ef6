"""Reads PyTorch's schema grammar: tokens, then recursive descent. `str()` of the result prints it.

schema   = [ name "::" ] name [ "." name ] "(" [ argument { "," argument } ] ")" "->" returns
argument = "*" | type name [ "=" default ]
type     = base { "|" base } [ "(" alias ")" ] { "?" | "[" [ integer ] "]" }
alias    = set { "|" set } [ "!" ] [ "->" ( "*" | set { "|" set } ) ]
returns  = type [ name ] | "(" [ type [ name ] { "," type [ name ] } ] ")"
"""

from __future__ import annotations

import ast
import math
import re
from functools import lru_cache
from typing import NoReturn

from ..errors import CodegenError, Diagnostic, SourceLocation, did_you_mean
from ..model.schema import (
    BASE_TYPES,
    Alias,
    Argument,
    Default,
    ListOf,
    Literal,
    Optional,
    Return,
    Schema,
    Symbol,
    Type,
)

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<name>[A-Za-z_]\w*)
    | (?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|-inf\b)
    | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<punctuation>->|::|[()\[\],*?!|=.])
    | (?P<end>$)
    | (?P<unknown>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_BASE_TYPES = frozenset(BASE_TYPES)
_SYNONYMS = {
    "dtype": "ScalarType", "device": "Device", "layout": "Layout", "string": "str",
    "double": "float", "number": "Scalar", "integer": "int", "boolean": "bool", "shape": "int[]",
    "memory_format": "MemoryFormat", "List": "int[]", "list": "int[]", "tuple": "int[]",
    "Optional": "int?", "Tuple": "int[]", "TensorList": "Tensor[]", "generator": "Generator",
}  # fmt: skip
_CONSTANTS: dict[str, Literal] = {
    "None": None,
    "True": True,
    "False": False,
    "inf": float("inf"),
    "nan": float("nan"),
}

MOST_ARGUMENTS = 200
LARGEST = 2**63 - 1
"""Of the integers of 64 bits."""

Token = tuple[str, str, int]
"""(kind, text, offset)."""


def parse_schema(text: str, where: SourceLocation | None = None) -> Schema:
    """Parse a schema.

    Raises: CodegenError with one diagnostic, at the exact character, where the text is no schema.
    """
    return _Parser(text, where or SourceLocation("<schema>", 1, 1)).schema()


def base_name_of(text: str) -> str:
    """Return the operator name that a schema's text begins with, without parsing the rest."""
    return text.split("(", 1)[0].strip()


@lru_cache(maxsize=4096)
def _type(names: tuple[str, ...], modifiers: tuple[Optional | ListOf, ...]) -> Type:
    """Return the one Type of this spelling."""
    return Type(names, None, modifiers)


class _Parser:
    """Recursive descent over the tokens of one schema."""

    def __init__(self, text: str, where: SourceLocation) -> None:
        self.where = where
        self.tokens: list[Token] = [
            (match.lastgroup or "", match[match.lastgroup or 0], match.start(match.lastgroup or 0))
            for match in _TOKEN.finditer(text)
        ]
        self.at = 0

    # Tokens

    @property
    def text(self) -> str:
        """The text of the current token."""
        return self.tokens[self.at][1]

    def skip(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        if self.tokens[self.at][1] == text and self.tokens[self.at][0] == "punctuation":
            self.at += 1
            return True
        return False

    def expect(self, text: str, after: str) -> None:
        """Step over `text`, which must come next."""
        if not self.skip(text):
            self.fail("E201", f"expected '{text}' {after}, got {self.described()}")

    def name(self, what: str) -> str:
        """Step over a name and return it."""
        kind, text, _ = self.tokens[self.at]
        if kind != "name":
            self.fail("E201", f"expected {what}, got {self.described()}")
        self.at += 1
        return text

    def described(self) -> str:
        """Name the current token for a message."""
        kind, text, _ = self.tokens[self.at]
        return "the end of the schema" if kind == "end" else f"'{text}'"

    def place(self, at: int) -> SourceLocation:
        """Return the place of a token."""
        return self.where.at(self.tokens[at][2])

    def fail(
        self, code: str, message: str, hint: str | None = None, at: int | None = None
    ) -> NoReturn:
        """Raise a diagnostic at a token; the current one by default."""
        at = self.at if at is None else at
        width = max(1, len(self.tokens[at][1]))
        raise CodegenError([Diagnostic(code, self.place(at), message, hint, width=width)])

    # Grammar

    def schema(self) -> Schema:
        """The whole text."""
        namespace = None
        base_name = self.name("an operator name")
        if self.skip("::"):
            namespace, base_name = base_name, self.name("an operator name")
        overload = self.name("an overload name") if self.skip(".") else ""
        self.expect("(", "after the operator's name")
        arguments = self.arguments()
        self.expect("->", "after the arguments")
        returns = self.returns()
        if self.tokens[self.at][0] != "end":
            self.fail("E201", f"unexpected {self.described()} after the schema")
        return Schema(base_name, overload, arguments, returns, namespace, self.where)

    def arguments(self) -> tuple[Argument, ...]:
        """Everything up to the closing parenthesis."""
        arguments: list[Argument] = []
        if self.skip(")"):
            return ()
        star: int | None = None
        while True:
            if self.text == "*":
                if star is not None:
                    self.fail("E201", "'*' is given twice")
                star = self.at
                self.at += 1
            else:
                arguments.append(self.argument(star is not None))
            if len(arguments) > MOST_ARGUMENTS:
                self.fail("E201", f"more than {MOST_ARGUMENTS} arguments")
            if self.skip(")"):
                break
            self.expect(",", "or ')' after an argument")
        if star is not None and not (arguments and arguments[-1].is_keyword_only):
            self.fail("E201", "no argument follows '*'", at=star)
        return tuple(arguments)

    def argument(self, is_keyword_only: bool) -> Argument:
        """A type, a name, perhaps a default."""
        begin = self.at
        type_ = self.type()
        name = self.name("an argument name")
        if name == "__debug__":
            self.fail("E201", "Python has no parameter of this name", at=self.at - 1)
        default = self.default() if self.skip("=") else None
        return Argument(name, type_, default, is_keyword_only, self.place(begin))

    def returns(self) -> tuple[Return, ...]:
        """One result, or a list of them in parentheses."""
        if not self.skip("("):
            return (self.result(),)
        if self.skip(")"):
            return ()
        results = [self.result()]
        while self.skip(","):
            results.append(self.result())
        self.expect(")", "after the results")
        return tuple(results)

    def result(self) -> Return:
        """A type, perhaps a name."""
        type_ = self.type()
        is_named = self.tokens[self.at][0] == "name"
        return Return(type_, self.name("a name") if is_named else None)

    # Types

    def type(self) -> Type:
        """A base type or union with alias annotation and modifiers."""
        names = [self.base_type()]
        while self.skip("|"):
            names.append(self.base_type())
        alias = self.alias() if self.skip("(") else None
        modifiers: list[Optional | ListOf] = []
        while True:
            if self.skip("?"):
                if modifiers and isinstance(modifiers[-1], Optional):
                    self.fail("E201", "'?' is given twice", at=self.at - 1)
                modifiers.append(Optional())
            elif self.skip("["):
                modifiers.append(self.list_of())
            else:
                break
        if alias is None:
            return _type(tuple(names), tuple(modifiers))
        return Type(tuple(names), alias, tuple(modifiers))

    def base_type(self) -> str:
        """One of BASE_TYPES, or a class of torch.classes by its dotted name."""
        name = self.name("a type")
        if name in _BASE_TYPES:
            return name
        if name == "__torch__":
            while self.skip("."):
                name += f".{self.name('a name')}"
            return name
        meant = _SYNONYMS.get(name)
        hint = f"did you mean '{meant}'?" if meant else did_you_mean(name, BASE_TYPES)
        self.fail("E202", f"unknown type '{name}'", hint, self.at - 1)

    def list_of(self) -> ListOf:
        """What stands between brackets."""
        if self.skip("]"):
            return ListOf()
        kind, text, _ = self.tokens[self.at]
        if kind != "number" or not text.isdigit():
            self.fail("E201", f"expected a size or ']' after '[', got {self.described()}")
        self.at += 1
        size = self.integer(text)
        self.expect("]", "after the size")
        return ListOf(size)

    def alias(self) -> Alias:
        """What stands between parentheses after a base type."""
        before = self.alias_sets()
        is_write = self.skip("!")
        after: tuple[str, ...] = ()
        if self.skip("->"):
            after = ("*",) if self.skip("*") else self.alias_sets()
        self.expect(")", "after the alias annotation")
        return Alias(before, is_write, after)

    def alias_sets(self) -> tuple[str, ...]:
        """Names of alias sets."""
        sets = [self.name("an alias set such as 'a'")]
        while self.skip("|"):
            sets.append(self.name("an alias set such as 'a'"))
        return tuple(sets)

    # Defaults

    def default(self) -> Default:
        """A literal: number, text, list, True, False, None or a named constant."""
        kind, text, _ = self.tokens[self.at]
        if self.skip("["):
            return self.default_list()
        if kind not in ("name", "number", "string"):
            self.fail("E201", f"expected a default after '=', got {self.described()}")
        self.at += 1
        if kind == "name":
            return Default(_CONSTANTS[text] if text in _CONSTANTS else Symbol(text), text)
        if text == "-inf":
            return Default(float("-inf"), text)
        if kind == "string":
            return Default(self.text_of(text), text)
        if text.lstrip("-").isdigit():
            return Default(self.integer(text), text)
        value = float(text)
        if math.isinf(value):
            self.fail("E201", f"{text} is beyond the numbers of 64 bits", "inf", self.at - 1)
        return Default(value, text)

    def integer(self, text: str) -> int:
        """An integer of 64 bits, whose token was the last."""
        value = int(text) if len(text) < 40 else LARGEST + 1
        if not -LARGEST - 1 <= value <= LARGEST:
            message = "an integer of more than 64 bits"
            self.fail("E201", message, "a Scalar may be a float, such as 1e30", self.at - 1)
        return value

    def text_of(self, literal: str) -> str:
        """What a string literal stands for, which was the last token."""
        try:
            return str(ast.literal_eval(literal))
        except (SyntaxError, ValueError) as error:
            self.fail("E201", f"{literal} is no text: {error}", at=self.at - 1)

    def default_list(self) -> Default:
        """The rest of a list, after its bracket."""
        items: list[Default] = []
        while not self.skip("]"):
            if items:
                self.expect(",", "or ']' in a list")
            if self.text == "[":
                self.fail("E201", "a list in a list")
            items.append(self.default())
        return Default(tuple(i.value for i in items), f"[{','.join(i.text for i in items)}]")
