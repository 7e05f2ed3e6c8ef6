"""The in-place, out= and copying schemas that a family's one written schema implies."""

from __future__ import annotations

from dataclasses import replace

from .schema import TENSOR, Alias, Argument, Return, Schema, Type

_SETS = "abcdefghijklmnopqrstuvwxyz"


def inplace_schema(schema: Schema) -> Schema:
    """Derive `mul_(Tensor(a!) self, ...) -> Tensor(a!)` from `mul(Tensor self, ...)`."""
    written = Type((TENSOR,), Alias(("a",), is_write=True))
    arguments = tuple(replace(a, type=written) if a.name == "self" else a for a in schema.arguments)
    return replace(
        schema,
        base_name=f"{schema.base_name}_",
        arguments=arguments,
        returns=(Return(written),),
    )


def out_schema(schema: Schema) -> Schema:
    """Derive the out= schema: one written keyword-only argument per result.

    A single result is called `out`; several keep their names (`values, indices`) or count up
    (`out0, out1`). The overload is PyTorch's where its naming is regular.
    """
    names = out_names(schema)
    taken = {s for a in schema.arguments if a.type.alias for s in a.type.alias.before}
    sets = (letter for letter in _SETS if letter not in taken)
    types = tuple(
        replace(r.type, alias=Alias((next(sets),), is_write=True)) for r in schema.returns
    )
    outs = tuple(
        Argument(name, type_, is_keyword_only=True)
        for name, type_ in zip(names, types, strict=True)
    )
    returns = tuple(replace(r, type=type_) for r, type_ in zip(schema.returns, types, strict=True))
    return replace(
        schema,
        overload=out_overload(schema.overload),
        arguments=schema.arguments + outs,
        returns=returns,
    )


def copy_schema(schema: Schema) -> Schema:
    """Derive `t_copy(Tensor self) -> Tensor` from `t(Tensor(a) self) -> Tensor(a)`."""
    return replace(
        schema,
        base_name=f"{schema.base_name}_copy",
        arguments=tuple(replace(a, type=replace(a.type, alias=None)) for a in schema.arguments),
        returns=tuple(replace(r, type=replace(r.type, alias=None)) for r in schema.returns),
    )


def out_names(schema: Schema) -> tuple[str, ...]:
    """Name the arguments that receive the results."""
    if len(schema.returns) == 1:
        return ("out",)
    return tuple(r.name or f"out{i}" for i, r in enumerate(schema.returns))


def out_overload(overload: str) -> str:
    """Name the out= overload: `out` beside `` and `Tensor`, else `<overload>_out`."""
    return "out" if overload in ("", TENSOR) else f"{overload}_out"
