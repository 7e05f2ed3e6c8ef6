"""What programs ask of `torch` besides tensors: trees of containers, versions, schedules."""

from __future__ import annotations

import importlib
import operator
from collections import OrderedDict, defaultdict, deque, namedtuple
from types import SimpleNamespace
from typing import Any

import pytest

import torchgen_out

torch = pytest.importorskip("torch")
import torch.utils._pytree as theirs  # noqa: E402

import torchgen_out.utils._pytree as ours  # noqa: E402

Point = namedtuple("Point", "x y")
TREES = [
    1, None, "leaf", [], {}, (), [1, [2, (3,)]], {"b": 1, "a": [2, None]}, Point(1, [2]),
    OrderedDict(b=1, a=2), defaultdict(list, {"k": [1]}), deque([1, 2], maxlen=3),
    {"a": (1, {"c": deque([Point(1, 2)])}), "d": [[], {}]},
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_trees(tree: object) -> None:
    leaves, spec = ours.tree_flatten(tree)
    their_leaves, their_spec = theirs.tree_flatten(tree)
    assert leaves == their_leaves and repr(spec) == repr(their_spec)
    assert (spec.num_leaves, spec.num_nodes, spec.num_children) == (
        their_spec.num_leaves, their_spec.num_nodes, their_spec.num_children
    )  # fmt: skip
    again = spec.unflatten(leaves)
    assert again == tree and type(again) is type(tree)
    assert spec == ours.tree_structure(tree) and spec != ours.tree_structure([tree])
    doubled = ours.tree_map(lambda leaf: [leaf], tree)
    assert doubled == theirs.tree_map(lambda leaf: [leaf], tree)
    assert [ours.keystr(path) for path, _ in ours.tree_leaves_with_path(tree)] == [
        theirs.keystr(path) for path, _ in theirs.tree_leaves_with_path(tree)
    ]
    assert ours.tree_leaves(tree) == list(ours.tree_iter(tree)) == their_leaves


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.tree_unflatten([1, 2, 3], t.tree_structure([1, 2])),
        lambda t: t.tree_map(lambda a, b: a + b, {"a": 1}, {"b": 2}),
        lambda t: t.tree_map(lambda a, b: a + b, [1, 2], [1]),
        lambda t: t.tree_map(lambda a, b: a + b, [1, 2], (1, 2)),
        lambda t: t.tree_map(lambda a, b: (a, b), {"a": 1, "b": 2}, {"b": 3, "a": 4}),
        lambda t: t.tree_map(lambda a, b: (a, b), [1, [2]], [[5], [6]]),
        lambda t: t.register_pytree_node(list, None, None),
        lambda t: t._broadcast_to_and_flatten(1, t.tree_structure([1, {"a": 2}])),
        lambda t: t._broadcast_to_and_flatten([1, 2], t.tree_structure([1, {"a": 2, "b": 3}])),
        lambda t: t._broadcast_to_and_flatten([1], t.tree_structure([1, 2])),
        lambda t: t.tree_map_only(int, lambda x: -x, [1, "a", (2.0, 3)]),
        lambda t: t.tree_map_only(3, lambda x: x, [1]),
        lambda t: t.tree_map(str, [1, [2, 3]], is_leaf=lambda x: x == [2, 3]),
        lambda t: (t.tree_all(bool, [1, 0]), t.tree_any(bool, [1, 0])),
        lambda t: t.treespec_dumps(t.tree_structure({"a": [1, (2,)]})),
        lambda t: repr(t.treespec_loads(t.treespec_dumps(t.tree_structure([1, {"k": 2}])))),
        lambda t: t.treespec_pprint(t.tree_structure({"a": [1, 2]})),
        lambda t: t.tree_map_with_path(lambda p, x: (t.keystr(p), x), {"a": Point(1, 2)}),
    ],
)
def test_calls_with_trees(call: object) -> None:
    def outcome(trees: object) -> object:
        try:
            return call(trees)
        except (ValueError, TypeError) as error:
            return type(error), str(error)

    assert outcome(ours) == outcome(theirs)


class Box:
    """A container of one thing."""

    def __init__(self, inside: object) -> None:
        self.inside = inside


def test_own_containers() -> None:
    for trees in (ours, theirs):
        trees.register_pytree_node(
            Box, lambda box: ([box.inside], "lid"), lambda parts, lid: Box(next(iter(parts)))
        )
    leaves, spec = ours.tree_flatten([Box((1, 2)), 3])
    assert leaves == [1, 2, 3] and repr(spec) == repr(theirs.tree_structure([Box((1, 2)), 3]))
    assert ours.tree_map(lambda x: -x, [Box(1)])[0].inside == -1


VERSIONS = [
    "1.1", "1.13.1", "2.0", "2.13", "2.13.0", "2.13.0+torchgen", "2.13.0+zzz", "2.13.0a0",
    "2.13.0.dev20260101", "2.13.1rc1", "2.13.0.post1", "3", "1!0.1", "parrot", (2, 12), (2, 13, 0),
    (3,),
]  # fmt: skip


@pytest.mark.parametrize("other", VERSIONS, ids=str)
def test_versions_compare(other: object) -> None:
    version = torch.torch_version.TorchVersion("2.13.0+torchgen")
    assert isinstance(torchgen_out.__version__, str)
    for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
        assert compare(torchgen_out.__version__, other) is compare(version, other), compare


def test_schedules_of_profilers() -> None:
    for options in (
        {"wait": 1, "warmup": 1, "active": 2},
        {"wait": 2, "warmup": 1, "active": 1, "repeat": 2, "skip_first": 3},
        {"wait": 2, "warmup": 1, "active": 1, "skip_first": 2, "skip_first_wait": 1},
    ):
        plan, wanted = torchgen_out.profiler.schedule(**options), torch.profiler.schedule(**options)
        names = [str(wanted(step)).rpartition(".")[2] for step in range(15)]
        assert [plan(step).name for step in range(15)] == names


@pytest.mark.parametrize("name", ["float32", "float16", "complex64", "int32", "uint8", "bool"])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"low": 1, "high": 3}, {"noncontiguous": True}, {"exclude_zero": True},
        {"low": 3, "high": 1}, {"low": float("nan")}, {"requires_grad": True},
        {"noncontiguous": True, "memory_format": "channels_last"},
    ],
    ids=str,
)  # fmt: skip
def test_made_tensors(name: str, options: dict[str, object]) -> None:
    def made(library: object) -> object:
        given = dict(options)
        if "memory_format" in given:
            given["memory_format"] = getattr(library, str(given["memory_format"]))
        try:
            x = library.testing.make_tensor(
                2, 3, 4, 5, dtype=getattr(library, name), device="cpu", **given
            )
        except (ValueError, TypeError) as error:
            return type(error)
        real = x.abs() if x.is_complex() else x.double()
        return SimpleNamespace(
            shape=tuple(x.shape), stride=x.stride(), dtype=str(x.dtype), grad=x.requires_grad,
            least=real.min().item() >= options.get("low", -13), nonzero=bool((x != 0).all()),
            most=real.max().item() <= options.get("high", 13),
        )  # fmt: skip

    own, their = made(torchgen_out), made(torch)
    if isinstance(own, SimpleNamespace) and not options.get("exclude_zero"):
        own.nonzero = their.nonzero = None  # zeros are drawn now and then
    assert own == their


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_limits_of_float8(name: str) -> None:
    own, their = (t.finfo(getattr(t, name)) for t in (torchgen_out, torch))
    for part in ("bits", "max", "min", "eps", "tiny"):
        assert getattr(own, part) == getattr(their, part)


def test_types_that_are_named_only_say_so() -> None:
    with pytest.raises(NotImplementedError, match=r"torch\.qint8 is not provided"):
        torchgen_out.ones(2, dtype=torchgen_out.qint8)


SUBLISTS: list[Any] = [
    lambda t, x: t.einsum(x, [0, 1], x, [2, 1], [0, 2]),
    lambda t, x: t.einsum(x, [0, 1], x, [2, 1]),
    lambda t, x: t.einsum(x, (..., 27), x, (..., 27), (27,)),
    lambda t, x: t.einsum(x @ x.T, [3, 3]),
    lambda t, x: t.einsum(x, [0, 52]),
    lambda t, x: t.einsum(x, [0]),
    lambda t, x: t.einsum(x),
    lambda t, x: t.einsum(x, 3),
    lambda t, x: t.einsum(3, x),
]


@pytest.mark.parametrize("number", range(len(SUBLISTS)))
def test_einsum_of_labels(number: int) -> None:
    results: list[Any] = []
    for library in (torchgen_out, torch):
        try:
            found = SUBLISTS[number](library, library.arange(6.0).reshape(2, 3))
            results.append(found.tolist())
        except (ValueError, TypeError, RuntimeError) as error:
            results.append(type(error))
    assert results[0] == results[1]


PRIVATE = [
    lambda t: t._check(True), lambda t: t._check(False, lambda: "text"), lambda t: t._check(0),
    lambda t: t._check(t.tensor(True)), lambda t: t._check_index(False, lambda: "text"),
    lambda t: t._check_with(KeyError, False, lambda: "k"), lambda t: t._check(False, "text"),
    lambda t: t._check_tensor_all(t.tensor([1])), lambda t: t._check_tensor_all(t.tensor([True])),
    lambda t: t._assert_async(t.tensor(0.0), "text"), lambda t: t._assert_async(t.tensor([1, 2])),
    lambda t: t._shape_as_tensor(t.ones(2, 3)),
    lambda t: t._convert_indices_from_coo_to_csr(t.tensor([0, 0, 2]), 4),
    lambda t: t._convert_indices_from_coo_to_csr(t.tensor([[0]]), 4),
    lambda t: t._convert_indices_from_csr_to_coo(t.tensor([0, 2, 2, 3]), t.tensor([1, 0, 2])),
    lambda t: t._tensor_str._tensor_str(t.ones(2, 2), 3), lambda t: t._tensor_str._str(t.ones(2)),
    lambda t: t._tensor_str._add_suffixes("tensor([1]", ["a=1"], 3, True),
    lambda t: t.ops.aten.squeeze.dim(t.ones(1, 2), 0),
    lambda t: t.ops.aten._to_copy.default(t.ones(2), dtype=t.float64),
    lambda t: sorted(t.ops.aten.squeeze.overloads())[:3],
    lambda t: t.func.functional_call(
        t.nn.Linear(2, 1), ({"weight": t.ones(1, 2)}, {"bias": t.ones(1)}), t.ones(1, 2)
    ),
    lambda t: t.func.functional_call(t.nn.Linear(2, 1), [{"bias": 1}, {"bias": 2}], t.ones(1, 2)),
    lambda t: t.torch is t and callable(t.__config__.show),
    lambda t: hasattr(t.ones(1), "__array_interface__"),
    lambda t: t.fx.experimental.proxy_tensor.get_proxy_mode(),
    lambda t: t._utils._unflatten_dense_tensors(
        t._utils._flatten_dense_tensors([t.ones(2, 2), t.zeros(3)]), [t.ones(2, 2), t.zeros(3)]
    ),
    lambda t: list(t._utils._take_tensors([t.ones(2), t.ones(3), t.ones(1).double()], 12)),
    lambda t: t._utils._get_device_index("cpu", allow_cpu=True),
    lambda t: t._utils._get_device_index("cpu"), lambda t: t._utils._get_device_index(None),
    lambda t: t.functional.einsum is t.einsum and len(t.functional.__all__),
    lambda t: type(t.histogramdd(t.ones(4, 2), [2, 3])[1]),
    lambda t: t.nn.common_types._size_2_t, lambda t: issubclass(t.jit.TracerWarning, Warning),
    lambda t: importlib.import_module(
        f"{t.__name__}.utils.data._utils.collate"
    ).default_collate([1, 2]),
    lambda t: importlib.import_module(
        f"{t.__name__}.utils._python_dispatch"
    ).is_traceable_wrapper_subclass(t.ones(1)),
    lambda t: importlib.import_module(
        f"{t.__name__}.optim.optimizer"
    )._default_to_fused_or_foreach([t.ones(1)], False),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(PRIVATE)))
def test_private_names(number: int) -> None:
    """What programs call though it is no promise: the same results, the same errors."""
    results = []
    for library in (torchgen_out, torch):
        try:
            results.append(str(PRIVATE[number](library)))
        except Exception as error:  # whatever PyTorch raises
            kind = "Key" if isinstance(error, KeyError) else type(error).__name__
            results.append(f"{kind}: {str(error)[:40]}")
    assert results[0] == results[1]
