"""`grad` and `vjp`: reverse mode, as functions of functions.

A derivative sees its arguments as new leaves of the graph, or as aliases of what others
differentiate: so they nest. What it returns can be differentiated again by whoever could before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.autograd.node import LEAF
from torchgen_out._runtime.library.programs import pytree
from torchgen_out._runtime.library.transforms.lowering import Maps

Tensor = torch.Tensor
Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return the function that computes the gradient of `func`, whose result is one number.

    argnums: with respect to which arguments; of several, a tuple of gradients. has_aux: whether
    `func` returns, beside the number, something that is passed on.

    **Raises** RuntimeError if the result is not one number, or an argument not floating point.
    """

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        found, value = _grad_and_value(func, argnums, has_aux, args, kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return the function that computes gradient and result; arguments as for `grad`."""

    @functools.wraps(func)
    def gradient_and_value(*args: Any, **kwargs: Any) -> Any:
        return _grad_and_value(func, argnums, has_aux, args, kwargs)

    return gradient_and_value


def _grad_and_value(
    func: Function,
    argnums: Argnums,
    has_aux: bool,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Any]:
    chosen = chosen_of(argnums, args)
    leaves, spec = pytree.tree_flatten(chosen)
    inputs = Inputs(leaves, "grad")
    with torch.enable_grad():
        made = func(*placed(argnums, args, pytree.tree_unflatten(inputs.seen, spec)), **kwargs)
        result, aux = _with_aux(made, "grad_and_value(f)(*args)") if has_aux else (made, None)
        _check_number(result)
        found = inputs.gradients([result], None)
    gradients = pytree.tree_unflatten(found, spec)
    value = inputs.released([result])[0]
    return gradients, (value, inputs.released_tree(aux)) if has_aux else value


def _check_number(result: Any) -> None:
    called = "grad_and_value(f)(*args)"
    if not isinstance(result, Tensor):
        raise RuntimeError(f"{called}: Expected f(*args) to return a Tensor, got {type(result)}")
    if result.dim():
        raise RuntimeError(
            f"{called}: Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{result.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    if result.is_complex():
        raise RuntimeError(
            f"{called}: grad can be implicitly created only for real scalar outputs but got "
            f"{result.dtype}"
        )


def _with_aux(made: Any, called: str) -> tuple[Any, Any]:
    if not isinstance(made, tuple) or len(made) != 2:
        raise RuntimeError(
            f"{called}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return made[0], made[1]


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Return `func(*primals)`, and a function: the product of a vector with its Jacobian.

    That function takes what is like the result, and returns a tuple as long as the primals. It may
    be called often. With has_aux, `func` returns (result, aux), and this (result, function, aux).

    **Raises** RuntimeError if a result is no tensor, or cotangents have another structure.
    """
    if not primals:
        raise RuntimeError("vjp(f, *primals): Expected at least one primal")
    leaves, spec = pytree.tree_flatten(primals)
    inputs = Inputs(leaves, "vjp")
    with torch.enable_grad():
        made = func(*pytree.tree_unflatten(inputs.seen, spec))
    result, aux = _with_aux(made, "vjp(f, *primals)") if has_aux else (made, None)
    results, shape = pytree.tree_flatten(result)
    check_tensors(results, "vjp(f, *primals)")

    def product(cotangents: Any) -> Any:
        vectors, got = pytree.tree_flatten(cotangents)
        if got != shape:
            raise RuntimeError(
                f"Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {got}, primal output: {shape}"
            )
        return pytree.tree_unflatten(inputs.gradients(results, vectors), spec)

    released = pytree.tree_unflatten(inputs.released(results), shape)
    return (released, product, inputs.released_tree(aux)) if has_aux else (released, product)


def check_tensors(results: Sequence[Any], called: str) -> None:
    """Raise RuntimeError if a function that is differentiated returns what is no tensor."""
    for each in results:
        if not isinstance(each, Tensor):
            raise RuntimeError(
                f"{called}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(each)}"
            )


class Inputs:
    """The tensors with respect to which a function is differentiated.

    seen: what the function is given for them. They have a dim for every map that is entered, since
    each sample's gradient is its own. Made before gradients are enabled for the function: if they
    are not, outside, nothing that is returned can be differentiated.
    """

    def __init__(self, leaves: Sequence[Any], name: str) -> None:
        self.maps = Maps()
        self.given = [self._lowered(leaf, name) for leaf in leaves]
        self._recorded = torch.is_grad_enabled()
        self._nested = self._recorded and any(each.requires_grad for each in self.given)
        self.leaves = [
            each.view_as(each)
            if self._nested and each.requires_grad
            else each.detach().requires_grad_()
            for each in self.given
        ]
        with torch.enable_grad():
            self.seen = [self.maps.lifted(each) for each in self.leaves]

    def _lowered(self, leaf: Any, name: str) -> Tensor:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"{name}(f): Expected all inputs to be tensors, got {type(leaf).__name__}"
            )
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError(
                f"{name}(f): only Tensors of floating point and complex dtype can require "
                f"gradients, got {leaf.dtype}"
            )
        return self.maps.lowered(leaf)

    def gradients(
        self, results: Sequence[Tensor], vectors: Sequence[Tensor] | None
    ) -> list[Tensor]:
        """What the results' gradients are in the inputs; vectors: None for that of one number."""
        recorded = torch.is_grad_enabled()
        with torch.enable_grad():
            whole = [self.maps.lowered(each) for each in results]
            ends = [i for i, each in enumerate(whole) if each.requires_grad]
            if not ends:
                return [self.maps.lifted(torch.zeros_like(each)) for each in self.given]
            if vectors is None:
                given = [torch.ones_like(whole[i]) for i in ends]
            else:
                given = [self.maps.lowered(vectors[i]) for i in ends]
            again = recorded and self.outlive([*[whole[i] for i in ends], *given])
            found = torch.autograd.grad(
                [whole[i] for i in ends],
                self.leaves,
                given,
                retain_graph=True if vectors is not None else again,
                create_graph=again,
                materialize_grads=True,
            )
        return [self.maps.lifted(each) for each in found if each is not None]

    def outlive(self, results: Sequence[Tensor]) -> bool:
        """Whether those outside can differentiate results, by inputs or by a closure's."""
        return self._recorded and (self._nested or depends(results, self.leaves))

    def released(self, results: Sequence[Any]) -> list[Any]:
        """Results as those outside see them: without the graph of what was private here."""
        return [self._released(each) for each in results]

    def released_tree(self, tree: Any) -> Any:
        """The same of all tensors of a tree."""
        leaves, spec = pytree.tree_flatten(tree)
        return pytree.tree_unflatten(self.released(leaves), spec)

    def _released(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        whole = self.maps.lowered(value)
        if not whole.requires_grad or self.outlive([whole]):
            return value
        return self.maps.lifted(whole.detach())


def depends(results: Iterable[Tensor], leaves: Sequence[Tensor]) -> bool:
    """Whether results depend on tensors that require grad besides the leaves."""
    own = {id(each) for each in leaves if each.is_leaf}
    seen: set[int] = set()
    given = [each for each in results if each.requires_grad]
    if any(each.grad_fn is None and id(each) not in own for each in given):
        return True
    nodes = [each.grad_fn for each in given if each.grad_fn is not None]
    while nodes:
        node = nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for edge in node.edges:
            if edge is None:
                continue
            if edge[1] != LEAF:
                nodes.append(edge[0])
            elif id(edge[0]) not in own:
                return True
    return False


# -- arguments ----------------------------------------------------------------------------------


def chosen_of(argnums: Argnums, args: tuple[Any, ...]) -> Any:
    """The arguments of one position, or a tuple of several."""
    if isinstance(argnums, int):
        _check_position(argnums, args)
        return args[argnums]
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty, got: ()")
    for each in argnums:
        _check_position(each, args)
    if len({each % len(args) for each in argnums}) < len(argnums):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple([args[each] for each in argnums])


def _check_position(position: int, args: tuple[Any, ...]) -> None:
    if not -len(args) <= position < len(args):
        raise RuntimeError(
            f"Got argnum={position}, but only {len(args)} positional inputs were provided."
        )


def placed(argnums: Argnums, args: tuple[Any, ...], chosen: Any) -> list[Any]:
    """All arguments, with others at the chosen positions."""
    every = list(args)
    if isinstance(argnums, int):
        every[argnums] = chosen
    else:
        for position, value in zip(argnums, chosen, strict=True):
            every[position] = value
    return every
