"""Custom Functions: what forward and backward see, and what comes of their results.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import pytest

from tests.runtime.leaves import leaf


def test_forward_and_backward(torch):
    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor, note=None):
            assert not torch.is_grad_enabled()
            assert ctx.needs_input_grad == (True, False, False)
            ctx.factor = factor
            ctx.save_for_backward(x)
            return x * factor

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            assert x.tolist() == [1.0, 2.0]
            return grad * ctx.factor, None, None

    x = leaf(torch, [1.0, 2.0])
    y = Scale.apply(x, 3.0, "note")
    assert y.grad_fn.name() == "ScaleBackward"
    assert y.grad_fn.factor == 3.0
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="a second time"):
        y.sum().backward()


def test_setup_context(torch):
    x = leaf(torch, [1.0, 2.0])

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**3, x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            assert len(inputs) == 1 and inputs[0] is x
            _, square = output
            ctx.mark_non_differentiable(square)
            ctx.save_for_backward(square)

        @staticmethod
        def backward(ctx, grad, grad_square):
            assert grad_square.tolist() == [0.0, 0.0]
            return 3 * ctx.saved_tensors[0] * grad

    cube, square = Cube.apply(x)
    assert cube.requires_grad and not square.requires_grad
    cube.sum().backward()
    assert x.grad.tolist() == [3.0, 12.0]


def test_nothing_is_recorded_without_need(torch):
    class Identity(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    assert Identity.apply(torch.ones(2)).grad_fn is None
    with torch.no_grad():
        assert Identity.apply(leaf(torch, [1.0])).grad_fn is None


def test_double_backward(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, grad):
            (result,) = ctx.saved_tensors
            return grad * result

    x = leaf(torch, [0.5, 1.0])
    assert torch.autograd.gradcheck(Exp.apply, x)
    assert torch.autograd.gradgradcheck(Exp.apply, x)


def test_missing_gradients(torch):
    seen = []

    def make(materialize):
        class Two(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.set_materialize_grads(materialize)
                return x * 1, x * 2

            @staticmethod
            def backward(ctx, first, second):
                seen.append(None if second is None else second.tolist())
                return first

        return Two

    x = leaf(torch, [1.0])
    make(True).apply(x)[0].sum().backward()
    make(False).apply(x)[0].sum().backward()
    assert seen == [[0.0], None]


def test_gradients_may_be_missing_or_broadcast(torch):
    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, grad):
            return None, grad.expand(5, 2)

    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0])
    Odd.apply(x, y).sum().backward()
    assert x.grad is None
    assert y.grad.tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (lambda g: (g, g), r"incorrect number of gradients \(expected 1, got 2\)"),
        (lambda g: g[:2], "returned an invalid gradient at index 0"),
        (lambda g: 3, r"expected \w+ or None \(got int\)"),
    ],
)
def test_gradients_that_do_not_fit(torch, returned, message):
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return returned(grad)

    with pytest.raises((RuntimeError, TypeError), match=message):
        Wrong.apply(leaf(torch, [1.0, 2.0, 3.0])).sum().backward()


def test_surplus_gradients_may_be_none(torch):
    class Surplus(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad, None, None

    x = leaf(torch, [1.0])
    Surplus.apply(x).sum().backward()
    assert x.grad.tolist() == [1.0]


def test_missing_methods(torch):
    class Empty(torch.autograd.Function):
        pass

    class NoBackward(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    x = leaf(torch, [1.0])
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        Empty.apply(x)
    with pytest.raises(NotImplementedError, match="You must implement either the backward"):
        NoBackward.apply(x).sum().backward()


def test_once_differentiable(torch):
    from_function = torch.autograd.function

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @from_function.once_differentiable
        def backward(ctx, grad):
            assert not torch.is_grad_enabled()
            return grad * 2 * ctx.saved_tensors[0]

    x = leaf(torch, [3.0])
    Square.apply(x).sum().backward()
    assert x.grad.tolist() == [6.0]
    start = leaf(torch, [1.0])
    (first,) = torch.autograd.grad(Square.apply(x), x, start, create_graph=True)
    assert first.tolist() == [6.0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_backward_inside_of_a_functions_backward(torch):
    class Reentrant(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x * x).sum()

        @staticmethod
        def backward(ctx, grad):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            with torch.enable_grad():
                (x * x).sum().backward()
            return x.grad * grad

    x = leaf(torch, [1.0, 2.0])
    (Reentrant.apply(x * 1) * 3).backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_deeply_nested_backward(torch):
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.depth = int(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth:
                with torch.enable_grad():
                    inner = torch.tensor(float(ctx.depth - 1), requires_grad=True)
                    Nested.apply(inner).sum().backward()
            return grad

    x = torch.tensor(400.0, requires_grad=True)
    Nested.apply(x).backward()
    assert x.grad.tolist() == 1.0


def test_instances_are_warned_of(torch):
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        torch.autograd.Function()


def test_what_is_marked_dirty_has_been_written(torch):
    class Write(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    leaf = torch.ones(2, requires_grad=True)
    for x in (torch.ones(2), leaf * 1, (leaf * 1)[:1]):
        before = x._version
        Write.apply(x)
        assert x._version == before + 2


def test_a_gradient_that_does_not_fit_is_named_by_its_place(torch):
    """Beside operands of several elements, whose edges must not be compared by value."""

    class Cut(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, z):
            return x + y + z

        @staticmethod
        def backward(ctx, grad):
            return grad, grad, grad[:2]

    x, y, z = (torch.ones(3, requires_grad=True) for _ in range(3))
    with pytest.raises(RuntimeError, match="invalid gradient at index 2"):
        Cut.apply(x, y, z).sum().backward()
