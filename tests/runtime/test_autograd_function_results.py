"""What comes of a custom Function's results: arguments, views, written arguments, saved ones.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import gc
import weakref

import pytest

from tests.runtime.leaves import leaf


def test_an_argument_returned_as_it_is(torch):
    class Tenfold(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 10

    x = leaf(torch, [1.0])
    y = Tenfold.apply(x)
    assert y is not x and not y.is_leaf and x.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [10.0]
    z = Tenfold.apply(x * 1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        z.add_(1)


def test_views_of_arguments(torch):
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.shape = x.shape
            return x.view(-1)

        @staticmethod
        def backward(ctx, grad):
            return grad.view(ctx.shape) * 2

    x = leaf(torch, [[1.0, 2.0]])
    y = Flat.apply(x * 1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        y.add_(1)
    Flat.apply(x * 1).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0]]


def test_writing_to_an_argument(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = leaf(torch, [1.0, 2.0])
    y = x * 1
    z = Double.apply(y)
    assert z is y and y.grad_fn.name() == "DoubleBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    base = x * 1
    Double.apply(base[1])
    assert base.tolist() == [1.0, 4.0]
    x.grad = None
    base.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Double.apply(leaf(torch, [1.0]))


def test_a_written_argument_among_several_results(torch):
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            x.mul_(2)
            ctx.mark_dirty(x)
            return y * 3, x

        @staticmethod
        def backward(ctx, to_product, to_x):
            return to_x * 2, to_product * 3

    x, y = leaf(torch, [1.0]), leaf(torch, [1.0])
    written = x * 1
    product, same = Both.apply(written, y)
    assert same is written and written.output_nr == 1
    (product * 5 + written * 7).sum().backward()
    assert x.grad.tolist() == [14.0] and y.grad.tolist() == [15.0]
    x.grad = None
    written = x * 1
    Both.apply(written, y)
    written.sum().backward()
    assert x.grad.tolist() == [2.0]


def test_a_dirty_argument_must_be_returned(torch):
    class Forgets(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(RuntimeError, match="not returned as output"):
        Forgets.apply(leaf(torch, [1.0]) * 1)


def test_results_that_are_no_tensors(torch):
    class Mixed(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, "text", 7

        @staticmethod
        def backward(ctx, grad, text, number):
            assert text is None and number is None
            return grad * 2

    x = leaf(torch, [1.0])
    y, text, number = Mixed.apply(x)
    assert (text, number) == ("text", 7)
    y.sum().backward()
    assert x.grad.tolist() == [2.0]


def test_saving_the_same_as_result_and_argument(torch):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x, None, y)
            return y

        @staticmethod
        def backward(ctx, grad):
            x, nothing, y = ctx.saved_tensors
            assert nothing is None and y.tolist() == [9.0]
            return grad * 2 * x

    x = leaf(torch, [3.0])
    y = Square.apply(x)
    z = y.sum()
    y.add_(0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    Square.apply(x).sum().backward()
    assert x.grad.tolist() == [6.0]


def test_saved_results_make_no_cycles(torch):
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    gc.disable()
    try:
        y = Exp.apply(leaf(torch, [1.0]))
        gone = weakref.ref(y)
        del y
        assert gone() is None
    finally:
        gc.enable()
