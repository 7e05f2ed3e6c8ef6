"""Operators: one record per entry of native_functions.yaml; how each runs is its kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Protocol

from .. import library
from ..errors import SourceLocation
from ..record import record
from .expression import Expression
from .formula import Formula
from .index import Answers, IndexProgram
from .roles import Role, role_of
from .schema import TENSOR, Argument, Schema, Symbol
from .stream import Draw
from .variants import inplace_schema, out_schema
from .vocabulary import (
    DTYPE_SETS,
    FUNCTION_FOLDERS,
    OUT_RULES,
    SCHEMA_PREFIXES,
    in_place_dunder,
)

OUTPUT_MASK = "output_mask"
"""The argument that says which results are needed, of an operator that gives gradients."""
PROGRAM = "program"
"""What an index operator's program is called in the module that is generated of it."""

FUNCTION, METHOD, INPLACE, OUT, COPY = "function", "method", "inplace", "out", "copy"


class Places(Protocol):
    """Where the parts of an entry stand in its file; worked out only when a diagnostic asks."""

    def has(self, name: str) -> bool:
        """Whether the entry has a key."""

    def key(self, name: str) -> SourceLocation:
        """Return the place of a key; of the entry when the key is absent."""

    def value(self, *path: str) -> SourceLocation:
        """Return the place of the value under `path`; of the entry when it is absent."""

    def word(self, word: str, *path: str) -> SourceLocation:
        """Return the place of `word` inside the value under `path`."""


@record
class SourceText:
    """Text in another language than the schema's (a formula, a Python expression) and its place."""

    text: str
    where: SourceLocation = field(compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


@record
class FunctionReference:
    """A hand-written function by name: `linalg.mm`, `transpose`; absolute `my_pkg.kernels:fn`."""

    module: str
    """Module below the folder that the kind implies, or absolute; empty for views."""
    name: str
    is_absolute: bool = False

    def full_module(self, what: str) -> str:
        """The module's full name; what: a key of vocabulary.FUNCTION_FOLDERS."""
        if self.is_absolute:
            return self.module
        folder = FUNCTION_FOLDERS.get(what, library.RUNTIME)
        return f"{folder}.{self.module}" if self.module else folder

    def __str__(self) -> str:
        if self.is_absolute:
            return f"{self.module}:{self.name}"
        return f"{self.module}.{self.name}" if self.module else self.name


@record
class NamedFunction:
    """A hand-written function as an entry names it."""

    what: str
    """What it is: a key of vocabulary.FUNCTION_FOLDERS, or another backend."""
    reference: FunctionReference
    keys: tuple[str, ...]
    """The keys of the entry under which it stands."""


@record
class Pointwise:
    """Runs a scalar formula on every element of the broadcast tensor arguments."""

    formula: Formula
    check: FunctionReference | None
    """Refuses arguments before anything is computed."""


@record
class Reduction:
    """Folds elements into an accumulator."""

    identity: Formula | None
    """Start value of the accumulator; None makes an empty reduction an error."""
    reduce: Formula
    """One element in: names `acc`, the tensor argument, scalar arguments."""
    combine: Formula
    """Two partial accumulators: names `acc`, `other`."""
    project: Formula | None
    """Accumulator to result: names `acc`, `count`; None is the accumulator itself."""


@record
class Index:
    """Runs statements over named indices."""

    program: IndexProgram
    meta: FunctionReference | None = None
    """Shape function that is asked in place of the statements: it checks more."""
    geometry: FunctionReference | None = None
    """Says which views of the operands the statements see, and whole numbers among them."""
    aliasing: tuple[str, ...] = ()
    """Arguments that may share memory with the result."""
    variants: tuple[tuple[frozenset[str], IndexProgram], ...] = ()
    """What is left of it where some of the optional arguments are missing; empty without any."""
    memory_format: tuple[str, ...] = ()
    """Arguments after which results of their rank lie channels-last, if one of these does."""
    faster: tuple[tuple[str, FunctionReference], ...] = ()
    """(backend, kernel) where one written by hand runs in place of the statements."""
    asked: tuple[tuple[str, Answers], ...] = ()
    """Arguments that settle which program a call runs, and the values that are told apart."""
    cases: tuple[tuple[tuple[Answers, ...], IndexProgram], ...] = ()
    """All programs, with what these arguments are in the calls that run them: None stands for all
    other values. The first one is `program`."""
    is_derived: bool = False
    """Whether the statements are the adjoints of another operator's."""
    updates: tuple[str, ...] = ()
    """Arguments to which statements give new values: the last results of the programs."""

    @property
    def programs(self) -> tuple[IndexProgram, ...]:
        """All programs, of which a call runs one."""
        return (self.program, *(program for _, program in self.cases[1:]))


@record
class View:
    """Computes sizes, strides and offset; touches no data."""

    function: FunctionReference


@record
class Composite:
    """Calls other operators: a Python expression in the entry, or a function by name."""

    body: Expression | None
    """None when a function does the work."""
    function: FunctionReference | None
    of: str = ""
    """The operator that the function is told of, before the arguments: the view of a copy."""
    written: tuple[int, ...] = ()
    """The arguments that it writes to, by number, of which it is told behind that."""


@record
class Dispatch:
    """Runs a hand-written kernel per backend."""

    backends: tuple[tuple[str, FunctionReference], ...]
    """(backend, kernel) in the order written."""
    meta: FunctionReference | None
    """Shape function; None when the shape depends on data, and `is_dynamic` says so, or where
    `shapes_of` tells it."""
    is_dynamic: bool = False
    """Whether only the kernel knows the shape (`meta: dynamic`); then it returns its results."""
    half_as_stored: bool = False
    """Whether the kernel takes 16-bit floats as uint16 (`half_precision: as_stored`)."""
    aliasing: tuple[str, ...] = ()
    """Arguments that may share memory with the result, so that in-place needs no copy."""
    memory_format: tuple[str, ...] = ()
    """Arguments after which results of their rank lie channels-last, if one of these does."""
    shapes_of: FunctionReference | None = None
    """The index program that tells shapes from its statements."""
    case: tuple[tuple[str, Given], ...] = ()
    """What the kernels' arguments are given, of a case of another operator; else the entry's."""
    has_shapes_of_case: bool = False
    """Whether the shape function is given the same."""
    unasked: int = 0
    """How many results the other operator has behind those of the case."""


@record
class Given:
    """What a case gives one argument of the operator that it is a case of."""

    text: str
    """An argument's name, or a Python constant."""
    is_argument: bool
    is_negated: bool
    """Whether it is the opposite of that argument, a flag."""
    where: SourceLocation = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"not {self.text}" if self.is_negated else self.text


@record
class Case:
    """Runs the kernels of another operator, with these arguments."""

    target: str
    """The other operator's full name."""
    given: tuple[tuple[str | None, Given], ...]
    """(name, value) of each argument as it is written; without a name it is given by position."""
    meta: FunctionReference | None
    """Shape function of its own; None is that of the other operator, with these arguments."""
    where: SourceLocation = field(compare=False, repr=False)

    def by_name(self, schema: Schema) -> dict[str, Given]:
        """What each argument of the other operator is given, where this fits its schema."""
        names = [argument.name for argument in schema.arguments]
        defaults = {
            argument.name: Given(repr(argument.default.value), False, False, self.where)
            for argument in schema.arguments
            if argument.default is not None and not isinstance(argument.default.value, Symbol)
        }
        positional = [value for name, value in self.given if name is None]
        named = {name: value for name, value in self.given if name is not None}
        return {**defaults, **dict(zip(names, positional, strict=False)), **named}


Kind = Pointwise | Reduction | Index | Draw | View | Composite | Dispatch | Case


@record
class Promotion:
    """The dtype rule, and which arguments take part in it."""

    rule: str
    """A key of vocabulary.PROMOTIONS."""
    arguments: tuple[str, ...] | None = None
    """Names in parentheses; None means all tensor (and Scalar) arguments."""


@record
class Domain:
    """`self: [-3, 3]`: random values of a tensor argument lie in this range."""

    argument: str
    low: float
    high: float


@record
class Choices:
    """`beta: [1, 0.5]`: values of another argument, Python expressions."""

    argument: str
    values: tuple[str, ...]


@record
class SampleCall:
    """One call of the operator, arguments as Python expressions over the sample constructors."""

    arguments: tuple[tuple[str, SourceText], ...]
    raises: str | None = None
    """Name of the exception class that the call must raise."""


@record
class Samples:
    """Inputs of the generated tests: per argument, or whole calls, never both."""

    domains: tuple[Domain, ...] = ()
    choices: tuple[Choices, ...] = ()
    calls: tuple[SampleCall, ...] = ()


@record
class Operator:
    """One entry of native_functions.yaml: an operator family."""

    schema: Schema
    """The one schema written; in-place and out= schemas are derived from it."""
    variants: tuple[str, ...]
    """What the family offers, of `function`, `method`, `inplace`, `out`, `copy`."""
    python_module: str
    """Where users find the function: `torch`, `nn.functional`, `linalg`, `fft`, `special`."""
    deprecated: tuple[Schema, ...]
    """Schemas of older argument orders that calls may still have."""
    superseded: str | None
    """The public path of what replaces it, `linalg.qr`: a call warns, once in a process."""
    dunders: tuple[str, ...]
    """Python operators it implements (key `operators`), in-place ones included."""
    aliases: tuple[str, ...]
    """Further public names, with the same variants: `multiply`, or elsewhere `special.expit`."""
    foreach: tuple[str, ...]
    """Names under which it runs over lists of tensors: `add` is `_foreach_add`."""
    dtypes: str
    """Name of the dtype set accepted after promotion, a key of vocabulary.DTYPE_SETS."""
    dtype_error: str | None
    """What users are told of an operand of another dtype; None is the usual sentence."""
    promotion: Promotion
    range_checked: tuple[str, ...]
    """Operands whose numbers must be in the range of the dtype; Scalar arguments always must."""
    nonnegative: tuple[tuple[str, str], ...]
    """(operand, sentence): numbers that must not be negative beside integers, and what says so."""
    kind: Kind
    layouts: tuple[tuple[str, FunctionReference], ...]
    """(key of vocabulary.LAYOUTS, composite): what it does where an operand has the layout."""
    vmap: str | FunctionReference | None
    """What it does for samples inside vmap: a key of vocabulary.VMAP, or a composite."""
    tags: tuple[str, ...]
    reference: str | None
    """Dotted name of an independent NumPy or SciPy function."""
    samples: Samples | None
    doc: str | None
    """Markdown for users; the first line is the summary."""
    where: SourceLocation = field(compare=False, repr=False)
    """The place of the schema's text."""
    places: Places = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """`mul.Tensor`."""
        return self.schema.name

    @property
    def base_name(self) -> str:
        """`mul`."""
        return self.schema.base_name

    @property
    def overload(self) -> str:
        """`Tensor`, or the empty string."""
        return self.schema.overload

    @property
    def identifier(self) -> str:
        """The name as one Python identifier, unique in the program: `mul_Tensor`."""
        return self.name.replace(".", "_")

    @property
    def public_name(self) -> str:
        """The name inside its python_module: `inv` of `linalg_inv`."""
        return public_name(self.base_name, self.python_module)

    @property
    def public_path(self) -> str:
        """Where users find it: `linalg.inv`, `nn.functional.relu`, `add`, `Tensor.item`."""
        if not self.has_function:
            return f"Tensor.{self.base_name}"
        module = "" if self.python_module == "torch" else f"{self.python_module}."
        return f"{module}{self.public_name}"

    @property
    def public_aliases(self) -> tuple[tuple[str, str], ...]:
        """(module, name) of each alias; without a module it is the operator's own."""
        pairs = (alias.rpartition(".") for alias in self.aliases)
        return tuple((module or self.python_module, name) for module, _, name in pairs)

    @property
    def flat_names(self) -> tuple[str, ...]:
        """Names in the flat table of operators, without in-place ones: `expit`, `special_expit`."""
        names = (f"{SCHEMA_PREFIXES.get(module, '')}{name}" for module, name in self.public_aliases)
        return tuple(dict.fromkeys((self.base_name, *names)))

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments in schema order."""
        return self.schema.arguments

    @property
    def operands(self) -> tuple[Argument, ...]:
        """The arguments that take part in choosing the code of a call."""
        return tuple(a for a in self.arguments if self.role(a).is_operand)

    @property
    def promoted(self) -> tuple[str, ...]:
        """The operands whose dtypes count in promotion."""
        chosen = self.promotion.arguments
        return tuple(a.name for a in self.operands) if chosen is None else chosen

    def role(self, argument: Argument) -> Role:
        """The part of an argument in a call."""
        return role_of(argument, argument is self.arguments[0])

    @property
    def tensor_arguments(self) -> tuple[Argument, ...]:
        """Arguments that are, or may be, a single tensor; out arguments excluded."""
        return tuple(a for a in self.schema.arguments if a.type.is_tensor and not a.is_out)

    @property
    def differentiable_arguments(self) -> tuple[Argument, ...]:
        """Arguments that may hold tensors, out arguments excluded."""
        return tuple(a for a in self.schema.arguments if a.type.holds_tensors and not a.is_out)

    @property
    def plain_arguments(self) -> tuple[Argument, ...]:
        """Arguments that never hold a tensor: numbers, dims, flags, dtypes ..."""
        return tuple(a for a in self.schema.arguments if not a.type.holds_tensors)

    @property
    def has_function(self) -> bool:
        """Whether `torch.mul(...)` exists."""
        return FUNCTION in self.variants

    @property
    def has_method(self) -> bool:
        """Whether `tensor.mul(...)` exists."""
        return METHOD in self.variants

    @property
    def has_inplace(self) -> bool:
        """Whether an in-place variant `mul_` is derived."""
        return INPLACE in self.variants

    @property
    def has_out(self) -> bool:
        """Whether `out=` is offered."""
        return OUT in self.variants

    @property
    def out_rule(self) -> str:
        """Which dtypes `out=` may have: a rule of `runtime.core.promotion.check_out`."""
        return next((rule for tag, rule in OUT_RULES.items() if self.has_tag(tag)), "cast")

    @property
    def out_overlap(self) -> str:
        """Which operands `out=` may show elements of: as dispatch.operator.Dispatch says.

        An operator with a rule of promotion works element by element: what it reads there it has
        not written yet, unless `out=` is moved against the operand.
        """
        if self.has_tag("apart_out"):
            return "apart"
        kind, rule = self.kind, self.promotion.rule
        by_element = isinstance(kind, Dispatch | Case) and rule not in ("same", "none")
        return "whole" if by_element or self.has_tag("whole_out") else "anything"

    @property
    def inplace_rule(self) -> str:
        """Which dtypes self may have in place, as `out_rule`."""
        return "exact" if self.has_tag("exact_out") else "cast"

    @property
    def inplace_schema(self) -> Schema | None:
        """Schema of the derived in-place variant."""
        return inplace_schema(self.schema) if self.has_inplace else None

    @property
    def out_schema(self) -> Schema | None:
        """Schema of the derived out= variant."""
        return out_schema(self.schema) if self.has_out else None

    @property
    def is_inplace(self) -> bool:
        """Whether the entry itself writes to self (`copy_`, `zero_`)."""
        return self.schema.is_inplace

    @property
    def result_names(self) -> tuple[str, ...]:
        """Names of the results in derivative formulas: `result`, or named or numbered returns."""
        returns = self.schema.returns
        if len(returns) == 1:
            return ("result",)
        return tuple(r.name or f"result{i}" for i, r in enumerate(returns))

    @property
    def has_named_results(self) -> bool:
        """Whether it returns several results, each with a name."""
        returns = self.schema.returns
        return len(returns) > 1 and all(r.name for r in returns)

    @property
    def dtype_names(self) -> tuple[str, ...]:
        """The dtypes of its set."""
        return DTYPE_SETS.get(self.dtypes, ())  # an unknown set is reported by check/

    @property
    def may_differentiate(self) -> bool:
        """Whether a floating-point or complex tensor is among what it accepts."""
        return any(name.startswith(("float", "complex")) for name in self.dtype_names)

    @property
    def returns_tensors(self) -> bool:
        """Whether every result is a tensor or a list of tensors."""
        returns = self.schema.returns
        return bool(returns) and all(r.type.base == TENSOR for r in returns)

    @property
    def functions(self) -> tuple[NamedFunction, ...]:
        """The hand-written functions that it names."""
        mapped = self.vmap if isinstance(self.vmap, FunctionReference) else None
        return (
            *self._functions_of_kind,
            *(NamedFunction("bodies", each, ("layouts", key)) for key, each in self.layouts),
            *((NamedFunction("bodies", mapped, ("vmap",)),) if mapped else ()),
        )

    @property
    def _functions_of_kind(self) -> tuple[NamedFunction, ...]:
        match self.kind:
            case Composite(function=FunctionReference() as function):
                return (NamedFunction("bodies", function, ("composite",)),)
            case View(function=function):
                return (NamedFunction("views", function, ("view",)),)
            case Pointwise(check=check) if check:
                return (NamedFunction("shapes", check, ("check",)),)
            case Index(meta=meta, geometry=geometry, faster=faster):
                named = ("meta", "shapes", meta), ("geometry", "geometry", geometry)
                return (
                    *(NamedFunction(what, ref, (key,)) for key, what, ref in named if ref),
                    *(NamedFunction(each, kernel, ("faster", each)) for each, kernel in faster),
                )
            case Draw(meta=FunctionReference() as meta) | Case(meta=FunctionReference() as meta):
                return (NamedFunction("shapes", meta, ("meta",)),)
            case Dispatch(backends=backends, meta=meta):
                shapes = (NamedFunction("shapes", meta, ("meta",)),) if meta else ()
                return shapes + tuple(
                    NamedFunction(backend, kernel, ("dispatch", backend))
                    for backend, kernel in backends
                )
        return ()

    @property
    def inplace_dunders(self) -> tuple[str, ...]:
        """Dunders that call the in-place variant."""
        return tuple(name for name in self.dunders if in_place_dunder(name))

    @property
    def is_internal(self) -> bool:
        """Whether users do not see it: its name begins with `_`, or it carries the tag."""
        return self.base_name.startswith("_") or "internal" in self.tags

    def has_tag(self, tag: str) -> bool:
        """Whether the entry carries `tag`."""
        return tag in self.tags


def adjoint_name(base_name: str) -> str:
    """The operator that gives the gradients of an index operator."""
    return f"{_internal(base_name)}_backward"


def text_names(operator: Operator) -> tuple[str, ...]:
    """What the operators may be called that have the text of an entry, if it has one: itself, or
    those that it has been split into."""
    names = [
        a.name for a in operator.arguments if a.type.is_optional and a.type.base != "Generator"
    ]
    whole = variant_name(operator.base_name, names)
    return operator.name, whole, drawn_name(operator.base_name), drawn_name(whole)


def variant_name(name: str, there: Sequence[str]) -> str:
    """What the operator is called that has these of its optional arguments, and no others."""
    return f"{_internal(name)}_{'_'.join(['with', *there] if there else ['alone'])}"


def drawn_name(name: str) -> str:
    """What the operator is called that is a function of the key of its random numbers."""
    return f"{_internal(name)}_drawn"


def _internal(name: str) -> str:
    """One underscore in front: Python would read two, inside a node's class, as the class's own."""
    return f"_{name.removeprefix('_')}"


def public_name(base_name: str, python_module: str) -> str:
    """Strip the prefix that an operator of a submodule carries: `linalg_inv` is `linalg.inv`."""
    prefix = SCHEMA_PREFIXES.get(python_module, "")
    return base_name.removeprefix(prefix)
