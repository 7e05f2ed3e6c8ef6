"""`jacrev`, `jacfwd` and `hessian`: whole matrices of derivatives, as maps over unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.programs import pytree
from torchgen_out._runtime.library.transforms.derivatives import (
    Argnums,
    _with_aux,
    check_tensors,
    chosen_of,
    placed,
    vjp,
)
from torchgen_out._runtime.library.transforms.forward import jvp
from torchgen_out._runtime.library.transforms.vmap import vmap

Tensor = torch.Tensor
Function = Callable[..., Any]


def jacrev(
    func: Function,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """Return the function that computes the Jacobian of `func` row by row, in reverse mode.

    Of a result of shape `r` and an argument of shape `a` it has shape `(*r, *a)`; of several in a
    structure, results outermost. chunk_size: how many rows at once.
    """

    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"jacrev: `chunk_size` should be greater than 0, got {chunk_size}.")

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_of(argnums, args)

        def of_chosen(given: Any) -> Any:
            return func(*placed(argnums, args, given), **kwargs)

        made = of_chosen(chosen)
        result, aux = _with_aux(made, "jacrev(f)(*args)") if has_aux else (made, None)
        results, shape = pytree.tree_flatten(result)
        check_tensors(results, "vjp(f, *primals)")
        _check_real(results, "jacrev")
        if not all(each.is_floating_point() for each in results):
            kinds = [str(each.dtype) for each in results]
            raise RuntimeError(f"jacrev: Expected floating-point outputs, but got {kinds}")
        without_aux = (lambda given: of_chosen(given)[0]) if has_aux else of_chosen

        def row(*units: Tensor) -> Any:
            _, product = vjp(without_aux, chosen)
            return product(pytree.tree_unflatten(list(units), shape))[0]

        rows = vmap(row, chunk_size=chunk_size)(*_units(results))
        parts = _split_rows(rows, results)
        found = pytree.tree_unflatten(parts, shape)
        return (found, aux) if has_aux else found

    return jacobian


def jacfwd(
    func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """Return the function that computes the Jacobian of `func` column by column.

    Shapes as for `jacrev`. randomness: as for `vmap`.
    """

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        chosen = chosen_of(argnums, args)
        leaves, spec = pytree.tree_flatten(chosen)

        def of_chosen(given: Any) -> Any:
            return func(*placed(argnums, args, given), **kwargs)

        def column(*units: Tensor) -> Any:
            tangents = (pytree.tree_unflatten(list(units), spec),)
            made = jvp(of_chosen, (chosen,), tangents, has_aux=has_aux)
            return made[1:] if has_aux else made[1]

        columns = vmap(column, randomness=randomness)(*_units(leaves))
        aux = None
        if has_aux:
            columns, aux = columns
            aux = pytree.tree_unflatten(
                [each.select(0, 0) for each in pytree.tree_leaves(aux)],
                pytree.tree_structure(aux),
            )
        results, shape = pytree.tree_flatten(columns)
        _check_real(results, "jacfwd")
        found = pytree.tree_unflatten(
            [_split_columns(each, leaves, spec) for each in results], shape
        )
        return (found, aux) if has_aux else found

    return jacobian


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """Return the function that computes the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)


def _check_real(results: Sequence[Tensor], name: str) -> None:
    """Raise RuntimeError for complex results."""
    if any(each.is_complex() for each in results):
        raise RuntimeError(
            f"{name}: Expected all outputs to be real but received a complex one. "
            "See them as real numbers: torch.view_as_real"
        )


def _units(tensors: Sequence[Tensor]) -> list[Tensor]:
    """For each tensor, unit vectors of all tensors together, in its shape, along dim 0."""
    counts = [each.numel() for each in tensors]
    made, before = [], 0
    for tensor, count in zip(tensors, counts, strict=True):
        unit = torch.zeros(sum(counts), count, dtype=tensor.dtype, device=tensor.device)
        unit[before : before + count] = torch.eye(count, dtype=tensor.dtype, device=tensor.device)
        made.append(unit.view(sum(counts), *tensor.shape))
        before += count
    return made


def _split_rows(rows: Any, results: Sequence[Tensor]) -> list[Any]:
    """For every result the tree of arguments, with rows in the shape of the result."""
    leaves, spec = pytree.tree_flatten(rows)
    counts = [each.numel() for each in results]
    parts = [leaf.split(counts) for leaf in leaves]
    return [
        pytree.tree_unflatten(
            [part[i].reshape(*each.shape, *part[i].shape[1:]) for part in parts], spec
        )
        for i, each in enumerate(results)
    ]


def _split_columns(columns: Tensor, leaves: Sequence[Tensor], spec: Any) -> Any:
    """The tree of arguments, with columns behind the dims of the result."""
    parts = columns.split([each.numel() for each in leaves])
    return pytree.tree_unflatten(
        [
            part.movedim(0, -1).reshape(*part.shape[1:], *leaf.shape)
            for part, leaf in zip(parts, leaves, strict=True)
        ],
        spec,
    )
