"""`jvp` and `linearize`: products of Jacobians with tangents.

Backward is linear in the gradient that it starts from; the backward of that map is this product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.programs import pytree
from torchgen_out._runtime.library.transforms.derivatives import Inputs, _with_aux, check_tensors

Tensor = torch.Tensor
Function = Callable[..., Any]


def jvp(
    func: Function,
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Return `func(*primals)`, and the product of its Jacobian with the tangents.

    primals, tangents: tuples of one structure. has_aux: `func` returns (result, aux), and this
    (result, product, aux). strict: refuse results that depend on no primal.

    **Raises** RuntimeError for tangents unlike the primals, and what is no tensor; ValueError for
    primals that are not floating point.
    """
    _check_primals(primals)
    line = _Line(func, primals, has_aux, strict)
    product = line.product(tangents)
    return (line.result, product, line.aux) if has_aux else (line.result, product)


def _check_primals(primals: Any) -> None:
    called = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{called}: Expected primals to be a tuple. E.g. it should be valid to call "
            "f(*primals)."
        )
    leaves = pytree.tree_leaves(primals)
    if not leaves:
        raise RuntimeError(f"{called}: Expected primals to contain at least one Tensor.")
    for each in leaves:
        if not isinstance(each, Tensor):
            raise RuntimeError(
                f"{called}: Expected primals to only contain Tensors, got {type(each)}"
            )
        if not (each.is_floating_point() or each.is_complex()):
            raise ValueError(
                f"Expected primal to be floating point or complex, but got: {each.dtype}"
            )


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """Return `func(*primals)`, and the function of tangents that multiplies by its Jacobian."""
    if not primals:
        raise RuntimeError("linearize(f, *primals): Expected at least one primal")
    line = _Line(func, primals, False, False)
    return line.result, lambda *tangents: line.product(tangents)


class _Line:
    """A function called once, with its graph and that of its backward."""

    def __init__(
        self, func: Function, primals: tuple[Any, ...], has_aux: bool, strict: bool
    ) -> None:
        leaves, self.spec = pytree.tree_flatten(primals)
        self.inputs = Inputs(leaves, "jvp")
        with torch.enable_grad():
            made = func(*pytree.tree_unflatten(self.inputs.seen, self.spec))
            result, aux = _with_aux(made, "jvp(f, primals, tangents)") if has_aux else (made, None)
            results, self.shape = pytree.tree_flatten(result)
            check_tensors(results, "jvp(f, primals, tangents)")
            self.whole = [self.inputs.maps.lowered(each) for each in results]
            self.ends = [i for i, each in enumerate(self.whole) if each.requires_grad]
            if strict and len(self.ends) < len(results):
                raise RuntimeError(
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of "
                    "the inputs. This is not allowed with strict=True."
                )
            self.starts = [torch.zeros_like(self.whole[i]).requires_grad_() for i in self.ends]
            self.backward = self._backward()
        self.aux = self.inputs.released_tree(aux)
        self.result = pytree.tree_unflatten(self.inputs.released(results), self.shape)

    def _backward(self) -> Sequence[Tensor]:
        if not self.ends:
            return []
        ends = [self.whole[i] for i in self.ends]
        found = torch.autograd.grad(
            ends, self.inputs.leaves, self.starts, create_graph=True, materialize_grads=True
        )
        return [each for each in found if each is not None]

    def product(self, tangents: tuple[Any, ...]) -> Any:
        """The product with tangents, in the structure of the primals."""
        vectors, spec = pytree.tree_flatten(tangents)
        if spec != self.spec:
            raise RuntimeError(
                "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
                f"structure. For example, if primals is a tuple of 3 tensors, tangents also must "
                f"be. Got primals with structure {self.spec} and tangents with structure {spec}"
            )
        maps = self.inputs.maps
        whole = [maps.lowered(each) for each in vectors]
        for vector, leaf in zip(whole, self.inputs.leaves, strict=True):
            if vector.shape != leaf.shape:
                raise RuntimeError(
                    "jvp(f, primals, tangents): tangents must have the shapes of their primals, "
                    f"got {list(vector.shape)} for {list(leaf.shape)}"
                )
        products = [torch.zeros_like(each) for each in self.whole]
        linear = [i for i, each in enumerate(self.backward) if each.requires_grad]
        if linear:
            again = torch.is_grad_enabled() and self.inputs.outlive([*self.whole, *whole])
            found = torch.autograd.grad(
                [self.backward[i] for i in linear],
                self.starts,
                [whole[i] for i in linear],
                retain_graph=True,
                create_graph=again,
                materialize_grads=True,
            )
            for i, each in zip(self.ends, found, strict=True):
                products[i] = products[i] if each is None else each
        return pytree.tree_unflatten([maps.lifted(each) for each in products], self.shape)
