"""backward and grad: what arrives where, what is kept, what is refused.

The same tests run on PyTorch in tests/parity/test_autograd.py: what they assert is its behaviour.
"""

import cmath
import gc
import threading
import warnings
import weakref

import pytest

import torchgen_out


@pytest.fixture
def torch():
    return torchgen_out


def leaf(torch, values, dtype=None):
    return torch.tensor(values, dtype=dtype or torch.float64, requires_grad=True)


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


def test_half_precision(torch):
    for dtype in (torch.float16, torch.bfloat16):
        x = torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
        ((x * x + x) * 2).sum().backward()
        assert x.grad.dtype == dtype
        assert x.grad.tolist() == [6.0, 10.0]


def test_variable_is_a_tensor(torch):
    data = torch.ones(2)
    x = torch.autograd.Variable(data, requires_grad=True)
    assert isinstance(x, torch.autograd.Variable) and isinstance(data, torch.autograd.Variable)
    assert x.requires_grad and not data.requires_grad
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


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
