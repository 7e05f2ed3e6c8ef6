"""The engine: deep graphs, freed ones, backward in backward, errors, threads.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import gc
import threading
import weakref

import pytest

from tests.runtime.leaves import leaf


def test_deep_graphs_need_no_recursion(torch):
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == 1.0
    for _ in range(20000):
        y = y * 1.0
    del y


def test_the_graph_is_freed_at_once(torch):
    gc.disable()
    try:
        x = leaf(torch, [1.0, 2.0])
        y = x.exp()
        z = (y * y).sum()
        watched = [weakref.ref(each) for each in (y, z)]
        z.backward()
        del y, z
        assert [each() for each in watched] == [None, None]
        gone = weakref.ref(x)
        del x
        assert gone() is None
    finally:
        gc.enable()


def test_backward_inside_of_backward(torch):
    x = leaf(torch, [2.0])

    def hook(grad):
        with torch.enable_grad():
            inner = leaf(torch, [3.0])
            (inner * inner).sum().backward()
        return grad * inner.grad

    y = x * 1
    y.register_hook(hook)
    (y * y).sum().backward()
    assert x.grad.tolist() == [24.0]


def test_an_error_leaves_everything_usable(torch):
    x = leaf(torch, [2.0])

    def fail(grad):
        raise ValueError("from the hook")

    y = x * x
    handle = y.register_hook(fail)
    z = y.sum()
    with pytest.raises(ValueError, match="from the hook"):
        z.backward()
    assert torch.is_grad_enabled()
    handle.remove()
    z.backward()
    assert x.grad.tolist() == [4.0]


def test_threads(torch):
    shared = leaf(torch, [1.0, 2.0])
    found = []

    def work(factor):
        x = leaf(torch, [1.0, 2.0])
        for _ in range(50):
            x.grad = None
            (x * factor * shared.detach()).sum().backward()
        found.append((factor, x.grad.tolist()))

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(float(i), [i * 1.0, i * 2.0]) for i in range(4)]


def test_threads_on_one_graph(torch):
    x = leaf(torch, [1.0, 2.0])
    y = (x * x).sum()
    found = []

    def work():
        for _ in range(20):
            found.append(torch.autograd.grad(y, x, retain_graph=True)[0].tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[2.0, 4.0]] * 80
