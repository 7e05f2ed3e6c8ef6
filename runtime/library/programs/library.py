"""`torch.library`: operators that programs bring along in Python.

`custom_op` makes a function an operator of `torch.ops`: one kernel for all types of devices or one
for each, a function for tensors on 'meta', a gradient if one is registered. Rules of vmap and
autocast go unheard. Operators in C++ have no place here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from torchgen_out._runtime.autograd.function import Function
from torchgen_out._runtime.autograd.grad_mode import is_grad_enabled, no_grad
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.programs import absent, aten

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

_REMEDY = (
    "an operator is an entry of native_functions.yaml, in the library or in a package of your "
    "own (docs/operators.md); torch.library.custom_op takes a Python function"
)

Library = absent.kind("torch.library.Library", _REMEDY)
define = absent.function("torch.library.define", _REMEDY)
fallthrough_kernel = absent.function("torch.library.fallthrough_kernel", _REMEDY)
impl = absent.function("torch.library.impl", _REMEDY)
infer_schema = absent.function("torch.library.infer_schema", _REMEDY)
get_ctx = absent.function("torch.library.get_ctx", _REMEDY)
get_kernel = absent.function("torch.library.get_kernel", _REMEDY)
opcheck = absent.function(
    "torch.library.opcheck",
    "call torch.autograd.gradcheck, and the operator with tensors on the device 'meta'",
)
register_torch_dispatch = absent.function("torch.library.register_torch_dispatch", _REMEDY)
triton_op = absent.function("torch.library.triton_op", _REMEDY)
wrap_triton = absent.function("torch.library.wrap_triton", _REMEDY)

_defined: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """An operator made of a Python function: `torch.ops.<namespace>.<name>`, and a function.

    device_types: those that the function is for; None for all. mutates: whether it writes to
    arguments.
    """

    def __init__(
        self,
        qualified: str,
        function: Callable[..., Any],
        mutates: bool = False,
        device_types: str | Sequence[str] | None = None,
    ) -> None:
        self._qualname = qualified
        self._kernels: dict[str | None, Callable[..., Any]] = {}
        self._mutates = mutates
        self._signature = inspect.signature(function)
        self._recorded: type[Function] | None = None
        self.__name__ = qualified.rpartition(":")[2]
        self.__doc__ = function.__doc__
        self.register_kernel(device_types, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = [*bound.args, *bound.kwargs.values()]
        if not is_grad_enabled() or not any(each.requires_grad for each in _tensors(given)):
            return self._run(*args, **kwargs)
        if self._recorded is None:
            if self._mutates:
                with no_grad():
                    return self._run(*args, **kwargs)
            self.register_autograd(self._refuse_backward)
            assert self._recorded is not None
        return self._recorded.apply(*given)

    def _refuse_backward(self, ctx: Any, *grads: Any) -> NoReturn:
        raise RuntimeError(
            f"Trying to backward through {self._qualname.replace('::', '.')}.default but no "
            "autograd formula was registered. Please use register_autograd to add one."
        )

    def _run(self, *args: Any, **kwargs: Any) -> Any:
        """Call the kernel for the arguments' device, below autograd.

        **Raises** NotImplementedError if there is none, RuntimeError for a result that shares
        memory with an argument.
        """
        self._check(args)
        inputs = list(_tensors([*args, *kwargs.values()]))
        kind = next((each.device.type for each in inputs), "cpu")
        kernel = self._kernels.get(kind) or self._kernels.get(None)
        if kernel is None:
            raise NotImplementedError(
                f"Could not run '{self._qualname}' with arguments from the '{kind.upper()}' "
                f"backend: {self!r}.register_kernel('{kind}') gives it a kernel there"
            )
        found = kernel(*args, **kwargs)
        memory = [each.untyped_storage() for each in inputs]
        for each in _tensors(found if isinstance(found, (tuple, list)) else [found]):
            if any(each.untyped_storage() is own for own in memory):
                raise RuntimeError(
                    f"{self.__name__}: The output of this custom operator (1) must not also be an "
                    "input to this custom operator and (2) may not alias any inputs to this "
                    "custom operator or other returns: return a clone"
                )
        return found

    def _check(self, args: tuple[Any, ...]) -> None:
        """Refuse what is no tensor where the function says it is one."""
        for each, value in zip(self._signature.parameters.values(), args, strict=False):
            is_tensor = each.annotation in (Tensor, "Tensor", "torch.Tensor")
            if is_tensor and not isinstance(value, Tensor):
                raise RuntimeError(
                    f"{self._qualname}() Expected a value of type 'Tensor' for argument "
                    f"'{each.name}' but instead found type '{type(value).__name__}'."
                )

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Let `backward(ctx, *grads)` give the gradients of all arguments.

        `setup_context(ctx, inputs, output)` saves for it what it needs.
        """
        run, parameters = self._run, self._signature.parameters.values()
        names = [each.name for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY]

        class Recorded(Function):
            @staticmethod
            def forward(ctx: Any, *args: Any) -> Any:
                inputs = args[: len(args) - len(names)]
                keywords = dict(zip(names, args[len(inputs) :], strict=True))
                output = run(*inputs, **keywords)
                if setup_context is not None:
                    told = {"keyword_only_inputs": keywords} if names else {}
                    setup_context(ctx=ctx, inputs=inputs, output=output, **told)
                return output

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                found = backward(ctx, *grads)
                given = found if isinstance(found, tuple) else (found,)
                return (*given, *[None] * len(names))

        self._recorded = Recorded

    def register_fake(self, fn: Any, /) -> Any:
        """Call the function for tensors on the device 'meta'; return it."""
        self._kernels["meta"] = fn
        return fn

    def register_vmap(self, fn: Any, /) -> Any:
        """Return the function: `vmap` calls the operator's own."""
        return fn

    register_torch_dispatch = register_vmap

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """Call the function for tensors on these types of devices, None for all; return it."""
        if fn is None:
            return lambda given: self.register_kernel(device_types, given)
        kinds = (
            [device_types]
            if device_types is None or isinstance(device_types, str)
            else device_types
        )
        self._kernels.update(dict.fromkeys(kinds, fn))
        return fn

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors among values, and in their lists."""
    for each in values:
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, (list, tuple)):
            yield from _tensors(each)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: Any,
    device_types: Any = None,
    schema: str | None = None,
    **options: Any,
) -> Any:
    """Make a Python function operator `namespace::name`; without a function, a decorator.

    device_types: those that the function is for, by default all.
    **Raises** ValueError for a name without a namespace, or a function whose parameters and result
    have no types while there is no `schema`.
    """
    if fn is None:
        return lambda given: custom_op(
            name,
            given,
            mutates_args=mutates_args,
            device_types=device_types,
            schema=schema,
            **options,
        )
    namespace, _, own = name.partition("::")
    if not own:
        raise ValueError(
            f"custom_op(name, fn): expected name to be of the form 'namespace::name', got '{name}'"
        )
    if schema is None:
        _check_annotations(inspect.signature(fn))
    made = _defined[name] = CustomOpDef(name, fn, bool(mutates_args), device_types)
    aten.define(namespace, own, made)
    return made


def _check_annotations(signature: inspect.Signature) -> None:
    """Refuse a function that a schema cannot be read from."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for each in signature.parameters.values():
        if each.kind not in kinds:
            raise _not_inferred(
                "We do not support positional-only args, varargs, or varkwargs.", signature
            )
        if each.annotation is inspect.Parameter.empty:
            raise _not_inferred(f"Parameter {each.name} must have a type annotation.", signature)
    if signature.return_annotation is inspect.Signature.empty:
        raise _not_inferred("No return type annotation was provided. Please add one.", signature)


def _not_inferred(what: str, signature: inspect.Signature) -> ValueError:
    return ValueError(f"infer_schema(func): {what} Got func with signature {signature})")


def _operator(op: Any) -> CustomOpDef | None:
    return op if isinstance(op, CustomOpDef) else _defined.get(str(op))


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Any = None,
) -> None:
    """Give an operator that `custom_op` has made a gradient.

    **Raises** RuntimeError for another.
    """
    found = _operator(op)
    if found is None:
        raise RuntimeError(f"operator {op} does not exist")
    found.register_autograd(backward, setup_context=setup_context)


def register_kernel(
    op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None
) -> Callable[..., Any]:
    """Give an operator that `custom_op` has made a kernel for types of devices; return it.

    **Raises** RuntimeError for another.
    """
    found = _operator(op)
    if found is None:
        raise RuntimeError(f"operator {op} does not exist")
    made: Callable[..., Any] = found.register_kernel(device_types, func)
    return made


def register_fake(
    op: Any, func: Any = None, /, *, lib: Any = None, _stacklevel: int = 1, **options: Any
) -> Callable[..., Any]:
    """Give an operator a function for tensors on the device 'meta'; return it.

    Of operators that `custom_op` has not made the function goes unheard.
    """
    if func is None:
        return lambda given: register_fake(op, given)
    found = _operator(op)
    made: Callable[..., Any] = func if found is None else found.register_fake(func)
    return made


def _rule(op: Any, func: Any = None, /, *more: Any, **options: Any) -> Callable[..., Any]:
    """Return the function: nobody asks the rule."""
    return (lambda given: given) if func is None else func


impl_abstract = register_fake
register_autocast = register_vmap = _rule


public.place_all("library", globals())
