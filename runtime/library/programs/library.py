"""`torch.library`: operators that programs bring along in Python.

`custom_op` makes a function an operator of `torch.ops`, with a gradient if one is registered. What
else can be said of an operator - shapes of fake tensors, rules of vmap or autocast - is for a
compiler, and goes unheard. Operators in C++ have no place here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.autograd.function import Function
from torchgen_out._runtime.autograd.grad_mode import is_grad_enabled
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.programs import absent, aten

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
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
triton_op = absent.function("torch.library.triton_op", _REMEDY)
wrap_triton = absent.function("torch.library.wrap_triton", _REMEDY)

_defined: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """An operator made of a Python function: `torch.ops.<namespace>.<name>`, and a function."""

    def __init__(self, qualified: str, function: Callable[..., Any]) -> None:
        self._qualname = qualified
        self._function = function
        self._signature = inspect.signature(function)
        self._recorded: type[Function] | None = None
        self.__name__ = qualified.rpartition(":")[2]
        self.__doc__ = function.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._recorded is None or not is_grad_enabled():
            return self._function(*args, **kwargs)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return self._recorded.apply(*bound.args, *bound.kwargs.values())

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Let `backward(ctx, *grads)` give the gradients of all arguments.

        `setup_context(ctx, inputs, output)` saves for it what it needs.
        """
        function, names = (
            self._function,
            [
                name
                for name, each in self._signature.parameters.items()
                if each.kind is inspect.Parameter.KEYWORD_ONLY
            ],
        )

        class Recorded(Function):
            @staticmethod
            def forward(ctx: Any, *args: Any) -> Any:
                inputs = args[: len(args) - len(names)]
                keywords = dict(zip(names, args[len(inputs) :], strict=True))
                output = function(*inputs, **keywords)
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
        """Return the function: there are no fake tensors."""
        return fn

    register_vmap = register_torch_dispatch = register_fake

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """Return the function: the operator's own serves all devices."""
        return (lambda given: given) if fn is None else fn

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def custom_op(
    name: str, fn: Callable[..., Any] | None = None, /, *, mutates_args: Any, **options: Any
) -> Any:
    """Make a Python function operator `namespace::name`; without a function, a decorator.

    **Raises** ValueError for a name without a namespace.
    """
    if fn is None:
        return lambda given: custom_op(name, given, mutates_args=mutates_args, **options)
    namespace, _, own = name.partition("::")
    if not own:
        raise ValueError(
            f"custom_op(name, fn): expected name to be of the form 'namespace::name', got '{name}'"
        )
    made = _defined[name] = CustomOpDef(name, fn)
    aten.define(namespace, own, made)
    return made


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


def _rule(op: Any, func: Any = None, /, *more: Any, **options: Any) -> Callable[..., Any]:
    """Return the function: who would ask the rule is a compiler."""
    return (lambda given: given) if func is None else func


register_fake = impl_abstract = register_autocast = register_kernel = register_vmap = _rule


public.place_all("library", globals())
