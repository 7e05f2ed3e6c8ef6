"""Trees of containers, as `torch.utils._pytree` walks them: flattened, mapped, put together again.

A container's class says in `SUPPORTED_NODES` how it is taken apart; whatever has no such entry is
a leaf, None too. `TreeSpec` is a tree without its leaves.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.library.programs.pytree_keys import (
    GetAttrKey,
    KeyPath,
    MappingKey,
    SequenceKey,
)

__all__ = [
    "BUILTIN_TYPES",
    "SUPPORTED_NODES",
    "LeafSpec",
    "NodeDef",
    "PyTree",
    "TreeSpec",
    "_broadcast_to_and_flatten",
    "_dict_flatten",
    "_dict_flatten_with_keys",
    "_dict_unflatten",
    "_get_node_type",
    "_is_leaf",
    "_is_namedtuple_instance",
    "_list_flatten",
    "_list_flatten_with_keys",
    "_list_unflatten",
    "_register_pytree_node",
    "_tuple_flatten",
    "_tuple_unflatten",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_structure",
    "tree_unflatten",
]  # fmt: skip

PyTree = Any
IsLeaf = Callable[[Any], bool]
Children = tuple[list[Any], Any]
"""The parts of a container, and what else it takes to put it together."""


class NodeDef(NamedTuple):
    """How containers of one class are taken apart and put together."""

    type: Any
    flatten_fn: Callable[[Any], Children]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None


def _mapping_children(tree: Any) -> Children:
    return list(tree.values()), list(tree.keys())


def _with_keys(key: Callable[[Any, int], Any]) -> Callable[[Callable[..., Children]], Any]:
    """Make of a way to take apart one that names the parts: `key` does, of context and index."""

    def extended(flatten: Callable[[Any], Children]) -> Any:
        def flatten_with_keys(tree: Any) -> tuple[list[tuple[Any, Any]], Any]:
            parts, context = flatten(tree)
            return [(key(context, i), part) for i, part in enumerate(parts)], context

        return flatten_with_keys

    return extended


_by_index = _with_keys(lambda context, i: SequenceKey(i))
_by_name = _with_keys(lambda context, i: MappingKey(context[i]))
_by_factory_and_name = _with_keys(lambda context, i: MappingKey(context[1][i]))
_by_field = _with_keys(lambda context, i: GetAttrKey(context._fields[i]))

SUPPORTED_NODES: dict[Any, NodeDef] = {}
BUILTIN_TYPES: set[Any] = set()


def _add(
    cls: Any,
    flatten: Callable[[Any], Children],
    unflatten: Callable[[Iterable[Any], Any], Any],
    keyed: Callable[[Callable[..., Children]], Any],
) -> None:
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten, unflatten, keyed(flatten))
    BUILTIN_TYPES.add(cls)


_add(tuple, lambda t: (list(t), None), lambda parts, _: tuple(parts), _by_index)
_add(list, lambda t: (list(t), None), lambda parts, _: list(parts), _by_index)
_add(dict, _mapping_children, lambda parts, keys: dict(zip(keys, parts, strict=True)), _by_name)
_add(namedtuple, lambda t: (list(t), type(t)), lambda parts, cls: cls(*parts), _by_field)
_add(
    OrderedDict,
    _mapping_children,
    lambda parts, keys: OrderedDict(zip(keys, parts, strict=True)),
    _by_name,
)
_add(
    defaultdict,
    lambda t: (list(t.values()), [t.default_factory, list(t.keys())]),
    lambda parts, context: defaultdict(context[0], zip(context[1], parts, strict=True)),
    _by_factory_and_name,
)
_add(
    deque,
    lambda t: (list(t), t.maxlen),
    lambda parts, maxlen: deque(parts, maxlen=maxlen),
    _by_index,
)
_dict_flatten, _dict_unflatten = SUPPORTED_NODES[dict][1:3]
_dict_flatten_with_keys = SUPPORTED_NODES[dict].flatten_with_keys_fn
_list_flatten, _list_unflatten = SUPPORTED_NODES[list][1:3]
_list_flatten_with_keys = SUPPORTED_NODES[list].flatten_with_keys_fn
_tuple_flatten, _tuple_unflatten = SUPPORTED_NODES[tuple][1:3]
SUPPORTED_NODES[Size] = NodeDef(
    Size, lambda t: (list(t), None), lambda parts, _: Size(parts), SUPPORTED_NODES[tuple][3]
)


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], Children],
    unflatten_fn: Callable[[Iterable[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Let instances of `cls` be containers. **Raises** ValueError if they already are."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


def _register_pytree_node(
    cls: type, flatten_fn: Any, unflatten_fn: Any, *old_forms: Any, **options: Any
) -> None:
    """Register a class under the name that programs used before it was public."""
    register_pytree_node(cls, flatten_fn, unflatten_fn, **options)


def register_dataclass(cls: type, **options: Any) -> None:
    """Let instances of a dataclass be containers of their fields."""
    names = [each.name for each in dataclasses.fields(cls) if each.init]
    register_pytree_node(
        cls,
        lambda tree: ([getattr(tree, name) for name in names], names),
        lambda parts, context: cls(**dict(zip(context, parts, strict=True))),
        flatten_with_keys_fn=lambda tree: (
            [(GetAttrKey(name), getattr(tree, name)) for name in names],
            names,
        ),
    )


def register_constant(cls: type) -> None:
    """Let instances of `cls` be part of a tree's structure, not of its leaves."""
    register_pytree_node(cls, lambda tree: ([], tree), lambda parts, context: context)


def is_namedtuple_class(cls: Any) -> bool:
    """Return whether a class is made by `namedtuple`."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and callable(getattr(cls, "_make", None))
    )


def is_namedtuple_instance(obj: Any) -> bool:
    """Return whether an object's class is made by `namedtuple`."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: Any) -> bool:
    """Return whether an object is a named tuple or a class of these."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def _definition(tree: Any) -> NodeDef | None:
    cls = type(tree)
    found = SUPPORTED_NODES.get(cls)
    if found is None and is_namedtuple_class(cls):
        return SUPPORTED_NODES[namedtuple]
    return found


def _get_node_type(tree: Any) -> Any:
    """Return what `SUPPORTED_NODES` calls a tree's class."""
    found = _definition(tree)
    return type(tree) if found is None else found.type


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    """Return whether nothing is inside of a tree."""
    return (is_leaf is not None and is_leaf(tree)) or _definition(tree) is None


_is_leaf = tree_is_leaf


class TreeSpec:
    """A tree without its leaves: the class of the container, its context, its children's trees."""

    __slots__ = ("_children", "_context", "num_children", "num_leaves", "num_nodes", "type")

    num_leaves: int
    num_nodes: int

    def __init__(self, type: Any, context: Any, children_specs: Iterable[TreeSpec]) -> None:
        self.type = type
        self._context = context
        self._children = list(children_specs)
        self.num_children = len(self._children)
        self.num_nodes = 1 + sum(each.num_nodes for each in self._children)
        self.num_leaves = sum(each.num_leaves for each in self._children)
        if type is None:
            self.num_leaves = 1

    @property
    def context(self) -> Any:
        """What it takes to put the container together besides its parts."""
        return self._context

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The trees of the parts."""
        return self._children

    def children(self) -> list[TreeSpec]:
        """Return the trees of the parts."""
        return self._children.copy()

    def child(self, index: int) -> TreeSpec:
        """Return the tree of one part."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Return whether it is one leaf."""
        return self.type is None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (
            self.type == other.type
            and self._context == other._context
            and self._children == other._children
        )

    def __hash__(self) -> int:
        return hash((self.type, self.num_leaves, tuple(self._children)))

    def __repr__(self, indent: int = 0) -> str:
        if self.type is None:
            return "*"
        name = getattr(self.type, "__name__", str(self.type))
        start = f"TreeSpec({name}, {self._context}, ["
        inner = indent + 2
        separator = ",\n" + " " * inner
        return start + separator.join(each.__repr__(inner) for each in self._children) + "])"

    def unflatten(self, leaves: Iterable[Any]) -> PyTree:
        """Put the leaves into the tree. **Raises** ValueError if there are more or fewer."""
        given = list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(given))

    def _build(self, leaves: Iterator[Any]) -> PyTree:
        if self.type is None:
            return next(leaves)
        parts = [each._build(leaves) for each in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(parts, self._context)

    def flatten_up_to(self, tree: PyTree) -> list[Any]:
        """Return what stands in `tree` where this tree has leaves.

        **Raises** ValueError where it has another container than this one.
        """
        if self.type is None:
            return [tree]
        parts = self._same_parts(tree)
        return [
            leaf
            for child, part in zip(self._children, parts, strict=True)
            for leaf in child.flatten_up_to(part)
        ]

    def _same_parts(self, tree: PyTree) -> list[Any]:
        found = _definition(tree)
        kind = _get_node_type(tree)
        mappings = (dict, OrderedDict, defaultdict)
        both_mappings = self.type in mappings and kind in mappings
        if found is None or (kind != self.type and not both_mappings):
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        parts, context = found.flatten_fn(tree)
        if len(parts) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(parts)}."
            )
        if both_mappings:
            keys = self._context[1] if self.type is defaultdict else self._context
            if missing := set(keys) - set(tree):
                raise ValueError(
                    f"Node keys mismatch; missing key(s): {missing}; "
                    f"extra key(s): {set(tree) - set(keys)}."
                )
            return [tree[key] for key in keys]
        if self.type is not deque and context != self._context:
            raise ValueError(
                f"Node context mismatch for custom node type {self.type!r}."
                if kind not in BUILTIN_TYPES
                else f"Node type mismatch; expected {self._context!r}, but got {context!r}."
            )
        return parts


_LEAF = TreeSpec(None, None, [])


def LeafSpec() -> TreeSpec:
    """Return the tree that is one leaf."""
    return _LEAF


def _take_apart(tree: PyTree, leaves: list[Any], is_leaf: IsLeaf | None) -> TreeSpec:
    found = None if is_leaf is not None and is_leaf(tree) else _definition(tree)
    if found is None:
        leaves.append(tree)
        return _LEAF
    parts, context = found.flatten_fn(tree)
    children = [_take_apart(part, leaves, is_leaf) for part in parts]
    return TreeSpec(_get_node_type(tree), context, children)


def tree_flatten(tree: PyTree, is_leaf: IsLeaf | None = None) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree, in order, and the tree without them."""
    leaves: list[Any] = []
    return leaves, _take_apart(tree, leaves, is_leaf)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """Put leaves into a tree."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of "
            f"PyTreeSpec but got item of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf | None = None) -> Iterator[Any]:
    """Yield the leaves of a tree."""
    found = None if is_leaf is not None and is_leaf(tree) else _definition(tree)
    if found is None:
        yield tree
    else:
        for part in found.flatten_fn(tree)[0]:
            yield from tree_iter(part, is_leaf)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf | None = None) -> list[Any]:
    """Return the leaves of a tree."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf | None = None) -> TreeSpec:
    """Return a tree without its leaves."""
    return tree_flatten(tree, is_leaf)[1]


def _leaves_with_path(
    path: KeyPath, tree: PyTree, is_leaf: IsLeaf | None
) -> Iterator[tuple[KeyPath, Any]]:
    found = None if is_leaf is not None and is_leaf(tree) else _definition(tree)
    if found is None:
        yield path, tree
        return
    if found.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {type(tree)}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, part in found.flatten_with_keys_fn(tree)[0]:
        yield from _leaves_with_path((*path, key), part, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf | None = None) -> list[tuple[KeyPath, Any]]:
    """Return the leaves of a tree, each with the keys that lead to it."""
    return list(_leaves_with_path((), tree, is_leaf))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf | None = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Return the leaves with the keys that lead to them, and the tree without them."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf | None = None
) -> list[Any] | None:
    """Return the leaves of `tree`, each repeated for all that `treespec` has below its place.

    None if `tree` goes deeper than `treespec` or has other containers.
    """
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    found = _definition(tree)
    if found is None or treespec.type is None or _get_node_type(tree) != treespec.type:
        return None
    parts, context = found.flatten_fn(tree)
    if len(parts) != treespec.num_children or context != treespec.context:
        return None
    leaves: list[Any] = []
    for part, child in zip(parts, treespec.children(), strict=True):
        below = _broadcast_to_and_flatten(part, child, is_leaf)
        if below is None:
            return None
        leaves += below
    return leaves


public.place_all("utils._pytree", globals())
