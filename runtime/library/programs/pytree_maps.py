"""Functions of all leaves of a tree, and trees as text: `torch.utils._pytree`'s other half."""

from __future__ import annotations

import importlib
import json
import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.library.programs import pytree, pytree_keys
from torchgen_out._runtime.library.programs.pytree import *  # noqa: F403
from torchgen_out._runtime.library.programs.pytree import (
    IsLeaf,
    PyTree,
    TreeSpec,
    tree_flatten,
    tree_flatten_with_path,
    tree_iter,
)
from torchgen_out._runtime.library.programs.pytree_keys import *  # noqa: F403

__all__ = [
    "Context", "arg_tree_leaves", "map_only", "tree_all", "tree_all_only", "tree_any",
    "tree_any_only", "tree_map", "tree_map_", "tree_map_only", "tree_map_only_",
    "tree_map_with_path", "treespec_dumps", "treespec_loads", "treespec_pprint",
]  # fmt: skip
__all__ += pytree.__all__
__all__ += pytree_keys.__all__

Context = Any
Function = Callable[..., Any]


def tree_map(func: Function, tree: PyTree, *rests: PyTree, is_leaf: IsLeaf | None = None) -> PyTree:
    """Return a tree of the same form with `func` of each leaf, and of those at its place in rests.

    **Raises** ValueError for a rest of another form.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(each) for each in rests)]
    return spec.unflatten([func(*row) for row in zip(*columns, strict=True)])


def tree_map_(
    func: Function, tree: PyTree, *rests: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """Call `func` with each leaf; return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_with_path(
    func: Function, tree: PyTree, *rests: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """`tree_map` of a function that is told the path of the leaf, too, first."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [spec.flatten_up_to(each) for each in rests]
    return spec.unflatten([func(*pair, *row) for pair, *row in zip(pairs, *columns, strict=True)])


def _predicate(given: Any) -> Callable[[Any], bool]:
    if isinstance(given, type | tuple | types.UnionType):
        return lambda leaf: isinstance(leaf, given)
    if callable(given):
        predicate: Callable[[Any], bool] = given
        return predicate
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Function], Function]:
    """Make a decorator: the function applies to some types, and gives back all else."""
    applies = _predicate(type_or_types_or_pred)

    def decorate(func: Function) -> Function:
        return lambda leaf: func(leaf) if applies(leaf) else leaf

    return decorate


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Function, tree: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """`tree_map` for leaves of some types; the others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Function, tree: PyTree, is_leaf: IsLeaf | None = None
) -> PyTree:
    """`tree_map_` for leaves of some types."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Function, tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    """Return whether `pred` holds for all leaves."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf))


def tree_any(pred: Function, tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    """Return whether `pred` holds for a leaf."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf))


def tree_all_only(
    type_or_types: Any, /, pred: Function, tree: PyTree, is_leaf: IsLeaf | None = None
) -> bool:
    """Return whether `pred` holds for all leaves of some types."""
    leaves = tree_iter(tree, is_leaf)
    return all(pred(leaf) for leaf in leaves if isinstance(leaf, type_or_types))


def tree_any_only(
    type_or_types: Any, /, pred: Function, tree: PyTree, is_leaf: IsLeaf | None = None
) -> bool:
    """Return whether `pred` holds for a leaf of some types."""
    leaves = tree_iter(tree, is_leaf)
    return any(pred(leaf) for leaf in leaves if isinstance(leaf, type_or_types))


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """Return the leaves of a call's arguments."""
    return [leaf for each in (*args, *kwargs.values()) for leaf in tree_iter(each)]


_PROTOCOL = 1
_WRITABLE = ("builtins.dict", "builtins.list", "builtins.tuple", "collections.OrderedDict")


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Return a tree of plain containers as JSON.

    **Raises** NotImplementedError for a container that JSON has no word for.
    """
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return json.dumps([_PROTOCOL, _as_json(treespec)])


def _as_json(spec: TreeSpec) -> dict[str, Any]:
    if spec.type is None:
        return {"type": None, "context": None, "children_spec": []}
    name = "collections.namedtuple" if spec.type is namedtuple else _name(spec.type)
    if name not in _WRITABLE:
        raise NotImplementedError(f"No registered serialization name for {spec.type} found.")
    children = [_as_json(each) for each in spec.children()]
    return {"type": name, "context": json.dumps(spec.context), "children_spec": children}


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def treespec_loads(serialized: str) -> TreeSpec:
    """Return the tree that `treespec_dumps` has written."""
    protocol, schema = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return _from_json(schema)


def _from_json(schema: dict[str, Any]) -> TreeSpec:
    name = schema["type"]
    if name is None:
        return pytree.LeafSpec()
    if name not in _WRITABLE:
        raise NotImplementedError(f"Cannot read a tree of {name}.")
    module, _, attribute = name.rpartition(".")
    cls = getattr(importlib.import_module(module), attribute)
    children = [_from_json(each) for each in schema["children_spec"]]
    return TreeSpec(cls, json.loads(schema["context"]), children)


def treespec_pprint(treespec: TreeSpec) -> str:
    """Return a tree with `*` for its leaves."""

    class Star:
        def __repr__(self) -> str:
            return "*"

    return repr(treespec.unflatten([Star() for _ in range(treespec.num_leaves)]))
