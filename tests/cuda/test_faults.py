"""Indices outside, targets that are no class, weights that are none: whoever waits next is told."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from tests.cuda.compiling import check, needs_extra
from torchgen_out._runtime.backends.cuda import faults
from torchgen_out._runtime.kernels.cuda.faults import RECORDS

F = torch.nn.functional
pytestmark = pytest.mark.usefixtures("emulated")


def told(operator: str, what: str = "") -> Any:
    """Expect the error that names an operator."""
    return pytest.raises(torch.AcceleratorError, match=f"device-side assert.* {operator}: .*{what}")


def x() -> Any:
    return torch.arange(12.0).reshape(3, 4).cuda()


def at(*values: int) -> Any:
    return torch.tensor(values).cuda()


READS = {
    "index": lambda x: x[at(0, 3)],
    "index_select": lambda x: x.index_select(0, at(2, 4)),
    "gather": lambda x: x.gather(0, at(0, 1, -1, 2).reshape(1, 4)),
    "take": lambda x: x.take(at(11, 12)),
    "embedding": lambda x: F.embedding(at(1, 5), x),
}


@pytest.mark.parametrize("name", READS)
def test_what_is_outside_reads_as_zero(name):
    """Nothing is read in its place."""
    got = READS[name](x() + 1)
    with told(name, "(is out of bounds for a dimension with size|index out of range in self)"):
        torch.cuda.synchronize()
    assert 0 in got.flatten().tolist()


@pytest.mark.parametrize("name", ["index_select", "gather", "embedding"])
def test_nothing_is_read_of_what_has_no_elements(name):
    got = READS[name](x()[:0])
    with told(name):
        torch.cuda.synchronize()
    assert set(got.flatten().tolist()) == {0}


def test_classes_outside_have_no_one(emulated):
    labels = at(0, 3, -1, 2)
    waits = len(emulated.named("synchronize_stream"))
    got = F.one_hot(labels, 3)
    assert len(emulated.named("synchronize_stream")) == waits
    with told("one_hot", "of bounds for a dimension with size 3"):
        torch.cuda.synchronize()
    assert got.tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("place", [0, 1])
def test_a_loss_waits_for_no_look_at_its_probabilities(emulated, place):
    inside = torch.tensor([0.0, 0.25, 1.0, 0.5, 0.75]).cuda()
    given = [inside, inside]
    waits = len(emulated.named("synchronize_stream"))
    loss = F.binary_cross_entropy(*given)
    given[place] = (inside + 0.5).view(5, 1).expand(5, 2)[:, 0]
    F.binary_cross_entropy(*given)
    assert len(emulated.named("synchronize_stream")) == waits
    with told("binary_cross_entropy", "all elements of (input|target) should be between 0 and 1"):
        torch.cuda.synchronize()
    assert loss.item() == pytest.approx(F.binary_cross_entropy(inside.cpu(), inside.cpu()).item())


@needs_extra
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_looking_at_probabilities_compiles(emulated, dtype):
    zeros = torch.zeros(3, device="cuda", dtype=dtype)
    F.binary_cross_entropy(zeros, zeros)
    names = {source.name: source for source in emulated.sources.values()}
    check(names["look_for_truth"], is_double=False)


WRITES = {
    "index_put": lambda x: x.index_put_((at(0, 3),), torch.ones(4).cuda()),
    "index_add": lambda x: x.index_add_(0, at(-1), torch.ones(1, 4).cuda()),
    "index_copy": lambda x: x.index_copy_(0, at(3), torch.ones(1, 4).cuda()),
    "index_fill": lambda x: x.index_fill_(0, at(-4), 1),
    "put": lambda x: x.put_(at(12), torch.ones(1).cuda()),
    "scatter": lambda x: x.scatter_(0, at(3, 3, 3, 3).reshape(1, 4), 1.0),
    "scatter_add": lambda x: x.scatter_add_(0, at(-1, 3).reshape(1, 2), torch.ones(1, 2).cuda()),
    "index_reduce": lambda x: x.index_reduce_(0, at(9), torch.ones(1, 4).cuda(), "amax"),
    "scatter_reduce": lambda x: x.scatter_reduce_(
        0, at(3, 9).reshape(1, 2), torch.ones(1, 2).cuda(), "mean", include_self=False
    ),
}


@pytest.mark.parametrize("name", WRITES)
def test_nothing_is_written_outside(name):
    given, expected = x(), x().tolist()
    WRITES[name](given)
    with told(name):
        torch.cuda.current_stream().synchronize()
    if name == "index_put":
        expected[0] = [1.0] * 4
    assert given.tolist() == expected


@pytest.mark.parametrize(("row", "column"), [(3, 0), (1, 4), (-4, 0), (2, -5)])
def test_one_of_several_indices_outside(row, column):
    """Nothing is written in the place of what it names."""
    given, expected = x(), x().tolist()
    given.index_put_((at(row, -1), at(column, 0)), torch.tensor([-1.0, -2.0]).cuda())
    with told("index_put"):
        torch.cuda.synchronize()
    expected[2][0] = -2.0
    assert given.tolist() == expected


def test_a_source_with_too_few_elements(emulated):
    """Nobody waits for the number of places."""
    mask = torch.tensor([True, False, True, True]).cuda()
    waits = len(emulated.named("synchronize_stream"))
    found = torch.zeros(4).cuda().masked_scatter(mask, torch.ones(3).cuda())
    torch.zeros(4).cuda().masked_scatter(mask, torch.ones(2).cuda())
    assert len(emulated.named("synchronize_stream")) == waits
    with told("masked_scatter", "of bounds for a dimension with size 2"):
        torch.cuda.synchronize()
    assert found.tolist() == [1, 0, 1, 1]


def test_pivots():
    factors, pivots = torch.eye(2).cuda(), torch.tensor([1, 9], dtype=torch.int32).cuda()
    permutation = torch.lu_unpack(factors, pivots)[0]
    with told("lu_permutation", "index 8 is out of bounds for a dimension with size 2"):
        torch.cuda.synchronize()
    assert permutation.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_gradient_of_an_embedding():
    weight = x().requires_grad_()
    F.embedding(at(1, 3), weight).sum().backward()
    with told("embedding"):
        weight.grad.cpu()


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 2)])
def test_targets(shape):
    scores = torch.ones(*shape).cuda()
    labels = torch.full((2, *shape[2:]), 3).cuda()
    loss = F.cross_entropy(scores, labels)
    with told("(cross_entropy_rows|nll_loss_forward)", "index 3 is out of bounds for a dimension"):
        loss.item()
    ignored = F.cross_entropy(scores, labels, ignore_index=3, reduction="sum")
    assert ignored.item() == 0


@pytest.mark.parametrize("p", [1.5, -0.5, float("nan")])
def test_probabilities(p):
    drawn = torch.tensor([0.5, p]).cuda().bernoulli()
    with told("bernoulli", "between 0 and 1"):
        drawn.tolist()


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("weights", [[1.0, -1.0], [1.0, float("inf")], [0.0, 0.0]], ids=str)
def test_weights_of_draws(weights, replacement):
    drawn = torch.multinomial(torch.tensor(weights).cuda(), 1, replacement)
    with told("multinomial", "probabilit"):
        drawn.cpu()


def test_weights_of_zero_beside_others_are_fine():
    weights = torch.tensor([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]).cuda()
    assert torch.multinomial(weights, 2, replacement=True)[0].tolist() == [1, 1]
    assert torch.multinomial(weights, 1)[0].tolist() == [1]


# -- who is told, and what ------------------------------------------------------------------------


def test_faults_of_several_operators_and_all_are_forgotten():
    given, places = x(), [at(12), at(7), at(8)]
    given.take(places[0]), given[places[1]], given[places[2]]
    with pytest.raises(torch.AcceleratorError) as caught:
        torch.cuda.synchronize()
    text = str(caught.value)
    assert "take: index 12" in text and "index: index 7 is out" in text and "index 8" not in text
    assert caught.value.error_code == 710
    torch.cuda.synchronize()
    assert x()[at(2)].tolist() == [[8.0, 9.0, 10.0, 11.0]]


@pytest.mark.parametrize("wait", ["query", "synchronize"])
def test_events_and_streams_tell(wait):
    event = torch.cuda.Event()
    x()[at(3)]
    event.record()
    with told("index"):
        getattr(event, wait)()
    x()[at(3)]
    with told("index"):
        getattr(torch.cuda.current_stream(), wait)()


def test_another_device_does_not_tell():
    x()[at(3)]
    torch.cuda.synchronize(1)
    with told("index"):
        torch.cuda.synchronize(0)


def test_a_replay_tells():
    given, index = x(), at(0, 1)
    given[index]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        given[index]
    index.fill_(5)
    torch.cuda.synchronize()
    graph.replay()
    with told("index"):
        torch.cuda.synchronize()


def test_no_launch_and_no_wait_is_added(emulated):
    given, index = x(), at(1)
    given[index]
    calls = len(emulated.calls)
    given[index]
    names = [call[0] for call in emulated.calls[calls:]]
    assert names.count("launch") == 1 and "synchronize_stream" not in names


def test_an_operator_keeps_its_record():
    assert faults.record(0, "take") == faults.record(0, "take") != faults.record(0, "put")
    assert faults.record(1, "take") != faults.record(0, "take")
    assert len({faults.record(0, str(number)) for number in range(RECORDS - 2)}) == RECORDS - 2
