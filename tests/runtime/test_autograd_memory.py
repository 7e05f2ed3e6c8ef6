"""What becomes of the memory of gradients: when it is copied, added to in place, taken over."""

import sys
import threading
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out._runtime.autograd import accumulate, graph


def leaf(values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


@pytest.fixture
def copies(monkeypatch):
    """The gradients that were copied on their way into a leaf."""
    made = []
    own_copy = accumulate._own_copy

    def counted(leaf, grad):
        made.append(grad)
        return own_copy(leaf, grad)

    monkeypatch.setattr(accumulate, "_own_copy", counted)
    return made


def test_a_gradient_that_an_array_looks_into_is_not_taken_over():
    x = leaf([1.0, 2.0])
    y = x + 0
    seen = []
    y.register_hook(lambda grad: seen.append(grad.numpy()))
    (y * 3).sum().backward()
    (x * 4).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]
    assert seen[0].tolist() == [3.0, 3.0]


def test_results_of_backward_are_taken_over(copies):
    x, y, b = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0]]), leaf([5.0, 6.0])
    (x * y + b).sum().backward()
    (x.exp() + y * 2).sum().backward()
    assert not copies
    assert x.grad._base is None and b.grad._base is None


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sum(),
        lambda x: x.expand(3, 2).t()[0].sum() + x[1],
        lambda x: (x + x.detach()).backward(torch.ones(2, dtype=torch.float64)) or x.sum(),
    ],
)
def test_gradients_in_another_layout_or_shared_are_copied(function, copies):
    x = leaf([1.0, 2.0])
    function(x).backward()
    assert x.grad.stride() == x.stride()
    x.grad.mul_(2)
    assert x.grad._storage.buffer.size == 2


def test_sums_are_made_in_place_where_nobody_looks(monkeypatch):
    made = []
    add = accumulate.ops.add
    monkeypatch.setattr(accumulate.ops, "add", lambda a, b: made.append(1) or add(a, b))
    x = leaf([1.0, 2.0])
    (x.exp() + x.sin() + x * 2).sum().backward()
    assert not made
    seen = []
    y = x * 1
    z = y * 3
    z.register_hook(seen.append)
    (z + z * 2).sum().backward()
    assert seen[0].tolist() == [3.0, 3.0]


def test_a_view_made_by_data_is_seen_to_share():
    class Constant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return kept.data

    kept = torch.ones(2, dtype=torch.float64)
    x = leaf([1.0, 2.0])
    for _ in range(2):
        Constant.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert kept.tolist() == [1.0, 1.0]


def test_an_array_over_a_sliced_gradient_is_seen():
    x = leaf([1.0, 2.0])
    seen = []

    class Part(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            part = torch.ones(1, 2, dtype=torch.float64)[0]
            seen.append(part.numpy())
            return part

    for _ in range(2):
        Part.apply(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert seen[0].tolist() == [1.0, 1.0]


def test_threads_that_ask_a_result_for_its_storage_at_once_get_the_same():
    """It is made without a lock: nothing in between lets the interpreter change threads."""
    results = [torch.ones(2) + 1 for _ in range(300)]
    found: list[list[Any]] = [[] for _ in range(4)]
    start = threading.Barrier(len(found))

    def ask(mine: list[Any]) -> None:
        start.wait()
        mine += [result._storage for result in results]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=ask, args=(mine,)) for mine in found]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert all(mine[i] is found[0][i] for mine in found for i in range(len(results)))


WRITES = {
    "add_": lambda x, w, i: x.add_(w),
    "div_": lambda x, w, i: x.div_(w),
    "hypot_": lambda x, w, i: x.hypot_(w),
    "scatter_reduce_": lambda x, w, i: x.scatter_reduce_(0, i, w, "amax"),
    "index_reduce_": lambda x, w, i: x.index_reduce_(0, i, w, "prod"),
    "index_put_": lambda x, w, i: x.index_put_((i,), w),
    "a view": lambda x, w, i: x[:2].div_(w[:2]),
}


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("name", WRITES)
def test_first_writes_do_not_search_all_objects(name, monkeypatch):
    """What the node saves of its own result is no view that has to be told of gradients."""
    seen = []
    monkeypatch.setattr(graph.gc, "get_referrers", lambda *objects: seen.append(objects) or [])
    x = torch.ones(3)
    WRITES[name](x, torch.ones(3, requires_grad=True), torch.arange(3))
    assert x.requires_grad and not seen
    y = torch.ones(3)
    view = y[:1]
    WRITES[name](y, torch.ones(3, requires_grad=True), torch.arange(3))
    assert len(seen) == 1 and view is not None
