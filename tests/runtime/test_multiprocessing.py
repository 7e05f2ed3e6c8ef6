"""Tensors in several processes: memory that is shared, sent, lent, and gone when nobody has it."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
import torchgen_out.multiprocessing as mp
from tests.runtime.processes import mapped_memory
from torchgen_out._runtime.core import shared_memory
from torchgen_out._runtime.library.multiprocessing.channel import Channel, ChannelClosed

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # threads, fork


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = mapped_memory()
    yield
    if mapped_memory() != before:
        gc.collect()
    assert mapped_memory() == before


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    pair = [Channel(end) for end in socket.socketpair()]
    yield pair[0], pair[1]
    for channel in pair:
        channel.close()


def passed(ends: tuple[Channel, Channel], message: Any) -> Any:
    """What arrives of a message."""
    ends[0].send(message)
    return ends[1].receive()


def acknowledge(ends: tuple[Channel, Channel]) -> None:
    """Return what was lent, as the next message does."""
    ends[1].send(None)
    ends[0].receive()


def run(function: Any, *args: Any) -> None:
    process = mp.get_context("fork").Process(target=function, args=args)
    process.start()
    process.join()
    assert process.exitcode == 0


# -- sharing ------------------------------------------------------------------------------------


def test_sharing_moves_all_views() -> None:
    x = torch.arange(6.0)
    tail = x[2:]
    assert (tail + 0).tolist() == [2, 3, 4, 5] and not x.is_shared()
    assert x.share_memory_() is x
    assert x.is_shared() and tail.is_shared() and x.untyped_storage().is_shared()
    x[3] = 9
    assert (tail + 0).tolist() == [2, 9, 4, 5]
    assert not (x + 1).is_shared()
    place = x.data_ptr()
    assert x.share_memory_().data_ptr() == place
    assert torch.empty(0).share_memory_().numel() == 0


def test_parameters_and_their_optimizer_are_shared() -> None:
    model = torch.nn.Linear(2, 2).share_memory()
    assert model.weight.is_shared() and model.bias.is_shared()
    optimizer = torch.optim.Adagrad(model.parameters())
    optimizer.share_memory()
    assert optimizer.state[model.weight]["sum"].is_shared()


def test_a_child_writes_what_its_parent_reads() -> None:
    x, own = torch.zeros(3).share_memory_(), torch.zeros(3)

    def write() -> None:
        x[1] = own[1] = 5

    run(write)
    assert x.tolist() == [0, 5, 0] and own.tolist() == [0, 0, 0]


def test_a_queue_carries_memory_not_values() -> None:
    questions, answers = mp.SimpleQueue(), mp.SimpleQueue()

    def add_one() -> None:
        received = questions.get()
        received += 1
        answers.put(received[:2])
        questions.get()  # what is sent comes from here, and is fetched when it is received

    x = torch.zeros(4)
    process = mp.get_context("fork").Process(target=add_one)
    process.start()
    questions.put(x)
    back = answers.get()
    questions.put(None)
    process.join()
    assert x.is_shared() and x.tolist() == [1, 1, 1, 1] and back.tolist() == [1, 1]
    assert back.untyped_storage() is x.untyped_storage()
    questions.close()
    answers.close()


def test_leaves_travel_and_histories_do_not() -> None:
    queue = mp.SimpleQueue()
    queue.put(torch.nn.Parameter(torch.ones(2)))
    parameter = queue.get()
    assert isinstance(parameter, torch.nn.Parameter) and parameter.requires_grad
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        queue.put(parameter * 2)
    queue.put((parameter * 2).detach())
    assert queue.get().tolist() == [2, 2]
    queue.close()


def test_parameters_travel_as_memory() -> None:
    """`multiprocessing` goes by the very class: that of a parameter, or of `.data`'s storage."""
    layer = torch.nn.Linear(2, 2).share_memory()
    layer.register_buffer("own", torch.nn.Buffer(torch.zeros(2)).share_memory_())
    ours, theirs = mp.get_context("fork").Pipe()
    ours.send([layer, layer.weight, layer.weight.data])
    again, weight, data = theirs.recv()
    for tensor in (again.weight, again.bias, again.own, weight, data):
        tensor.data.fill_(7)
    assert all(tensor.eq(7).all() for tensor in (layer.weight, layer.bias, layer.own))


def test_strategies() -> None:
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    mp.set_sharing_strategy("file_system")
    assert mp.get_sharing_strategy() == "file_system"
    mp.set_sharing_strategy("file_descriptor")
    with pytest.raises(AssertionError, match="invalid sharing strategy"):
        mp.set_sharing_strategy("pigeon")


# -- channels -----------------------------------------------------------------------------------


def test_what_travels_through_a_channel(ends: tuple[Channel, Channel]) -> None:
    large, small = torch.arange(50_000).reshape(50, 1000), torch.ones(3, dtype=torch.bool)
    array = np.arange(9000.0)
    sent = {"t": large.t(), "s": [small, large], "a": array, "text": "x" * 100_000, "none": None}
    found = passed(ends, sent)
    assert found["t"].stride() == (1, 1000) and found["t"].is_shared()
    assert torch.equal(found["t"], large.t()) and found["s"][0].tolist() == [True] * 3
    found["t"][1, 0] = -1
    assert found["s"][1][0, 1] == -1 and large[0, 1] == 1  # as before, views of one storage
    np.testing.assert_array_equal(found["a"], array)
    assert found["text"] == sent["text"] and found["none"] is None


@pytest.mark.parametrize("name", ["float16", "bfloat16", "complex64", "int8", "bool"])
def test_elements_of_every_size(ends: tuple[Channel, Channel], name: str) -> None:
    x = torch.arange(20_000).remainder(2).to(getattr(torch, name))
    found = passed(ends, (x, x[7]))
    assert found[0].dtype is x.dtype and torch.equal(found[0], x) and found[1].shape == ()


def test_a_part_travels_without_the_rest(ends: tuple[Channel, Channel]) -> None:
    table = torch.arange(1_000_000.0).reshape(1000, 1000)
    row = passed(ends, table[5])
    assert row.tolist() == table[5].tolist() and row.untyped_storage().nbytes() == 4000
    column = passed(ends, table[:20, 3])
    assert column.stride() == (1000,) and column.tolist() == table[:20, 3].tolist()


def test_memory_serves_again_when_nobody_looks(ends: tuple[Channel, Channel]) -> None:
    x = torch.ones(10_000)
    first = passed(ends, x)
    acknowledge(ends)
    second = passed(ends, x * 2)
    places = {first.data_ptr(), second.data_ptr()}
    assert len(places) == 2 and first.sum() == 10_000
    part = second.numpy()[:5]
    del first, second
    acknowledge(ends)
    third = passed(ends, x * 3)
    assert third.data_ptr() in places and part.tolist() == [2] * 5
    del third, part
    acknowledge(ends)
    assert passed(ends, x * 4).data_ptr() in places


def test_memory_that_others_may_have_does_not_serve_again(ends: tuple[Channel, Channel]) -> None:
    x = torch.ones(10_000)
    for leave in (lambda _: run(int), lambda found: mp.SimpleQueue().put(found)):
        found = passed(ends, x)
        memory = shared_memory.memory_of(found.untyped_storage().buffer)
        assert memory is not None and not memory.has_left
        leave(found)
        assert memory.has_left
        place = memory.file()
        del found, memory
        acknowledge(ends)
        found = passed(ends, x)
        memory = shared_memory.memory_of(found.untyped_storage().buffer)
        assert memory is not None and memory.file() != place
        del found, memory
        acknowledge(ends)


def test_who_holds_much_gets_copies() -> None:
    pair = socket.socketpair()
    ends = Channel(pair[0]), Channel(pair[1], most_held=3)
    kept = [passed(ends, torch.full((10_000,), float(i))) for i in range(6)]
    assert [each.is_shared() for each in kept] == [True] * 3 + [False] * 3
    assert [each[9].item() for each in kept] == list(range(6))
    del kept
    acknowledge(ends)
    assert passed(ends, torch.ones(10_000)).is_shared()
    for channel in ends:
        channel.close()


def test_shared_tensors_are_the_same_at_both_ends(ends: tuple[Channel, Channel]) -> None:
    sent = [torch.zeros(2).share_memory_() for _ in range(203)]  # more than one frame may carry
    found = passed(ends, sent)
    for i in (0, 199, 200, 202):
        found[i][1] = i + 1
        assert sent[i].tolist() == [0, i + 1]


def test_sizes_that_change_do_not_pile_up(ends: tuple[Channel, Channel]) -> None:
    before = mapped_memory()

    def use(numel: int) -> int:
        assert passed(ends, torch.ones(numel))[-1] == 1
        acknowledge(ends)
        return mapped_memory() - before

    assert max(use(numel) for numel in range(10_000, 20_000, 1000)) <= 6  # both ends count
    assert max(use(200_000), use(20_000)) <= 8
    steady = mapped_memory()
    for numel in (20_000, 200_000, 15_000, 150_000):
        use(numel)
    assert mapped_memory() == steady


def test_sending_does_not_wait(ends: tuple[Channel, Channel]) -> None:
    for i in range(50):
        ends[0].send("x" * 50_000 + str(i))
    assert not ends[0].flush()
    for i in range(50):
        assert ends[1].receive().endswith(f"x{i}")
        ends[0].flush()
    assert ends[0].flush()


def test_a_closed_channel(ends: tuple[Channel, Channel]) -> None:
    ends[0].close()
    with pytest.raises(ChannelClosed):
        ends[1].receive()
    with pytest.raises(ChannelClosed):
        ends[1].send(1)


# -- processes that fail ------------------------------------------------------------------------


def fill(index: int, x: torch.Tensor) -> None:
    x[index] = index + 1


def fail(index: int, how: str) -> None:
    if index == 0:
        signal.pause()  # until the other's failure ends this one
    if how == "raise":
        raise ValueError("a failure to tell")
    if how == "exit":
        os._exit(3)
    os.kill(os.getpid(), signal.SIGKILL)


def test_functions_in_processes() -> None:
    x = torch.zeros(2).share_memory_()
    assert mp.start_processes(fill, (x,), 2, start_method="fork") is None
    assert x.tolist() == [1, 2]
    context = mp.spawn(fill, (x,), 1, join=False, start_method="fork")
    assert len(context.pids()) == 1
    while not context.join():
        pass


@pytest.mark.parametrize(
    ("how", "error", "phrase"),
    [
        ("raise", mp.ProcessRaisedException, "ValueError: a failure to tell"),
        ("exit", mp.ProcessExitedException, "process 1 terminated with exit code 3"),
        ("kill", mp.ProcessExitedException, "process 1 terminated with signal SIGKILL"),
    ],
)
def test_the_first_failure_is_raised(how: str, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase) as caught:
        mp.start_processes(fail, (how,), 2, start_method="fork")
    assert caught.value.error_index == 1


PROGRAM = """
import torchgen_out as torch
import torchgen_out.multiprocessing as mp

def fill(index, x, queue):
    x[index] = index + 1
    queue.put(x * 2)
    queue.get()  # what is sent comes from here, and is fetched when it is received

if __name__ == "__main__":
    x, context = torch.zeros(2), mp.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=fill, args=(1, x.share_memory_(), queue))
    process.start()
    found = queue.get()
    queue.put(None)
    process.join()
    assert x.tolist() == [0, 2] and found.tolist() == [0, 4] and process.exitcode == 0
"""


def test_a_fresh_process(tmp_path: Any) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, path], timeout=60, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr
