"""Who is a leaf, who may require a gradient, and what its attributes say.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import pytest

from tests.runtime.leaves import leaf


def test_leaves_and_their_properties(torch):
    x = torch.ones(2)
    assert x.is_leaf and not x.requires_grad and x.grad_fn is None
    assert x.requires_grad_() is x
    assert x.is_leaf and x.requires_grad
    y = x * 2
    assert not y.is_leaf and y.requires_grad
    assert y.grad_fn.name() == "MulBackward0"
    assert y.output_nr == 0
    assert y.grad_fn.next_functions[0][0].name().endswith("AccumulateGrad")
    assert y.grad_fn.next_functions[0][0].variable is x
    assert y.detach().is_leaf and not y.detach().requires_grad
    x.requires_grad = False
    assert not (x * 2).requires_grad


def test_who_may_require_grad(torch):
    with pytest.raises(RuntimeError, match="can require gradients"):
        torch.ones(2, dtype=torch.int64).requires_grad_()
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="can only change requires_grad flags of leaf"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="can only change requires_grad flags of leaf"):
        y.requires_grad_(False)
    assert y.requires_grad_() is y
    assert not torch.ones(2, dtype=torch.int64).requires_grad_(False).requires_grad


def test_integer_results_are_outside_the_graph(torch):
    x = leaf(torch, [1.0, 3.0, 2.0])
    assert not x.argmax().requires_grad
    assert not (x > 1).requires_grad
    assert not x.to(torch.int64).requires_grad
    values, indices = x.max(0)
    assert values.requires_grad and not indices.requires_grad


def test_several_outputs(torch):
    x = leaf(torch, [[1.0, 5.0], [7.0, 2.0]])
    values, indices = x.max(1)
    (values * torch.tensor([1.0, 10.0], dtype=torch.float64)).sum().backward()
    assert indices.tolist() == [1, 0]
    assert x.grad.tolist() == [[0.0, 1.0], [10.0, 0.0]]
    x.grad = None
    first, _ = x.unbind()
    (first * first).sum().backward()
    assert x.grad.tolist() == [[2.0, 10.0], [0.0, 0.0]]


def test_detach_cuts(torch):
    x = leaf(torch, [2.0])
    (x * x.detach()).sum().backward()
    assert x.grad.tolist() == [2.0]
    y = x * 2
    y.detach_()
    assert y.is_leaf and not y.requires_grad


def test_assigning_grad(torch):
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.zeros(2)
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    x.grad = None
    assert x.grad is None
    with pytest.raises(RuntimeError, match="attempting to assign a gradient of size"):
        x.grad = torch.ones(3)
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = torch.ones(2, dtype=torch.float64)
    with pytest.raises(TypeError, match="to be a Tensor or None"):
        x.grad = 1
    with pytest.raises(RuntimeError, match="its own grad"):
        x.grad = x


@pytest.mark.parametrize("before", [None, [5.0, 5.0]])
@pytest.mark.parametrize(
    "freeze",
    [
        lambda x: x.requires_grad_(False),
        lambda x: setattr(x, "requires_grad", False),
        lambda x: x.detach_(),
    ],
)
def test_a_leaf_that_was_frozen_after_its_use_gets_nothing(torch, freeze, before):
    x, other = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    seen, accumulated = [], []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    x.register_post_accumulate_grad_hook(accumulated.append)
    if before is not None:
        x.grad = torch.tensor(before, dtype=torch.float64)
    y = (x * other).sum()
    freeze(x)
    y.backward(retain_graph=True)
    assert (x.grad if before is None else x.grad.tolist()) == before
    assert seen == [[3.0, 4.0]] and len(accumulated) == 1
    assert other.grad.tolist() == [1.0, 2.0]
    x.requires_grad_()
    y.backward()
    expected = [3.0, 4.0] if before is None else [8.0, 9.0]
    assert x.grad.tolist() == expected and len(accumulated) == 2


@pytest.mark.parametrize(
    ("shape", "write"),
    [
        ((2, 3), lambda x: x.unsqueeze_(0)),
        ((3,), lambda x: x.unsqueeze_(0).unsqueeze_(0)),
        ((3, 3), lambda x: x.t_()),
        ((3, 3, 2), lambda x: x.transpose_(0, 1)),
    ],
)
def test_a_leaf_of_another_shape_than_at_its_use(torch, shape, write):
    x = torch.ones(shape, requires_grad=True)
    y = (x * 3).sum()
    with torch.no_grad():
        write(x)
    y.backward()
    assert x.grad.shape == x.shape and x.grad.stride() == x.stride()
    assert x.grad.flatten().tolist() == [3.0] * x.numel()


def test_grad_of_a_non_leaf_warns(torch):
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert y.grad is None


def test_retain_grad(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    z = (y * y).sum()
    z.backward(retain_graph=True)
    assert y.grad.tolist() == [4.0, 8.0]
    z.backward()
    assert y.grad.tolist() == [8.0, 16.0]
    x.retain_grad()
    with pytest.raises(RuntimeError, match="can't retain_grad"):
        torch.ones(2).retain_grad()


def test_data(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * x
    x.data.mul_(10)  # unseen by the version counter
    assert x.tolist() == [10.0, 20.0]
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 40.0]
    assert not x.data.requires_grad
    x.data = torch.tensor([7.0, 8.0, 9.0], dtype=torch.float64)
    assert x.tolist() == [7.0, 8.0, 9.0] and x.requires_grad


def test_variable_is_a_tensor(torch):
    data = torch.ones(2)
    x = torch.autograd.Variable(data, requires_grad=True)
    assert isinstance(x, torch.autograd.Variable) and isinstance(data, torch.autograd.Variable)
    assert x.requires_grad and not data.requires_grad
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
