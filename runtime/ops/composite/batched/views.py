"""Views of samples: the same views of all samples, their dims counted behind dim 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.batched.given import Given, Rule

_DIMS = frozenset(
    {"dim", "dim0", "dim1", "dim2", "axis0", "axis1", "source", "destination", "dimension"}
)


_IDENTITIES = frozenset({"movedim", "transpose", "swapaxes"})
"""Views that leave a sample without dims as it is, dim 0 named or not."""


def _same(given: Given) -> Any:
    """What looks at elements, or at the last dims, needs no change."""
    return given.call()


def _counted(given: Given) -> Any:
    """Dims are counted behind that of samples."""
    args, ndim = list(given.args), given.ndim(0)
    if not ndim and given.operator.base_name in _IDENTITIES:
        return given.args[0]
    for place, name in enumerate(given.names):
        if name in _DIMS:
            args[place] = _behind(args[place], ndim)
    return given.call(args)


def _behind(dim: int | Sequence[int], ndim: int) -> Any:
    if isinstance(dim, (list, tuple)):
        return [shapes.normalize_dim(each, ndim) + 1 for each in dim]
    return shapes.normalize_dim(dim, ndim) + 1  # type: ignore[arg-type]


def _squeezed(given: Given) -> Any:
    """Of a sample without dims, dim 0 may be named all the same."""
    if not given.ndim(0):
        return given.args[0]
    return _counted(given)


def _squeezed_all(given: Given) -> Any:
    sizes = given.args[0]._sizes
    return ops.squeeze(given.args[0], [dim for dim in range(1, len(sizes)) if sizes[dim] == 1])


def _unsqueezed(given: Given) -> Any:
    dim = shapes.normalize_dim(given.args[1], given.ndim(0) + 1)
    return given.call([given.args[0], dim + 1])


def _permuted(given: Given) -> Any:
    dims = [shapes.normalize_dim(dim, given.ndim(0)) + 1 for dim in given.args[1]]
    return given.call([given.args[0], [0, *dims]])


def _transposed(given: Given) -> Any:
    """`t` and `T`: all dims of a sample, in reverse."""
    ndim = given.ndim(0)
    if given.operator.base_name == "t" and ndim > 2:
        return _first_sample(given)
    return ops.permute(given.args[0], [0, *range(ndim, 0, -1)])


def _matrix_transposed(given: Given) -> Any:
    return given.call() if given.ndim(0) > 1 else _first_sample(given)


def _first_sample(given: Given) -> Any:
    """What one sample gives: an error."""
    return given.call([ops.select(given.args[0], 0, 0), *given.args[1:]])


def _sized(given: Given) -> Any:
    sizes = [given.size, *given.args[1]]
    if not given.size and -1 in given.args[1]:
        known = given.args[0].new_empty(given.args[0]._sizes[1:]).view(given.args[1])._sizes
        sizes = [0, *known]
    return given.call([given.args[0], sizes])


def _viewed_as(given: Given) -> Any:
    sizes = given.args[1]._sizes[given.held[1] :]
    return ops.view(given.expanded(0), [given.size, *sizes])


def _strided(given: Given) -> Any:
    """The same places of every sample; they are counted from where the first one begins."""
    tensor, sizes, strides, offset = given.args
    offset = tensor._offset if offset is None else offset
    return given.call([tensor, [given.size, *sizes], [tensor._strides[0], *strides], offset])


def _grown(given: Given) -> Any:
    return _grown_to(given, list(given.args[1]))


def _grown_as(given: Given) -> Any:
    return _grown_to(given, list(given.args[1]._sizes[given.held[1] :]))


def _grown_to(given: Given, sizes: list[int]) -> Any:
    tensor, own = given.expanded(0), given.ndim(0)
    missing = len(sizes) - own
    if missing < 0:
        return _first_sample(given)
    tensor = ops.reshape(tensor, [given.size, *[1] * missing, *tensor._sizes[1:]])
    return ops.expand(tensor, [given.size, *sizes])


RULES: dict[str, Rule] = {
    "alias": _same,
    "as_strided": _strided,
    "detach": _same,
    "view": _sized,
    "view.dtype": _same,
    "view_as": _viewed_as,
    "view_as_real": _same,
    "view_as_complex": _same,
    "t": _transposed,
    "T": _transposed,
    "mT": _matrix_transposed,
    "permute": _permuted,
    "expand": _grown,
    "broadcast_to": _grown,
    "expand_as": _grown_as,
    "squeeze": _squeezed_all,
    "squeeze.dim": _squeezed,
    "squeeze.dims": _squeezed,
    "unsqueeze": _unsqueezed,
}
for _name in (
    "unflatten.int", "transpose.int", "swapaxes", "movedim.int", "movedim.intlist", "select.int",
    "slice.Tensor", "narrow", "unfold", "diagonal", "split.Tensor", "split.sizes",
    "split_with_sizes", "chunk", "unbind.int",
):  # fmt: skip
    RULES[_name] = _counted
"""The rule of each view; one without is called sample by sample, and copied."""
