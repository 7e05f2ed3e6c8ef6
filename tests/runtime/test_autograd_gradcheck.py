"""gradcheck, gradgradcheck, and derivatives of functions.

The same tests run on PyTorch in tests/parity/test_autograd.py.
"""

import pytest

from tests.runtime.leaves import leaf


def wrong_square(torch, factor):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] * factor

    return Square.apply


def test_right_gradients(torch):
    x, y = leaf(torch, [[0.5, 1.0]]), leaf(torch, [[2.0], [3.0]])
    assert torch.autograd.gradcheck(lambda x, y: (x * y, x.exp()), (x, y))
    assert torch.autograd.gradgradcheck(lambda x, y: (x * y).sin() * x, (x, y))
    assert torch.autograd.gradcheck(wrong_square(torch, 2), x)


def test_gradcheck_finds_wrong_gradients(torch):
    x = leaf(torch, [0.5, 1.0])
    function = wrong_square(torch, 3)
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input"):
        torch.autograd.gradcheck(function, x)
    assert torch.autograd.gradcheck(function, x, raise_exception=False) is False


def test_shapes(torch):
    check = torch.autograd.gradcheck
    assert check(lambda x: x * x, leaf(torch, 2.0))
    assert check(lambda x: x * x, leaf(torch, []))
    matrix = leaf(torch, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert check(lambda x: (x.t() @ x, x.sum(0)), matrix)
    assert check(lambda x: x.exp(), matrix.detach().t().requires_grad_())


def test_complex_numbers(torch):
    z = leaf(torch, [0.5 + 1j, -0.25 + 0.5j], torch.complex128)
    x = leaf(torch, [0.5, 2.0])
    assert torch.autograd.gradcheck(lambda z, x: z * z * x, (z, x))
    assert torch.autograd.gradcheck(lambda z: z * z.conj(), z)
    assert torch.autograd.gradcheck(lambda z: (z * z).real, z)
    assert torch.autograd.gradgradcheck(lambda z: z * z * z, z)


def test_inputs_that_do_not_fit(torch):
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        torch.autograd.gradcheck(lambda x: x, torch.ones(2))
    with pytest.warns(UserWarning, match="not a double precision floating point or complex"):
        torch.autograd.gradcheck(lambda x: x * 2, leaf(torch, [1.0], torch.float32), atol=1e-1)


def test_backward_that_is_not_repeatable(torch):
    counts = []

    class Drifts(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            counts.append(1)
            return grad * (2 + 1e-7 * len(counts))

    x = leaf(torch, [1.0])
    with pytest.raises(RuntimeError, match="Backward is not reentrant"):
        torch.autograd.gradcheck(Drifts.apply, x)
    assert torch.autograd.gradcheck(Drifts.apply, x, nondet_tol=1e-5)


def test_functions_without_gradient(torch):
    x = leaf(torch, [1.0, 2.0])
    assert torch.autograd.gradcheck(lambda x: x.detach() * 0, x)
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        torch.autograd.gradcheck(lambda x: x.detach() * 2, x)


def test_jacobian(torch):
    functional = torch.autograd.functional
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0, 4.0, 5.0])
    found = functional.jacobian(lambda x: x * x, x)
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]] and not found.requires_grad
    to_x, to_y = functional.jacobian(lambda x, y: x.sum() * y, (x, y))
    assert to_x.tolist() == [[3.0, 3.0], [4.0, 4.0], [5.0, 5.0]]
    assert to_y.tolist() == [[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]]
    several = functional.jacobian(lambda x: (x.sum(), x * 2), x)
    assert several[0].tolist() == [1.0, 1.0] and several[1].tolist() == [[2.0, 0.0], [0.0, 2.0]]
    kept = functional.jacobian(lambda x: x * x, x, create_graph=True)
    kept.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_strategies_of_jacobians(torch):
    functional = torch.autograd.functional
    x = leaf(torch, [1.0, 2.0])
    found = functional.jacobian(lambda x: x * x, x)
    forward = {"strategy": "forward-mode", "vectorize": True}
    assert functional.jacobian(lambda x: x * x, x, **forward).tolist() == found.tolist()
    with pytest.raises(NotImplementedError, match="only implemented for `vectorize=True`"):
        functional.jacobian(lambda x: x * x, x, strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="`create_graph=True`"):
        functional.jacobian(lambda x: x * x, x, create_graph=True, **forward)
    with pytest.raises(AssertionError, match="Expected strategy"):
        functional.jacobian(lambda x: x * x, x, strategy="sideways")


def test_hessian(torch):
    functional = torch.autograd.functional
    x, y = leaf(torch, [1.0, 2.0]), leaf(torch, [3.0])
    assert functional.hessian(lambda x: (x * x * x).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    found = functional.hessian(lambda x, y: (x * x).sum() * y.sum(), (x, y))
    assert [[each.tolist() for each in row] for row in found] == [
        [[[6.0, 0.0], [0.0, 6.0]], [[2.0], [4.0]]],
        [[[2.0, 4.0]], [[0.0]]],
    ]
    assert functional.hessian(lambda x: x.sum(), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="given to hessian should contain a single element"):
        functional.hessian(lambda x: x * 2, x)


def test_products_with_vectors(torch):
    functional = torch.autograd.functional
    x = leaf(torch, [1.0, 2.0])
    v = torch.tensor([10.0, 100.0], dtype=torch.float64)

    def reversed_square(x):
        return (x * x).flip(0)

    value, product = functional.vjp(reversed_square, x, v)
    assert value.tolist() == [4.0, 1.0] and product.tolist() == [200.0, 40.0]
    value, product = functional.jvp(reversed_square, x, v)
    assert value.tolist() == [4.0, 1.0] and product.tolist() == [400.0, 20.0]
    value, product = functional.vhp(lambda x: (x * x * x).sum(), x, v)
    assert value.tolist() == 9.0 and product.tolist() == [60.0, 1200.0]
    assert functional.hvp(lambda x: (x * x * x).sum(), x, v)[1].tolist() == [60.0, 1200.0]
    assert not product.requires_grad
    kept = functional.vjp(reversed_square, x, v, create_graph=True)[1]
    kept.sum().backward()
    assert x.grad.tolist() == [200.0, 20.0]


def test_wrong_arguments(torch):
    functional = torch.autograd.functional
    x = leaf(torch, [1.0, 2.0])
    with pytest.raises(RuntimeError, match="v can only be None"):
        functional.vjp(lambda x: x * 2, x)
    with pytest.raises(RuntimeError, match="v has invalid size"):
        functional.vjp(lambda x: x * 2, x, torch.ones(3))
    with pytest.raises(TypeError, match="must be either a Tensor or a tuple of Tensors"):
        functional.jacobian(lambda x: 3, x)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not"):
        functional.jacobian(lambda x: torch.ones(2), x, strict=True)
