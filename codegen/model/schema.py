"""Schemas: the typed signature of an operator. `str(schema)` is its normalised text."""

from __future__ import annotations

from dataclasses import field, replace

from ..errors import SourceLocation
from ..record import record

TENSOR = "Tensor"

BASE_TYPES = (
    "Tensor",
    "Scalar",
    "int",
    "float",
    "bool",
    "str",
    "complex",
    "SymInt",
    "SymFloat",
    "SymBool",
    "ScalarType",
    "Layout",
    "Device",
    "DeviceIndex",
    "MemoryFormat",
    "Generator",
    "Dimname",
    "DimVector",
    "QScheme",
    "Storage",
    "Stream",
    "ConstQuantizerPackedParamsBase",
    "LinearPackedParamsBase",
    "Conv2dPackedParamsBase",
    "Conv3dPackedParamsBase",
    "CallableFunction",
    "Any",
)


@record
class Alias:
    """Which storage a tensor shares: `a`, `a!` (written to), `a|b`, `a -> *`."""

    before: tuple[str, ...]
    """Alias sets the value belongs to on entry."""
    is_write: bool = False
    """Whether the operator writes to the value."""
    after: tuple[str, ...] = ()
    """Alias sets afterwards, where the schema says so; `*` is any."""

    def __str__(self) -> str:
        after = f" -> {'|'.join(self.after)}" if self.after else ""
        return f"{'|'.join(self.before)}{'!' if self.is_write else ''}{after}"


@record
class Optional:
    """The type modifier `?`."""

    def __str__(self) -> str:
        return "?"


@record
class ListOf:
    """The type modifier `[]` or `[size]`; with a size, one element may stand for all."""

    size: int | None = None

    def __str__(self) -> str:
        return "[]" if self.size is None else f"[{self.size}]"


@record
class Type:
    """A schema type: base names, then modifiers from the inside out.

    `Tensor?[]` is ("Tensor",) with (Optional, ListOf); `Tensor|Scalar?` is ("Tensor", "Scalar")
    with (Optional,).
    """

    names: tuple[str, ...]
    """What an element may be: one base type, or the members of a union in the order written."""
    alias: Alias | None = None
    """The alias annotation that follows the base name."""
    modifiers: tuple[Optional | ListOf, ...] = ()
    """`?` and `[n]`, innermost first."""

    @property
    def is_union(self) -> bool:
        """Whether an element may be of several types, as `Tensor|Scalar`."""
        return len(self.names) > 1

    @property
    def is_optional(self) -> bool:
        """Whether None is accepted for the whole value (not merely for an element)."""
        return bool(self.modifiers) and isinstance(self.modifiers[-1], Optional)

    @property
    def is_list(self) -> bool:
        """Whether the value is a list (or an optional list)."""
        return isinstance(self._shape, ListOf)

    @property
    def list_size(self) -> int | None:
        """The size of `int[2]`; None for `int[]` and for what is no list."""
        shape = self._shape
        return shape.size if isinstance(shape, ListOf) else None

    @property
    def required(self) -> Type:
        """The type without its outermost `?`."""
        return replace(self, modifiers=self.modifiers[:-1]) if self.is_optional else self

    @property
    def element(self) -> Type:
        """The element type of a list, else the type without its `?`."""
        required = self.required
        return replace(required, modifiers=required.modifiers[:-1]) if self.is_list else required

    @property
    def _shape(self) -> Optional | ListOf | None:
        """The outermost modifier below the outermost `?`."""
        modifiers = self.modifiers[:-1] if self.is_optional else self.modifiers
        return modifiers[-1] if modifiers else None

    @property
    def is_tensor(self) -> bool:
        """Whether the value is, or may be (`?`, `|Scalar`), a single tensor."""
        return TENSOR in self.names and not self.is_list

    @property
    def is_tensor_list(self) -> bool:
        """Whether the value is a list of tensors (or of optional tensors)."""
        return TENSOR in self.names and self.is_list

    @property
    def holds_tensors(self) -> bool:
        """Whether a tensor may be in the value at all."""
        return TENSOR in self.names

    @property
    def base(self) -> str:
        """The base name; of a union, the first."""
        return self.names[0]

    @property
    def is_written(self) -> bool:
        """Whether the alias annotation has `!`."""
        return self.alias is not None and self.alias.is_write

    @property
    def is_int(self) -> bool:
        """Whether the value is one integer."""
        return self.base in ("int", "SymInt") and not self.is_list

    @property
    def plain(self) -> str:
        """The text without the alias annotation."""
        return f"{'|'.join(self.names)}{''.join(str(m) for m in self.modifiers)}"

    def __str__(self) -> str:
        alias = "" if self.alias is None else f"({self.alias})"
        return f"{'|'.join(self.names)}{alias}{''.join(str(m) for m in self.modifiers)}"


@record
class Symbol:
    """A named constant as a default: `contiguous_format`, `long`, `Mean`."""

    name: str


Literal = None | bool | int | float | str | Symbol | tuple["Literal", ...]


@record
class Default:
    """A default value: what it means, and its text as written (`1e-05` stays `1e-05`)."""

    value: Literal
    text: str

    def __str__(self) -> str:
        return self.text


@record
class Argument:
    """One parameter of a schema."""

    name: str
    type: Type
    default: Default | None = None
    """None when the argument must be given (a default of None is `Default(None, "None")`)."""
    is_keyword_only: bool = False
    """Whether it stands after `*`."""
    where: SourceLocation | None = field(default=None, compare=False, repr=False)
    """The place of its type."""

    @property
    def is_required(self) -> bool:
        """Whether a call must give it."""
        return self.default is None

    @property
    def is_out(self) -> bool:
        """Whether it receives a result: keyword-only and written to."""
        return self.is_keyword_only and self.type.is_written

    def __str__(self) -> str:
        default = "" if self.default is None else f"={self.default}"
        return f"{self.type} {self.name}{default}"


@record
class Return:
    """One result of a schema."""

    type: Type
    name: str | None = None

    def __str__(self) -> str:
        return str(self.type) if self.name is None else f"{self.type} {self.name}"


@record
class Schema:
    """A whole signature: `aten::add.Tensor(Tensor self, Tensor other) -> Tensor`."""

    base_name: str
    """`add`; an in-place operator keeps its underscore."""
    overload: str
    """`Tensor`, or the empty string."""
    arguments: tuple[Argument, ...]
    """Positional ones first, then keyword-only ones."""
    returns: tuple[Return, ...]
    namespace: str | None = None
    """`aten` in `aten::add`."""
    where: SourceLocation | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """Base name and overload, `add.Tensor`."""
        return f"{self.base_name}.{self.overload}" if self.overload else self.base_name

    @property
    def positional(self) -> tuple[Argument, ...]:
        """Arguments before `*`."""
        return tuple(a for a in self.arguments if not a.is_keyword_only)

    @property
    def keyword_only(self) -> tuple[Argument, ...]:
        """Arguments after `*`, out arguments included."""
        return tuple(a for a in self.arguments if a.is_keyword_only)

    @property
    def out_arguments(self) -> tuple[Argument, ...]:
        """Arguments that receive results."""
        return tuple(a for a in self.arguments if a.is_out)

    @property
    def is_inplace(self) -> bool:
        """Whether the operator writes to self and says so by its name (`add_`, `__iadd__`)."""
        name = self.base_name
        if name.startswith("__") and name.endswith("__"):
            return name.startswith("__i")
        return name.endswith("_")

    @property
    def is_view(self) -> bool:
        """Whether a result shares storage with an argument that is not written to."""
        return any(r.type.alias is not None and not r.type.is_written for r in self.returns)

    def argument(self, name: str) -> Argument | None:
        """Return the argument called `name`, or None."""
        return next((a for a in self.arguments if a.name == name), None)

    def __str__(self) -> str:
        namespace = "" if self.namespace is None else f"{self.namespace}::"
        parts: list[str] = []
        for i, argument in enumerate(self.arguments):
            if argument.is_keyword_only and not (i and self.arguments[i - 1].is_keyword_only):
                parts.append("*")
            parts.append(str(argument))
        returns = ", ".join(str(r) for r in self.returns)
        if len(self.returns) != 1:
            returns = f"({returns})"
        return f"{namespace}{self.name}({', '.join(parts)}) -> {returns}"
