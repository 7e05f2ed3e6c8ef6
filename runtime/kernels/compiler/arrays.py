"""Arrays: their elements, views of them, and new ones."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import (
    calls,
    convention,
    expressions,
    kinds,
    memory,
    scalars,
)
from torchgen_out._runtime.kernels.compiler.body import Body
from torchgen_out._runtime.kernels.compiler.convention import WORD
from torchgen_out._runtime.kernels.compiler.values import (
    Array,
    Kind,
    Method,
    Number,
    Slice,
    Static,
    Tuple,
    Unsupported,
    Value,
    numbers_of,
)
from torchgen_out._runtime.kernels.machine import digests


def attribute(body: Body, array: Array, name: str) -> Value:
    """What an array says of itself."""
    if name == "shape":
        return Tuple([size(each) for each in array.shape])
    if name == "size":
        return size(_numel(body, array))
    if name == "ndim":
        return scalars.literal(array.kind.ndim)
    if name == "itemsize":
        return scalars.literal(kinds.item_size(array.kind.dtype))
    if name == "dtype":
        return Static(array.kind.dtype)
    if name == "strides":
        return Tuple([Number(scalars.INT, each) for each in body.strides(array)])
    if name == "T" and array.kind.ndim <= 1:
        return array
    return Method(array, name)


def size(register: Any) -> Number:
    """A number of elements."""
    return Number(scalars.INT, register, is_natural=True)


def _numel(body: Body, array: Array) -> Any:
    numel = body.index(1) if not array.shape else array.shape[0]
    for size in array.shape[1:]:
        numel = body.builder.mul(numel, size)
    return numel


# Elements and views.

Index = Number | Slice


def subscript(body: Body, node: ast.Subscript) -> Value:
    """x[...]."""
    owner = expressions.value(body, node.value)
    if isinstance(owner, Tuple):
        return _of_tuple(body, owner, node.slice)
    if not isinstance(owner, Array):
        raise Unsupported(f"an index: {ast.unparse(node)}")
    indices = _indices(body, node.slice)
    if _is_element(owner, indices):
        return _loaded(body, owner, _pointer(body, owner, indices))
    return view(body, owner, indices)


def store(body: Body, node: ast.Subscript, value: Value) -> None:
    """x[...] = value."""
    owner = expressions.value(body, node.value)
    if not isinstance(owner, Array):
        raise Unsupported(f"an assignment to {ast.unparse(node)}")
    indices = _indices(body, node.slice)
    if _is_element(owner, indices):
        if not isinstance(value, Number):
            raise Unsupported("an element that is no number")
        _stored(body, owner, _pointer(body, owner, indices), value)
        return
    fill(body, view(body, owner, indices), value)


def update(body: Body, node: ast.AugAssign) -> None:
    """x[...] += value."""
    assert isinstance(node.target, ast.Subscript)
    owner = expressions.value(body, node.target.value)
    if not isinstance(owner, Array):
        raise Unsupported(f"an assignment to {ast.unparse(node.target)}")
    indices = _indices(body, node.target.slice)
    if not _is_element(owner, indices):
        raise Unsupported("arithmetic of whole arrays")
    pointer = _pointer(body, owner, indices)
    before = _loaded(body, owner, pointer)
    after = expressions.binary(body, node.op, before, expressions.value(body, node.value))
    if not isinstance(after, Number):
        raise Unsupported("an element that is no number")
    _stored(body, owner, pointer, after)


def first_elements(body: Body, array: Array, count: int) -> tuple[Value, ...]:
    """The elements of an array that a text knows the length of."""
    places = [[scalars.literal(at)] for at in range(count)]
    if array.kind.ndim != 1:
        raise Unsupported("rows assigned to several names")
    return tuple(_loaded(body, array, _pointer(body, array, at)) for at in places)


def _of_tuple(body: Body, several: Tuple, node: ast.expr) -> Value:
    if isinstance(node, ast.Slice):
        bounds = [
            None if each is None else expressions.number(body, each).literal
            for each in (node.lower, node.upper, node.step)
        ]
        given = [each for each in (node.lower, node.upper, node.step) if each is not None]
        if len([each for each in bounds if each is not None]) != len(given):
            raise Unsupported("a part of a tuple of unknown bounds")
        return Tuple(several.items[slice(*bounds)])
    index = expressions.number(body, node)
    if type(index.literal) is int:
        return several.items[index.literal]
    if len(set(several.kind)) != 1:
        raise Unsupported("an unknown element of a tuple of several types")
    known = [x for x in several.items if isinstance(x, Number) and x.literal is not None]
    if len(known) == len(several.items):
        return _of_table(body, known, _whole(body, index))
    return calls.numbas(body, operator.getitem, (several, index))


def _of_table(body: Body, known: Sequence[Number], index: Number) -> Number:
    """An element of known numbers, which become a constant of the module."""
    builder, count = body.builder, len(known)
    kind, items = known[0].kind, [each.ir for each in known]
    place = _position(body, index, body.index(count))
    is_outside = builder.icmp_unsigned(">=", place, body.index(count))
    with builder.if_then(is_outside, likely=False):
        memory.release_all(body)
        convention.raise_error(builder, IndexError, ("tuple index out of range",))
    value = ir.Constant(ir.ArrayType(kind.register, count), items)
    table = convention.constant(builder.module, f".table.{digests.sha256(str(value))}", value)
    return Number(kind, builder.load(builder.gep(table, [body.index(0), place])))


def _indices(body: Body, node: ast.expr) -> list[Index]:
    made: list[Index] = []
    for each in node.elts if isinstance(node, ast.Tuple) else [node]:
        if isinstance(each, ast.Slice):
            bounds = [
                None if part is None else _whole(body, expressions.number(body, part))
                for part in (each.lower, each.upper, each.step)
            ]
            made.append(Slice(*bounds))
            continue
        value = expressions.value(body, each)
        if isinstance(value, Number):
            made.append(_whole(body, value))
        elif isinstance(value, Tuple):
            made += [_whole(body, item) for item in value.items if isinstance(item, Number)]
        else:
            raise Unsupported(f"an index: {ast.unparse(each)}")
    return made


def _whole(body: Body, number: Number) -> Number:
    """A number as an index: signed or not, of 64 bits."""
    if not isinstance(number.kind, kinds.Integer):
        raise Unsupported(f"an index of type {number.kind}")
    kind = kinds.intp if number.kind.signed else kinds.uintp
    return scalars.cast(body.builder, number, kind)


def _is_element(array: Array, indices: Sequence[Index]) -> bool:
    return len(indices) == array.kind.ndim and all(isinstance(each, Number) for each in indices)


def _position(body: Body, index: Number, size: Any) -> Any:
    """An index, counted from the end if it is negative."""
    if index.is_natural or not index.kind.signed:
        return index.ir
    builder = body.builder
    wrapped = builder.add(index.ir, size)
    return builder.select(builder.icmp_signed("<", index.ir, body.index(0)), wrapped, index.ir)


def _pointer(body: Body, array: Array, indices: Sequence[Any]) -> Any:
    """The address of an element, or of a row and so on."""
    sizes = array.shape[: len(indices)]
    return _address(
        body, array, [_position(body, *each) for each in zip(indices, sizes, strict=True)]
    )


def _address(body: Body, array: Array, places: Sequence[Any]) -> Any:
    """The address of the element at these places, and at the first of further dims.

    Of a contiguous array by its elements, so that LLVM sees which memory it belongs to.
    """
    builder = body.builder
    if array.strides is None:
        place = places[0]
        for size, each in zip(array.shape[1:], places[1:], strict=False):
            place = builder.add(builder.mul(place, size), each)
        for size in array.shape[len(places) :]:
            place = builder.mul(place, size)
        return builder.gep(array.data, [place])
    offset = builder.mul(places[0], array.strides[0])
    for place, stride in zip(places[1:], array.strides[1:], strict=False):
        offset = builder.add(offset, builder.mul(place, stride))
    place = builder.add(builder.ptrtoint(array.data, WORD), offset)
    return builder.inttoptr(place, array.data.type)


def _loaded(body: Body, array: Array, pointer: Any) -> Number:
    kind = array.kind.dtype
    register = body.builder.load(pointer, align=None if array.kind.aligned else 1)
    return Number(kind, convention.from_memory(body.builder, kind, register))


def _stored(body: Body, array: Array, pointer: Any, value: Number) -> None:
    if not array.kind.mutable:
        raise Unsupported("an assignment to a read-only array")
    kind = array.kind.dtype
    register = scalars.cast(body.builder, value, kind).ir
    register = convention.to_memory(body.builder, kind, register)
    body.builder.store(register, pointer, align=None if array.kind.aligned else 1)


def view(body: Body, array: Array, indices: Sequence[Index]) -> Array:
    """Rows, columns and ranges of an array."""
    if len(indices) > array.kind.ndim:
        raise Unsupported("more indices than dims")
    if all(isinstance(each, Number) for each in indices):
        data = _pointer(body, array, indices)
        rest = len(indices)
        strides = None if array.strides is None else array.strides[rest:]
        kind = array.kind.copy(ndim=array.kind.ndim - rest)
        return Array(kind, data, array.shape[rest:], strides)
    return _ranges(body, array, indices)


def _ranges(body: Body, array: Array, indices: Sequence[Index]) -> Array:
    own = body.strides(array)
    shape: list[Any] = []
    strides: list[Any] = []
    starts: list[Any] = []
    for index, size, stride in zip(indices, array.shape, own, strict=False):
        if isinstance(index, Number):
            starts.append(_position(body, index, size))
            continue
        start, length, step = _bounded(body, index, size)
        starts.append(start)
        shape.append(length)
        strides.append(stride if step is None else body.builder.mul(step, stride))
    shape += array.shape[len(indices) :]
    strides += own[len(indices) :]
    stays = array.strides is None and _stays_dense(indices)
    kind = array.kind.copy(ndim=len(shape), layout="C" if stays else "A")
    return Array(kind, _address(body, array, starts), shape, None if stays else strides)


def _stays_dense(indices: Sequence[Index]) -> bool:
    """Whether what indices leave of a contiguous array is contiguous: numbers, one range, all."""
    ranges = [at for at, each in enumerate(indices) if isinstance(each, Slice)]
    if any(isinstance(each, Slice) and each.step is not None for each in indices):
        return False
    first = ranges[0]
    return all(_is_whole_dim(each) for each in indices[first + 1 :])


def _is_whole_dim(index: Index) -> bool:
    return isinstance(index, Slice) and index.start is index.stop is index.step is None


def _bounded(body: Body, part: Slice, size: Any) -> tuple[Any, Any, Any]:
    """The first position, the length and the step of a range within a dim."""
    builder, zero = body.builder, body.index(0)
    if part.step is not None and part.step.literal != 1:
        return _stepped(body, part, size)
    stop = size if part.stop is None else _clamped(body, part.stop, size)
    if part.start is None:
        return zero, stop, None
    start = _clamped(body, part.start, size)
    length = builder.sub(stop, start)
    is_empty = builder.icmp_signed("<", length, zero)
    return start, builder.select(is_empty, zero, length), None


def _clamped(body: Body, bound: Number, size: Any) -> Any:
    """A bound of a range, within the dim."""
    builder, zero = body.builder, body.index(0)
    place = bound.ir
    if not bound.is_natural and bound.kind.signed:
        place = builder.select(
            builder.icmp_signed("<", place, zero), builder.add(place, size), place
        )
        place = builder.select(builder.icmp_signed("<", place, zero), zero, place)
    elif bound.literal == 0:
        return place
    return builder.select(builder.icmp_signed(">=", place, size), size, place)


def _stepped(body: Body, part: Slice, size: Any) -> tuple[Any, Any, Any]:
    """A range with a step, which must be known to be positive."""
    builder = body.builder
    assert part.step is not None
    if part.step.literal is None or part.step.literal <= 0:
        raise Unsupported("a range with an unknown step")
    start, length, _ = _bounded(body, Slice(part.start, part.stop, None), size)
    one, step = body.index(1), body.index(part.step.literal)
    steps = builder.sdiv(builder.add(length, builder.sub(step, one)), step)
    return start, steps, step


def viewed(body: Body, array: Array, kind: Kind) -> Array:
    """The same memory as elements of another type; of a smaller one the last dim has more."""
    made, shape = array.kind.copy(dtype=kind), list(array.shape)
    parts, rest = divmod(kinds.item_size(array.kind.dtype), kinds.item_size(kind))
    if rest or (parts > 1 and (array.strides is not None or not shape)):
        raise Unsupported(f"an array of {array.kind.dtype} seen as {kind}")
    if parts > 1:
        shape[-1] = body.builder.mul(shape[-1], body.index(parts))
    pointer = kind.memory.as_pointer()
    return Array(made, body.builder.bitcast(array.data, pointer), shape, array.strides)


def reshaped(body: Body, array: Array, given: Sequence[Value]) -> Array:
    """A contiguous array in another shape."""
    if array.strides is not None:
        raise Unsupported("a strided array in another shape")
    shape = sizes(body, given[0] if len(given) == 1 else Tuple(given))
    kind = array.kind.copy(ndim=len(shape))
    for at, size in enumerate(shape):
        if isinstance(size, ir.Constant) and size.constant == -1:
            others = body.index(1)
            for each in shape[:at] + shape[at + 1 :]:
                others = body.builder.mul(others, each)
            shape[at] = body.builder.sdiv(_numel(body, array), others)
    return Array(kind, array.data, shape, None)


def sizes(body: Body, given: Value) -> list[Any]:
    """A shape."""
    items = given.items if isinstance(given, Tuple) else (given,)
    lengths = numbers_of(items, "a shape")
    return [scalars.cast(body.builder, each, scalars.INT).ir for each in lengths]


def dense(body: Body, flat: Value, start: Value, shape: Value) -> Array:
    """The dense array of a shape that begins at an element of a flat one."""
    if not isinstance(flat, Array) or not isinstance(start, Number):
        raise Unsupported("a view of flat memory")
    lengths = sizes(body, shape)
    place = scalars.cast(body.builder, start, scalars.INT)
    data = flat.data
    if place.literal != 0:
        data = body.builder.gep(data, [place.ir])
    return Array(flat.kind.copy(ndim=len(lengths), layout="C"), data, lengths, None)


# Whole arrays.


def fill(body: Body, target: Array, value: Value) -> None:
    """target[...] = a number, or the elements of another array of its shape."""
    if isinstance(value, Array) and value.kind.ndim == target.kind.ndim:
        _require_same_shape(body, target, value)
        _each(body, target, [], value)
        return
    if not isinstance(value, Number):
        raise Unsupported("an array assigned to a part of an array")
    number = scalars.cast(body.builder, value, target.kind.dtype)
    whole = target
    if target.strides is None:
        whole = Array(target.kind.copy(ndim=1), target.data, [_numel(body, target)], None)
    _each(body, whole, [], number)


def _require_same_shape(body: Body, target: Array, source: Array) -> None:
    builder = body.builder
    differ = ir.Constant(ir.IntType(1), 0)
    for size, other in zip(target.shape, source.shape, strict=True):
        differ = builder.or_(differ, builder.icmp_signed("!=", size, other))
    with builder.if_then(differ, likely=False):
        memory.release_all(body)
        told = ("cannot assign slice from input of different size",)
        convention.raise_error(builder, ValueError, told)


def _each(body: Body, target: Array, places: list[Number], source: Number | Array) -> None:
    """Loops over the dims of an array, around a store."""
    if len(places) == target.kind.ndim:
        if isinstance(source, Array):
            source = _loaded(body, source, _pointer(body, source, places))
        _stored(body, target, _pointer(body, target, places), source)
        return
    builder = body.builder
    before, header, inside, after = builder.block, body.block(), body.block(), body.block()
    builder.branch(header)
    builder.position_at_end(header)
    index = builder.phi(WORD)
    index.add_incoming(body.index(0), before)
    goes_on = builder.icmp_signed("<", index, target.shape[len(places)])
    builder.cbranch(goes_on, inside, after)
    builder.position_at_end(inside)
    _each(body, target, [*places, Number(kinds.uintp, index)], source)
    index.add_incoming(builder.add(index, body.index(1), flags=("nsw",)), builder.block)
    builder.branch(header)
    builder.position_at_end(after)


# As Numba's functions have them.


def as_structure(body: Body, array: Array) -> Any:
    """An array for one of Numba's functions, which nobody owns."""
    builder, kind = body.builder, array.kind.register
    sizes = [_together(builder, kind.elements[5], array.shape)]
    sizes.append(_together(builder, kind.elements[6], body.strides(array)))
    counts = [_numel(body, array), body.index(kinds.item_size(array.kind.dtype))]
    made = ir.Constant(kind, None)
    for at, each in enumerate([*counts, array.data, *sizes], start=2):
        made = builder.insert_value(made, each, at)
    return made


def _together(builder: Any, kind: Any, registers: Sequence[Any]) -> Any:
    made = ir.Constant(kind, ir.Undefined)
    for at, each in enumerate(registers):
        made = builder.insert_value(made, each, at)
    return made


def from_structure(body: Body, kind: Kind, register: Any) -> tuple[Array, Any]:
    """An array that one of Numba's functions has returned, and the memory that it owns."""
    builder, dims = body.builder, range(kind.ndim)
    shape = [builder.extract_value(register, [5, at]) for at in dims]
    strides = [builder.extract_value(register, [6, at]) for at in dims]
    data = builder.extract_value(register, 4)
    array = Array(kind, data, shape, None if kind.layout == "C" else strides)
    return array, builder.extract_value(register, 0)
