"""Operators as the dispatcher sees them: what they take, and tables of calls resolved so far.

A binding looks its arguments' signature up in a `CallTable` and calls what it finds. What is
missing is resolved once: autograd wraps around the call below it, the backend of the arguments'
device makes the call itself. The tables are all the state there is.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import layouts, misses, ops, overrides, tables
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.backends import backend_of
from torchgen_out._runtime.dispatch.channels_last import keep_channels_last
from torchgen_out._runtime.dispatch.int64 import take_int64
from torchgen_out._runtime.dispatch.view_call import make_view_call

FUNCTION, INPLACE, OUT = "function", "inplace", "out"

Call = Callable[..., Any]
TensorCall = Callable[..., Tensor]
"""One with a single result."""

operators: dict[str, Operator] = {}
"""All operators by full name."""


class CallTable(dict[Any, Call]):
    """The calls of one variant of one operator by signature; a missing one is resolved.

    A signature for out= begins with the entry of the results.
    """

    __slots__ = ("operator", "variant")

    def __init__(self, operator: Operator, variant: str) -> None:
        self.operator = operator
        self.variant = variant
        tables.remember(self)

    def __missing__(self, signature: Any) -> Call:
        entries = signature if self.has_tuples else (signature,)
        if any(map(signatures.has_overrides, entries)):
            call = overrides.make_call(self, entries)
        else:
            if layout := layouts.layout_of(entries):
                call = layouts.make_call(self, entries, layout)
            else:
                call = self._resolve(entries)
            for wrapper in _wrappers if self.variant == FUNCTION else ():
                call = wrapper(self.operator, entries, call)
            call = overrides.finish(self, call)
        self[signature] = call
        return call

    def _resolve(self, entries: tuple[Any, ...]) -> Call:
        """The call for a signature. What casts operands before may take one that has none."""
        try:
            return self.operator.resolve(entries, self.variant)
        except (RuntimeError, TypeError):
            if self.variant != FUNCTION or not _wrappers:
                raise
        return lambda *args: self.operator.resolve(entries, self.variant)(*args)

    @property
    def called(self) -> str:
        """The name in errors."""
        name = self.operator.base_name
        return f"{name}_" if self.variant == INPLACE else name

    @property
    def has_tuples(self) -> bool:
        """Whether signatures are tuples, not the one entry of the one operand."""
        return self.variant == OUT or self.operator.arity != 1

    def miss(self, *args: Any) -> Any:
        """What a call gives whose operands are not all tensors: a number may stand first.

        args: all arguments of the call in order, behind the results for out=.
        Raises: TypeError for what is missing, or is not what the schema says.
        """
        found = misses.answer(self, args)
        if found is NotImplemented:
            raise self.wrong_arguments(*args)
        return found

    def defer(self, *args: Any) -> Any:
        """What a binary operator gives whose other operand is neither tensor nor number."""
        return misses.with_arrays(self, args)

    def wrong_arguments(self, *args: Any) -> TypeError:
        """The error for arguments that are not what the schema says."""
        places = self.operator.operand_places
        if self.variant != OUT:
            inputs = tuple([args[place] for place in places])
            return self.operator.wrong_arguments(inputs, self.called)
        out, *given = args
        operands = [given[place] for place in places]
        for each in out if isinstance(out, (tuple, list)) else (out,):
            if not isinstance(each, Tensor):
                return errors.out_expected(self.operator.base_name, each)
        if all(map(_fits, operands, self.operator.operands.values())):
            expected = "tuple of Tensors" if isinstance(out, Tensor) else "Tensor"
            return errors.out_expected(self.operator.base_name, out, expected)
        return self.operator.wrong_arguments(tuple(operands))


_input_guards: list[Callable[[str, str, Call], Call]] = []


def guard_input(maker: Callable[[str, str, Call], Call]) -> None:
    """Have calls with an operand that must not require grad made by maker(name, operand, call)."""
    _input_guards.append(maker)


_out_guards: list[Callable[[str, Call], Call]] = []


def guard_out(maker: Callable[[str, Call], Call]) -> None:
    """Have calls that write to out=, where gradients are concerned, made by maker(name, call)."""
    _out_guards.append(maker)


Wrapper = Callable[["Operator", tuple[Any, ...], Call], Call]

_wrappers: list[Wrapper] = []


def wrap_calls(wrapper: Wrapper) -> bool:
    """Have calls made by wrapper(operator, signature, call); whether that is new."""
    if wrapper in _wrappers:
        return False
    _wrappers.append(wrapper)
    return True


def is_wrapped() -> bool:
    """Whether calls are made by any wrapper."""
    return bool(_wrappers)


def unwrap_calls(wrapper: Wrapper) -> None:
    """Have calls made without `wrapper` again, which tables must then forget."""
    _wrappers.remove(wrapper)


class Operator:
    """What all kinds of operators share.

    schema: its text, which begins with the name. operands: the names of the arguments that make the
    signature, in schema order; kinds: 'tensor', 'tensor?', 'number' (Tensor|Scalar), 'number?',
    'scalar' or 'tensors' for each. record: the maker of the autograd wrapper, or None; an
    in-place variant asks it for `inplace=True`. differentiable: the operands that may receive a
    gradient; refused: those that must not require one. number_first: whether the first of them may
    be a number, though the schema says tensor; number_each: whether all may be at once. out_rule:
    which dtypes out= may have, as `promotion.check_out` takes it. layouts: what does its work for
    sparse tensors, 'module.function' by the layout's key. vmap: what does it for samples inside
    `vmap`, a structure of its dims or 'module.function'.
    """

    kind = "operator"
    across_devices = False
    host_lists = False
    arguments: dict[str, str]

    def __init__(
        self,
        schema: str,
        operands: dict[str, str],
        *,
        differentiable: tuple[str, ...] = (),
        refused: tuple[str, ...] = (),
        number_first: bool = False,
        number_each: bool = False,
        record: Callable[..., Call] | None = None,
        out_rule: str = "cast",
        layouts: dict[str, str] | None = None,
        vmap: str = "",
    ) -> None:
        self.name = name = schema.partition("(")[0]
        self.schema = schema
        self.operands = operands
        self.arity = len(operands)
        self.number_first = number_first
        self.number_each = number_each
        self.record = record
        self.out_rule = out_rule
        self.layouts = layouts or {}
        self.vmap = vmap
        self.calls = CallTable(self, FUNCTION)
        self.inplace_calls = CallTable(self, INPLACE)
        self.out_calls = CallTable(self, OUT)
        self.kernels: dict[int, Any] = {}
        operators[name] = self
        names = list(operands)
        self._differentiable = tuple(names.index(name) for name in differentiable)
        self._refused = tuple(names.index(name) for name in refused)

    def __repr__(self) -> str:
        return f"<{self.kind} operator {self.schema}>"

    @property
    def base_name(self) -> str:
        """The name without its overload."""
        return self.name.partition(".")[0]

    @cached_property
    def operand_places(self) -> tuple[int, ...]:
        """Where the operands stand among the arguments of the call."""
        names = tuple(self.arguments)
        return tuple([names.index(name) for name in self.operands])

    @cached_property
    def list_arguments(self) -> frozenset[str]:
        """The arguments that the schema says are lists."""
        return frozenset(re.findall(r"\[\d*\]\??\s+(\w+)", self.schema))

    def resolve(self, signature: tuple[Any, ...], variant: str) -> Call:
        """The call for one signature.

        Raises: RuntimeError, TypeError or NotImplementedError if there is none.
        """
        if self._has_tensor_for_number(signature, variant):
            return getattr(ops, self.base_name)  # type: ignore[no-any-return]
        if variant == OUT:
            return self._resolve_out(signature[1:], any(map(signatures.has_grad, signature)))
        bare = tuple([signatures.without_grad(entry) for entry in signature])
        if bare == signature:
            return self._below(bare, variant)
        below = self._guarded(signature, self._lookup(bare, variant))
        needs = [signatures.needs_grad(signature[i]) for i in self._differentiable]
        if self.record is None or not any(_any(need) for need in needs):
            return below
        how = {"inplace": True} if variant == INPLACE else {}
        return self.record(below, *needs, **how)

    def _guarded(self, signature: tuple[Any, ...], below: Call) -> Call:
        """The call below autograd, which refuses operands that require grad in vain."""
        names = list(self.operands)
        for i in reversed(self._refused):
            if signatures.needs_grad(signature[i]):
                for guard in _input_guards:
                    below = guard(self.base_name, names[i], below)
        return below

    def _has_tensor_for_number(self, signature: tuple[Any, ...], variant: str) -> bool:
        """Whether a tensor stands where this overload takes a number: `x.__rpow__(y)`."""
        pairs = zip(signature, self.operands.values(), strict=True) if variant == FUNCTION else ()
        return any(kind == "scalar" and entry.__class__ is int for entry, kind in pairs)

    def _lookup(self, bare: tuple[Any, ...], variant: str) -> Call:
        table = self.calls if variant == FUNCTION else self.inplace_calls
        return table[bare if self.arity != 1 else bare[0]]

    def _resolve_out(self, operands: tuple[Any, ...], has_grad: bool) -> Call:
        """The call for operands; has_grad: whether they, or the results, take part in autograd."""
        below = self._below(tuple(map(signatures.without_grad, operands)), OUT)
        for guard in _out_guards if has_grad else ():
            below = guard(self.base_name, below)
        return below

    def _below(self, bare: tuple[Any, ...], variant: str) -> Call:
        index = signatures.device_index(bare, self.across_devices, self.host_lists)
        backend = backend_of(devices.CPU if index is None else index)
        return self.make_call(backend, bare, variant)

    def make_call(self, backend: Any, signature: tuple[Any, ...], variant: str) -> Call:
        """The call on one backend, below autograd."""
        raise NotImplementedError

    def kernel(self, device_index: int, function: Any) -> None:
        """Register a kernel for a device type from outside, replacing an earlier one."""
        self.kernels[device_index] = function
        for table in (self.calls, self.inplace_calls, self.out_calls):
            table.clear()

    def signature(self, args: tuple[Any, ...]) -> Any:
        """The signature of arguments given in the order of `operands`."""
        entries = [
            signatures.list_of(arg) if kind == "tensors" else signatures.optional_kind_of(arg)
            for arg, kind in zip(args, self.operands.values(), strict=True)
        ]
        return entries[0] if self.arity == 1 else tuple(entries)

    def wrong_arguments(self, args: tuple[Any, ...], called: str = "") -> TypeError:
        """The error that names the first operand of a wrong type.

        called: what was called, if not the function.
        """
        called = called or self.base_name
        for position, (name, kind) in enumerate(self.operands.items()):
            if position < len(args) and not _fits(args[position], kind):
                return errors.wrong_argument_type(called, name, position, kind, args[position])
        return TypeError(f"{called}(): arguments do not fit {self.schema}")


def _any(need: Any) -> bool:
    return any(need) if need.__class__ is tuple else bool(need)


def _fits(value: Any, kind: str) -> bool:
    if kind == "tensors":
        return isinstance(value, (list, tuple)) and all(_fits(v, "tensor?") for v in value)
    try:
        entry = signatures.optional_kind_of(value)
    except AttributeError:
        return False
    if entry is None:
        return kind.endswith("?")
    if entry.__class__ is int:
        return kind != "scalar"
    return kind.startswith(("number", "scalar"))


# -- kinds ----------------------------------------------------------------------------------


class Pointwise(Operator):
    """A scalar formula over broadcast operands.

    promotion: the dtype rule; promoted: the operands that take part in it (others are loaded as
    they are). dtypes: the compute dtypes accepted. range_checked: the operands whose numbers must
    be in the range of the dtype; bool_conditions: whether operands beside those in `promoted` are
    bool, and never uint8; nonnegative: those that must not be negative beside integers, and
    what users are told. check: refuses arguments, or is None. arguments: for each argument of the
    call in order, 'operand', 'scalar' (takes the compute type) or 'raw'. formulas: the scalar
    function by the set of absent optional operands, as a tuple of names. at_defaults: a simpler
    formula, without the scalars in `defaults`, for when these have their default values. outputs:
    how many results. vanishes_with: the least sets of operands at whose zeros the result is zero;
    linear_in: those by themselves in such a set in which the formula is linear.
    """

    kind = "pointwise"

    def __init__(
        self,
        schema: str,
        operands: dict[str, str],
        *,
        arguments: dict[str, str] | None = None,
        promotion: str = "default",
        promoted: tuple[str, ...] | None = None,
        dtypes: frozenset[str],
        formulas: dict[tuple[str, ...], Any],
        range_checked: tuple[str, ...] = (),
        bool_conditions: bool = False,
        nonnegative: dict[str, str] | None = None,
        check: Call | None = None,
        defaults: dict[str, Any] | None = None,
        at_defaults: Any = None,
        outputs: int = 1,
        vanishes_with: tuple[tuple[str, ...], ...] = (),
        linear_in: tuple[str, ...] = (),
        **autograd: Any,
    ) -> None:
        super().__init__(schema, operands, **autograd)
        self.arguments = arguments or dict.fromkeys(operands, "operand")
        self.promotion = promotion
        self.promoted = tuple(operands) if promoted is None else promoted
        self.dtypes = dtypes
        self.formulas = formulas
        self.range_checked = range_checked
        self.bool_conditions = bool_conditions
        self.nonnegative = nonnegative or {}
        self.check = check
        self.defaults = defaults or {}
        self.at_defaults = at_defaults
        self.outputs = outputs
        self.vanishes_with = vanishes_with
        self.linear_in = linear_in

    def make_call(self, backend: Any, signature: tuple[Any, ...], variant: str) -> Call:
        if not (self.number_each or any(entry.__class__ is int for entry in signature)):
            raise errors.numbers_alone(self.base_name, tuple(self.operands))
        call: Call = backend.pointwise(self, signature, variant)
        return call if self.check is None else _checked(self.check, call, variant)


def _checked(check: Call, call: Call, variant: str) -> Call:
    """The call, behind a function that refuses some of its arguments."""
    at = 1 if variant == OUT else 0

    def checked_call(*args: Any) -> Any:
        check(*args[at:])
        return call(*args)

    return checked_call


class Reduction(Operator):
    """A fold over some or all dims.

    parts: the functions (identity, reduce, combine, project) as the generated kernels module has
    them. arguments: for each argument of the call in order, what it is to the kernel. promotion:
    the dtype rule. dtypes: the compute dtypes accepted. empty_dim_keeps: whether `dim=[]` reduces
    no dim.
    """

    kind = "reduction"

    def __init__(
        self,
        schema: str,
        operands: dict[str, str],
        *,
        arguments: dict[str, str],
        promotion: str,
        dtypes: frozenset[str],
        parts: Any,
        empty_dim_keeps: bool = False,
        **autograd: Any,
    ) -> None:
        super().__init__(schema, operands, **autograd)
        self.arguments = arguments
        self.promotion = promotion
        self.dtypes = dtypes
        self.parts = parts
        self.empty_dim_keeps = empty_dim_keeps

    def make_call(self, backend: Any, signature: tuple[Any, ...], variant: str) -> Call:
        call: Call = backend.reduction(self, signature, variant)
        return _keeping_no_dims(call, variant) if self.empty_dim_keeps else call


def _keeping_no_dims(call: Call, variant: str) -> Call:
    """The call of a reduction for which no dims are no dims: it folds one of a single element."""
    at = 1 if variant == OUT else 0

    def keeping(*args: Any) -> Any:
        dim = args[at + 1] if len(args) > at + 1 else None
        if dim is None or dim.__class__ is int or len(dim):
            return call(*args)
        return call(*args[:at], ops.unsqueeze(args[at], -1), -1, False, *args[at + 3 :])

    return keeping


class View(Operator):
    """A function of sizes, strides and offset. Backends have no part in it.

    several: whether it makes a list of views. same_elements: as in native_functions.yaml.
    """

    kind = "view"

    def __init__(
        self,
        schema: str,
        operands: dict[str, str],
        *,
        function: Call,
        several: bool = False,
        same_elements: bool = False,
        **autograd: Any,
    ) -> None:
        super().__init__(schema, operands, **autograd)
        self.arguments = dict(operands)
        self.function = function
        self.several = several
        self.same_elements = same_elements

    def make_call(self, backend: Any, signature: tuple[Any, ...], variant: str) -> Call:
        tracked = self.record is not None
        call: Call = make_view_call(
            self.function,
            signature[0],
            self.several,
            tracked,
            self.same_elements,
            sized=len(self.operands) > 1,
        )
        return call


class Argument(str):
    """The name of an argument of a case, in what the kernel of the other operator is given."""

    __slots__ = ()


class Negated(Argument):
    """The same of a flag, whose opposite is given."""

    __slots__ = ()


BUILT_IN = ("CPU", "CUDA")
"""The backends that have kernels for all operators, often of one text or name."""
_NO_COUNTS = frozenset({"operand", "generator", "scalar"})
"""Kinds of arguments that hold no sizes, dims or other counts."""


class Dispatch(Operator):
    """A hand-written kernel per backend, with a function that tells shapes and dtypes.

    kernel_names: backend name to 'module.function', or the one name of those for CPU and CUDA.
    meta: the shape function; of an index program 'module:program.shapes', which is loaded when it
    is first asked; None when shapes depend on data. half_as_stored, aliasing: as in
    native_functions.yaml. out_overlap: which operands out= may show elements of: any if empty; with
    "whole" only all of one; with "apart" as that for those in `aliasing`, and none of the others.
    across_devices: whether the tensors may lie on different ones. host_lists: whether those of a
    list may lie on the host, wherever the others do. mutates: whether the schema itself writes to
    self. memory_format: the arguments after which results lie channels-last; the kernels need not
    know. case: what each argument of the kernels is given, where these are another operator's: an
    `Argument`, or a constant; unasked: how many results the other operator has besides, which are
    None to them.
    """

    kind = "dispatch"

    def __init__(
        self,
        schema: str,
        operands: dict[str, str],
        *,
        arguments: dict[str, str] | None = None,
        promotion: str = "default",
        promoted: tuple[str, ...] | None = None,
        dtypes: frozenset[str],
        kernel_names: dict[str, str] | str,
        case: dict[str, Any] | None = None,
        unasked: int = 0,
        meta: Call | str | None,
        half_as_stored: bool = False,
        aliasing: tuple[str, ...] = (),
        out_overlap: str = "anything",
        memory_format: tuple[str, ...] = (),
        across_devices: bool = False,
        host_lists: bool = False,
        mutates: bool = False,
        outputs: int = 1,
        wrap: Call | None = None,
        **autograd: Any,
    ) -> None:
        super().__init__(schema, operands, **autograd)
        self.arguments = arguments or dict.fromkeys(operands, "operand")
        self.promotion = promotion
        self.promoted = tuple(operands) if promoted is None else promoted
        self.dtypes = dtypes
        if isinstance(kernel_names, str):
            kernel_names = dict.fromkeys(BUILT_IN, kernel_names)
        self.kernel_names = kernel_names
        self.case = case
        self.unasked = unasked
        self._meta = meta
        self.memory_format = memory_format
        self.keeps_format = bool(memory_format)
        self.half_as_stored = half_as_stored
        self.aliasing = aliasing
        self.out_overlap = out_overlap
        self.across_devices = across_devices
        self.host_lists = host_lists
        self.mutates = mutates
        self.outputs = outputs
        self.wrap = wrap

    @cached_property
    def meta(self) -> Call | None:
        """What tells sizes and dtypes of results from the arguments."""
        meta = self._meta
        if meta is None:
            return None
        if isinstance(meta, str):
            module, _, name = meta.partition(":")
            meta = attrgetter(name)(importlib.import_module(module))
        arguments = list(self.arguments.items())
        if plain := [i for i, (_, kind) in enumerate(arguments) if kind not in _NO_COUNTS]:
            meta = take_int64(meta, plain)
        if self.memory_format:
            places = [list(self.arguments).index(name) for name in self.memory_format]
            meta = keep_channels_last(meta, places, self.outputs > 1)
        return meta

    def make_call(self, backend: Any, signature: tuple[Any, ...], variant: str) -> Call:
        call: Call = backend.dispatch(self, signature, variant)
        return call
