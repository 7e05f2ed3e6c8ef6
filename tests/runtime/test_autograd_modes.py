"""Switching recording on and off; anomaly mode.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import threading
import warnings

import pytest

from tests.runtime.leaves import leaf


def test_contexts(torch):
    x = leaf(torch, [1.0])
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        assert not (x * 2).requires_grad
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert torch.is_grad_enabled()


def test_set_grad_enabled(torch):
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    assert torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def off():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()
    assert not off()


def test_decorators(torch):
    @torch.no_grad()
    def off(value):
        """Says whether recording is on."""
        return torch.is_grad_enabled(), value

    @torch.no_grad
    def off_too():
        return torch.is_grad_enabled()

    @torch.enable_grad()
    def on():
        return torch.is_grad_enabled()

    assert off(3) == (False, 3) and off.__name__ == "off" and "recording" in off.__doc__
    assert off_too() is False
    with torch.no_grad():
        assert on()
    assert torch.is_grad_enabled()


def test_generators(torch):
    inside = []

    @torch.no_grad()
    def counting():
        for i in range(3):
            inside.append(torch.is_grad_enabled())
            received = yield i
            inside.append((torch.is_grad_enabled(), received))
        return "end"

    generator = counting()
    assert next(generator) == 0
    assert torch.is_grad_enabled()
    assert generator.send("sent") == 1
    assert torch.is_grad_enabled()
    assert next(generator) == 2
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "end"
    assert inside == [False, (False, "sent"), False, (False, None), False, (False, None)]


def test_generators_pass_exceptions(torch):
    @torch.no_grad()
    def catching():
        try:
            yield 1
        except ValueError:
            yield "caught", torch.is_grad_enabled()

    generator = catching()
    next(generator)
    assert generator.throw(ValueError) == ("caught", False)
    generator.close()
    assert torch.is_grad_enabled()


def test_threads_have_modes_of_their_own(torch):
    found = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: found.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert found == [True]


def test_factories_in_no_grad(torch):
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
    assert x.requires_grad


def test_inference_mode(torch):
    x = leaf(torch, [1.0])
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        assert not (x * 2).requires_grad
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()

    @torch.inference_mode()
    def inside():
        return torch.is_inference_mode_enabled()

    assert inside()


def test_anomaly_mode_finds_nan(torch):
    x = leaf(torch, [0.0, 1.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with torch.autograd.detect_anomaly():
            y = (x * 0).sqrt() * 0
            with pytest.raises(RuntimeError, match=r"Function '\w+Backward0' returned nan values"):
                y.sum().backward()
    text = "\n".join(str(each.message) for each in caught)
    assert "Anomaly Detection has been enabled" in text
    assert "y = (x * 0).sqrt() * 0" in text
    assert "SqrtBackward0" in text
    assert not torch.is_anomaly_enabled()


def test_anomaly_mode_names_the_forward_line_of_an_error(torch):
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("on purpose")

    x = leaf(torch, [1.0])
    with torch.autograd.set_detect_anomaly(True):
        y = Fails.apply(x)  # the culprit
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(ValueError, match="on purpose"):
                y.sum().backward()
    assert "the culprit" in "\n".join(str(each.message) for each in caught)


def test_anomaly_mode_without_nan_check(torch):
    x = leaf(torch, [0.0])
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        (x.sqrt() * 0).sum().backward()
    assert x.grad.isnan().tolist() == [True]
