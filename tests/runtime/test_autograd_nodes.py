"""Nodes: what they keep of a call, what backward does with what they give."""

import inspect
import re
import traceback

import pytest

import torchgen_out as torch
from torchgen_out import dtype_sets
from torchgen_out._runtime import autograd
from torchgen_out._runtime.autograd import fused
from torchgen_out._runtime.autograd.node import LEAF, Node
from torchgen_out.nodes import dispatch as dispatch_nodes
from torchgen_out.nodes import pointwise as nodes


def test_gradients_are_computed_in_all_dtypes_but_those_of_one_byte() -> None:
    assert fused.COMPUTED == dtype_sets.FLOATING_AND_COMPLEX


def test_a_node_keeps_what_its_needs_read() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    plain = torch.ones(2)
    kept = {
        (x * y).grad_fn.__slots__: (True, True),
        (x * plain).grad_fn.__slots__: (True, False),
        (plain * y).grad_fn.__slots__: (False, True),
    }
    assert list(kept) == [("saved_self", "saved_other"), ("saved_other",), ("saved_self",)]
    for result in (x * y, x * plain, plain * y):
        assert isinstance(result.grad_fn, nodes.MulBackward0)
        assert result.grad_fn.name() == "MulBackward0"


def test_kernels_give_what_their_needs_say() -> None:
    """Every case of every node: its results are the inputs that need a gradient, in order."""
    found = 0
    for node in vars(nodes).values():
        if not (isinstance(node, type) and issubclass(node, fused.FusedNode) and node.cases):
            continue
        for needs, kernel in node.cases.items():
            wanted = [name for name, need in zip(node.inputs, needs, strict=True) if need]
            assert kernel.gives == tuple(wanted)
            assert set(kernel.reads) <= {*node.arguments, "result"}
            assert list(kernel.arguments)[: len(kernel.operands)] == list(kernel.operands)
            found += 1
    assert found > 150


def test_a_traceback_shows_what_a_node_does() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    y.backward(torch.ones(2))
    with pytest.raises(RuntimeError) as caught:
        y.backward(torch.ones(2))
    assert "saved_result = unpack(node.saved_result, node)" in "".join(
        traceback.format_exception(caught.value)
    )


def test_where_no_case_fits_the_kernel_for_all_inputs_serves() -> None:
    class Node(fused.FusedNode):
        """add: self: grad, other: grad"""

        __slots__ = ()
        arguments = inputs = ("self", "other")
        cases = {(True, True): nodes.MaximumBackward0.cases[True, True]}  # noqa: RUF012

    x, y = torch.ones(2, requires_grad=True), torch.zeros(2)
    call = Node.recording(lambda self, other: torch.maximum(self.detach(), other), True, False)
    call(x, y).backward(torch.ones(2))
    assert x.grad.tolist() == [1, 1]


@pytest.mark.parametrize("keeps", [False, True])
def test_a_gradient_that_nobody_else_has_becomes_grad_itself(keeps: bool) -> None:
    """How many references the engine itself holds is measured when it is imported."""
    made = []

    class Source(Node):
        __slots__ = ()

        def apply(self, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
            result = grad * 3
            made.append(result if keeps else id(result))
            return (result,)

    x = torch.ones(4, requires_grad=True)
    y = x.clone()
    source = Source()
    source.edges = ((x, LEAF, x._sizes, x._key, None),)
    autograd.graph.attach(y, source)
    y.backward(torch.ones(4))
    assert (x.grad is not made[0]) if keeps else (id(x.grad) == made[0])
    assert x.grad.tolist() == [3.0] * 4


def test_the_documentation_shows_a_node_as_it_is_emitted() -> None:
    shown = re.search(r"^ {4}class .*?^ {8}return call$", autograd.__doc__, re.S | re.M)
    emitted = map(inspect.getsource, (dispatch_nodes.DotBackward0, dispatch_nodes.recording_dot))
    assert shown is not None
    assert shown[0].split() == " ".join(emitted).split()


def test_what_nodes_save_can_be_read() -> None:
    x = torch.ones(2, requires_grad=True)
    product, power, total = x * x, x.exp(), x.sum()
    assert product.grad_fn._saved_self is x and product.grad_fn._saved_other is x
    assert (x * 3).grad_fn._saved_other == 3
    assert torch.equal(power.grad_fn._saved_result, power)
    assert tuple(total.grad_fn._saved_self_sym_sizes) == (2,)
    assert {"_saved_self", "_saved_other"} <= set(dir(product.grad_fn))
    assert "_saved_self_sym_sizes" in dir(total.grad_fn)
    product.sum().backward()
    with pytest.raises(RuntimeError, match="directly access saved tensors"):
        _ = product.grad_fn._saved_self
    with pytest.raises(AttributeError, match="_saved_nothing"):
        _ = product.grad_fn._saved_nothing
