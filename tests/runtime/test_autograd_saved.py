"""Hooks on saved tensors, and checkpointing, which is made of them.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import contextlib
import importlib

import pytest

from tests.runtime.leaves import leaf


def checkpointing(torch):
    return importlib.import_module(f"{torch.__name__}.utils.checkpoint")


def test_packing(torch):
    x = leaf(torch, [1.0, 2.0])
    seen = []

    def pack(tensor):
        seen.append("pack")
        return tensor.tolist()

    def unpack(values):
        seen.append("unpack")
        return torch.tensor(values, dtype=torch.float64)

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    assert seen == ["pack"] * 3
    y.sum().backward()
    assert seen == ["pack"] * 3 + ["unpack"] * 3
    expected = (x.exp() * (x + 1)).tolist()
    assert x.grad.tolist() == pytest.approx(expected)


def test_packing_and_second_derivatives(torch):
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        y = (x * x * x).sum() + x.exp().sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert second.tolist() == pytest.approx((6 * x + x.exp()).tolist())


def test_inner_hooks_count(torch):
    x = leaf(torch, [1.0])
    seen = []
    hooks = torch.autograd.graph.saved_tensors_hooks
    with hooks(lambda t: seen.append("outer") or t, lambda t: t):
        with hooks(lambda t: seen.append("inner") or t, lambda t: t):
            x * x
        x.exp()
    x.exp()
    assert seen == ["inner", "inner", "outer"]


def test_a_pack_hook_may_not_write(torch):
    x = leaf(torch, [1.0])
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t)
    with hooks, pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its"):
        x * x


def test_unpack_hooks_return_tensors(torch):
    x = leaf(torch, [1.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x * x
    with pytest.raises(TypeError, match="unpack_hook expected to be a Tensor"):
        y.sum().backward()


def test_disabling_hooks(torch):
    graph = torch.autograd.graph
    hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    with graph.disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not he"):
        hooks.__enter__()


def test_saving_on_the_cpu(torch):
    x = leaf(torch, [1.0, 2.0])
    with torch.autograd.graph.save_on_cpu():
        y = x.exp()
    y.sum().backward()
    assert x.grad.tolist() == x.exp().tolist()


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint(torch, use_reentrant):
    calls = []

    def part(x, factor):
        calls.append(1)
        return (x * x).exp() * factor

    x = leaf(torch, [0.5, 1.0])
    y = checkpointing(torch).checkpoint(part, x * 1, 2.0, use_reentrant=use_reentrant)
    assert len(calls) == 1
    y.sum().backward()
    assert len(calls) == 2
    assert x.grad.tolist() == pytest.approx((4 * x * (x * x).exp()).tolist())


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_checkpoint_draws_the_same_random_numbers(torch, use_reentrant):
    drawn = []

    def part(x):
        mask = torch.rand(4, dtype=torch.float64)
        drawn.append(mask.tolist())
        return (x * mask).exp()

    x = leaf(torch, [1.0, 2.0, 3.0, 4.0])
    torch.manual_seed(1)
    y = checkpointing(torch).checkpoint(part, x, use_reentrant=use_reentrant)
    after = torch.rand(1).tolist()
    y.sum().backward()
    assert drawn[0] == drawn[1]
    torch.manual_seed(1)
    torch.rand(4, dtype=torch.float64)
    assert torch.rand(1).tolist() == after


def test_checkpoint_with_parameters_and_second_derivatives(torch):
    w, x = leaf(torch, [2.0, 3.0]), leaf(torch, [0.5, 1.0])
    y = checkpointing(torch).checkpoint(lambda x: (w * x).exp(), x, use_reentrant=False)
    (first,) = torch.autograd.grad(y.sum(), w, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), w)
    assert second.tolist() == pytest.approx((x * x * (w * x).exp()).tolist())


def test_nested_checkpoints(torch):
    checkpoint = checkpointing(torch).checkpoint
    x = leaf(torch, [0.5, 0.25])

    def inner(x):
        return (x * x).exp()

    def outer(x):
        return checkpoint(inner, x.sin(), use_reentrant=False) * x

    y = checkpoint(outer, x, use_reentrant=False)
    y.sum().backward()
    found = x.grad.tolist()
    x.grad = None
    ((x.sin() * x.sin()).exp() * x).sum().backward()
    assert found == pytest.approx(x.grad.tolist())


@pytest.mark.parametrize("policy", ["list", "function", "all"])
def test_selective_checkpoint(torch, policy):
    module = checkpointing(torch)
    mm, policies = torch.ops.aten.mm.default, module.CheckpointPolicy
    chosen = {
        "list": [mm],
        "function": lambda context, op, *args, **kwargs: op == mm,
        "all": lambda context, op, *args, **kwargs: policies.MUST_SAVE,
    }[policy]
    x, y = leaf(torch, [[0.5, 0.25], [1.0, -1.0]]), leaf(torch, [[1.0, 2.0], [0.5, 3.0]])

    def part(x, y):
        return torch.sigmoid(torch.matmul(torch.matmul(x, y), y)) * y

    def contexts():
        return module.create_selective_checkpoint_contexts(chosen)

    result = module.checkpoint(part, x, y, use_reentrant=False, context_fn=contexts)
    found = torch.autograd.grad(result.sum(), [x, y], retain_graph=True)
    for got, expected in zip(found, torch.autograd.grad(part(x, y).sum(), [x, y]), strict=True):
        assert got.tolist() == expected.tolist()
    with pytest.raises(RuntimeError, match="backward an extra time"):
        torch.autograd.grad(result.sum(), [x, y])


def test_selective_checkpoint_asks_about_each_operator_once(torch):
    module, seen = checkpointing(torch), []
    network = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))

    def policy(context, op, *args, **kwargs):
        seen.append(str(op))
        return not context.is_recompute and context.op_output is not None

    def contexts():
        return module.create_selective_checkpoint_contexts(policy)

    x = torch.ones(2, 4, requires_grad=True)
    module.checkpoint(network, x, use_reentrant=False, context_fn=contexts).sum().backward()
    assert [name for name in seen if name != "aten.t.default"] == [
        "aten.addmm.default",
        "aten.relu.default",
        "aten.addmm.default",
    ]


def test_selective_checkpoint_refuses(torch):
    module = checkpointing(torch)
    with pytest.raises(ValueError, match=r"change it to `torch.ops.aten.mm.default`"):
        module.create_selective_checkpoint_contexts([torch.ops.aten.mm])
    with pytest.raises(TypeError, match="either a function or a list of ops"):
        module.create_selective_checkpoint_contexts(3)

    def part(x):
        y = torch.mm(x, x)
        z = y.exp()
        y.add_(1)
        return z * y

    def contexts():
        return module.create_selective_checkpoint_contexts([torch.ops.aten.mm.default])

    x = torch.ones(2, 2, requires_grad=True)
    result = module.checkpoint(part, x, use_reentrant=False, context_fn=contexts)
    with pytest.raises(RuntimeError, match="has been mutated"):
        result.sum().backward()


def test_checkpoint_of_a_part_that_changes(torch):
    module = checkpointing(torch)
    calls = []

    def shorter(x):
        calls.append(1)
        return x.exp().exp() if len(calls) % 2 else x.exp()

    def other_shape(x):
        calls.append(1)
        return x.exp() if len(calls) % 2 else x.repeat(2).exp()

    x = leaf(torch, [1.0, 2.0])
    for part, message in (
        (shorter, "A different number of tensors was saved"),
        (other_shape, "have different metadata"),
    ):
        calls.clear()
        with pytest.raises(module.CheckpointError, match=message):
            module.checkpoint(part, x, use_reentrant=False).sum().backward()


def test_reentrant_checkpoints_go_to_all_leaves_only(torch):
    x = leaf(torch, [1.0])
    y = checkpointing(torch).checkpoint(lambda x: x.exp(), x, use_reentrant=True)
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad"):
        torch.autograd.grad(y.sum(), x)


def test_checkpoint_sequential(torch):
    functions = [lambda x: x * 2, lambda x: x.exp(), lambda x: x + 1, lambda x: x * x]
    x = leaf(torch, [0.5])
    sequential = checkpointing(torch).checkpoint_sequential
    for use_reentrant in (True, False):
        x.grad = None
        y = sequential(functions, 2, x, use_reentrant=use_reentrant)
        y.sum().backward()
        expected = 2 * ((2 * x).exp() + 1) * 2 * (2 * x).exp()
        assert x.grad.tolist() == pytest.approx(expected.tolist())


@pytest.mark.parametrize("stops", [False, True])
def test_checkpoints_stop_when_all_is_found(torch, stops):
    module, calls = checkpointing(torch), []

    def part(x):
        calls.append("begun")
        y = x.sin().cos()
        calls.append("found")
        y = y + 1
        calls.append("ended")
        return y

    for context in (module.set_checkpoint_early_stop(stops), contextlib.nullcontext()):
        calls.clear()
        x = leaf(torch, [0.5])
        with context:
            told = {} if context.__class__ is not contextlib.nullcontext else {"early_stop": stops}
            y = module.checkpoint(part, x, use_reentrant=False, **told)
        y.sum().backward()
        assert ("ended" in calls[3:]) is not stops
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        module.checkpoint(part, x, use_reentrant=False, determinism_check="other")


# -- hooks of one saved tensor --------------------------------------------------------------------


def test_a_saved_tensor_takes_hooks(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    handed = []
    y.grad_fn._raw_saved_result.register_hooks(
        lambda saved: handed.append(saved.tolist()) or saved.detach(), lambda saved: saved * 2
    )
    y.sum().backward()
    assert handed == [y.tolist()]
    assert x.grad.tolist() == (y.detach() * 2).tolist()


def test_hooks_of_operands_and_of_lists(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.grad_fn._raw_saved_self.register_hooks(lambda saved: saved, lambda saved: saved * 10)
    assert {"_raw_saved_self", "_raw_saved_other", "_saved_self"} <= set(dir(y.grad_fn))
    y.sum().backward()
    assert x.grad.tolist() == [11.0, 22.0]
    z = torch.logsumexp(x, 0)
    assert hasattr(z.grad_fn, "_raw_saved_self")
    assert not hasattr(z.grad_fn, "_raw_saved_dim")


def test_hooks_of_a_function_of_ones_own(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Square.apply(x)
    kept, none = y.grad_fn._raw_saved_tensors
    kept.register_hooks(lambda saved: saved.tolist(), lambda saved: torch.tensor(saved) * 3)
    with pytest.raises(RuntimeError, match="None is forbidden"):
        none.register_hooks(lambda saved: saved, lambda saved: saved)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_a_saved_tensor_takes_hooks_once_and_while_it_is_there(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    kept = y.grad_fn._raw_saved_result
    with pytest.raises(TypeError):
        kept.register_hooks(1, 2)
    kept.register_hooks(lambda saved: saved, lambda saved: saved)
    with pytest.raises(RuntimeError, match="already been set"):
        kept.register_hooks(lambda saved: saved, lambda saved: saved)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        y.grad_fn._raw_saved_result.register_hooks(lambda saved: saved, lambda saved: saved)
