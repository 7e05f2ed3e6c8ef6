"""Hooks on tensors and nodes: when they run, and what they may change.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import pytest

from tests.runtime.leaves import leaf


def test_hook_on_a_leaf(torch):
    x = leaf(torch, [1.0, 2.0])
    seen = []
    handle = x.register_hook(lambda grad: seen.append(grad.tolist()))
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]]
    handle.remove()
    handle.remove()
    (x * 3).sum().backward()
    assert seen == [[3.0, 3.0]]


def test_hooks_see_the_sum_of_all_uses(torch):
    x = leaf(torch, [1.0])
    y = x * 2
    seen = []
    x.register_hook(lambda grad: seen.append(("x", grad.tolist())))
    y.register_hook(lambda grad: seen.append(("y", grad.tolist())))
    (y * 3 + y * 4 + x).sum().backward()
    assert seen == [("y", [7.0]), ("x", [15.0])]


def test_hooks_replace_gradients_in_turn(torch):
    x = leaf(torch, [1.0])
    y = x * 1
    y.register_hook(lambda grad: grad * 2)
    y.register_hook(lambda grad: grad + 1)
    x.register_hook(lambda grad: grad * 10)
    y.sum().backward()
    assert x.grad.tolist() == [30.0]


def test_hooks_must_return_tensors_of_the_size(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    handle = y.register_hook(lambda grad: torch.ones(5, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="has changed the size of value"):
        y.sum().backward()
    handle.remove()
    y = x * 1
    y.register_hook(lambda grad: 3)
    with pytest.raises(TypeError, match="hook returned 'int'"):
        y.sum().backward()
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't"):
        torch.ones(2).register_hook(print)


def test_retained_gradients_have_passed_the_hooks(torch):
    x = leaf(torch, [1.0])
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 5)
    y.sum().backward()
    assert y.grad.tolist() == [5.0]
    assert x.grad.tolist() == [10.0]


def test_hooks_and_chosen_inputs(torch):
    x = leaf(torch, [1.0])
    y = x * 2
    y.register_hook(lambda grad: grad * 5)
    x.register_hook(lambda grad: grad * 7)
    z = (y * 3).sum()
    to_y, to_x = torch.autograd.grad(z, [y, x], retain_graph=True)
    assert (to_y.tolist(), to_x.tolist()) == ([3.0], [210.0])  # on its way further: unhooked
    assert torch.autograd.grad(z, y)[0].tolist() == [15.0]


def test_hooks_after_accumulation(torch):
    x = leaf(torch, [1.0, 2.0])
    seen = []
    handle = x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    (x * 2).sum().backward()
    (x * 2).sum().backward()
    assert seen == [[2.0, 2.0], [4.0, 4.0]]
    handle.remove()

    def step_and_forget(p):
        p.data.add_(p.grad, alpha=-0.5)
        p.grad = None

    x.register_post_accumulate_grad_hook(step_and_forget)
    (x * 2).sum().backward()
    assert x.grad is None
    assert x.tolist() == [-2.0, -1.0]
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_leaf_gradients_are_there_as_soon_as_they_are_known(torch):
    x, y = leaf(torch, [1.0]), leaf(torch, [2.0])
    middle = x * 2
    order = []
    y.register_post_accumulate_grad_hook(lambda p: order.append("y"))
    middle.register_hook(lambda grad: order.append("middle"))
    x.register_post_accumulate_grad_hook(lambda p: order.append("x"))
    (middle + y).sum().backward()
    assert order[-1] == "x" and sorted(order) == ["middle", "x", "y"]


def test_node_hooks(torch):
    x = leaf(torch, [1.0, 2.0])
    y = x * 3
    seen = []

    def before(grads):
        seen.append(("before", [each.tolist() for each in grads]))
        return tuple(each * 2 for each in grads)

    def after(inputs, outputs):
        inner = [None if each is None else each.tolist() for each in inputs]
        seen.append(("after", inner, [each.tolist() for each in outputs]))
        return tuple(None if each is None else each + 1 for each in inputs)

    first = y.grad_fn.register_prehook(before)
    second = y.grad_fn.register_hook(after)
    y.sum().backward(retain_graph=True)
    assert seen[0] == ("before", [[1.0, 1.0]])
    assert seen[1][1][0] == [6.0, 6.0] and seen[1][2] == [[2.0, 2.0]]
    assert x.grad.tolist() == [7.0, 7.0]
    first.remove()
    second.remove()
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]


def test_hook_on_an_accumulator(torch):
    x = leaf(torch, [1.0, 2.0])
    accumulator = x.expand_as(x).grad_fn.next_functions[0][0]
    seen = []
    accumulator.register_prehook(lambda grads: seen.append(("before", x.grad is None)))
    accumulator.register_hook(lambda _, grads: seen.append(("after", x.grad.tolist())))
    (x * 2).sum().backward()
    assert seen == [("before", True), ("after", [2.0, 2.0])]


def test_hooks_of_one_of_several_outputs(torch):
    x = leaf(torch, [[1.0], [2.0]])
    first, second = x.unbind()
    second.register_hook(lambda grad: grad * 100)
    (first * 3 + second * 5).sum().backward()
    assert x.grad.tolist() == [[3.0], [500.0]]


def test_hooks_stay_with_the_value_that_they_were_put_on(torch):
    x = leaf(torch, [2.0])
    y = x * 1
    seen = []
    y.register_hook(lambda grad: seen.append(("old", grad.tolist())))
    y.retain_grad()
    y.mul_(10)
    y.register_hook(lambda grad: seen.append(("new", grad.tolist())))
    y.sum().backward()
    assert seen == [("new", [1.0]), ("old", [10.0])]
    assert y.grad.tolist() == [1.0]


def test_handles_are_contexts(torch):
    x = leaf(torch, [1.0])
    with x.register_hook(lambda grad: grad * 2):
        x.sum().backward()
    x.sum().backward()
    assert x.grad.tolist() == [3.0]


def test_hooks_on_several_tensors(torch):
    x, y, unused = leaf(torch, [1.0]), leaf(torch, [2.0]), leaf(torch, [3.0])
    seen = []

    def hook(grads):
        seen.append([None if each is None else each.tolist() for each in grads])

    handle = torch.autograd.graph.register_multi_grad_hook([x, y, unused], hook)
    (x * 5 + y * 7).sum().backward()
    assert seen == [[[5.0], [7.0], None]]
    handle.remove()
    first = []
    torch.autograd.graph.register_multi_grad_hook([x, y], lambda g: first.append(1), mode="any")
    (x * 5 + y * 7).sum().backward()
    (x * 5 + y * 7).sum().backward()
    assert first == [1, 1]


def test_callbacks_run_when_backward_has_finished(torch):
    x = leaf(torch, [1.0])
    y = x * 2
    engine = torch.autograd.Variable._execution_engine
    seen = []
    y.register_hook(lambda grad: engine.queue_callback(lambda: seen.append(x.grad.tolist())))
    y.sum().backward()
    assert seen == [[2.0]]
    with pytest.raises(RuntimeError, match="can only be installed during backward"):
        engine.queue_callback(print)


def test_the_bias_of_linear_comes_first(torch):
    """The order of its gradients, by which buckets of gradients are filled."""
    layers = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    order = []
    for name, parameter in layers.named_parameters():
        parameter.register_post_accumulate_grad_hook(lambda _, name=name: order.append(name))
    layers(torch.ones(4, 2)).sum().backward()
    assert order == ["2.bias", "2.weight", "0.bias", "0.weight"]


def test_hooks_of_nodes_see_gradients_as_the_operands_get_them(torch):
    """After what broadcasting repeated is summed."""
    x, y = torch.ones(2, 3, requires_grad=True), torch.ones(3, requires_grad=True)
    result = x * y
    seen = []
    result.grad_fn.register_hook(lambda inputs, outputs: seen.extend(g.shape for g in inputs))
    result.sum().backward()
    assert seen == [(2, 3), (3,)]
