"""Reads how an operator runs: by one of the keys that say so, from pointwise to dispatch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from ..errors import CodegenError, Related, SourceLocation
from ..formula.functions import Functions
from ..formula.parse import NONE, parse_formula
from ..model import formula as ir
from ..model.expression import Expression
from ..model.formula import Formula
from ..model.operator import (
    Composite,
    Dispatch,
    FunctionReference,
    Index,
    Kind,
    Pointwise,
    Reduction,
    View,
)
from ..model.schema import TENSOR, Argument, Schema
from ..model.stream import Draw
from ..model.vocabulary import LAYOUTS, TEXT_BACKENDS
from .cases import read_case
from .expressions import Scope, read_expression
from .index import parse_cases, parse_index
from .index_survey import Owner
from .keys import REDUCTION_KEYS
from .report import Report
from .scopes import argument_scope
from .stream import parse_draw
from .values import check_keys, described, text_of, words_of
from .yaml_nodes import AnyNode, Mapping, Scalar

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_ABSOLUTE = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)")
_GEOMETRY = re.compile(r"([A-Za-z_][\w.]*[.:][A-Za-z_]\w*)(?:\(([\w, ]*)\))?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_FORMULA_KINDS: dict[str, ir.Kind] = {
    "Scalar": "scalar", "float": "scalar", "complex": "scalar", "int": "int", "SymInt": "int",
    "bool": "bool",
}  # fmt: skip
_EMPTY = Formula((), ())


def read_kind(
    name: str, entry: Mapping, schema: Schema, functions: Functions, report: Report
) -> Kind | None:
    """Read the value of the key `name`; None if it cannot be read.

    functions: what formulas may call besides the primitives.
    """
    node = entry.values[name]
    if name == "pointwise":
        check = function_reference(entry.get("check"), "check", report)
        formula = _formula(node, name, formula_arguments(schema), report, functions)
        return Pointwise(formula, check)
    if name == "reduction":
        return _reduction(node, schema, report)
    if name == "index":
        return _index(node, entry, schema, functions, report)
    if name == "draw":
        return _draw(node, entry, schema, functions, report)
    if name == "view":
        function = function_reference(node, name, report)
        return View(function) if function else None
    if name == "composite":
        return _composite(node, schema, report)
    if name == "case_of":
        meta = function_reference(entry.get("meta"), "meta", report)
        return read_case(node, schema, meta, report)
    return _dispatch(node, entry, report)


def formula_arguments(schema: Schema) -> tuple[ir.Argument, ...]:
    """Describe the arguments that a scalar formula may read."""
    return tuple(
        ir.Argument(argument.name, kind, argument.type.is_optional)
        for argument in schema.arguments
        if (kind := _formula_kind(argument))
    )


def _formula_kind(argument: Argument) -> ir.Kind | None:
    if argument.type.is_tensor:
        return "tensor"
    return None if argument.type.is_list else _FORMULA_KINDS.get(argument.type.base)


def _formula(
    node: AnyNode | None,
    what: str,
    arguments: tuple[ir.Argument, ...],
    report: Report,
    functions: Functions = NONE,
) -> Formula:
    """Parse a formula; a stand-in if it is wrong, so that other checks go on."""
    scalar = text_of(node, f"'{what}'", report)
    if scalar is None:
        return _EMPTY
    try:
        return parse_formula(scalar.text, scalar.where, arguments, functions)
    except CodegenError as error:
        report.extend(error.diagnostics)
        return _EMPTY


def _reduction(node: AnyNode, schema: Schema, report: Report) -> Reduction | None:
    if not isinstance(node, Mapping):
        report.add("E106", node.where, f"'reduction' must be a mapping, got {described(node)}")
        return None
    check_keys(node, REDUCTION_KEYS, "the reduction", report)
    own = [argument for argument in formula_arguments(schema) if argument.name != "keepdim"]
    tensor = tuple(argument for argument in own if argument.kind == "tensor")
    scalars = tuple(argument for argument in own if argument.kind != "tensor")
    acc, other = ir.Argument("acc"), ir.Argument("other")
    count = ir.Argument("count", "scalar")

    def part(name: str, *arguments: ir.Argument) -> Formula:
        value = node.get(name)
        return _formula(value, name, arguments, report) if value else _EMPTY

    identity = node.get("identity")
    has_identity = not (isinstance(identity, Scalar) and identity.text.strip().lower() == "none")
    return Reduction(
        part("identity", *scalars) if has_identity else None,
        part("reduce", acc, *tensor, *scalars),
        part("combine", acc, other, *scalars),
        part("project", acc, count, *scalars) if "project" in node.keys else None,
    )


def _index(
    node: AnyNode, entry: Mapping, schema: Schema, functions: Functions, report: Report
) -> Index | None:
    scalar = text_of(node, "'index'", report)
    if scalar is None:
        return None
    names = tuple(result.name for result in schema.returns if result.name)
    draws = any(argument.type.base == "Generator" for argument in schema.arguments)
    meta = entry.get("meta")
    geometry, numbers = _geometry(entry, report)
    own = formula_arguments(schema)
    arguments = (*own, *numbers)
    has_meta = meta is not None
    words = tuple(each.name for each in schema.arguments if each.type.base == "str")
    counted = tuple(
        each.name for each in own if each.kind not in ("tensor", "bool") and not each.optional
    )
    updated = _updated(schema, scalar.where, report)
    if updated and meta is not None:
        message = "a shape function does not tell what arguments become"
        hint = "leave it out: the statements do"
        report.add("E784", entry.keys["meta"].where, message, hint=hint, width=len("meta"))
    owner = Owner(
        *(arguments, names, len(schema.returns), functions, draws, has_meta, words, counted),
        updated,
    )
    try:
        answers, programs = parse_cases(scalar.text, scalar.where, owner)
        program = programs[0][1]
        sets = [] if has_meta else [frozenset(each) for each in _subsets(owner.optional)]
        variants = [parse_index(scalar.text, scalar.where, owner, each) for each in sets[1:]]
    except CodegenError as error:
        report.extend(error.diagnostics)
        return None
    if answers and sets[1:]:
        message = "a text that asks what is missing cannot ask for words, or flags to fold by"
        report.add("E776", scalar.where, message, hint="let a composite choose among entries")
    return Index(
        program,
        function_reference(meta, "meta", report) if meta else None,
        geometry,
        words_of(entry.get("aliasing"), "'aliasing'", report) or (),
        tuple(zip(sets, (program, *variants), strict=True)) if variants else (),
        words_of(entry.get("memory_format"), "'memory_format'", report) or (),
        faster=_faster(entry, bool(variants) or draws, report),
        asked=tuple(answers.items()),
        cases=tuple(programs) if answers else (),
        updates=updated,
    )


def _updated(schema: Schema, where: SourceLocation, report: Report) -> tuple[str, ...]:
    """The arguments that a call of the statements updates."""
    if schema.is_inplace:
        return ()
    written = [each for each in schema.positional if each.type.is_written]
    for each in written:
        if str(each.type.plain) != TENSOR:
            message = f"the statements update '{each.name}', which is {each.type}"
            hint = f"a tensor that is there: Tensor(a!) {each.name}"
            place = each.where or where
            report.add("E784", place, message, hint=hint, width=len(str(each.type)))
    return tuple(each.name for each in written)


def _faster(
    entry: Mapping, is_split: bool, report: Report
) -> tuple[tuple[str, FunctionReference], ...]:
    """Read `{CPU: module.function}`. is_split: whether the text makes several operators."""
    node = entry.get("faster")
    kernels = tuple(_kernels(node, "faster", report) or ()) if node else ()
    if {backend for backend, _ in kernels} >= set(TEXT_BACKENDS):
        message = "the statements are left no backend"
        hint = "write 'dispatch' instead of 'index'"
        report.add("E345", entry.keys["faster"].where, message, hint=hint, width=len("faster"))
    if kernels and is_split:
        message = "the statements are those of several operators, with and without an argument"
        hint = "meta: module.function, a shape function, keeps them one"
        report.add("E345", entry.keys["faster"].where, message, hint=hint, width=len("faster"))
    return kernels


def _draw(
    node: AnyNode, entry: Mapping, schema: Schema, functions: Functions, report: Report
) -> Draw | None:
    scalar = text_of(node, "'draw'", report)
    if scalar is None:
        return None
    results = 1 if schema.is_inplace else len(schema.returns)
    try:
        draw = parse_draw(scalar.text, scalar.where, formula_arguments(schema), functions, results)
    except CodegenError as error:
        report.extend(error.diagnostics)
        return None
    meta = entry.get("meta")
    return replace(
        draw,
        meta=function_reference(meta, "meta", report) if meta else None,
        memory_format=words_of(entry.get("memory_format"), "'memory_format'", report) or (),
    )


def _geometry(
    entry: Mapping, report: Report
) -> tuple[FunctionReference | None, tuple[ir.Argument, ...]]:
    """Read `family.function(number, float number)`: the function, and the numbers that it adds."""
    node = entry.get("geometry")
    scalar = text_of(node, "'geometry'", report)
    if scalar is None:
        return None, ()
    match = _GEOMETRY.fullmatch(scalar.text.strip())
    if match is None:
        hint = "family.function, or family.function(number, float number)"
        report.add("E310", scalar.where, f"'{scalar.text}' is no geometry", hint=hint)
        return None, ()
    if "meta" not in entry.keys:
        message = "the statements do not tell the results' shapes where a geometry is given"
        report.add("E112", scalar.where, message, hint="add meta: family.function")
    module, colon, name = match[1].rpartition(":") if ":" in match[1] else match[1].rpartition(".")
    numbers = tuple(
        ir.Argument(number, "scalar" if is_float else "int")
        for is_float, number in re.findall(r"(float )?(\w+)", match[2] or "")
    )
    return FunctionReference(module, name, is_absolute=colon == ":"), numbers


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for count in range(len(names) + 1):
        yield from combinations(names, count)


def function_reference(node: AnyNode | None, what: str, report: Report) -> FunctionReference | None:
    """Read `module.function`, `function` or `package.module:function`."""
    scalar = text_of(node, f"'{what}'", report)
    if scalar is None:
        return None
    text = scalar.text.strip()
    absolute = _ABSOLUTE.fullmatch(text)
    if absolute:
        return FunctionReference(absolute[1], absolute[2], is_absolute=True)
    if _DOTTED.fullmatch(text) or _NAME.fullmatch(text):
        module, _, name = text.rpartition(".")
        return FunctionReference(module, name)
    hint = "module.function, or package.module:function"
    report.add("E310", scalar.where, f"'{what}' must name a function, got '{text}'", hint=hint)
    return None


def _composite(node: AnyNode, schema: Schema, report: Report) -> Composite | None:
    scalar = text_of(node, "'composite'", report)
    if scalar is None:
        return None
    text = scalar.text.strip()
    is_dotted = _DOTTED.fullmatch(text) and not schema.argument(text.split(".")[0])
    if is_dotted or _ABSOLUTE.fullmatch(text):
        return Composite(None, function_reference(node, "composite", report))
    try:
        expression: Expression = read_expression(
            scalar.text,
            scalar.where,
            Scope(argument_scope(schema), elsewhere="`composite: module.function`"),
        )
    except CodegenError as error:
        report.extend(error.diagnostics)
        return None
    return Composite(expression, None)


def _dispatch(node: AnyNode, entry: Mapping, report: Report) -> Dispatch | None:
    kernels, meta = _kernels(node, "dispatch", report), entry.get("meta")
    if kernels is None:
        return None
    is_dynamic = isinstance(meta, Scalar) and meta.text.strip() == "dynamic"
    shape = None if is_dynamic else function_reference(meta, "meta", report)
    if meta is None and isinstance(node, Scalar):
        shape = _of_family(kernels[0][1])
    return Dispatch(
        tuple(kernels),
        shape,
        is_dynamic,
        _is_as_stored(entry.get("half_precision"), report),
        words_of(entry.get("aliasing"), "'aliasing'", report) or (),
        words_of(entry.get("memory_format"), "'memory_format'", report) or (),
    )


def _kernels(node: AnyNode, key: str, report: Report) -> list[tuple[str, FunctionReference]] | None:
    """The kernel of each backend; of `dispatch` one name alone is that of the CPU's and CUDA's."""
    if isinstance(node, Scalar) and key == "dispatch":
        kernel = function_reference(node, "dispatch", report)
        if kernel is None:
            return None
        if kernel.is_absolute or "." not in kernel.module:
            message = f"'{kernel}' is no kernel of a family"
            hint = "family.module.function, or {CPU: module.function}"
            report.add("E310", node.where, message, hint=hint, width=len(str(kernel)))
        return [("CPU", kernel), ("CUDA", kernel)]
    if not isinstance(node, Mapping):
        names = "family.module.function, or " if key == "dispatch" else ""
        hint = f"write {names}{{CPU: module.function}}"
        wanted = "a name or a mapping" if key == "dispatch" else "a mapping"
        message = f"'{key}' must be {wanted}, got {described(node)}"
        report.add("E106", node.where, message, hint=hint)
        return None
    kernels = [
        (backend, function_reference(value, backend, report))
        for backend, value in _backends(node, report)
    ]
    return [(backend, kernel) for backend, kernel in kernels if kernel]


def read_layouts(node: AnyNode | None, report: Report) -> tuple[tuple[str, FunctionReference], ...]:
    """Read `layouts`: one composite for every layout, or a mapping."""
    if node is None:
        return ()
    if isinstance(node, Scalar):
        function = function_reference(node, "layouts", report)
        return tuple((layout, function) for layout in LAYOUTS if function)
    if not isinstance(node, Mapping):
        message = f"'layouts' must be a name or a mapping, got {described(node)}"
        report.add("E106", node.where, message, hint="layouts: {Sparse: module.function}")
        return ()
    found = [
        (layout, function_reference(value, layout, report))
        for layout, value in _backends(node, report)
    ]
    return tuple((layout, function) for layout, function in found if function)


def read_vmap(node: AnyNode | None, report: Report) -> str | FunctionReference | None:
    """Read `vmap`: a word of vocabulary.VMAP, or a composite."""
    text = text_of(node, "'vmap'", report)
    if text is None or "." not in text.text:
        return text.text.strip() if text else None
    return function_reference(node, "vmap", report)


def _of_family(kernel: FunctionReference) -> FunctionReference:
    """The shape function of a kernel: `matmul.mm` of `matmul.products.mm`."""
    return FunctionReference(kernel.module.partition(".")[0], kernel.name)


def _backends(node: Mapping, report: Report) -> Iterator[tuple[str, AnyNode]]:
    """Each backend and its kernel; `CPU, CUDA: ...` names one for two."""
    places: dict[str, SourceLocation] = {}
    for key, value in zip(node.keys.values(), node.values.values(), strict=True):
        for word in re.finditer(r"[^\s,]+", key.text):
            backend, where = word[0], key.where.at(word.start())
            if backend in places:
                message = f"backend '{backend}' is given twice"
                related = (Related(places[backend], "first given here"),)
                report.add("E103", where, message, related=related, width=len(backend))
            else:
                places[backend] = where
                yield backend, value


def _is_as_stored(node: AnyNode | None, report: Report) -> bool:
    """Read `half_precision`, whose only word is `as_stored`."""
    scalar = text_of(node, "'half_precision'", report)
    if scalar is None:
        return False
    if scalar.text.strip() != "as_stored":
        message = f"'half_precision' can only be as_stored, got '{scalar.text}'"
        report.add("E312", scalar.where, message, hint="leave it out to compute in float32")
    return True
