"""CUDA graphs on an emulated device: what is captured, replayed, refused, and given back."""

from __future__ import annotations

import gc
import threading

import pytest

import torchgen_out as torch
from tests.cuda.standin_cublas import StandInCublas
from tests.cuda.standin_memory import LibraryFailure
from torchgen_out._runtime.backends.cuda import memory, random

pytestmark = pytest.mark.usefixtures("emulated")


def test_a_replay_reads_what_is_there_then():
    x, w, b = torch.ones(2, 3).cuda(), torch.randn(4, 3).cuda(), torch.randn(4).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = torch.nn.functional.linear(x, w, b).relu()
        total = y.sum()
    for value in (2.0, -1.0):
        x.fill_(value)
        graph.replay()
        expected = torch.nn.functional.linear(x.cpu(), w.cpu(), b.cpu()).relu()
        assert torch.allclose(y.cpu(), expected, atol=1e-5)
        assert torch.allclose(total.cpu(), expected.sum(), atol=1e-5)


def test_nothing_is_done_while_a_graph_is_captured():
    x = torch.ones(3).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        assert torch.cuda.is_current_stream_capturing()
        x.add_(1)
    assert not torch.cuda.is_current_stream_capturing()
    assert x.tolist() == [1.0] * 3
    graph.replay()
    graph.replay()
    assert x.tolist() == [3.0] * 3


WAITING = {
    "item": lambda x: x[0].item(),
    "cpu": lambda x: x.cpu(),
    "synchronize": lambda x: torch.cuda.synchronize(),
    "stream": lambda x: torch.cuda.current_stream().synchronize(),
    "empty_cache": lambda x: torch.cuda.empty_cache(),
}


@pytest.mark.parametrize("name", WAITING)
def test_what_waits_is_refused(name):
    x = torch.ones(3).cuda()
    with (
        pytest.raises(RuntimeError, match="not permitted when stream is capturing"),
        torch.cuda.graph(torch.cuda.CUDAGraph()),
    ):
        WAITING[name](x)
    assert x.tolist() == [1.0] * 3


def test_other_threads_go_on_meanwhile(emulated):
    x, side = torch.ones(3).cuda(), torch.cuda.Stream()
    torch.cuda.manual_seed(1)
    expected = torch.rand(4, device="cuda").tolist()
    torch.cuda.manual_seed(1)
    seen = []

    def work():
        y = torch.empty(16, device="cuda")
        y.record_stream(side)
        del y
        seen.append(((x + 1).tolist(), torch.rand(4, device="cuda").tolist()))
        seen.append(torch.cuda.is_current_stream_capturing())
        with pytest.raises(RuntimeError, match="when stream is capturing"):
            torch.cuda.synchronize()
        with pytest.raises(RuntimeError, match="when stream is capturing"):
            torch.cuda.empty_cache()

    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        z = x * 2
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        torch.rand(4, device="cuda")
    assert seen == [([2.0] * 3, expected), False]
    graph.replay()
    assert z.tolist() == [2.0] * 3


def test_a_copy_that_would_wait_is_no_part_of_a_graph(emulated):
    x = torch.zeros(8).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), pytest.raises(RuntimeError, match="when stream is capturing"):
        x.copy_(torch.ones(8))
    graph.replay()
    assert x.tolist() == [0.0] * 8


def test_memory_of_a_graph_is_its_own(emulated):
    x = torch.ones(1000).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        between = x * 2
        inside = between.data_ptr()
        del between
        y = x + 1
    others = [torch.empty(1000, device="cuda") for _ in range(8)]
    with torch.cuda.stream(torch.cuda.Stream()):
        others += [torch.empty(1000, device="cuda") for _ in range(8)]
    assert inside not in [each.data_ptr() for each in others]
    torch.cuda.empty_cache()
    assert inside in emulated.sizes and y.data_ptr() in emulated.sizes
    graph.replay()
    assert y.tolist() == [2.0] * 1000
    graph.reset()
    torch.cuda.empty_cache()
    assert y.data_ptr() in emulated.sizes
    del y
    gc.collect()
    torch.cuda.empty_cache()
    assert inside not in emulated.sizes
    assert memory.allocator(0).reserved.current == memory.allocator(0).allocated.current


def test_pinned_memory_that_a_graph_reads_stays(emulated):
    x = torch.zeros(8).cuda()
    host = torch.ones(8).pin_memory()
    address = host.data_ptr()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        x.copy_(host, non_blocking=True)
    del host
    assert torch.zeros(8, pin_memory=True).data_ptr() != address
    graph.replay()
    assert x.tolist() == [1.0] * 8


def test_numbers_of_the_host_become_the_graphs(emulated):
    x, factor = torch.ones(3).cuda(), torch.tensor(3.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * factor
    factor.fill_(5)
    x.fill_(2)
    graph.replay()
    assert y.tolist() == [6.0] * 3


def test_graphs_share_a_pool(emulated):
    x = torch.ones(1000).cuda()
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    with torch.cuda.graph(first, stream=stream):
        between = x * 2
        inside = between.data_ptr()
        del between
    with torch.cuda.graph(second, pool=first.pool(), stream=stream):
        y = x * 3
    assert y.data_ptr() == inside and second.pool() == first.pool()
    first.reset()
    torch.cuda.empty_cache()
    assert inside in emulated.sizes
    handle = torch.cuda.graph_pool_handle()
    assert handle != first.pool() and handle != torch.cuda.graph_pool_handle()


def test_workspaces_belong_to_the_graph():
    a = torch.ones(2, 2).cuda()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        a @ a
    held = memory.allocator(0).allocated.current
    graph.reset()
    torch.cuda.empty_cache()
    assert held - memory.allocator(0).allocated.current >= 32 << 20


def test_an_error_inside_ends_the_capture():
    graph, x = torch.cuda.CUDAGraph(), torch.ones(3).cuda()
    with pytest.raises(ZeroDivisionError), torch.cuda.graph(graph):
        x.add_(1 // 0)
    assert not torch.cuda.is_current_stream_capturing()
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_states_that_are_refused():
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()
    with pytest.raises(RuntimeError, match="on a non-default stream"):
        graph.capture_begin()
    with torch.cuda.graph(graph):
        pass
    again = pytest.raises(RuntimeError, match="already owns a captured graph")
    with again, torch.cuda.graph(graph):
        pass
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


def draw():
    """Random numbers of all kinds."""
    x = torch.ones(9, device="cuda")
    kinds = torch.rand(5, device="cuda"), torch.randn(3, device="cuda", dtype=torch.float64)
    kinds += torch.nn.functional.dropout(x, 0.4), torch.bernoulli(x * 0.5)
    return [*kinds, torch.randint(0, 99, (6,), device="cuda"), torch.multinomial(x, 4)]


def test_replays_draw_what_calls_would_draw():
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        drawn = draw()
    torch.cuda.manual_seed(3)
    expected = [[each.tolist() for each in draw()] for _ in range(3)]
    torch.cuda.manual_seed(3)
    got = []
    for replayed in (True, False, True):
        if replayed:
            graph.replay()
        got.append([each.tolist() for each in (drawn if replayed else draw())])
    assert got == expected and got[0] != got[2]


def test_random_numbers_that_replays_cannot_draw():
    generator = random.default_generators()[0]
    with (
        pytest.raises(RuntimeError, match="the device's generator was seeded"),
        torch.cuda.graph(torch.cuda.CUDAGraph()),
    ):
        generator.manual_seed(generator.initial_seed() + 1)
    own = torch.Generator("cuda")
    with (
        pytest.raises(RuntimeError, match="or another was drawn from"),
        torch.cuda.graph(torch.cuda.CUDAGraph()),
    ):
        torch.rand(2, device="cuda", generator=own)


def test_replays_go_into_the_current_stream(emulated):
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph):
        pass
    with torch.cuda.stream(side):
        graph.replay()
    assert emulated.named("launch_graph")[-1][2] == side.cuda_stream
    del graph
    gc.collect()
    assert len(emulated.named("destroy_graph")) == 1


def test_a_module_is_replayed(emulated):
    layer = torch.nn.Linear(3, 2).cuda()
    twin = torch.nn.Linear(3, 2)
    twin.load_state_dict({name: value.cpu() for name, value in layer.state_dict().items()})
    graphed = torch.cuda.make_graphed_callables(layer, (torch.randn(4, 3).cuda(),))
    assert graphed is layer
    before = len(emulated.named("launch_graph"))
    for _ in range(2):
        x = torch.randn(4, 3)
        for own in (layer, twin):
            own.zero_grad()
        layer(x.cuda()).square().sum().backward()
        twin(x).square().sum().backward()
        for ours, theirs in zip(layer.parameters(), twin.parameters(), strict=True):
            assert torch.allclose(ours.grad.cpu(), theirs.grad, atol=1e-4)
    assert len(emulated.named("launch_graph")) == before + 4
    layer.eval()
    layer(x.cuda())
    assert len(emulated.named("launch_graph")) == before + 4


def test_functions_are_replayed():
    first = torch.randn(3).cuda().requires_grad_()
    double, both = torch.cuda.make_graphed_callables(
        (lambda x: x * 2, lambda x, y: (x * y, x + y)), ((first,), (first, torch.ones(3).cuda()))
    )
    x = torch.tensor([1.0, 2.0, 3.0]).cuda().requires_grad_()
    product, total = both(double(x), torch.tensor([5.0, 6.0, 7.0]).cuda())
    assert product.tolist() == [10.0, 24.0, 42.0] and total.tolist() == [7.0, 10.0, 13.0]
    (product.sum() + total.sum()).backward()
    assert x.grad.tolist() == [12.0, 14.0, 16.0]
    with pytest.raises(ValueError, match="must contain Tensors"):
        torch.cuda.make_graphed_callables(lambda x: x, (1.0,))


L = torch.linalg
FIRST_CALLS = {
    "products": lambda x: x @ x,
    "blas": lambda x: torch.dot(x[0], x[1]),
    "solver": lambda x: L.cholesky_ex(x)[0],
    "fourier": lambda x: torch.fft.fft(x),
    "convolutions": lambda x: torch.nn.functional.conv1d(x[None], torch.ones_like(x)[None, :2, :2]),
}


@pytest.mark.parametrize("library", FIRST_CALLS)
def test_the_first_call_of_a_library_may_be_captured(library):
    """Handles and plans take memory, in which a graph has no part."""
    x, function = torch.eye(2) + 1, FIRST_CALLS[library]
    there, graph = x.cuda(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function(there)
    graph.replay()
    assert torch.allclose(result.cpu(), function(x))


def test_workspaces_of_a_graph_are_its_own(libraries):
    x, graph = torch.ones(3).cuda(), torch.cuda.CUDAGraph()
    torch.dot(x, x)
    (handle,) = [each for each in libraries["cublas"].objects.values() if each.kind == "library"]
    outside = handle.workspace
    with torch.cuda.graph(graph):
        torch.dot(x, x)
    assert handle.workspace != outside
    torch.dot(x, x)
    assert handle.workspace == outside


def test_errors_of_libraries_are_runtime_errors(libraries, monkeypatch):
    def refuse(*arguments):
        raise LibraryFailure(13)

    monkeypatch.setattr(StandInCublas, "dot_ex_64", refuse)
    x = torch.ones(3).cuda()
    with pytest.raises(RuntimeError, match=r"cuBLAS error: status 13 \(from dot_ex_64\)"):
        torch.dot(x, x)
