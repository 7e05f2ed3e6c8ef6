"""torch.autograd.grad and derivatives of derivatives.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import warnings

import pytest

from tests.runtime.leaves import leaf


def test_grad_leaves_grad_alone(torch):
    x = leaf(torch, [1.0, 2.0])
    (gradient,) = torch.autograd.grad((x * x).sum(), x)
    assert gradient.tolist() == [2.0, 4.0]
    assert x.grad is None


def test_grad_of_intermediate_tensors(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 3
    z = (y * y).sum()
    to_y, to_x = torch.autograd.grad(z, [y, x])
    assert to_y.tolist() == [6.0, 12.0]
    assert to_x.tolist() == [18.0, 36.0]


def test_grad_does_not_run_what_lies_below_its_inputs(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * x
    z = (y * y).sum()
    torch.autograd.grad(z, y)
    y.sum().backward()  # its graph has not been used up
    assert x.grad.tolist() == [2.0, 4.0]


def test_grad_of_an_output_with_respect_to_itself(torch):
    x = leaf(torch, [1.0, 2.0])
    y = (x * 2).sum()
    assert [each.tolist() for each in torch.autograd.grad(y, [y, x])] == [1.0, [2.0, 2.0]]


def test_grad_with_given_gradients(torch):
    x = leaf(torch, [1.0, 2.0])
    (gradient,) = torch.autograd.grad(x * x, x, torch.tensor([1.0, 10.0], dtype=torch.float64))
    assert gradient.tolist() == [2.0, 40.0]


def test_grad_of_unused_inputs(torch):
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [1.0])
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(x.sum(), [x, y])
    assert torch.autograd.grad(x.sum(), [x, y], allow_unused=True)[1] is None
    found = torch.autograd.grad(x.sum(), [x, y], materialize_grads=True)
    assert found[1].tolist() == [0.0]
    with pytest.raises(RuntimeError, match="does not require grad"):
        torch.autograd.grad(x.sum(), torch.ones(2))
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad(x.sum(), y, allow_unused=False, materialize_grads=True)


def test_the_same_input_twice(torch):
    x = leaf(torch, [1.0])
    first, second = torch.autograd.grad((x * 2).sum(), [x, x])
    assert first.tolist() == second.tolist() == [2.0]


def test_backward_into_chosen_inputs(torch):
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    middle = x * y
    (middle * 2).sum().backward(inputs=[x])
    assert x.grad.tolist() == [6.0, 8.0]
    assert y.grad is None
    middle = x * y
    (middle * 2).sum().backward(inputs=[middle, y])
    assert middle.grad.tolist() == [2.0, 2.0]
    assert y.grad.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [6.0, 8.0]
    with pytest.raises(RuntimeError, match="cannot be empty"):
        x.sum().backward(inputs=[])


def test_higher_derivatives(torch):
    x = leaf(torch, [2.0, 3.0])
    y = (x * x * x).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    assert first.requires_grad and first.grad_fn is not None
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    assert second.tolist() == [12.0, 18.0]
    assert third.tolist() == [6.0, 6.0]
    assert not third.requires_grad


def test_create_graph_accumulates_out_of_place(torch):
    x = leaf(torch, [2.0, 3.0])
    warnings.filterwarnings("ignore", "Using backward.. with create_graph=True", UserWarning)
    (x * x).sum().backward(create_graph=True)
    first = x.grad
    assert first.requires_grad
    (x * x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert first.tolist() == [4.0, 6.0]
    x.grad.sum().backward()
    assert x.grad.tolist() == [12.0, 16.0]


def test_saved_results_under_create_graph(torch):
    x = leaf(torch, [0.5, 1.0])
    (first,) = torch.autograd.grad(x.exp().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    assert third.tolist() == pytest.approx(x.exp().tolist())
