"""Devices, streams and events, against a driver that records what it is asked."""

from __future__ import annotations

import threading

import pytest

import torchgen_out as torch
from torchgen_out._runtime.backends.cuda import streams

pytestmark = pytest.mark.usefixtures("recording")


def test_current_device():
    assert torch.cuda.current_device() == 0
    with torch.cuda.device("cuda:1"):
        assert torch.cuda.current_device() == 1
        with torch.cuda.device(0):
            assert torch.cuda.current_device() == 0
        torch.cuda.set_device("cuda")
        assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0
    assert torch.cuda.device_count() == 2
    with pytest.raises(RuntimeError, match="invalid device ordinal: there is no device cuda:2"):
        torch.cuda.set_device(2)


def test_each_thread_has_its_own_device():
    seen = []
    with torch.cuda.device(1):
        thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_device()))
        thread.start()
        thread.join()
    assert seen == [0]


def test_properties():
    assert torch.cuda.get_device_name() == "Recorded"
    assert torch.cuda.get_device_capability("cuda:1") == (9, 0)
    assert torch.cuda.get_device_properties(0).multi_processor_count == 132
    assert torch.cuda.mem_get_info() == (1 << 30, 1 << 30)
    assert torch.cuda.can_device_access_peer(0, 1)
    assert torch.cuda.is_bf16_supported(including_emulation=False)


def test_current_stream(recording):
    default = torch.cuda.default_stream()
    assert torch.cuda.current_stream() == default and default.cuda_stream == 0
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        assert streams.current_handle(0) == side.cuda_stream
        assert torch.cuda.current_stream(1).cuda_stream == 0
    assert torch.cuda.current_stream() == default
    assert len({side, torch.cuda.Stream(), default}) == 3
    assert recording.named("create_stream") == [(0, 0), (0, 0)]


def test_a_stream_brings_its_device():
    on_second = torch.cuda.Stream(device=1)
    with torch.cuda.stream(on_second):
        assert torch.cuda.current_device() == 1
        assert torch.cuda.current_stream() == on_second
    assert torch.cuda.current_device() == 0
    assert on_second.device == torch.device("cuda:1")


def test_streams_come_from_a_pool(recording):
    made = {torch.cuda.Stream().cuda_stream for _ in range(100)}
    assert len(made) == streams.POOL_SIZE == len(recording.named("create_stream"))


def test_streams_wait_for_each_other(recording):
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    second.wait_stream(first)
    (_, event, recorded_in), (_, waiting, awaited) = (
        recording.named("record_event")[0],
        recording.named("wait_event")[0],
    )
    assert recorded_in == first.cuda_stream
    assert (waiting, awaited) == (second.cuda_stream, event)
    first.synchronize()
    assert recording.named("synchronize_stream") == [(0, first.cuda_stream)]
    recording.pending.add(first.cuda_stream)
    assert not first.query() and second.query()


def test_events(recording):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    assert start.query() and start.device is None
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    end.record(torch.cuda.Stream())
    assert start.elapsed_time(end) > 0
    recording.pending.add(end.cuda_event)
    assert not end.query()
    end.synchronize()
    assert recording.named("synchronize_event") == [(0, end.cuda_event)]
    handle = end.cuda_event
    del end
    assert recording.named("destroy_event") == [(0, handle)]


def test_only_events_that_take_the_time_tell_it():
    start, end = torch.cuda.Event(), torch.cuda.Event(enable_timing=True)
    start.record()
    end.record()
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(end)


def test_events_are_of_one_device():
    event, other = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    event.record()
    with pytest.raises(RuntimeError, match="device 0 does not match recording stream's device 1"):
        event.record(torch.cuda.default_stream(1))
    other.record(torch.cuda.default_stream(1))
    with pytest.raises(RuntimeError, match="device 0 does not match"):
        event.elapsed_time(other)
    torch.cuda.default_stream(1).wait_event(event)


@pytest.mark.parametrize("call", ["backward", "several", "grad"])
def test_backward_waits_for_the_stream_of_the_forward_pass(emulated, call):
    side, w = torch.cuda.Stream(), torch.full((8,), 2.0).cuda().requires_grad_()
    side.wait_stream(torch.cuda.current_stream())
    expected = (3 * w.detach() ** 2).tolist()
    for _ in range(2):  # the second time in memory that the first has given back
        w.grad = None
        with torch.cuda.stream(side):
            loss = (w * w * w).sum()
        if call == "grad":
            found = torch.autograd.grad(loss, w)[0]
        else:
            torch.autograd.backward(loss if call == "backward" else [loss])
            found = w.grad
        del loss
        with torch.cuda.stream(side):
            for _ in range(4):
                torch.full((8,), 9.0, device="cuda")
            side.synchronize()
        assert found.tolist() == expected


def test_an_event_never_recorded_is_not_waited_for(recording):
    torch.cuda.current_stream().wait_event(torch.cuda.Event())
    torch.cuda.Event().synchronize()
    assert recording.calls == []


def test_seeds_are_the_devices_own():
    torch.cuda.manual_seed_all(5)
    with torch.cuda.device(1):
        torch.cuda.manual_seed(6)
        assert torch.cuda.initial_seed() == 6
    assert torch.cuda.initial_seed() == 5
    states = torch.cuda.get_rng_state_all()
    torch.cuda.seed_all()
    assert torch.cuda.initial_seed() not in (5, 6)
    torch.cuda.set_rng_state_all(states)
    assert torch.cuda.initial_seed() == 5
    assert torch.equal(torch.cuda.get_rng_state("cuda:1"), states[1])


def test_deep_backward_stays_in_its_stream(emulated):
    """Backward in backward goes on in a thread of its own from some depth on."""

    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.save_for_backward(x)
            ctx.depth = depth
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append((torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream))
            if ctx.depth:
                with torch.enable_grad():
                    inner = Nested.apply(
                        ctx.saved_tensors[0].detach().requires_grad_(), ctx.depth - 1
                    )
                inner.backward(grad)
            return grad * 2, None

    seen = []
    side = torch.cuda.Stream(device=1)
    with torch.cuda.stream(side):
        x = torch.ones(2, device="cuda", requires_grad=True)
        Nested.apply(x, 45).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]
    assert len(seen) == 46 and set(seen) == {(1, side.cuda_stream)}
