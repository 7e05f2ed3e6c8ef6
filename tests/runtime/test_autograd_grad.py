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


CONSTANT = (
    *("torch.relu(x)", "F.relu6(x)", "F.hardtanh(x)", "F.leaky_relu(x)", "F.threshold(x, 0, 2)"),
    *("F.hardshrink(x)", "F.softshrink(x)", "F.prelu(x, torch.tensor([0.5]))", "x.abs()"),
    *("F.rrelu(x)", "F.rrelu(x, training=True)", "x.clone().relu_()"),
    *("F.max_pool1d(x, 2)", "F.max_pool2d(x, 2)", "F.max_pool3d(x[None], 2)"),
    *("F.adaptive_max_pool1d(x, 2)", "F.adaptive_max_pool2d(x, 2)"),
    *("F.adaptive_max_pool3d(x[None], 2)", "F.avg_pool1d(x, 2)", "F.avg_pool2d(x, 2)"),
    *("F.avg_pool3d(x[None], 2)", "F.adaptive_avg_pool1d(x, 2)", "F.adaptive_avg_pool2d(x, 2)"),
    *("F.adaptive_avg_pool3d(x[None], 2)", "F.interpolate(x, 2, mode='area')"),
    *("F.pad(x, (1, 1), 'reflect')", "F.pad(x, (1, 1), 'replicate')"),
    "F.nll_loss(x[0], torch.tensor([0, 1, 2, 3]))",
)
"""Functions of `x` whose gradients are constant in it."""


@pytest.mark.parametrize("text", CONSTANT)
def test_a_constant_gradient_has_a_gradient_that_is_zero(torch, text):
    x = (torch.arange(32.0).reshape(2, 4, 4) - 13.5).requires_grad_()
    result = eval(text, {"torch": torch, "F": torch.nn.functional, "x": x})
    (first,) = torch.autograd.grad(result.sum(), x, create_graph=True)
    assert first.requires_grad
    (second,) = torch.autograd.grad((first * first.detach()).sum(), x)
    assert (second + torch.zeros(2, 4, 4)).tolist() == torch.zeros(2, 4, 4).tolist()


def test_a_constant_gradient_still_follows_from_the_incoming_one(torch):
    x = torch.tensor([-1.0, 2.0, 3.0], requires_grad=True)
    incoming = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (first,) = torch.autograd.grad(torch.relu(x), x, incoming, create_graph=True)
    found = torch.autograd.grad(first.sum(), (x, incoming))
    assert [each.tolist() for each in found] == [[0, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize(
    "text",
    (
        "F.conv1d(x, w, b)",
        "F.conv_transpose1d(x, w, b)",
        "F.batch_norm(x, None, None, b, b, True)",
        "F.layer_norm(x, (3,), b, b)",
    ),
)
def test_gradients_of_what_is_added_are_recorded(torch, text):
    x, w, b = (torch.ones(n, requires_grad=True) for n in ((2, 3, 3), (3, 3, 1), (3,)))
    result = eval(text, {"F": torch.nn.functional, "x": x, "w": w, "b": b})
    (first,) = torch.autograd.grad(result.sum(), b, create_graph=True)
    assert first.requires_grad


def test_a_hessian_written_by_hand(torch):
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    (first,) = torch.autograd.grad(torch.relu(x).sum() + (x[0] * x[1]), x, create_graph=True)
    rows = [torch.autograd.grad(each, x, retain_graph=True)[0].tolist() for each in first]
    assert rows == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_points_of_nearest_neighbours_have_gradient_zero(torch):
    image = torch.ones(1, 1, 3, 3, requires_grad=True)
    points = torch.zeros(1, 2, 2, 2, requires_grad=True)
    result = torch.nn.functional.grid_sample(image, points, mode="nearest", align_corners=False)
    found = torch.autograd.grad(result.sum(), (image, points), create_graph=True)
    assert [each.requires_grad for each in found] == [True, True]
    assert not found[1].any()
