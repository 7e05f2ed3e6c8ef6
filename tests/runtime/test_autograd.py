"""backward and grad: what arrives where, what is kept, what is refused.

The same tests run on PyTorch in tests/parity/test_autograd.py: what they assert is its behaviour.
"""

import cmath

import pytest

from tests.runtime.leaves import leaf


def test_gradients_reach_leaves(torch):
    x, y = leaf(torch, [1.0, 2.0, 3.0]), leaf(torch, [4.0, 5.0, 6.0])
    (x * y + x).sum().backward()
    assert x.grad.tolist() == [5.0, 6.0, 7.0]
    assert y.grad.tolist() == [1.0, 2.0, 3.0]


def test_gradients_accumulate_in_place(torch):
    x = leaf(torch, [1.0, 2.0])
    (x * 3).sum().backward()
    first = x.grad
    (x * 4).sum().backward()
    assert x.grad is first
    assert first.tolist() == [7.0, 7.0]


def test_a_gradient_that_somebody_holds_is_not_taken_over(torch):
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    start = torch.ones(2, dtype=torch.float64)
    (x + y).backward(start)
    (x + y).backward(start)
    assert start.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == y.grad.tolist() == [2.0, 2.0]
    assert x.grad.data_ptr() != y.grad.data_ptr()


def test_gradients_of_many_uses_add_up_without_harm(torch):
    x = leaf(torch, [1.0, 2.0])
    start = torch.ones(2, dtype=torch.float64)
    seen = []
    y = x * 1
    y.register_hook(lambda grad: seen.append(grad))
    sum_of_uses = y + y + y * 2 + y + y
    torch.autograd.backward([sum_of_uses, y], [start, start])
    assert x.grad.tolist() == seen[0].tolist() == [7.0, 7.0]
    assert start.tolist() == [1.0, 1.0]


def test_leaf_used_twice_in_one_operator(torch):
    x = leaf(torch, [2.0, 3.0])
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 6.0]


def test_diamond(torch):
    x = leaf(torch, [2.0])
    a = x * 3
    b = a * 2
    c = a * a
    (b * c).sum().backward()
    assert x.grad.tolist() == [3 * 6 * 36.0]


def test_broadcast_operands_get_gradients_of_their_shape(torch):
    x = torch.ones(2, 3, requires_grad=True)
    row = torch.ones(3, requires_grad=True)
    column = torch.ones(2, 1, requires_grad=True)
    number = torch.tensor(2.0, requires_grad=True)
    (x * row * column * number).sum().backward()
    assert x.grad.tolist() == [[2.0] * 3] * 2
    assert row.grad.tolist() == [4.0] * 3
    assert column.grad.tolist() == [[6.0]] * 2
    assert number.grad.tolist() == 6.0


def test_gradients_have_the_dtype_of_their_tensor(torch):
    x = torch.ones(3, requires_grad=True)
    y = torch.ones(3, dtype=torch.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype == torch.float32
    assert y.grad.dtype == torch.float64
    z = torch.ones(3, requires_grad=True)
    (z * torch.tensor([1j, 2j, 3 + 1j])).sum().real.backward()
    assert z.grad.dtype == torch.float32
    assert z.grad.tolist() == [0.0, 0.0, 3.0]


def test_implicit_gradient_only_for_numbers(torch):
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        (x * 2).backward()
    (x[:1] * 2).backward()
    assert x.grad.tolist() == [2.0, 0.0]
    with pytest.raises(RuntimeError, match="only for real scalar outputs"):
        (x * 1j).sum().backward()


def test_nothing_to_differentiate(torch):
    x = leaf(torch, [1.0])
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does"):
        torch.ones(()).backward()
    with pytest.raises(RuntimeError, match="element 1 of tensors does not require grad"):
        torch.autograd.backward([x.sum(), torch.ones(())])


def test_given_gradients_are_checked(torch):
    x = leaf(torch, [1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(torch.ones(2))
    with pytest.raises(RuntimeError, match="Mismatch in dtype"):
        (x * 2).backward(torch.ones(3, dtype=torch.complex128))
    with pytest.raises(RuntimeError, match="got 2 tensors and 1 gradients"):
        torch.autograd.backward([x.sum(), x.sum()], [None])
    with pytest.raises(TypeError, match="gradients can be either Tensors or None"):
        (x * 2).backward([1])
    (x * 2).backward(torch.ones(3))  # another floating dtype is cast
    assert x.grad.tolist() == [2.0] * 3


def test_several_roots(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 2
    torch.autograd.backward([y.sum(), y], [None, torch.ones(2, dtype=torch.float64)])
    assert x.grad.tolist() == [4.0, 4.0]


def test_the_same_root_twice(torch):
    x = leaf(torch, [1.0])
    y = (x * 2).sum()
    torch.autograd.backward([y, y])
    assert x.grad.tolist() == [4.0]


def test_a_leaf_as_root(torch):
    x = leaf(torch, 3.0)
    x.backward()
    assert x.grad.tolist() == 1.0
    x.backward()
    assert x.grad.tolist() == 2.0


def test_second_backward_needs_retain_graph(torch):
    x = leaf(torch, [1.0, 2.0])
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_a_graph_without_saved_tensors_can_be_used_again(torch):
    x = leaf(torch, [1.0, 2.0])
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_half_precision(torch):
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
        ((x * x + x) * 2).sum().backward()
        assert x.grad.dtype == dtype
        assert x.grad.tolist() == [6.0, 10.0]


def test_gradient_edges(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn and edge.output_nr == 0
    z = (y * 3).sum()
    (gradient,) = torch.autograd.grad(z, edge, retain_graph=True)
    assert gradient.tolist() == [3.0, 3.0]
    torch.autograd.backward(edge, torch.ones(2, dtype=torch.float64), retain_graph=True)
    assert x.grad.tolist() == [2.0, 2.0]
    to_leaf = torch.autograd.graph.get_gradient_edge(x)
    assert torch.autograd.grad(z, to_leaf)[0].tolist() == [6.0, 6.0]
    with pytest.raises(RuntimeError, match="gradient edge"):
        torch.autograd.graph.get_gradient_edge(torch.ones(2))


def test_powers_of_a_complex_number_have_derivatives(torch):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(torch.pow(2j, x).real.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    log = cmath.log(2j)
    for k, found in ((1, first), (2, second)):
        expected = [(log**k * 2j**n).real for n in (1, 2)]
        assert found.tolist() == pytest.approx(expected)
