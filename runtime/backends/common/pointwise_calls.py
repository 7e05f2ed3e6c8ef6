"""Calls of pointwise operators: their forms, and the launches of loops around their formulas.

A backend says what its loops are and where results lie (`LoopBackend`); broadcasting, promotion,
overlap and the results' geometry are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common import pointwise_signature, resizing
from torchgen_out._runtime.backends.common.output import Output
from torchgen_out._runtime.backends.common.pointwise_formula import PointwiseFormula
from torchgen_out._runtime.backends.common.pointwise_signature import PointwiseSignature
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import overlap, promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import call_text
from torchgen_out._runtime.dispatch.call_spec import NEW, UPDATE, WRITE, CallSpec, Role
from torchgen_out._runtime.dispatch.launch_cache import LaunchCache
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, Call, Pointwise
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec


class LoopBackend(Protocol):
    """What runs loops around formulas.

    in_runs: as `plan_pointwise` takes it. has_flat_loops: whether dense operands of one shape go to
    a flat loop without a look-up. on_devices: whether there are several devices.
    """

    in_runs: bool
    has_flat_loops: bool
    on_devices: bool

    def loops(self, spec: PointwiseSpec) -> Any:
        """The loops around a formula."""
        ...

    def launch(
        self,
        loops: Any,
        plan: plans.PointwisePlan,
        tensors: Sequence[Tensor],
        mode: str,
        outputs: int,
    ) -> tuple[Callable[..., None], int | None]:
        """(run(*places, *memory, *scalars), None), or (run(*memory, *scalars), elements).

        tensors: those of the call, the result first where it is given.
        Raises: RuntimeError if they do not lie on one device.
        """
        ...

    def output(self, spec: Any, tensors: Sequence[Tensor]) -> Output:
        """A new result, beside the tensors of the call."""
        ...

    def hooks(self, loops: Any, mode: str, outputs: Sequence[dtypes.dtype]) -> dict[str, Any]:
        """The hooks of `call_text.make_call` that are the backend's."""
        ...


def make_call(
    backend: LoopBackend, operator: Pointwise, signature: tuple[Any, ...], variant: str
) -> Call:
    """The call of `operator` for a backend's tensors of one signature."""
    special = pointwise_signature.specialise(operator, signature)
    if variant == OUT:
        return make_out_call(backend, special)
    if variant == INPLACE:
        own, rule = special.inputs[0], operator.promotion
        promotion.check_inplace(operator.base_name, rule, special.result, own)
        return PointwiseCall(backend, special, (own,), UPDATE).make()
    zero_dim = all(entry & keys.ZERO_DIM for entry in signature if entry.__class__ is int)
    outputs = (special.result,) * operator.outputs
    return PointwiseCall(backend, special, outputs, NEW, zero_dim).make()


def make_out_call(backend: LoopBackend, special: PointwiseSignature) -> Call:
    """call(out, ...), by the dtype of `out`."""
    by_dtype: dict[int, Call] = {}

    def call(out: Tensor, *args: Any) -> Tensor:
        index = out._key & keys.DTYPE_MASK
        found = by_dtype.get(index)
        if found is None:
            dtype = dtypes.BY_INDEX[index]
            promotion.check_out(special.result, dtype, special.operator.out_rule)
            found = by_dtype[index] = PointwiseCall(backend, special, (dtype,), WRITE).make()
        result: Tensor = found(out, *args)
        return result

    return call


ROLES = {"tensor": Role.TENSOR, "scalar": Role.SCALAR, "raw": Role.RAW, "absent": Role.ABSENT}


class PointwiseCall:
    """What is known of a pointwise operator's calls for one signature, and dtypes of the results.

    zero_dim: whether no operand has dims.
    """

    def __init__(
        self,
        backend: LoopBackend,
        special: PointwiseSignature,
        outputs: tuple[dtypes.dtype, ...],
        mode: str,
        zero_dim: bool = False,
    ) -> None:
        self.backend, self.special, self.outputs, self.mode = backend, special, outputs, mode
        self.formula = PointwiseFormula(special, outputs)
        base = special.operator.base_name
        self.name = f"{base}_" if mode == UPDATE else base
        result = () if mode != WRITE else (Role.TENSOR,)
        self.roles = (*result, *[ROLES[kind] for kind in special.arguments])
        self.keys = [keys.pack(dtype.index, 0, 0, zero_dim) for dtype in outputs]

    def make(self, at_defaults: bool = True) -> Call:
        """The function that is called; at_defaults: a simpler one where scalars have theirs."""
        formula, mode = self.formula, self.mode
        is_simple = at_defaults and formula.at_defaults is not None
        is_simple &= len(formula.defaults) == self.roles.count(Role.SCALAR)
        loops = self.backend.loops(formula.at_defaults if is_simple else formula.spec)
        spec = CallSpec(
            self.roles,
            results=len(self.outputs),
            mode=mode,
            at_places=True,
            dense=self.backend.has_flat_loops and Role.TENSOR in self.roles,
            defaults=is_simple,
            on_devices=self.backend.on_devices,
        )
        scalars = spec.names(Role.SCALAR)
        defaults = zip(scalars, formula.defaults, strict=True) if is_simple else ()
        converters = zip(scalars, formula.converters, strict=True)
        prepare = self.prepare if mode == NEW else self.prepare_into
        launches = OutCache if mode == WRITE else LaunchCache
        return call_text.make_call(
            spec,
            launches(partial(prepare, loops)),
            check=partial(_check_operands, self.name),
            full=later(partial(self.make, False)),
            update=later(self._in_place),
            **{f"default_{name}": each for name, each in defaults},
            **{f"convert_{name}": convert for name, convert in converters},
            **{f"key{i}": key for i, key in enumerate(self.keys)},
            **self.backend.hooks(loops, mode, self.outputs),
        )

    def _in_place(self) -> Call:
        return PointwiseCall(self.backend, self.special, self.outputs, UPDATE).make()

    def prepare(self, loops: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The loop for operands that were not met before, and its results."""
        tensors, backend = self.tensors(args), self.backend
        plan = plans.plan_pointwise(_geometries(tensors), in_runs=backend.in_runs)
        run = backend.launch(loops, plan, tensors, NEW, len(self.outputs))
        specs = [(plan.sizes, dtype, plan.strides) for dtype in self.outputs]
        return *[backend.output(each, tensors) for each in specs], *run, are_contiguous(tensors)

    def prepare_into(self, loops: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The loop into a tensor that is there; it is resized if it is only written.

        A resized one lies as a new result does.
        Raises: RuntimeError if it is too small, elsewhere, or overlaps itself or an input in part.
        """
        tensors, mode = self.tensors(args), self.mode
        out = tensors[0]
        inputs = tensors if mode == UPDATE else tensors[1:]
        sizes = shapes.broadcast_shapes(*[each._sizes for each in inputs])
        if tuple(sizes) != tuple(out._sizes):
            if mode == UPDATE:
                raise errors.inplace_shape(self.name, out._sizes, sizes)
            overlap.check_self(self.name, out)
            made = plans.plan_pointwise(_geometries(inputs), in_runs=self.backend.in_runs)
            resizing.resize_out(self.name, out, sizes, made.strides)
        overlap.check_operands(self.name, out, tensors[1:])
        geometry = out._sizes, out._strides
        plan = plans.plan_pointwise(_geometries(inputs), geometry, in_runs=self.backend.in_runs)
        return *self.backend.launch(loops, plan, tensors, mode, 1), are_contiguous(tensors)

    def tensors(self, args: tuple[Any, ...]) -> list[Tensor]:
        """The tensors among the arguments of a call."""
        pairs = zip(args, self.roles, strict=True)
        return [each for each, role in pairs if role is Role.TENSOR]


class OutCache(LaunchCache):
    """Launches into results that are resized if need be: what is then done is not remembered."""

    __slots__ = ()

    def find(self, key: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The launch of a call that was not found."""
        sizes = args[0]._sizes
        found = super().find(key, args)
        if args[0]._sizes is not sizes:
            del self[key]
        return found


def later(make: Callable[[], Call]) -> Call:
    """A call that is made when it is first needed."""
    made: list[Call] = []

    def call(*args: Any) -> Any:
        if not made:
            made.append(make())
        return made[0](*args)

    return call


def are_contiguous(tensors: Sequence[Tensor]) -> bool:
    """Whether the elements of all tensors lie densely in row-major order."""
    return all(
        each._flat is not None or shapes.is_contiguous(each._sizes, each._strides)
        for each in tensors
    )


def _check_operands(name: str, out: Tensor, *tensors: Tensor) -> None:
    overlap.check_operands(name, out, tensors)


def _geometries(tensors: Sequence[Tensor]) -> tuple[plans.Geometry, ...]:
    return tuple([(each._sizes, each._strides) for each in tensors])
