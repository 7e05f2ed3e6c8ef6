"""Functions that fixture_derivatives.yaml names; read, never imported."""


def conj(x):
    """Operators may have twins here: x.conj() in a formula is this function."""


def mean_backward(grad, sizes, dim, keepdim):
    """The gradient of a mean."""


def evenly_distribute_backward(grad, self, result):
    """The gradient of an extreme value."""


def value_selecting_reduction_backward(grad, dim, indices, sizes, keepdim):
    """The gradient of a selection along a dim."""


def unbind_backward(grads, sizes, dim):
    """The gradient of a split."""
